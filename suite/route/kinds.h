/* kinds.h: what is found about a request, remembered for those like it: traffic has few kinds of requests. */
#ifndef SAMPLEGATE_ROUTE_KINDS_H
#define SAMPLEGATE_ROUTE_KINDS_H
#include "suite/route/tally.h"
#include "suite/route/trace.h"

#define KINDS 128

/* What a view makes of a request. */
struct kind_view {
    bool refused, takes, plain;
    struct engine_flags flags;
    struct engine_forks forks;
};
struct kind_found {
    struct kind_view view[ROUTE_VIEWS];
    char *line;                               /* the reporter's, or NULL; freed with the rest */
    char alone[TALLY_TEXT];                   /* endpoint, path, blame */
    char blame[ROUTE_TEXT];                   /* route_blame */
    char difference[ROUTE_VIEWS][TALLY_TEXT]; /* of each view; "": none */
};
/* Zero-initialise; kinds_free. */
struct kinds {
    struct kind *kind; /* each where its hash puts it, and a last one for what is not remembered */
};

/* What is found about requests with these values, valid until the next call; `fresh`: not filled in yet. `other`: what
 * another engine reads in the same body, or NULL. `fields`: what request_fields found. Requests that differ in the number
 * of an integral seed are of a kind.
 * Out of memory aborts. */
struct kind_found *kinds_find(struct kinds *kinds, enum engine_endpoint endpoint,
                              const struct engine_values *request, const struct engine_values *other,
                              const char *fields, bool *fresh);
void kinds_free(struct kinds *kinds);
#endif
