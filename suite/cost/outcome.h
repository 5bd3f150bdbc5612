/* outcome.h: what one reading of an engine makes of a request, and what another makes of it. */
#ifndef SAMPLEGATE_COST_OUTCOME_H
#define SAMPLEGATE_COST_OUTCOME_H
#include "suite/cost/running.h"
#include "suite/route/tally.h"
#include "suite/sut/engines/engine.h"

/* do_penalties, do_top_p_top_k, do_min_p: as the engine and the record name them. */
extern const char *const cost_pass_flag[COST_PASSES];

struct cost_outcome {
    bool refused; /* else the rest is set, but for the refusal */
    struct engine_refusal refusal;
    struct engine_values values; /* resolved, normalized, verified */
    unsigned mask;               /* of passes */
    enum engine_draw draw;
    struct engine_forks forks; /* of each of its prompts */
};

/* The passes that flags open. */
unsigned cost_mask(const struct engine_flags *flags);
void cost_outcome(const struct engine *engine, enum engine_reading reading,
                  const struct engine_server *server, enum engine_endpoint endpoint,
                  const struct engine_values *request, struct cost_outcome *outcome);
/* "HTTP 400: ..." of a refused one. */
const char *cost_refusal(const struct cost_outcome *outcome, char text[TALLY_TEXT]);
/* What costs otherwise: "do_min_p off -> on; greedy -> random; 3 sequences -> 1"; "" for nothing. */
const char *cost_difference(const struct cost_outcome *from, const struct cost_outcome *to,
                            char text[TALLY_TEXT]);
#endif
