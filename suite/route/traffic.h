/* traffic.h: requests through an engine: each alone, all as one batch or as a running batch over time, beside the other
 * readings of the same engine, another engine, and what the published advice would change. */
#ifndef SAMPLEGATE_ROUTE_TRAFFIC_H
#define SAMPLEGATE_ROUTE_TRAFFIC_H
#include "suite/route/kinds.h"
#include "suite/route/order.h"
#include "suite/route/route.h"
#include "suite/route/server.h"
#include "suite/route/tally.h"
#include "suite/route/trace.h"

/* Every request is put to each of these. SPLIT: two servers, one for the requests that are plain alone, one for the
 * others. BOTH: that, after clients send neutral filters explicitly. */
enum route_role {
    ROLE_NOW,
    ROLE_READING, /* the two other readings */
    ROLE_OTHER_READING,
    ROLE_VS,
    ROLE_EXPLICIT,
    ROLE_OPENAI,
    ROLE_SPLIT_PLAIN,
    ROLE_SPLIT_OTHERS,
    ROLE_BOTH_PLAIN,
    ROLE_BOTH_OTHERS,
    ROLES
};

/* Of one view. */
struct route_total {
    size_t taken, plain;       /* requests its server gets; those of them that are plain alone */
    int64_t sequences;         /* of those */
    size_t refused;            /* those it refuses */
    struct engine_flags flags; /* of all as one batch */
    struct route_state batch;
    char cause[REQUEST_ID];  /* with whom the batch became what it is */
    struct tally difference; /* from ROLE_NOW, in words, by request */
};

struct traffic {
    const struct route_options *options;
    struct route_server server, vs_server; /* the same flags, as each engine reads them */
    struct route_view view[ROUTE_VIEWS];
    struct route_total total[ROUTE_VIEWS];
    struct walk walk[ROUTE_VIEWS];
    size_t views, role[ROLES]; /* a role's place among them; SIZE_MAX: it has none */
    struct trace trace;
    size_t requests;
    bool interrupted;
    struct order order;
    struct kinds kinds;
    struct tally alone;   /* path and endpoint, and what in the request takes it there */
    struct tally noise;   /* only that, of requests that are not plain */
    struct tally skipped; /* lines, by what is wrong with them */
    /* Of the last request told; of split servers in the view of the whole. */
    struct route_answer answer[ROUTE_VIEWS];
    struct kind_found *found;                   /* about it */
    struct request_prompts prompts, vs_prompts; /* as each engine takes them */
    struct engine_value seed;                   /* it sent */
    void *context;                              /* the listener's */
};

/* Told as things happen: of the first `requests` requests, and of all changes. */
struct traffic_listener {
    size_t requests;
    bool answers; /* `answer` is wanted for each of those; else only for the first of each kind */
    void (*request)(struct traffic *traffic, const struct request *request);
    void (*change)(void *traffic, const struct walk_change *change);
};

/* -1: trouble, exit 2. Owned: traffic_free, also then. */
int traffic_open(struct traffic *traffic, const struct route_options *options, struct trouble *trouble);
/* Route all lines of options->requests, or, without it, an empty request on each endpoint. */
int traffic_route(struct traffic *traffic, const struct traffic_listener *listener, struct trouble *trouble);
void traffic_free(struct traffic *traffic);

/* The rows that the last request told becomes in this view: its prompts, each as often as the engine forks it. */
int64_t traffic_sequences(const struct traffic *traffic, size_t view);
/* NULL if the role has no view. */
const struct route_view *traffic_view(const struct traffic *traffic, enum route_role role);
const struct walk *traffic_walk(const struct traffic *traffic, enum route_role role);
const struct route_total *traffic_total(const struct traffic *traffic, enum route_role role);
/* The share, 0 to 1, of tokens on the plain path; where there are no times, of requests, each alone. Of split servers,
 * both together. */
double traffic_plain_share(const struct traffic *traffic, enum route_role role);

/* difference.c: what view b has other than view a for a request: "gumbel -> filtered; top_k -1 (default) -> 20 (model)";
 * "" for nothing. */
const char *route_difference(const struct traffic *traffic, size_t a, size_t b, char text[TALLY_TEXT]);
/* What of a's parameters, that no built-in default gave, b has not: "top_k 20 (model), top_p 0.95 (model)". "" for a
 * request that a refuses, or that is greedy in both. */
const char *route_lost(const struct traffic *traffic, size_t a, size_t b, char text[TALLY_TEXT]);
/* No difference in path or refusal; `whole`: nor in what the path's name hides, of which articles do not speak. */
bool route_same_outcome(const struct route_answer *a, const struct route_answer *b, bool whole);
/* Whether two views can be compared as a whole: they follow the same reading. */
bool route_views_alike(const struct traffic *traffic, size_t a, size_t b);
#endif
