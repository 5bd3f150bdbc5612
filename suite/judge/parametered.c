/* parametered.c: the law of a cell under parameters, by the rules that a sampler claims. */
#include "suite/judge/parametered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME_LAW 1e-12 /* rules that keep the same ids differ by rounding only */

bool parametered_skip(struct cell_result *result, const struct sut *sut, char *why, size_t why_bytes)
{
    const struct plan_cell *cell = result->cell;
    const char *lacks = request_lacks(&cell->parameters, sut);
    if (lacks) {
        snprintf(why, why_bytes, "the sampler has no %s", lacks);
        return true;
    }
    if (!law_edits_any(&cell->parameters.edits))
        return false;
    if (!sut->takes[VALUE_LOGITS])
        snprintf(why, why_bytes, "the sampler takes no logits to edit");
    result->kind = VALUE_LOGITS;
    return !sut->takes[VALUE_LOGITS];
}

/* The rules that a sampler may mean: the one it names, or all. */
struct meant {
    const struct law_filter *filter;
    const struct law_editor *editor;
};

static struct meant claimed(const struct sut *sut, const struct law_parameters *parameters)
{
    struct meant meant = {NULL, NULL};
    char text[64];
    if (!law_limits_any(&parameters->limits))
        meant.filter = law_filter_at(0);
    else if (sut_claim(sut, "filters", text, sizeof text))
        meant.filter = law_filter_of(text);
    if (!law_edits_any(&parameters->edits))
        meant.editor = law_editor_at(0);
    else if (sut_claim(sut, "penalties", text, sizeof text))
        meant.editor = law_editor_of(text);
    return meant;
}

static bool same_law(const double *a, const double *b, size_t vocab)
{
    for (size_t i = 0; i < vocab; i++)
        if ((a[i] > 0) != (b[i] > 0) || fabs(a[i] - b[i]) > SAME_LAW)
            return false;
    return true;
}

/* One pair of rules: its law into *other the first time, compared with it after. */
static int consider(struct cell_result *result, const struct law_filter *filter,
                    const struct law_editor *editor, double *law, uint8_t *kept, bool *first, bool *same,
                    struct trouble *trouble)
{
    const struct plan_cell *cell = result->cell;
    const size_t vocab = cell->table->vocab;
    const double temperature = result->kind == VALUE_LOGITS ? cell->temperature : 1;
    struct law_filtered left = law_under(filter, editor, &cell->parameters, result->kind, result->values,
                                         vocab, temperature, law, kept);
    if (!law_decided(&left) && result->bits) { /* the plan may be sound, and its rounded rows not */
        result->state = CELL_SKIPPED;
        snprintf(result->why, sizeof result->why,
                 "rounded to 16 bits, the row has a mass or a weight too near a cut of the rule %s",
                 law_filter_name(filter));
        return 0;
    }
    if (!law_decided(&left))
        return trouble_set(
            trouble, EXIT_USAGE,
            "cell %s: by the rule %s a cut lies %.1e from a mass or %.1e from a weight; fp32 need not decide "
            "less than %.1e and %.1e: choose another top_k, top_p or min_p",
            cell->name, law_filter_name(filter), left.mass_margin, left.weight_margin, LAW_MASS_MARGIN,
            LAW_WEIGHT_MARGIN);
    if (left.kept == 0)
        return trouble_set(trouble, EXIT_USAGE, "cell %s: its parameters leave no id", cell->name);
    if (*first)
        memcpy(result->pmf, law, vocab * sizeof *law);
    else
        *same &= same_law(result->pmf, law, vocab);
    *first = false;
    return 0;
}

static void request(struct cell_result *result)
{
    const struct law_parameters **of = script_memory(&result->script[0], result->rows * sizeof *of);
    for (size_t r = 0; r < result->rows; r++)
        of[r] = &result->cell->parameters;
    result->parameters =
        request_parameters_make(&result->script[0], of, result->rows, result->cell->table->vocab,
                                result->row_index, PLAN_CHUNK_DRAWS_MAX);
}

int parametered_prepare(struct cell_result *result, const struct sut *sut, struct trouble *trouble)
{
    const struct meant meant = claimed(sut, &result->cell->parameters);
    const size_t vocab = result->cell->table->vocab;
    double *law = script_memory(&result->script[0], vocab * sizeof *law);
    uint8_t *kept = script_memory(&result->script[0], vocab);
    bool first = true, same = true;
    for (size_t f = 0; law_filter_at(f) && same; f++)
        for (size_t e = 0; law_editor_at(e) && same; e++) {
            if ((meant.filter && meant.filter != law_filter_at(f)) ||
                (meant.editor && meant.editor != law_editor_at(e)))
                continue;
            if (consider(result, law_filter_at(f), law_editor_at(e), law, kept, &first, &same, trouble))
                return -1;
            if (result->state == CELL_SKIPPED)
                return 0;
        }
    if (same)
        request(result);
    else {
        result->state = CELL_SKIPPED;
        snprintf(result->why, sizeof result->why,
                 "the contract names no rule of %s, and the rules disagree here",
                 meant.filter ? "penalties" : "filters");
    }
    return 0;
}
