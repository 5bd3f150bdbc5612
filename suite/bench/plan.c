/* plan.c: read a bench plan strictly: what is not understood is refused, never ignored. */
#include "suite/bench/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/bench/plan_cell.h"
#include "suite/json/text.h"
#include "suite/judge/plan.h"

#define PLAN_SCHEMA "samplegate-bench-1"
#define TABLES_MAX 64
#define CELLS_MAX 512
#define REMEDIES_MAX 32

const char *const bench_about_names[] = {"rule", "parameters", NULL};

static void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);
    if (!memory)
        abort();
    return memory;
}

static int read_tables(struct bench_plan *plan, const struct json_cursor *root, struct trouble *trouble)
{
    struct json_cursor array;
    size_t length;
    if (json_array(root, "tables", &array, &length, trouble))
        return -1;
    if (length < 1 || length > TABLES_MAX)
        return json_trouble(&array, trouble, "must have 1 to %d tables, has %zu", TABLES_MAX, length);
    plan->table = allocate(length, sizeof *plan->table);
    for (size_t i = 0; i < length; i++) {
        struct json_cursor at = json_at(&array, i);
        if (table_read(&plan->table[i], &at, trouble))
            return -1;
        plan->tables = i + 1;
        for (size_t k = 0; k < i; k++)
            if (!strcmp(plan->table[k].name, plan->table[i].name))
                return json_trouble(&at, trouble, "a table named \"%s\" is there already",
                                    plan->table[i].name);
    }
    return 0;
}

static int read_rules(struct bench_plan *plan, const struct json_cursor *root, struct trouble *trouble)
{
    struct json_cursor array;
    size_t length;
    if (json_array(root, "rules", &array, &length, trouble))
        return -1;
    if (length < 1 || length > BENCH_RULES_MAX)
        return json_trouble(&array, trouble, "must name 1 to %d rules, has %zu", BENCH_RULES_MAX, length);
    for (size_t i = 0; i < length; i++) {
        const char *name;
        if (json_string_at(&array, i, &name, trouble))
            return -1;
        if (!json_is_name(name, sizeof plan->rule[i]))
            return json_trouble(&array, trouble, "a rule's name is 1 to 31 letters, digits, '-', '.' or '_'");
        for (size_t k = 0; k < i; k++)
            if (!strcmp(plan->rule[k], name))
                return json_trouble(&array, trouble, "\"%s\" is there already", name);
        memcpy(plan->rule[i], name, strlen(name) + 1);
    }
    plan->rules = length;
    return 0;
}

static int read_count(const struct json_cursor *at, const char *key, int64_t low, int64_t high,
                      uint32_t *value, struct trouble *trouble)
{
    int64_t number;
    if (json_integer(at, key, low, high, &number, trouble))
        return -1;
    *value = (uint32_t)number;
    return 0;
}

static int read_counts(struct bench_plan *plan, const struct json_cursor *root, struct trouble *trouble)
{
    plan->fill = 1100; /* CUDA's launch queue holds about 1,024 */
    if (read_count(root, "warmup", 0, 100000, &plan->warmup, trouble) ||
        read_count(root, "calls", 1, 100000, &plan->calls, trouble) ||
        read_count(root, "blocks", 1, 1000, &plan->blocks, trouble) ||
        read_count(root, "sessions", 1, 100, &plan->sessions, trouble) ||
        (json_has(root, "fill") && read_count(root, "fill", 0, 100000, &plan->fill, trouble)))
        return -1;
    return plan->blocks <= plan->calls
               ? 0
               : json_trouble(root, trouble, "\"blocks\" must be at most \"calls\": each block makes calls");
}

static int read_cells(struct bench_plan *plan, const struct json_cursor *root, struct trouble *trouble)
{
    struct json_cursor array;
    size_t length;
    if (json_array(root, "cells", &array, &length, trouble))
        return -1;
    if (length < 1 || length > CELLS_MAX)
        return json_trouble(&array, trouble, "must have 1 to %d cells, has %zu", CELLS_MAX, length);
    plan->cell = allocate(length, sizeof *plan->cell);
    for (size_t i = 0; i < length; i++) {
        struct json_cursor at = json_at(&array, i);
        plan->cells = i; /* those that "over" may name */
        int failed = bench_cell_read(plan, &plan->cell[i], &at, trouble);
        plan->cells = i + 1;
        if (failed)
            return -1;
    }
    return 0;
}

static char *copied(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        abort();
    trouble_flatten(copy); /* it is printed */
    return copy;
}

