/* boundary.c: recompute the files of golden/boundary/ twice: with the kernels, which draw, and with the oracle, which judges.
 *
 * Model, kernels and oracle were written apart, so the two that agree show where the error is, and the message says so. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/row.h"
#include "suite/golden/boundary_case.h"
#include "suite/golden/outcome.h"

/* The oracle is in double, the golden has 15 digits. */
#define ORACLE_TOLERANCE 1e-12

static const char *const group_keys[] = {NULL};
static const char *const case_keys[] = {"kind",       "denominator", "values", "temperature",
                                        "parameters", "expect",      NULL};

/* The parameter that a kernel's status speaks of: one of several, the one that the golden names. */
static const char *refused_by(enum sampler_status status, const char *golden)
{
    static const struct {
        enum sampler_status status;
        const char *names[4];
    } table[] = {{SAMPLER_BAD_TEMPERATURE, {"temperature"}},
                 {SAMPLER_BAD_TOP_K, {"top_k"}},
                 {SAMPLER_BAD_TOP_P, {"top_p"}},
                 {SAMPLER_BAD_MIN_P, {"min_p"}},
                 {SAMPLER_BAD_PENALTY, {"repetition_penalty", "frequency_penalty", "presence_penalty"}},
                 {SAMPLER_BAD_TOKEN, {"prompt", "output", "stop"}},
                 {SAMPLER_BAD_MIN_TOKENS, {"min_tokens"}}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].status != status)
            continue;
        for (const char *const *name = table[i].names; golden && *name; name++)
            if (strcmp(*name, golden) == 0)
                return *name;
        return table[i].names[0];
    }
    return sampler_status_text(status);
}

static void answer_of(const float *logits, const double *mass, size_t vocab, struct boundary_answer *answer)
{
    double total = 0;
    for (size_t i = 0; i < vocab; i++)
        total += mass[i];
    for (size_t i = 0; i < vocab; i++)
        if (mass[i] > 0) {
            answer->id[answer->kept] = (int32_t)i;
            answer->mass[answer->kept] = mass[i] / total;
            answer->logit[answer->kept++] = logits ? (double)logits[i] : (double)NAN;
        }
}

/* Bans and biases as the kernels take them. */
struct dense {
    float bias[BOUNDARY_VOCAB_MAX];
    uint8_t allowed[BOUNDARY_VOCAB_MAX];
};

static struct penalties penalties_of(const struct law_edits *edits, size_t vocab, struct dense *dense)
{
    struct penalties penalties = penalties_none();
    for (size_t i = 0; i < vocab; i++) {
        dense->bias[i] = 0;
        dense->allowed[i] = 1;
    }
    for (size_t i = 0; i < edits->banned.count; i++)
        dense->allowed[edits->banned.id[i]] = 0;
    for (size_t i = 0; i < edits->biases; i++)
        dense->bias[edits->bias[i].id] += (float)edits->bias[i].value;
    penalties.repetition = edits->repetition;
    penalties.frequency = edits->frequency;
    penalties.presence = edits->presence;
    penalties.prompt = edits->prompt.id;
    penalties.prompt_tokens = edits->prompt.count;
    penalties.output = edits->output.id;
    penalties.output_tokens = edits->output.count;
    penalties.stop = edits->stop.id;
    penalties.stops = edits->stop.count;
    penalties.min_tokens = edits->min_tokens;
    penalties.logit_bias = dense->bias;
    penalties.allowed = dense->allowed;
    return penalties;
}

/* The weights that the kernels draw from. penalty_rule NULL: a file of filters. */
static int ask_kernels(const struct boundary_case *of, const struct filter_rule *filter_rule,
                       const struct penalty_rule *penalty_rule, const char *golden_refuses,
                       struct boundary_answer *answer)
{
    struct dense dense;
    struct penalties penalties = penalties_of(&of->parameters.edits, of->vocab, &dense);
    struct sampler_parameters parameters = sampler_parameters_none();
    parameters.temperature = of->temperature;
    parameters.filter = (struct filter_parameters){of->parameters.limits.top_k, of->parameters.limits.top_p,
                                                   of->parameters.limits.min_p};
    parameters.filter_rule = filter_rule;
    parameters.penalty_rule = penalty_rule;
    parameters.penalties = penalty_rule ? &penalties : NULL;
    enum sampler_status status;
    struct sampler_row *row =
        sampler_row_make(RULE_RACE, of->kind == VALUE_LOGITS ? SAMPLER_LOGITS : SAMPLER_PROBABILITIES,
                         of->values, of->vocab, &parameters, &status);
    if (!row) {
        if (status == SAMPLER_NO_MEMORY)
            return -1;
        answer->refused = refused_by(status, golden_refuses);
        return 0;
    }
    float logits[BOUNDARY_VOCAB_MAX];
    double mass[BOUNDARY_VOCAB_MAX];
    memcpy(logits, of->values, of->vocab * sizeof *logits);
    if (penalty_rule)
        penalty_row(penalty_rule, &penalties, (float)of->temperature, logits, of->vocab);
    for (size_t i = 0; i < of->vocab; i++)
        mass[i] = row->token != SAMPLER_INVALID_ROW && kernel_weight_valid(row->weights[i])
                      ? (double)row->weights[i]
                      : 0;
    answer_of(penalty_rule ? logits : NULL, mass, of->vocab, answer);
    sampler_row_free(row);
    return 0;
}

