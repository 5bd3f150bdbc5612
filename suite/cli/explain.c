/* explain.c: `samplegate explain CHECK`: who is hurt when it fails, what it computes, and the smallest effect
 * it sees.
 *
 * The effects are those of the plan's own draws: the check is evaluated on the counts an ideal sampler would
 * show. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/sampler.h"
#include "suite/cli/cli.h"
#include "suite/plural.h"

struct arguments {
    struct cli_options common;
    const char *check;
};

enum { KEY_GOLDEN = 256 };
static const struct argp_option options[] = {
    {"plan", 'p', "NAME|FILE", 0, "The plan whose cells and draws are meant (default gate)", 0},
    {"golden", KEY_GOLDEN, "DIR", 0, "Goldens and plans", 0},
    {0}};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'p':
        arguments->common.plan = text;
        break;
    case KEY_GOLDEN:
        arguments->common.golden = text;
        break;
    case ARGP_KEY_ARG:
        if (arguments->check)
            argp_error(state, "unexpected argument '%s'", text);
        arguments->check = text;
        break;
    case ARGP_KEY_END:
        if (!arguments->check)
            argp_error(state, "a check is needed; `samplegate list` prints them");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Every count its expectation, rounded; what is lost by that is carried on, as in a wide row each would round to 0. */
static void spread(const double *pmf, size_t vocab, uint64_t draws, uint64_t *counts)
{
    double carried = 0;
    for (size_t i = 0; i < vocab; i++) {
        const double expected = (double)draws * pmf[i], rounded = round(expected);
        carried += expected - rounded;
        const double extra = pmf[i] > 0 && fabs(carried) >= 1 && rounded + carried >= 0 ? trunc(carried) : 0;
        carried -= extra;
        counts[i] = (uint64_t)(rounded + extra);
    }
}

/* What an ideal sampler would show. */
static void ideal_counts(struct cell_result *result, const struct plan *plan)
{
    struct cell_counts *counts = &result->counts[0];
    for (size_t b = 0; b < plan->batches; b++) {
        double share = (double)plan->batch[b].numerator / (double)plan->batch[b].denominator;
        counts->batch_draws[b] = (uint64_t)(share * (double)result->cell->draws);
        spread(result->pmf, counts->vocab, counts->batch_draws[b], counts->batch[b]);
    }
    counts->draws = result->cell->draws;
    spread(result->pmf, counts->vocab, counts->draws, counts->pooled);
}

/* The reference's draws as the answer to every line of a script. */
static void reference_answers(struct cell_result *result)
{
    struct script *script = &result->script[0];
    struct sampler_row *row = sampler_row_new(
        RULE_RACE, result->kind == VALUE_LOGITS ? SAMPLER_LOGITS : SAMPLER_PROBABILITIES, result->values,
        result->cell->table->vocab, result->kind == VALUE_LOGITS ? result->cell->temperature : 1);
    for (size_t i = 0; row && i < script->lines; i++) {
        struct script_line *line = &script->line[i];
        int32_t *token = script_memory(script, line->draws * sizeof *token);
        sampler_draw(row, i, 0, line->draws, token);
        line->token = token;
        line->state = LINE_ANSWERED;
    }
    sampler_row_free(row);
}

