/* traffic.h: requests as an engine takes them, counted by what they cost. */
#ifndef SAMPLEGATE_COST_TRAFFIC_H
#define SAMPLEGATE_COST_TRAFFIC_H
#include "suite/cost/cost.h"
#include "suite/cost/outcome.h"
#include "suite/cost/stages.h"
#include "suite/cost/values.h"
#include "suite/route/order.h"
#include "suite/route/tally.h"

/* The published table's parameters, in its order; they are the first of enum engine_parameter. */
#define COST_TABLED (ENGINE_PRESENCE_PENALTY + 1)
extern const enum engine_parameter cost_tabled[COST_TABLED];
/* Those of the published record, too. */
#define COST_RECORDED (ENGINE_USE_BEAM_SEARCH + 1)
#define COST_SEQUENCES_MAX 256 /* what vLLM 0.5.0 runs at once unless --max-num-seqs says otherwise */

/* cost_traffic_read, cost_traffic_free. */
struct cost_traffic {
    const struct engine *engine;
    enum engine_reading reading;
    struct engine_server server;
    struct engine_values defaults[ENGINE_ENDPOINTS]; /* of an empty body */
    size_t lines;                                    /* that are requests which get tokens */
    size_t requests;         /* these, each prompt of a list being one to the engine; all below is of these */
    size_t off[COST_TABLED]; /* that give the parameter another value than the default does; for one
                                                 with a flag: that open it with this parameter alone */
    size_t pass[COST_PASSES];                         /* that open it */
    int64_t pass_sequences[COST_PASSES];              /* theirs */
    size_t draws[ENGINE_DRAWS];                       /* by how their token is chosen */
    int64_t sequences[ENGINE_DRAWS];                  /* theirs */
    size_t seeded;                                    /* that give a seed, whether it is used or not */
    size_t forked;                                    /* of more than one sequence */
    int64_t forked_sequences, widest;                 /* theirs; of the widest */
    enum engine_preemption preempted, last_preempted; /* of a forked one */
    size_t
        prompt_logprobs; /* that have a row of logits for each token of their prompt but the last, in its step */
    size_t unknown_prompts;                   /* of these, without a known length; of the others: */
    int64_t prompt_rows, widest_prompt;       /* rows in all, and of the longest */
    struct tally difference[ENGINE_READINGS]; /* what another reading makes of requests */
    struct values values[COST_RECORDED];
    struct order order;
    struct running running;
    struct tally refused, skipped;
    bool interrupted;
};

/* -1: trouble, exit 2. cost_traffic_free, also then. */
int cost_traffic_read(struct cost_traffic *traffic, const struct cost_options *options,
                      struct trouble *trouble);
void cost_traffic_free(struct cost_traffic *traffic);

/* The rows of the largest step: of the one below, or of the longest prompt whose log-probabilities are wanted and the token
 * drawn after it, for which this engine makes a step without decoding requests. */
int64_t cost_most_rows(const struct cost_traffic *traffic, const struct cost_step *step);
/* A stage runs under a reading's step that opens these passes. */
bool cost_runs(const struct cost_traffic *traffic, enum engine_reading reading, unsigned mask,
               enum engine_stage stage);
/* The pass that a parameter of the table opens, as the engine's own function says; COST_PASSES: none. */
enum cost_pass cost_pass_of(const struct cost_traffic *traffic, enum engine_parameter parameter);

double cost_moved(struct cost_bytes bytes); /* reads and writes */
int64_t cost_sequences(const struct cost_traffic *traffic);
/* The step that the bytes are of: options->batch rows; else of the traffic's sequences those that run at once, at most
 * COST_SEQUENCES_MAX. The rows of each kind are in the proportion of the traffic. */
struct cost_step cost_traffic_step(const struct cost_traffic *traffic, const struct cost_options *options);
/* The share of steps, 0 to 1, in which a pass runs: measured, where there are times; all or none, where the step holds the
 * whole traffic; else for requests in random order, a step's worth at a time. */
double cost_share(const struct cost_traffic *traffic, const struct cost_step *step, enum cost_pass pass);
/* The share of rows, 0 to 1, whose requests ask for it: of sequence-seconds, where there are times. */
double cost_asked(const struct cost_traffic *traffic, enum cost_pass pass);
/* The share of steps of a stage, as the engine's path says: 1 for those that no flag opens. */
double cost_stage_share(const struct cost_traffic *traffic, const struct cost_step *step,
                        enum engine_stage stage);
/* What the pass reads and writes over all rows of a step. */
double cost_pass_bytes(const struct cost_traffic *traffic, const struct cost_step *step, enum cost_pass pass);
/* Reads and writes of all stages, each weighted with the share of steps in which it runs. */
double cost_step_bytes(const struct cost_traffic *traffic, const struct cost_step *step);
/* Whether some request bears a pass that it did not ask for. */
bool cost_is_mixed(const struct cost_traffic *traffic, enum cost_pass pass);
#endif