static int read_remedies(struct bench_plan *plan, const struct json_cursor *root, struct trouble *trouble)
{
    static const char *const keys[] = {"action", "costs", "from", "to", "from_batch", "to_batch", NULL};
    struct json_cursor array;
    size_t length;
    if (json_array(root, "remedies", &array, &length, trouble))
        return -1;
    if (length > REMEDIES_MAX)
        return json_trouble(&array, trouble, "may have %d remedies, has %zu", REMEDIES_MAX, length);
    plan->remedy = allocate(length ? length : 1, sizeof *plan->remedy);
    for (size_t i = 0; i < length; i++) {
        struct json_cursor at = json_at(&array, i);
        struct bench_remedy *remedy = &plan->remedy[i];
        const char *action, *costs;
        if (json_known_keys(&at, keys, trouble) || json_string(&at, "action", &action, trouble) ||
            json_string(&at, "costs", &costs, trouble))
            return -1;
        remedy->action = copied(action);
        remedy->costs = copied(costs);
        plan->remedies = i + 1;
        if (bench_cell_named(plan, &at, "from", &remedy->from, trouble) ||
            bench_cell_named(plan, &at, "to", &remedy->to, trouble) ||
            (json_has(&at, "from_batch") &&
             read_count(&at, "from_batch", 1, BENCH_ROWS_MAX, &remedy->from_batch, trouble)) ||
            (json_has(&at, "to_batch") &&
             read_count(&at, "to_batch", 1, BENCH_ROWS_MAX, &remedy->to_batch, trouble)))
            return -1;
        if (!remedy->from_batch != !remedy->to_batch)
            return json_trouble(&at, trouble, "\"from_batch\" and \"to_batch\" come together");
    }
    return 0;
}

static int read_plan(struct bench_plan *plan, const struct json_file *file, struct trouble *trouble)
{
    static const char *const schemas[] = {PLAN_SCHEMA, NULL}, *const kinds[] = {"logits", "probabilities",
                                                                                NULL};
    static const char *const keys[] = {"schema", "name",   "notes",    "seed",   "about",    "hands_over",
                                       "rules",  "warmup", "calls",    "blocks", "sessions", "fill",
                                       "tables", "cells",  "remedies", NULL};
    struct json_cursor root = json_root(file);
    const char *name, *notes;
    int schema, about, kind;
    if (json_one_of(&root, "schema", schemas, &schema, trouble) || json_known_keys(&root, keys, trouble) ||
        json_string(&root, "name", &name, trouble) || json_string(&root, "notes", &notes, trouble) ||
        json_u64_string(&root, "seed", &plan->seed, trouble) ||
        json_one_of(&root, "about", bench_about_names, &about, trouble) ||
        json_one_of(&root, "hands_over", kinds, &kind, trouble))
        return -1;
    if (!json_is_name(name, sizeof plan->name))
        return json_trouble(&root, trouble, "\"name\" must be " JSON_NAME_RULE);
    plan->about = (enum bench_about)about;
    plan->kind = kind == 0 ? VALUE_LOGITS : VALUE_PROBABILITIES;
    if ((plan->about == BENCH_ABOUT_RULE) != json_has(&root, "rules"))
        return json_trouble(&root, trouble,
                            "\"rules\" is for a plan that is about the rule, and needed there");
    if (plan->about == BENCH_ABOUT_PARAMETERS && plan->kind != VALUE_LOGITS)
        return json_trouble(&root, trouble, "a plan about parameters hands over logits: penalties need them");
    memcpy(plan->name, name, strlen(name) + 1);
    text_sha256(file->text, file->bytes, plan->sha256);
    return (plan->about == BENCH_ABOUT_RULE && read_rules(plan, &root, trouble)) ||
                   read_counts(plan, &root, trouble) || read_tables(plan, &root, trouble) ||
                   read_cells(plan, &root, trouble) ||
                   (json_has(&root, "remedies") && read_remedies(plan, &root, trouble))
               ? -1
               : 0;
}

int bench_plan_load(struct bench_plan *plan, const char *name_or_file, const char *golden_dir,
                    struct trouble *trouble)
{
    *plan = (struct bench_plan){0};
    char path[4096];
    struct json_file file;
    if (plan_find(name_or_file, golden_dir, true, path, sizeof path, trouble) ||
        json_open(&file, path, EXIT_USAGE, trouble))
        return -1;
    const int failed = read_plan(plan, &file, trouble);
    json_close(&file);
    if (failed)
        bench_plan_free(plan);
    else
        snprintf(plan->given, sizeof plan->given, "%s", name_or_file);
    return failed;
}

void bench_plan_free(struct bench_plan *plan)
{
    for (size_t i = 0; i < plan->tables; i++)
        table_free(&plan->table[i]);
    for (size_t i = 0; i < plan->cells; i++) {
        law_parameters_free(&plan->cell[i].ask.parameters);
        law_parameters_free(&plan->cell[i].neighbour.parameters);
    }
    for (size_t i = 0; i < plan->remedies; i++) {
        free(plan->remedy[i].action);
        free(plan->remedy[i].costs);
    }
    free(plan->table);
    free(plan->cell);
    free(plan->remedy);
    *plan = (struct bench_plan){0};
}