static void explain_cell(const struct session *session, struct cell_result *result, const struct check *check)
{
    if (result->script[0].lines && result->cell->family != FAMILY_DEPENDENCE &&
        result->cell->family != FAMILY_BOUNDARY) {
        printf("    %-19s %9llu  %zu message%s\n", result->cell->name,
               (unsigned long long)script_draws(&result->script[0]), result->script[0].lines,
               PLURAL(result->script[0].lines));
        return;
    }
    if (result->state == CELL_SKIPPED) { /* what is asked depends on the sampler's claims */
        printf("    %-19s %9s  one wrong answer is enough\n", result->cell->name, "");
        return;
    }
    struct evidence evidence = {0};
    struct check_input input = {.plan = session->plan,
                                .cell = result->cell,
                                .pmf = result->pmf,
                                .vocab = result->cell->table ? result->cell->table->vocab : 0,
                                .stage = 1,
                                .floor = FLOOR_STAGE_ONE,
                                .counts = &result->counts[0],
                                .agreement = &result->agreement,
                                .script = &result->script[0],
                                .sut = &session->sut};
    if (result->cell->family == FAMILY_EQUIVALENCE)
        ideal_counts(result, session->plan);
    if (result->cell->family == FAMILY_DEPENDENCE)
        reference_answers(result);
    check->evaluate(check, &input, &evidence);
    for (size_t s = 0; s < evidence.count; s++)
        printf("    %-19s %9llu  %-20s %s\n", s ? "" : result->cell->name,
               (unsigned long long)(result->cell->draws ? result->cell->draws
                                                        : script_draws(&result->script[0])),
               evidence.statistic[s].name,
               *evidence.statistic[s].smallest_effect ? evidence.statistic[s].smallest_effect
                                                      : "one case is enough");
    evidence_free(&evidence);
}

static void explain(const struct session *session, const struct check *check)
{
    printf("%s\n  promises    %s\n  who is hurt %s\n  sees        %s\n  cannot see  %s\n  must catch  mutant "
           "%s on cell %s\n"
           "  expectation golden/%s\n",
           check->key, check->sentence, check->effect, check->sees, check->blind, check->mutant,
           check->mutant_cell, check->golden);
    printf("  smallest effect seen 999 times in 1,000 at stage one's level %.0e, by cell of plan %s:\n",
           BUDGET_STAGE_ONE, session->plan->name);
    size_t cells = 0;
    for (size_t i = 0; i < session->plan->cells; i++)
        if (session->cell[i].selected && check_looks_at(check, session->cell[i].cell)) {
            explain_cell(session, &session->cell[i], check);
            cells++;
        }
    if (!cells)
        printf("    none asks for it; --plan %.*s has cells that do\n", (int)strcspn(check->mutant_cell, "/"),
               check->mutant_cell);
}

/* A sampler that takes everything and claims the first rule of each kind, so that every cell is there. */
static void everything(struct sut *sut)
{
    char words[256] = "", contract[256];
    for (const char *const *word = sut_capability_words; *word; word++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", *words ? " " : "", *word);
    snprintf(contract, sizeof contract,
             "{\"filters\": \"%s\", \"penalties\": \"%s\", \"nan_policy\": \"never drawn\"}",
             law_filter_name(law_filter_at(0)), law_editor_name(law_editor_at(0)));
    frame_set(&sut->hello, "capabilities", words);
    frame_set(&sut->hello, "contract", contract);
    sut->takes[VALUE_LOGITS] = sut->takes[VALUE_PROBABILITIES] = sut->noise = sut->temperature = true;
}

int cli_explain(int argc, char **argv)
{
    static const struct argp argp = {options,
                                     parse,
                                     "CHECK",
                                     "Who is hurt when CHECK fails, what it sees, and the smallest effect it "
                                     "sees on each cell of the plan.",
                                     NULL,
                                     NULL,
                                     NULL};
    struct arguments arguments = {.common = cli_defaults};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    struct cli_options *common = &arguments.common;
    common->session.checks = arguments.check;
    common->check_word = "CHECK";
    struct trouble trouble = {0};
    struct plan plan = {0};
    if (cli_plan(&plan, common, &trouble)) {
        plan_free(&plan);
        return cli_trouble(&trouble);
    }
    struct session session = {.plan = &plan, .options = common->session};
    everything(&session.sut);
    int failed = session_prepare(&session, &trouble);
    for (size_t i = 0; i < check_registry_count && !failed; i++)
        if (check_selected(&check_registry[i], arguments.check))
            explain(&session, &check_registry[i]);
    session_free(&session);
    plan_free(&plan);
    return cli_finish(EXIT_PASS, &trouble);
}
