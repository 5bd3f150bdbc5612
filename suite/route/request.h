/* request.h: one line of traffic: a request body as a client sent it, where to, and when. */
#ifndef SAMPLEGATE_ROUTE_REQUEST_H
#define SAMPLEGATE_ROUTE_REQUEST_H
#include <stdbool.h>
#include <stddef.h>
#include "suite/sut/engines/engine.h"
#include "suite/trouble.h"

#define REQUEST_NAMES 128 /* names of parameters, of all engines together */
#define REQUEST_FIELDS 64 /* members that are no parameters and can refuse the body; more are not looked at */
#define REQUEST_ID 64     /* bytes of a name as it is shown; longer ones are cut */

/* A parameter in the body or in its nest, in the line's text. */
struct request_member {
    size_t name; /* of the list of all engines' */
    char *value;
    size_t value_bytes; /* 0: a text that stands unquoted at `value` */
    bool nested;
};
/* Another member that an engine looks at, in the line's text; of the nest also those that no engine knows. */
struct request_field {
    const char *key, *value;
    size_t key_bytes, value_bytes; /* value_bytes 0: only that it is there matters */
    bool nested;
};
/* Zero-initialise once and reuse: it owns nothing, and borrows from the line it was read from. */
struct request {
    char id[REQUEST_ID]; /* its own, or the number of its line */
    enum engine_endpoint endpoint;
    bool timed;
    double arrival, finish; /* seconds; INFINITY: it runs to the end of the trace */
    int64_t prompt_tokens;  /* of all its prompts, as the line says; -1: it does not */
    struct request_member member[2 * REQUEST_NAMES];
    size_t members;
    struct request_field field[REQUEST_FIELDS];
    size_t fields;
};

/* Read `text`, which is changed. -1: trouble with FILE, line, key and what is accepted, and in `reason` the few words
 * under which such lines are counted (static). */
int request_read(struct request *request, const char *name, size_t line, char *text, size_t bytes,
                 const char **reason, struct trouble *trouble);
/* The prompts of a body, each of which is a request of its own to the engine. An empty list counts as one: traffic is
 * often stripped of its texts. */
struct request_prompts {
    int64_t prompts;
    int64_t tokens, longest; /* of all, and of one at least; -1: not known */
};
void request_prompts(const struct request *request, const struct engine *engine,
                     struct request_prompts *prompts);
/* Those of its members that this engine's check_fields looks at, as a JSON object; NULL: there are none. Before
 * request_values, which changes the line. Owned: free. */
char *request_fields(const struct request *request, const struct engine *engine);
/* What this engine finds in it, at the keys that it has at the request's endpoint. Of a key given twice the last
 * counts, as in the engines' own readers. Integers stay integers; texts are borrowed from the line. */
void request_values(struct request *request, const struct engine *engine, struct engine_values *values);
#endif
