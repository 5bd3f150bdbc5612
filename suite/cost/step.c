/* step.c: the step that given traffic makes: its rows of each kind, and how often each pass runs. */
#include <math.h>

#include "suite/cost/traffic.h"

int64_t cost_sequences(const struct cost_traffic *traffic)
{
    int64_t sequences = 0;
    for (int d = 0; d < ENGINE_DRAWS; d++)
        sequences += traffic->sequences[d];
    return sequences;
}

struct cost_step cost_traffic_step(const struct cost_traffic *traffic, const struct cost_options *options)
{
    const int64_t sequences = cost_sequences(traffic);
    const int64_t together = traffic->order.timed ? traffic->running.peak : sequences;
    int64_t rows[ENGINE_DRAWS] = {0}, left = options->batch                  ? options->batch
                                             : together < COST_SEQUENCES_MAX ? together
                                                                             : COST_SEQUENCES_MAX;
    const int64_t all = left;
    int most = 0;
    for (int d = 0; d < ENGINE_DRAWS; d++) {
        rows[d] = (int64_t)((double)all * (double)traffic->sequences[d] / (double)sequences);
        left -= rows[d];
        most = traffic->sequences[d] > traffic->sequences[most] ? d : most;
    }
    rows[most] += left;
    return cost_step_of(options->vocab, options->dtype, rows);
}

double cost_share(const struct cost_traffic *traffic, const struct cost_step *step, enum cost_pass pass)
{
    const double requests = (double)traffic->requests, asking = (double)traffic->pass[pass];
    if (traffic->order.timed && traffic->running.busy > 0)
        return traffic->running.on[pass] / traffic->running.busy;
    if (asking <= 0 || asking >= requests || cost_rows(step) == cost_sequences(traffic))
        return asking > 0;
    /* As many requests as fill the rows, each independently one of the traffic. */
    const double together = (double)cost_rows(step) * requests / (double)cost_sequences(traffic);
    return -expm1(log1p(-asking / requests) * (together > 1 ? together : 1));
}

bool cost_runs(const struct cost_traffic *traffic, enum engine_reading reading, unsigned mask,
               enum engine_stage stage)
{
    const struct engine_flags flags = {.need_penalties = mask >> COST_PENALTIES & 1,
                                       .need_top_p_top_k = mask >> COST_TOP_P_TOP_K & 1,
                                       .need_min_p = mask >> COST_MIN_P & 1};
    struct engine_path path;
    struct engine_refusal refusal;
    return traffic->engine->path(reading, &traffic->server, &flags, 1, &path, &refusal) == 0 &&
           path.stages[stage];
}

int64_t cost_most_rows(const struct cost_traffic *traffic, const struct cost_step *step)
{
    const int64_t prompt = traffic->widest_prompt ? traffic->widest_prompt + 1 : 0;
    return prompt > cost_rows(step) ? prompt : cost_rows(step);
}

double cost_asked(const struct cost_traffic *traffic, enum cost_pass pass)
{
    return traffic->order.timed && traffic->running.sequence_seconds > 0
               ? traffic->running.asked[pass] / traffic->running.sequence_seconds
               : (double)traffic->pass_sequences[pass] / (double)cost_sequences(traffic);
}

double cost_stage_share(const struct cost_traffic *traffic, const struct cost_step *step,
                        enum engine_stage stage)
{
    if (cost_runs(traffic, traffic->reading, 0, stage))
        return 1;
    for (enum cost_pass pass = 0; pass < COST_PASSES; pass++)
        if (cost_runs(traffic, traffic->reading, 1u << pass, stage))
            return cost_share(traffic, step, pass);
    return 0;
}

double cost_moved(struct cost_bytes bytes)
{
    return (double)bytes.reads + (double)bytes.writes;
}

double cost_pass_bytes(const struct cost_traffic *traffic, const struct cost_step *step, enum cost_pass pass)
{
    double sum = 0;
    for (enum engine_stage s = 0; s < ENGINE_STAGES; s++)
        if (cost_runs(traffic, traffic->reading, 1u << pass, s) &&
            !cost_runs(traffic, traffic->reading, 0, s))
            sum += cost_moved(cost_stage(step, s));
    return sum;
}

double cost_step_bytes(const struct cost_traffic *traffic, const struct cost_step *step)
{
    double sum = 0;
    for (enum engine_stage s = 0; s < ENGINE_STAGES; s++)
        sum += cost_stage_share(traffic, step, s) * cost_moved(cost_stage(step, s));
    return sum;
}

bool cost_is_mixed(const struct cost_traffic *traffic, enum cost_pass pass)
{
    return traffic->order.timed ? traffic->running.mixed[pass] > 0
                                : traffic->pass[pass] > 0 && traffic->pass[pass] < traffic->requests;
}
