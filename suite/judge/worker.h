/* worker.h: one child process that speaks the protocol, from hello to its end.
 *
 * A worker is expected to misbehave: everything it sends is checked, everything is waited for with a
 * deadline, and its stderr is kept (not shown) so that a failure can quote it. */
#ifndef SAMPLEGATE_WORKER_H
#define SAMPLEGATE_WORKER_H
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include "suite/judge/plan.h"
#include "suite/judge/spec.h"
#include "suite/oracle/law.h"
#include "suite/sut/protocol/frame.h"

/* What a worker said of itself in hello. */
struct sut {
    struct frame hello; /* owns the strings */
    const char *name, *version, *device;
    enum value_kind kind; /* what values it prefers to be handed: logits or probabilities */
    enum value_dtype dtype;
    bool takes[2]; /* by enum value_kind; both false: it draws no tokens */
    bool noise, temperature;
};

/* Check a hello reply. exit 2: a SUT that cannot introduce itself cannot be judged. */
int sut_read(struct sut *sut, struct frame *hello, const char *spec, struct trouble *trouble);
void sut_free(struct sut *sut);
/* Does it draw tokens at all? An engine's routing and defaults only answer questions. */
bool sut_draws(const struct sut *sut);
/* All capability words a hello may have, NULL-terminated (frame.h). */
extern const char *const sut_capability_words[];
/* Does its hello have this word among the capabilities? */
bool sut_can(const struct sut *sut, const char *word);
/* Is this contract an object of claims that samplegate.h knows, with values that it knows? exit 2 */
int claims_check(const char *contract, const char *spec, struct trouble *trouble);
/* A text that its contract claims under this key. False: it claims nothing. */
bool sut_claim(const struct sut *sut, const char *key, char *text, size_t bytes);

struct worker {
    pid_t pid;
    int in, out;  /* to and from the child */
    FILE *errors; /* its stderr: an unlinked temporary file */
};

/* How an exchange went. */
enum worker_result {
    WORKER_OK,
    WORKER_LOST,   /* died, hung, or broke framing: start another */
    WORKER_STOPPED /* the caller's `stop` became true */
};

extern volatile bool worker_stop_all; /* set by the signal handler: give up waiting */

/* Start a child and exchange hello. Dead or silent before hello: exit 2. timeout in seconds. */
int worker_start(struct worker *worker, const struct spec *spec, const struct plan *plan, double timeout,
                 struct sut *sut, struct trouble *trouble);
/* Send a request and read the reply. On WORKER_LOST `why` says what happened, with the last lines of its
 * stderr. */
enum worker_result worker_ask(struct worker *worker, const struct frame *request, struct frame *reply,
                              double timeout, char *why, size_t why_bytes);
/* End it: close its input, give it a moment, kill its process group. */
void worker_stop(struct worker *worker);
#endif
