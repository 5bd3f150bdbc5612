/* remedies.c: the published table of what to do, as far as it applies to given traffic, in its order: batches that mix
 * parameters first; then the parameters that work on the whole vocabulary, and seeds; then best_of and n; then fewer rows. */
#include "suite/cost/remedies.h"

#include <stdarg.h>
#include <stdio.h>

#include "suite/cost/status.h"

/* The list while it is made. */
struct making {
    const struct cost_traffic *traffic;
    struct cost_step step;
    struct remedy *remedy;
    size_t remedies;
};

__attribute__((format(printf, 6, 7))) static void add(struct making *making, const char *name, double saves,
                                                      const char *action, const char *costs,
                                                      const char *format, ...)
{
    struct remedy *remedy = &making->remedy[making->remedies++];
    va_list list;
    *remedy = (struct remedy){.name = name, .action = action, .costs = costs, .saves = saves > 0 ? saves : 0};
    va_start(list, format);
    vsnprintf(remedy->why, sizeof remedy->why, format, list);
    va_end(list);
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* In pools a pass runs over the rows of those who asked for it. */
static void unify(struct making *making)
{
    const struct cost_traffic *traffic = making->traffic;
    char why[200] = "";
    int used = 0;
    double saves = 0;
    for (enum cost_pass pass = 0; pass < COST_PASSES; pass++) {
        if (!cost_is_mixed(traffic, pass))
            continue;
        const double share = cost_share(traffic, &making->step, pass);
        saves += (share - cost_asked(traffic, pass)) * cost_pass_bytes(traffic, &making->step, pass);
        used += snprintf(why + used, sizeof why - (size_t)used,
                         "%s%s: %.3g%% of requests open it, %.3g%% of steps run it", used ? "; " : "",
                         cost_pass_flag[pass],
                         percent((double)traffic->pass[pass], (double)traffic->requests), 100 * share);
    }
    if (used)
        add(making, "unify", saves, "give all requests of a batch the same parameters",
            "needs that differ need a pool or a deployment each", "%s", why);
}

static void narrow_filters(struct making *making)
{
    const struct cost_traffic *traffic = making->traffic;
    const double sort = cost_pass_bytes(traffic, &making->step, COST_TOP_P_TOP_K),
                 threshold = cost_pass_bytes(traffic, &making->step, COST_MIN_P),
                 sorts = cost_share(traffic, &making->step, COST_TOP_P_TOP_K),
                 thresholds = cost_share(traffic, &making->step, COST_MIN_P);
    if (traffic->pass[COST_TOP_P_TOP_K] == 0)
        return;
    add(making, "min_p", sorts * sort - (sorts > thresholds ? sorts - thresholds : 0) * threshold,
        "use min_p in place of top_p and top_k: a softmax and a threshold, no sort",
        "another rule of truncation: evaluate the output's quality again",
        "requests that sort the vocabulary: %zu", traffic->pass[COST_TOP_P_TOP_K]);
    if (traffic->off[ENGINE_TOP_K])
        add(making, "top_k", 0,
            "a smaller top_k gains next to nothing: the sort is over the whole vocabulary",
            "only what is cut off changes", "requests that set it: %zu", traffic->off[ENGINE_TOP_K]);
}

static void drop_penalties(struct making *making)
{
    const struct cost_traffic *traffic = making->traffic;
    if (traffic->pass[COST_PENALTIES])
        add(making, "penalties",
            cost_share(traffic, &making->step, COST_PENALTIES) *
                cost_pass_bytes(traffic, &making->step, COST_PENALTIES),
            "ask whether the penalties are needed: they count tokens over the whole vocabulary",
            "repetitions that they held back come again", "requests that set one: %zu",
            traffic->pass[COST_PENALTIES]);
}

static void drop_seeds(struct making *making)
{
    const struct cost_traffic *traffic = making->traffic;
    if (traffic->seeded)
        add(making, "seed", 0,
            "ask whether a fixed seed is needed: each request's noise is a launch of its own",
            "draws cannot be made again", "requests that set one: %zu; the bytes are the same without",
            traffic->seeded);
}

static void choose_greedily(struct making *making)
{
    const struct cost_traffic *traffic = making->traffic;
    struct cost_step greedy = making->step;
    const size_t random = traffic->draws[ENGINE_DRAW_RANDOM] + traffic->draws[ENGINE_DRAW_RANDOM_SEED];
    greedy.rows[ENGINE_DRAW_GREEDY] += greedy.rows[ENGINE_DRAW_RANDOM] + greedy.rows[ENGINE_DRAW_RANDOM_SEED];
    greedy.rows[ENGINE_DRAW_RANDOM] = greedy.rows[ENGINE_DRAW_RANDOM_SEED] = 0;
    if (random)
        add(making, "greedy",
            cost_moved(cost_stage(&making->step, ENGINE_STAGE_SAMPLE)) -
                cost_moved(cost_stage(&greedy, ENGINE_STAGE_SAMPLE)),
            "temperature 0 where it may be: argmax in place of the random draw, the softmax stays",
            "the same text every time, no diversity; best_of must be 1", "requests that draw at random: %zu",
            random);
}

static void fork_less(struct making *making)
{
    const struct cost_traffic *traffic = making->traffic;
    const double sequences = (double)cost_sequences(traffic);
    if (traffic->forked)
        add(making, "best_of",
            (1 - (double)traffic->requests / sequences) * cost_step_bytes(traffic, &making->step),
            "lower best_of and n: fewer rows to sample, and as many fewer forward passes and KV caches",
            "fewer candidates, which the use must bear",
            "requests of several sequences: %zu, of %lld in all, the widest of %lld", traffic->forked,
            (long long)traffic->forked_sequences, (long long)traffic->widest);
}

static void run_less(struct making *making, const struct cost_options *options)
{
    const double rows = (double)cost_rows(&making->step);
    char reason[STATUS_REASON];
    if (cost_status(making->traffic, options, reason) != STATUS_NEGLIGIBLE && rows > 1)
        add(making, "rows", cost_step_bytes(making->traffic, &making->step) / 2,
            "lower --gpu-memory-utilization or the concurrency: bytes go with N, these are saved with half "
            "the rows",
            "peak throughput or concurrency goes down with it", "N is %.0f rows", rows);
}

size_t cost_remedies(const struct cost_traffic *traffic, const struct cost_options *options,
                     struct remedy remedy[REMEDIES_MAX])
{
    struct making making = {traffic, cost_traffic_step(traffic, options), remedy, 0};
    unify(&making);
    drop_seeds(&making);
    narrow_filters(&making);
    drop_penalties(&making);
    choose_greedily(&making);
    fork_less(&making);
    run_less(&making, options);
    return making.remedies;
}
