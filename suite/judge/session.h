/* session.h: one SUT run through one plan: both stages, every check, every certificate. */
#ifndef SAMPLEGATE_SESSION_H
#define SAMPLEGATE_SESSION_H
#include "stats/partition.h"
#include "stats/total_variation.h"
#include "suite/checks/check.h"
#include "suite/judge/recorder.h"
#include "suite/judge/recording.h"
#include "suite/judge/request.h"
#include "suite/judge/script.h"
#include "suite/judge/worker.h"

enum cell_state {
    CELL_PENDING,
    CELL_RAN,
    CELL_SKIPPED, /* the SUT does not do this: `why` */
    CELL_ERROR,   /* it died, hung, or answered nonsense: `why` */
    CELL_STOPPED  /* interrupted or out of budget: `why` */
};
extern const char *const cell_state_names[];

struct cell_result {
    const struct plan_cell *cell;
    bool selected;
    enum cell_state state;
    char why[1024];
    enum value_kind kind;         /* what is handed over */
    size_t rows;                  /* that are handed over: 1, or equal padded ones to step between */
    float *values;                /* [rows, vocab + pad], exactly representable in the SUT's dtype */
    uint16_t *bits;               /* the same in 16 bits, or NULL for f32 */
    int32_t *row_index;           /* [PLAN_CHUNK_DRAWS_MAX] the rows in turn, or NULL: there is one */
    double *pmf;                  /* [vocab] the law of those values, under the cell's parameters */
    struct request_parameters parameters;
    double heaviest;              /* largest probability */
    struct cell_counts counts[2]; /* by stage - 1 */
    struct agreement_counts agreement;
    struct script script[2]; /* by stage - 1; without lines where draws are counted */
    int32_t *token;          /* [draws] of stage one, in the plan's order */
    size_t pending;          /* chunks or lines of the running stage not yet answered */
    bool flagged;
    struct evidence evidence;
    /* Certificate, from stage one's draws alone: */
    size_t bound_cells;
    struct tv_bound bound;
    double tv_expected, tv_deviation, draws_needed;
    double mismatch_bound; /* family agreement: true mismatch rate is at most this */
};

struct session_options {
    const char *checks, *cells; /* prefixes, "" for all */
    int jobs;
    double timeout, budget;    /* seconds; budget 0: none */
    bool keep_tokens;          /* compare needs them */
    bool reseeded;             /* the plan's seed was replaced */
    const char *label;         /* for progress: "old", "new", "baseline" or "" */
    struct recorder *recorder; /* keeps what is answered, or NULL; the caller closes it */
};

struct session {
    const struct plan *plan;
    const struct spec *spec;
    struct session_options options;
    struct sut sut;
    struct recording *recording; /* instead of workers, or NULL */
    struct cell_result *cell;    /* [plan->cells] */
    size_t plain, fine;          /* statistics in the error budget */
    double seconds;
    bool interrupted;
};

/* Run it. -1: could not start at all (exit 2); whatever goes wrong later is in the cells. Owned:
 * session_free. */
int session_run(struct session *session, const struct plan *plan, const struct spec *spec,
                const struct session_options *options, struct trouble *trouble);
/* The same from a recording made elsewhere. */
int session_replay(struct session *session, const struct plan *plan, struct recording *recording,
                   const struct session_options *options, struct trouble *trouble);
void session_free(struct session *session);

/* Every selected cell's law and first script, for what this SUT takes. -1: an expectation cannot be read. Used by
 * `requests`, too. */
int session_prepare(struct session *session, struct trouble *trouble);
/* Build a cell's script of one stage: CELL_PENDING, CELL_SKIPPED (with why), or CELL_ERROR: an expectation cannot be
 * read. */
enum cell_state session_script(const struct session *session, struct cell_result *result, int stage,
                               char *why, size_t why_bytes);
#endif
