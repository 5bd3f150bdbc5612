/* session.c: run one SUT through one plan: chunks to workers, counts to checks, suspects to a second stage.
 */
#include "suite/judge/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stats/certificate.h"
#include "suite/checks/family.h"
#include "suite/judge/parametered.h"
#include "suite/judge/stage.h"

#define PADDED_ROWS 3
#define PADDING 16384.0f /* exact in every dtype; as a logit or as a weight it outweighs all of a table */

const char *const cell_state_names[] = {"pending", "ran", "skipped", "error", "stopped"};

static void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory)
        abort();
    return memory;
}

static bool has_prefix(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

/* A cell is run if its name matches and some selected check looks at its family. */
static bool selected(const struct session *session, const struct plan_cell *cell)
{
    bool looked_at = false;
    for (size_t i = 0; i < check_registry_count; i++)
        looked_at |= check_looks_at(&check_registry[i], cell) &&
                     check_selected(&check_registry[i], session->options.checks);
    return looked_at && has_prefix(cell->name, session->options.cells);
}

static void counts_allocate(struct cell_counts *counts, const struct plan *plan, size_t vocab)
{
    *counts = (struct cell_counts){
        .vocab = vocab, .batches = plan->batches, .pooled = allocate(vocab, sizeof(uint64_t))};
    for (size_t b = 0; b < plan->batches; b++)
        counts->batch[b] = allocate(vocab, sizeof(uint64_t));
}

static void skip(struct cell_result *result, const char *why)
{
    result->state = CELL_SKIPPED;
    snprintf(result->why, sizeof result->why, "%s", why);
}

/* The lines of this stage, from the expectations as they are now. */
static enum script_start build_script(const struct session *session, const struct cell_result *result,
                                      int stage, struct script *script, char *why, size_t why_bytes)
{
    const struct script_input input = {.plan = session->plan,
                                       .cell = result->cell,
                                       .sut = &session->sut,
                                       .stage = stage,
                                       .kind = result->kind,
                                       .values = result->values,
                                       .pmf = result->pmf};
    return family_scripted(result->cell->family)->script(&input, script, why, why_bytes);
}

enum cell_state session_script(const struct session *session, struct cell_result *result, int stage,
                               char *why, size_t why_bytes)
{
    struct script *script = &result->script[stage - 1];
    enum script_start start = build_script(session, result, stage, script, why, why_bytes);
    script_address(script, result->cell->name, stage);
    return start == SCRIPT_READY ? CELL_PENDING : start == SCRIPT_SKIP ? CELL_SKIPPED : CELL_ERROR;
}

/* Checks read the expectations once more, and answers by them: they must be those that were asked for. */
static int expects_the_same(const struct session *session, const struct cell_result *result, int stage,
                            struct trouble *trouble)
{
    struct script again = {0};
    char why[1024] = "";
    if (!family_scripted(result->cell->family))
        return 0;
    bool same = build_script(session, result, stage, &again, why, sizeof why) == SCRIPT_READY &&
                script_alike(&again, &result->script[stage - 1]);
    script_free(&again);
    return same ? 0
                : trouble_set(trouble, EXIT_DAMAGED, "golden damaged: cell %s: %s", result->cell->name,
                              *why ? why : "it changed while the run was on");
}

/* Padding behind the row, and the padded row once more: whoever steps by the vocabulary reads padding, which wins. */
static void prepare_padding(struct cell_result *result, size_t vocab)
{
    const size_t stride = vocab + result->cell->pad;
    if (result->rows == 1)
        return;
    for (size_t i = vocab; i < stride; i++)
        result->values[i] = PADDING;
    for (size_t row = 1; row < result->rows; row++)
        memcpy(result->values + row * stride, result->values, stride * sizeof *result->values);
    result->row_index = allocate(PLAN_CHUNK_DRAWS_MAX, sizeof *result->row_index);
    for (size_t d = 0; d < PLAN_CHUNK_DRAWS_MAX; d++)
        result->row_index[d] = (int32_t)(d % result->rows);
}

/* The cell's table as this SUT is handed it, and its law. */
static void prepare_law(struct session *session, struct cell_result *result)
{
    const struct plan_cell *cell = result->cell;
    const struct sut *sut = &session->sut;
    size_t vocab = cell->table->vocab, elements;
    result->rows = cell->pad ? PADDED_ROWS : 1;
    elements = result->rows * (vocab + cell->pad);
    result->values = allocate(elements, sizeof *result->values);
    result->pmf = allocate(vocab, sizeof *result->pmf);
    law_hand_over(cell->table->logits, vocab, cell->temperature, result->kind, sut->dtype, result->values,
                  result->pmf);
    prepare_padding(result, vocab);
    if (sut->dtype != VALUE_F32) {
        result->bits = allocate(elements, sizeof *result->bits);
        for (size_t i = 0; i < elements; i++)
            result->bits[i] = law_bits(result->values[i], sut->dtype);
    }
}

static int prepare_cell(struct session *session, struct cell_result *result, struct trouble *trouble)
{
    const struct plan_cell *cell = result->cell;
    const struct sut *sut = &session->sut;
    result->kind = sut->kind;
    const bool asks = cell->family == FAMILY_PREDICATE || cell->family == FAMILY_DEFAULTS;
    if (!asks && !sut_draws(sut))
        skip(result, "the sampler draws no tokens");
    else if (cell->parametered && parametered_skip(result, sut, result->why, sizeof result->why))
        result->state = CELL_SKIPPED;
    else if (cell->family == FAMILY_AGREEMENT && !sut->noise)
        skip(result, "the sampler takes no noise");
    else if (result->kind == VALUE_LOGITS && cell->temperature != 1 && !sut->temperature)
        skip(result, "the sampler takes logits but no temperature");
    if (result->state == CELL_SKIPPED)
        return 0;
    if (cell->table)
        prepare_law(session, result);
    if (cell->parametered && parametered_prepare(result, sut, trouble))
        return -1;
    if (result->state == CELL_SKIPPED)
        return 0;
    for (size_t i = 0; cell->table && i < cell->table->vocab; i++)
        result->heaviest = fmax(result->heaviest, result->pmf[i]);
    if (cell->family == FAMILY_EQUIVALENCE)
        for (int stage = 0; stage < 2; stage++)
            counts_allocate(&result->counts[stage], session->plan, cell->table->vocab);
    if (session->options.keep_tokens && cell->family == FAMILY_EQUIVALENCE)
        result->token = allocate(cell->draws, sizeof *result->token);
    if (!family_scripted(cell->family))
        return 0;
    result->state = session_script(session, result, 1, result->why, sizeof result->why);
    return result->state == CELL_ERROR
               ? trouble_set(trouble, EXIT_DAMAGED, "golden damaged: cell %s: %s", cell->name, result->why)
               : 0;
}

int session_prepare(struct session *session, struct trouble *trouble)
{
    session->cell = allocate(session->plan->cells, sizeof *session->cell);
    for (size_t i = 0; i < session->plan->cells; i++) {
        struct cell_result *result = &session->cell[i];
        result->cell = &session->plan->cell[i];
        result->selected = selected(session, result->cell);
        if (result->selected && prepare_cell(session, result, trouble))
            return -1;
    }
    return 0;
}

static int evaluate(const struct session *session, const struct cell_result *result, int stage,
                    struct evidence *evidence, struct trouble *trouble)
{
    if (expects_the_same(session, result, stage, trouble))
        return -1;
    struct check_input input = {
        .plan = session->plan,
        .cell = result->cell,
        .pmf = result->pmf,
        .vocab = result->cell->table ? result->cell->table->vocab : 0,
        .stage = stage,
        .floor = stage == 1 ? FLOOR_STAGE_ONE : FLOOR_STAGE_TWO,
        .counts = &result->counts[stage - 1],
        .agreement = &result->agreement,
        .script = &result->script[stage - 1],
        .sut = &session->sut,
    };
    for (size_t i = 0; i < check_registry_count; i++) {
        const struct check *check = &check_registry[i];
        if (check_looks_at(check, result->cell) && check_selected(check, session->options.checks))
            check->evaluate(check, &input, evidence);
    }
    return *evidence->damaged ? trouble_set(trouble, EXIT_DAMAGED, "golden damaged: cell %s: %s",
                                            result->cell->name, evidence->damaged)
                              : 0;
}

/* Stage one: every statistic; those at or below alpha1 are flagged, violations are settled at once. */
static int judge_stage_one(struct session *session, struct trouble *trouble)
{
    for (size_t i = 0; i < session->plan->cells; i++) {
        struct cell_result *result = &session->cell[i];
        if (!result->selected || result->state != CELL_RAN)
            continue;
        if (evaluate(session, result, 1, &result->evidence, trouble))
            return -1;
        for (size_t s = 0; s < result->evidence.count; s++) {
            struct statistic *statistic = &result->evidence.statistic[s];
            statistic->level = BUDGET_STAGE_ONE;
            statistic->confirmed = statistic->violation;
            statistic->flagged = statistic->violation || statistic->tail.p <= statistic->level;
            result->flagged |= statistic->flagged && !statistic->violation;
            if (statistic->kind == STATISTIC_FINE)
                session->fine++;
            else
                session->plain++;
        }
        /* What no check could look at has not passed: every answer that one needs was "unsupported", or unclaimed. */
        if (family_scripted(result->cell->family) && result->evidence.count == 0)
            skip(result, "no selected check has anything to judge: the sampler answered too little, or "
                         "claims too little");
    }
    return 0;
}

/* Stage two, on fresh draws: only what was flagged, at what is left of the error budget. */
static int judge_stage_two(struct session *session, struct cell_result *result, struct trouble *trouble)
{
    struct evidence fresh = {0};
    if (evaluate(session, result, 2, &fresh, trouble)) {
        evidence_free(&fresh);
        return -1;
    }
    for (size_t s = 0; s < result->evidence.count; s++) {
        struct statistic *statistic = &result->evidence.statistic[s];
        const struct statistic *again = evidence_find(&fresh, statistic);
        if (again && again->violation) { /* seen only now: no probability needed */
            statistic->violation = statistic->flagged = statistic->confirmed = true;
            memcpy(statistic->text, again->text, sizeof statistic->text);
        } else if (again && statistic->flagged && !statistic->violation) {
            statistic->tail2 = again->tail;
            statistic->looked_twice = true;
            statistic->level = budget_level(2, statistic->kind, session->plain);
            statistic->confirmed = again->tail.p <= statistic->level;
            if (statistic->confirmed) {
                statistic->value = again->value;
                statistic->expected = again->expected;
                memcpy(statistic->text, again->text, sizeof statistic->text);
            }
        }
    }
    evidence_free(&fresh);
    return 0;
}

/* Over all ids, or over bins, without asymptotics. */
static void certify_cells(struct cell_result *result, const struct partition *all)
{
    const struct plan_cell *cell = result->cell;
    const struct cell_counts *counts = &result->counts[0];
    struct partition *bins = partition_bins(result->pmf, counts->vocab);
    const struct partition *over = cell->certify == CERTIFY_IDS ? all : bins;
    uint64_t *observed = allocate(over->cells, sizeof *observed);
    partition_count(over, counts->pooled, observed);
    uint64_t outside = support_test(counts->pooled, result->pmf, counts->vocab).draws;
    result->bound = tv_upper_bound(observed, outside, over->mass, over->cells, BUDGET_CERTIFICATE);
    result->bound_cells = over->cells;
    result->draws_needed = tv_draws_needed(over->mass, over->cells, cell->epsilon, BUDGET_CERTIFICATE);
    free(observed);
    partition_free(bins);
}

static void certify_asymptotically(struct cell_result *result, size_t cells)
{
    const struct plan_cell *cell = result->cell;
    const struct cell_counts *counts = &result->counts[0];
    result->bound.upper =
        tv_certificate(counts->pooled, result->pmf, counts->vocab, cell->epsilon, BUDGET_CERTIFICATE);
    result->bound_cells = cells;
    result->draws_needed =
        tv_certificate_draws_needed(result->pmf, counts->vocab, cell->epsilon, BUDGET_CERTIFICATE);
    if (isnan(result->bound.upper) || isnan(result->draws_needed))
        abort();
}

/* The certificate looks once, at stage one's draws, whatever the second stage does. */
static void certify(struct cell_result *result)
{
    const struct plan_cell *cell = result->cell;
    if (family_scripted(cell->family))
        return;
    if (cell->family == FAMILY_AGREEMENT) {
        result->mismatch_bound =
            agreement_upper_bound(result->agreement.mismatches, result->agreement.rows, BUDGET_CERTIFICATE);
        return;
    }
    size_t vocab = cell->table->vocab;
    const struct cell_counts *counts = &result->counts[0];
    struct partition *all = partition_ids(result->pmf, vocab);
    uint64_t *observed = allocate(all->cells, sizeof *observed);
    partition_count(all, counts->pooled, observed);
    const double total_variation = tv_observed(observed, all->mass, all->cells);
    result->tv_expected = tv_expected(all->mass, all->cells, (double)counts->draws);
    result->tv_deviation = tv_deviation(all->mass, all->cells, (double)counts->draws);
    if (cell->certify == CERTIFY_IDS_ASYMPTOTIC)
        certify_asymptotically(result, all->cells);
    else
        certify_cells(result, all);
    result->bound.observed = total_variation; /* shown over all ids, bounded over the certificate's cells */
    free(observed);
    partition_free(all);
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int run_stages(struct session *session, struct worker *first, struct trouble *trouble)
{
    double start = seconds_now();
    recorder_hello(session->options.recorder, &session->sut.hello, session->plan, &session->options);
    int failed = session_prepare(session, trouble) || stage_run(session, 1, first, start, trouble) ||
                 judge_stage_one(session, trouble);
    if (!failed) {
        for (size_t i = 0; i < session->plan->cells; i++)
            if (session->cell[i].selected && session->cell[i].state == CELL_RAN)
                certify(&session->cell[i]);
        if (first) /* the second look is at a fresh process: what is wrong only at first must not age out */
            worker_stop(first);
        failed = stage_run(session, 2, NULL, start, trouble);
        for (size_t i = 0; i < session->plan->cells && !failed; i++)
            if (session->cell[i].selected && session->cell[i].flagged && session->cell[i].state == CELL_RAN)
                failed = judge_stage_two(session, &session->cell[i], trouble);
    }
    session->seconds = seconds_now() - start;
    session->interrupted = worker_stop_all;
    return failed ? -1 : 0;
}

int session_run(struct session *session, const struct plan *plan, const struct spec *spec,
                const struct session_options *options, struct trouble *trouble)
{
    *session = (struct session){.plan = plan, .spec = spec, .options = *options};
    struct worker first;
    if (worker_stop_all)
        return trouble_set(trouble, EXIT_INTERRUPTED, "interrupted");
    if (spec->recording) {
        session->recording = allocate(1, sizeof *session->recording);
        if (recording_open(session->recording, (char *[]){spec->recording}, 1, trouble))
            return -1;
        return session_replay(session, plan, session->recording, options, trouble);
    }
    int failed = worker_start(&first, spec, plan, options->timeout, &session->sut, trouble) ||
                 run_stages(session, &first, trouble);
    worker_stop(&first);
    return failed ? -1 : 0;
}

int session_replay(struct session *session, const struct plan *plan, struct recording *recording,
                   const struct session_options *options, struct trouble *trouble)
{
    const struct spec *spec = session->spec;
    *session = (struct session){.plan = plan, .spec = spec, .options = *options, .recording = recording};
    const char *hash = frame_get(&recording->hello, "plan_sha256"),
               *name = frame_get(&recording->hello, "plan");
    const char *seed = frame_get(&recording->hello, "seed"); /* a recorder's; a worker does not tell */
    uint64_t number = plan->seed;
    struct frame hello = recording->hello;
    recording->hello = (struct frame){0}; /* sut_read takes it over */
    if (sut_read(&session->sut, &hello, spec ? spec->text : "recording", trouble))
        return -1;
    if (!hash || strcmp(hash, plan->sha256))
        return trouble_set(trouble, EXIT_USAGE,
                           "the recording was made for plan '%s' (sha256 %.12s...), not for '%s' (%.12s...)",
                           name ? name : "?", hash ? hash : "?", plan->name, plan->sha256);
    if (!seed && options->reseeded)
        return trouble_set(trouble, EXIT_USAGE, "--seed: a recording was made with its plan's own seed");
    if (seed && (!frame_get_u64(&session->sut.hello, "seed", &number) || number != plan->seed))
        return trouble_set(trouble, EXIT_USAGE, "the recording was made with --seed %s, not %llu", seed,
                           (unsigned long long)plan->seed);
    return run_stages(session, NULL, trouble);
}

void session_free(struct session *session)
{
    for (size_t i = 0; session->cell && i < session->plan->cells; i++) {
        struct cell_result *result = &session->cell[i];
        for (int stage = 0; stage < 2; stage++) {
            for (size_t b = 0; b < PLAN_BATCHES_MAX; b++)
                free(result->counts[stage].batch[b]);
            free(result->counts[stage].pooled);
            script_free(&result->script[stage]);
        }
        free(result->values);
        free(result->bits);
        free(result->row_index);
        free(result->pmf);
        free(result->token);
        evidence_free(&result->evidence);
    }
    free(session->cell);
    if (session->recording && session->spec && session->spec->recording) {
        recording_free(session->recording);
        free(session->recording);
    }
    sut_free(&session->sut);
    *session = (struct session){0};
}
