/* status.c: one of the published three words for what sampling costs, by a stated rule. */
#include "suite/cost/status.h"

#include <stdio.h>

#include "suite/cost/remedies.h"

const char *const cost_status_names[] = {"sampling visible", "sampling negligible", "amplified by forks",
                                         NULL};

/* 1: a pair of measurements says visible, 0: all pairs say no, -1: there is none. */
static int measured(const struct cost_traffic *traffic, const struct cost_options *options,
                    char reason[STATUS_REASON])
{
    static const struct {
        enum cost_pass pass;
        enum cost_tpot tpot;
    } pairs[] = {
        {COST_TOP_P_TOP_K, TPOT_TOP_P_TOP_K}, {COST_MIN_P, TPOT_MIN_P}, {COST_PENALTIES, TPOT_PENALTIES}};
    const double plain = options->tpot[TPOT_DEFAULT];
    int found = -1;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && plain > 0; i++) {
        const double with = options->tpot[pairs[i].tpot];
        if (with <= 0 || traffic->pass[pairs[i].pass] == 0)
            continue;
        snprintf(reason, STATUS_REASON, "TPOT is %.4g ms with %s and %.4g ms without, %+.3g%%", with,
                 cost_pass_flag[pairs[i].pass], plain, 100 * (with / plain - 1));
        if (with >= (1 + STATUS_SHARE) * plain)
            return 1;
        found = 0;
    }
    return found;
}

static int estimated(const struct cost_traffic *traffic, const struct cost_options *options,
                     char reason[STATUS_REASON])
{
    if (!(options->tpot[TPOT_DEFAULT] > 0 && options->bandwidth > 0))
        return -1;
    const struct cost_step step = cost_traffic_step(traffic, options);
    const double share =
        cost_step_bytes(traffic, &step) / (options->bandwidth * 1e6) / options->tpot[TPOT_DEFAULT];
    snprintf(reason, STATUS_REASON,
             "the bytes of a step take at least %.3g%% of the default's TPOT at %.4g GB/s", 100 * share,
             options->bandwidth);
    return share >= STATUS_SHARE;
}

static int guessed(const struct cost_traffic *traffic, const struct cost_options *options,
                   char reason[STATUS_REASON])
{
    const struct cost_step step = cost_traffic_step(traffic, options);
    const uint64_t tensors =
        cost_two_tensors(&step) / (uint64_t)cost_rows(&step) * (uint64_t)cost_most_rows(traffic, &step);
    const bool opens =
        traffic->pass[COST_PENALTIES] + traffic->pass[COST_TOP_P_TOP_K] + traffic->pass[COST_MIN_P] > 0;
    snprintf(reason, STATUS_REASON, "no times given: %s, and 8 N V is %llu bytes",
             opens ? "requests open passes over the vocabulary"
                   : "no request opens a pass over the vocabulary",
             (unsigned long long)tensors);
    return opens || tensors >= STATUS_TENSORS;
}

enum cost_status cost_status(const struct cost_traffic *traffic, const struct cost_options *options,
                             char reason[STATUS_REASON])
{
    const double more = (double)cost_sequences(traffic) / (double)traffic->requests - 1;
    if (more >= STATUS_SHARE) {
        snprintf(reason, STATUS_REASON, "best_of and n make %.3g%% more sequences than there are requests",
                 100 * more);
        return STATUS_FORKS;
    }
    int visible = measured(traffic, options, reason);
    if (visible < 0)
        visible = estimated(traffic, options, reason);
    if (visible < 0)
        visible = guessed(traffic, options, reason);
    return visible ? STATUS_VISIBLE : STATUS_NEGLIGIBLE;
}
