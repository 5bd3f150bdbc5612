/* spec.h: what the user wrote after --sut, as the command that starts a worker (or the recording to read
 * instead).
 *
 * KIND[:NAME][@VENV][,key=value...]:
 *   reference, reference:RULE       the built-in samplers
 *   cuda, cuda:RULE                 the same on a GPU
 *   engine, engine:NAME             an engine's routing and defaults as suite/sut/engines/ has them; engine:PATH.so,id=ID:
 *                                   one from a shared object
 *   python:NAME | python:FILE.py    an engine of suite/sut/workers/, or a user's own worker; @VENV: that
 * environment's python3 PATH/TO/PLUGIN.so               any word with '/': a C or CUDA plug-in exec:COMMAND
 * the rest of the line, run by sh: anything whose stdin and stdout connect (docker, ssh, srun) recording:FILE
 * a worker's output, recorded elsewhere env.NAME=VALUE sets a variable for the worker; every other key goes
 * to it, and it refuses those it does not know. */
#ifndef SAMPLEGATE_SPEC_H
#define SAMPLEGATE_SPEC_H
#include <stddef.h>
#include "suite/trouble.h"

#define SPEC_WORDS_MAX 64

struct spec {
    char *text;                            /* as written */
    char *recording;                       /* the file, or NULL */
    char *argv[SPEC_WORDS_MAX + 1];        /* NULL-terminated; empty for a recording */
    char *environment[SPEC_WORDS_MAX + 1]; /* "NAME=VALUE", NULL-terminated */
};

/* Owned: spec_free. Checks the form and that the files it names exist: exit 2. */
int spec_parse(struct spec *spec, const char *text, struct trouble *trouble);
void spec_free(struct spec *spec);
#endif