static void ask_oracle(const struct boundary_case *of, const struct law_filter *filter,
                       const struct law_editor *editor, struct boundary_answer *answer)
{
    double mass[BOUNDARY_VOCAB_MAX], logits[BOUNDARY_VOCAB_MAX];
    uint8_t kept[BOUNDARY_VOCAB_MAX];
    answer->refused = law_parameters_refused(&of->parameters, of->temperature, of->vocab);
    if (answer->refused)
        return;
    struct law_filtered result =
        law_under(filter ? filter : law_filter_at(0), editor ? editor : law_editor_at(0), &of->parameters,
                  of->kind, of->values, of->vocab, of->temperature, mass, kept);
    answer_of(NULL, mass, of->vocab, answer);
    answer->exact = result.mass_margin == 0 || result.weight_margin == 0;
    if (!editor)
        return;
    law_edited(editor, &of->parameters.edits, of->temperature, of->values, of->vocab, logits);
    for (size_t i = 0; i < answer->kept; i++)
        answer->logit[i] = logits[answer->id[i]];
}

static int compare(const struct golden_case *this, const char *rule, const struct boundary_answer *golden,
                   const struct boundary_answer *kernels, const struct boundary_answer *oracle)
{
    struct boundary_difference by_kernels, by_oracle;
    bool kernels_differ = boundary_differs(golden, kernels, BOUNDARY_FP32_TOLERANCE, &by_kernels);
    bool oracle_differs = boundary_differs(golden, oracle, ORACLE_TOLERANCE, &by_oracle);
    const struct boundary_difference *difference = oracle_differs ? &by_oracle : &by_kernels;
    char field[160], ours[400];
    if (!kernels_differ && !oracle_differs) {
        if (golden->exact == oracle->exact)
            return 0;
        snprintf(field, sizeof field, "%s: exact", rule);
        return golden_disagrees(this, field, golden->exact ? "true" : "false",
                                oracle->exact ? "true, by the oracle" : "false, by the oracle");
    }
    snprintf(field, sizeof field, "%s: %s", rule, difference->field);
    snprintf(ours, sizeof ours, "%s: %s", difference->ours,
             kernels_differ && oracle_differs
                 ? "by the kernels and by the oracle, written apart: suspect the golden's model"
             : kernels_differ ? "by the kernels; the oracle agrees with the golden: suspect the kernels"
                              : "by the oracle; the kernels agree with the golden: suspect the oracle");
    return golden_disagrees(this, field, difference->golden, ours);
}

/* `rule` of both tables: of filters, or of penalties. */
static int recompute_rule(const struct golden_case *this, const struct boundary_case *of, const char *rule,
                          const struct filter_rule *filter_rule, const struct penalty_rule *penalty_rule)
{
    struct boundary_answer golden, kernels = {0}, oracle = {0};
    bool found;
    const struct law_filter *filter = filter_rule ? law_filter_of(rule) : NULL;
    const struct law_editor *editor = penalty_rule ? law_editor_of(rule) : NULL;
    if (boundary_expectation(&this->at, of, rule, &found, &golden, &this->outcome->damaged))
        return -1;
    if (!found)
        return json_trouble(&this->at, &this->outcome->damaged, "\"expect\" lacks the rule %s", rule);
    if (!filter && !editor)
        return golden_disagrees(this, rule, "this rule", "nothing: the oracle does not know it");
    if (ask_kernels(of, filter_rule, penalty_rule, golden.refused, &kernels))
        return json_trouble(&this->at, &this->outcome->damaged, "out of memory");
    ask_oracle(of, filter, editor, &oracle);
    return compare(this, rule, &golden, &kernels, &oracle);
}

static int recompute_filters(const struct golden_case *this, const void *shared)
{
    (void)shared;
    struct boundary_case of;
    int failed = boundary_case_read(&of, &this->at, &this->outcome->damaged);
    for (size_t i = 0; !failed && filter_rule_at(i); i++)
        failed = recompute_rule(this, &of, filter_rule_at(i)->name, filter_rule_at(i), NULL);
    boundary_case_free(&of);
    return failed;
}

static int recompute_penalties(const struct golden_case *this, const void *shared)
{
    (void)shared;
    struct boundary_case of;
    int failed = boundary_case_read(&of, &this->at, &this->outcome->damaged);
    for (size_t i = 0; !failed && penalty_rule_at(i); i++)
        failed = recompute_rule(this, &of, penalty_rule_at(i)->name, NULL, penalty_rule_at(i));
    boundary_case_free(&of);
    return failed;
}

#define BOUNDARY(symbol, file, text, function)                                                               \
    const struct golden_check symbol = {.family = "boundary",                                                \
                                        .check = file,                                                       \
                                        .what = text,                                                        \
                                        .group_keys = group_keys,                                            \
                                        .case_keys = case_keys,                                              \
                                        .recompute = function}

BOUNDARY(golden_boundary_nucleus, "nucleus", "rows under top_p, by every rule", recompute_filters);
BOUNDARY(golden_boundary_top_k, "top-k", "rows under top_k, by every rule", recompute_filters);
BOUNDARY(golden_boundary_min_p, "min-p", "rows under min_p, by every rule", recompute_filters);
BOUNDARY(golden_boundary_combined, "combined", "rows under several filters and temperatures",
         recompute_filters);
BOUNDARY(golden_boundary_penalties, "penalties", "rows under penalties, biases and bans",
         recompute_penalties);
BOUNDARY(golden_boundary_degenerate, "degenerate", "values to refuse, and rows that are hardly rows",
         recompute_filters);
