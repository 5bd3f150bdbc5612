/* golden.c: the cases of golden/determinism/tokens.json that a sampler can be asked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/checks/determinism/lines.h"

static bool same_table(const struct table *a, const struct table *b)
{
    return a->vocab == b->vocab && strcmp(a->name, b->name) == 0 &&
           memcmp(a->logits, b->logits, a->vocab * sizeof *a->logits) == 0;
}

/* Its bounds hold for fp32 values; a sampler of probabilities is handed those at the case's temperature. */
static bool can_be_asked(const struct sut *sut, const struct draws_request *request)
{
    const bool filtered = request->top_k != -1 || request->top_p != 1 || request->min_p != 0;
    return sut->dtype == VALUE_F32 && (request->top_k == -1 || sut_can(sut, "top_k")) &&
           (request->top_p == 1 || sut_can(sut, "top_p")) && (request->min_p == 0 || sut_can(sut, "min_p")) &&
           (!filtered || keying_filters(sut)) &&
           (request->temperature == 1 || sut->kind == VALUE_PROBABILITIES || sut->temperature);
}

static int read_cases(const struct json_cursor *group, const struct plan_cell *cell, const struct sut *sut,
                      struct determinism_golden *golden, struct trouble *trouble)
{
    struct json_cursor cases;
    size_t count;
    if (json_array(group, "cases", &cases, &count, trouble))
        return -1;
    golden->draws = calloc(count + 1, sizeof *golden->draws);
    if (!golden->draws)
        return json_trouble(group, trouble, "out of memory");
    struct json_cursor at = json_at(&cases, 0);
    for (size_t i = 0; i < count; i++, at = json_next(&at)) {
        struct draws_case *draws = &golden->draws[golden->cases];
        if (draws_read_case(&at, draws, trouble)) {
            draws_case_free(draws);
            return -1;
        }
        if (same_table(&draws->table, cell->table) && can_be_asked(sut, &draws->request))
            golden->cases++;
        else
            draws_case_free(draws);
    }
    return 0;
}

/* The one group of this rule. */
static int read_group(const struct draws_rule *rule, const struct plan_cell *cell, const struct sut *sut,
                      struct determinism_golden *golden, struct trouble *trouble)
{
    const struct json_cursor root = json_root(&golden->file);
    struct json_cursor groups;
    size_t count;
    if (json_array(&root, "groups", &groups, &count, trouble))
        return -1;
    struct json_cursor at = json_at(&groups, 0);
    for (size_t i = 0; i < count; i++, at = json_next(&at)) {
        struct draws_rule of_group;
        if (draws_read_rule(&at, &of_group, trouble))
            return -1;
        if (of_group.rule == rule->rule && of_group.by_rank == rule->by_rank)
            return read_cases(&at, cell, sut, golden, trouble);
    }
    return 0;
}

int determinism_golden_read(const struct plan *plan, const struct plan_cell *cell, const struct sut *sut,
                            struct determinism_golden *golden, char *why, size_t why_bytes)
{
    *golden = (struct determinism_golden){0};
    struct draws_rule rule;
    if (!keying_rule(sut, &rule))
        return 0;
    char path[sizeof plan->golden_dir + sizeof DRAWS_TOKENS + 1];
    snprintf(path, sizeof path, "%s/" DRAWS_TOKENS, plan->golden_dir);
    struct trouble trouble = {0};
    if (json_open(&golden->file, path, EXIT_DAMAGED, &trouble) == 0 &&
        read_group(&rule, cell, sut, golden, &trouble) == 0)
        return 0;
    snprintf(why, why_bytes, "%s", trouble.text);
    return -1;
}

void determinism_golden_free(struct determinism_golden *golden)
{
    for (size_t i = 0; i < golden->cases; i++)
        draws_case_free(&golden->draws[i]);
    free(golden->draws);
    json_close(&golden->file);
    *golden = (struct determinism_golden){0};
}
