/* cases.c: choose the cases that a sampler can be asked, and give each a message and a row. */
#include "suite/checks/boundary/cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/error_budget.h"
#include "suite/judge/request.h"

/* The rule that the contract names, if its golden knows it. */
static const char *rule_of(const struct sut *sut, bool penalties, char *text, size_t bytes)
{
    if (!sut_claim(sut, penalties ? "penalties" : "filters", text, bytes))
        return NULL;
    return penalties ? (law_editor_of(text) ? text : NULL) : law_filter_of(text) ? text : NULL;
}

static bool claims(const struct sut *sut, const char *key, const char *value)
{
    char text[64];
    return sut_claim(sut, key, text, sizeof text) && strcmp(text, value) == 0;
}

/* Every value as this sampler's dtype has it. */
static bool fits(const struct boundary_case *of, enum value_dtype dtype)
{
    for (size_t i = 0; i < of->vocab; i++)
        if (!isnan(of->values[i]) && law_round(of->values[i], dtype) != of->values[i])
            return false;
    return true;
}

/* Rows that say what a sampler does with nonsense: NaN, infinite or negative weights, no id at all. */
static bool needs_policy(const struct boundary_ask *ask)
{
    for (size_t i = 0; i < ask->of.vocab; i++) {
        float value = ask->of.values[i];
        bool masked = ask->of.kind == VALUE_LOGITS && value < 0 && isinf(value);
        if (!masked && (!isfinite(value) || (ask->of.kind == VALUE_PROBABILITIES && value < 0)))
            return true;
    }
    return !ask->expect.refused && ask->expect.kept == 0;
}

static bool is_normalised(const struct boundary_case *of)
{
    double total = 0;
    for (size_t i = 0; i < of->vocab; i++)
        total += of->values[i] > 0 ? (double)of->values[i] : 0;
    return total == 1;
}

/* Weights for a sampler that takes logits only: their logarithms, if that leaves the same ids. */
static bool as_logits(struct boundary_ask *ask, const char *rule, enum value_dtype dtype)
{
    double pmf[BOUNDARY_VOCAB_MAX];
    uint8_t kept[BOUNDARY_VOCAB_MAX];
    struct boundary_case *of = &ask->of;
    for (size_t i = 0; i < of->vocab; i++)
        of->values[i] = of->values[i] > 0 ? law_round(logf(of->values[i]), dtype) : -INFINITY;
    of->kind = VALUE_LOGITS;
    if (ask->expect.refused)
        return true;
    const struct law_filter *filter = rule ? law_filter_of(rule) : law_filter_at(0);
    struct law_filtered left = law_under(filter, law_editor_at(0), &of->parameters, VALUE_LOGITS, of->values,
                                         of->vocab, 1, pmf, kept);
    if (left.kept != ask->expect.kept || !law_decided(&left))
        return false;
    for (size_t i = 0; i < ask->expect.kept; i++) {
        if (!kept[ask->expect.id[i]])
            return false;
        ask->expect.mass[i] = pmf[ask->expect.id[i]];
    }
    return true;
}

/* Can it be asked at all? Then what is handed over is settled. */
static bool choose(struct boundary_ask *ask, const struct sut *sut, const char *rule)
{
    if (request_lacks(&ask->of.parameters, sut) ||
        (needs_policy(ask) && !claims(sut, "nan_policy", "never drawn")))
        return false;
    if (ask->of.kind == VALUE_LOGITS)
        return sut->takes[VALUE_LOGITS] && (ask->of.temperature == 1 || sut->temperature) &&
               fits(&ask->of, sut->dtype);
    if (!sut->takes[VALUE_PROBABILITIES])
        return !needs_policy(ask) && as_logits(ask, rule, sut->dtype);
    bool any_scale = is_normalised(&ask->of) || needs_policy(ask) || claims(sut, "weights", "any scale");
    return any_scale && fits(&ask->of, sut->dtype);
}

static int read_case(struct boundary_asks *asks, const struct json_cursor *at, const struct sut *sut,
                     const char *rule, struct trouble *trouble)
{
    struct boundary_ask *grown = realloc(asks->ask, (asks->count + 1) * sizeof *grown);
    if (!grown)
        abort();
    asks->ask = grown;
    struct boundary_ask *ask = &grown[asks->count];
    *ask = (struct boundary_ask){0};
    bool found;
    int failed = boundary_case_read(&ask->of, at, trouble) ||
                 boundary_expectation(at, &ask->of, rule, &found, &ask->expect, trouble);
    if (!failed && found && choose(ask, sut, rule))
        asks->count++;
    else
        boundary_case_free(&ask->of);
    return failed ? -1 : 0;
}

static bool is_alone(const struct boundary_ask *ask)
{
    return ask->expect.refused || ask->expect.kept == 0;
}

/* Messages: all rows of one kind and length, but for those that must or may be refused. */
static void place(struct boundary_asks *asks, int stage)
{
    for (size_t i = 0; i < asks->count; i++) {
        struct boundary_ask *ask = &asks->ask[i];
        if (is_alone(ask))
            snprintf(ask->line, sizeof ask->line, "%zu-%.24s", i, ask->of.id); /* no other line's name */
        else
            snprintf(ask->line, sizeof ask->line, "%s-of-%zu",
                     ask->of.kind == VALUE_LOGITS ? "logits" : "weights", ask->of.vocab);
        ask->draws =
            is_alone(ask) ? BOUNDARY_DRAWS_ALONE : BOUNDARY_DRAWS * (stage == 1 ? 1 : BUDGET_SECOND_DRAWS);
    }
    for (size_t i = 0; i < asks->count; i++)
        for (size_t j = 0; j < asks->count; j++)
            if (strcmp(asks->ask[i].line, asks->ask[j].line) == 0) {
                asks->ask[i].row += j < i;
                asks->ask[i].rows++;
            }
}

int boundary_asks_open(struct boundary_asks *asks, const char *golden_dir, const char *cell,
                       const struct sut *sut, int stage, struct trouble *trouble)
{
    char path[4200], text[64];
    struct json_cursor groups, cases;
    size_t group_count, case_count;
    *asks = (struct boundary_asks){0};
    snprintf(path, sizeof path, "%s/boundary/%s.json", golden_dir, cell);
    const char *rule = rule_of(sut, strcmp(cell, "penalties") == 0, text, sizeof text);
    if (json_open(&asks->file, path, EXIT_DAMAGED, trouble))
        return -1;
    struct json_cursor root = json_root(&asks->file);
    if (json_array(&root, "groups", &groups, &group_count, trouble))
        return -1;
    for (size_t g = 0; g < group_count; g++) {
        struct json_cursor group = json_at(&groups, g);
        if (json_array(&group, "cases", &cases, &case_count, trouble))
            return -1;
        struct json_cursor at = json_at(&cases, 0);
        for (size_t i = 0; i < case_count; i++, at = json_next(&at))
            if (read_case(asks, &at, sut, rule, trouble))
                return -1;
    }
    place(asks, stage);
    return 0;
}

void boundary_asks_free(struct boundary_asks *asks)
{
    for (size_t i = 0; i < asks->count; i++)
        boundary_case_free(&asks->ask[i].of);
    free(asks->ask);
    json_close(&asks->file);
    *asks = (struct boundary_asks){0};
}
