/* view.h: the same traffic through one engine, in one reading, behind one server: now, after an upgrade, or after a
 * piece of advice was taken. */
#ifndef SAMPLEGATE_ROUTE_VIEW_H
#define SAMPLEGATE_ROUTE_VIEW_H
#include <stdbool.h>
#include <stddef.h>
#include "suite/sut/engines/engine.h"

#define ROUTE_TEXT 320 /* bytes of a path or of parameters as text */

#define ROUTE_BOUNDED (-1)

/* What a step of a batch does. */
struct route_state {
    bool idle;       /* no requests */
    const char *why; /* not NULL: the step fails, with this text (kept for good), and `path` means nothing */
    struct engine_path path; /* top_k_bound ROUTE_BOUNDED: by the batch's largest top_k, which is not kept */
};

/* What one request gets. Borrows the texts of the request's values. */
struct route_answer {
    bool as_is;    /* its parameters are not normalized: the body keeps that from happening */
    bool resolved; /* it got past the endpoint's schema, so it has parameters */
    struct engine_resolved parameters;
    bool refused; /* no token for it; else flags and state are set */
    struct engine_refusal refusal;
    struct engine_flags flags;
    struct engine_forks forks; /* of each of its prompts */
    struct route_state state;  /* of a batch of it alone */
};

enum route_who { ROUTE_ALL, ROUTE_PLAIN, ROUTE_OTHERS };
struct route_view {
    const char *name;
    const struct engine *engine;
    enum engine_reading reading;
    struct engine_server server;
    bool neutral;       /* clients send neutral filters where they sent none */
    enum route_who who; /* which requests this server gets, by the path each takes alone */
    size_t answers;     /* the view that answers requests for it: itself, or the whole that it is a part of */
    struct route_state plain; /* the path of requests that ask for nothing */
    struct engine_flags plain_flags;
    struct engine_values plain_values;
};

/* Fill in the rest: `plain`. */
void route_view_prepare(struct route_view *view);
/* The state of a batch of requests that ask for this and nothing else. */
struct route_state route_state_with(const struct route_view *view, enum engine_parameter parameter,
                                    struct engine_value value);
/* `body`: what request_fields found, parsed; NULL: nothing. */
void route_answer(const struct route_view *view, enum engine_endpoint endpoint,
                  const struct engine_values *request, const struct cJSON *body, struct route_answer *answer);
/* Whether this view's server gets the request. */
bool route_view_takes(const struct route_view *view, const struct route_answer *answer);

struct route_state route_state_of(const struct route_view *view, const struct engine_flags *flags,
                                  size_t rows);
/* Told apart are the path, what its name hides (backend, seeds, what noise is made from), and whether a largest top_k
 * bounds it, not which. */
bool route_state_same(const struct route_state *a, const struct route_state *b);
/* For batches over time, whose every largest top_k would be a state of its own: flags with their bound rounded to one
 * of the few at which paths change, and the state of such. */
struct engine_flags route_flags_rounded(struct engine_flags flags);
struct route_state route_state_rounded(const struct route_view *view, const struct engine_flags *flags,
                                       size_t rows);
/* The same but for what articles do not speak of, seeds and backends. Neither fails nor is idle. */
bool route_passes_same(const struct route_state *a, const struct route_state *b);
/* "gumbel", "filtered, seeded by rank", "filtered, top 20 sorted", "idle", "fails: ..." */
const char *route_state_text(const struct route_state *state, char text[ROUTE_TEXT]);
/* Of a request alone: the same, or "HTTP 400: ...". */
const char *route_answer_text(const struct route_answer *answer, char text[ROUTE_TEXT]);

/* A value as Python writes it, cut, with nothing in it that a terminal would obey. */
const char *route_value_text(const struct engine_value *value, char text[64]);
/* "top_k 20 (model), top_p 0.95 (model)": the parameters without which the batch's flags would be others; "" for a
 * request that changes nothing. */
const char *route_blame(const struct route_view *view, const struct route_answer *answer,
                        char text[ROUTE_TEXT]);
#endif
