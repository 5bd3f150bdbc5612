/* plan.c: read a plan file strictly: what is not understood is refused, never ignored.
 *
 * chunk.c cuts what it says into chunks. */
#include "suite/judge/plan.h"

#include <dirent.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stats/error_budget.h"
#include "suite/checks/family.h"
#include "suite/json/text.h"

#define PLAN_SCHEMA "samplegate-plan-1"
#define PLAN_TABLES_MAX 256
#define PLAN_CELLS_MAX 4096
#define DRAWS_MAX 1000000000
#define DRAWS_SCRIPTED_MAX (1 << 20) /* a script holds all its draws at once, and a message a line's */
#define BATCH_SIZE_MAX 65536
#define PAD_MAX 65536
#define SHARE_MAX 1000000 /* greatest denominator: share * draws stays within 64 bits */

const char *const cell_family_names[FAMILIES + 1] = {"equivalence", "agreement",  "boundary",
                                                     "determinism", "dependence", "replay",
                                                     "predicate",   "defaults",   NULL};

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* "a/b" with 1 <= a <= b <= SHARE_MAX, or "1". */
static int read_share(struct plan_batch *batch, const struct json_cursor *at, struct trouble *trouble)
{
    const char *text;
    if (json_string(at, "share", &text, trouble))
        return -1;
    unsigned long long numerator = 1, denominator = 1;
    if (strcmp(text, "1") != 0) {
        size_t above = strspn(text, "0123456789"), below = 0;
        if (text[above] == '/')
            below = strspn(text + above + 1, "0123456789");
        if (above < 1 || above > 7 || below < 1 || below > 7 || text[above + 1 + below])
            numerator = 0;
        else
            sscanf(text, "%llu/%llu", &numerator, &denominator);
    }
    if (numerator < 1 || numerator > denominator || denominator > SHARE_MAX)
        return json_trouble(at, trouble,
                            "\"share\" must be \"1\" or a fraction such as \"3/8\", at most 1, its "
                            "denominator at most 1000000");
    batch->numerator = numerator;
    batch->denominator = denominator;
    return 0;
}

/* The shares must sum to exactly 1, in integers over their least common denominator. */
static int check_shares(const struct plan *plan, const struct json_cursor *at, struct trouble *trouble)
{
    uint64_t common = 1, sum = 0;
    for (size_t i = 0; i < plan->batches; i++) {
        uint64_t denominator = plan->batch[i].denominator;
        if (__builtin_mul_overflow(common, denominator / common_divisor(common, denominator), &common) ||
            common > UINT64_MAX / PLAN_BATCHES_MAX)
            return json_trouble(at, trouble,
                                "the shares' common denominator is beyond 2^61; choose simpler fractions");
    }
    for (size_t i = 0; i < plan->batches; i++)
        sum += common / plan->batch[i].denominator * plan->batch[i].numerator;
    if (sum != common)
        return json_trouble(at, trouble, "the shares must sum to exactly 1, they sum to %llu/%llu",
                            (unsigned long long)sum, (unsigned long long)common);
    return 0;
}

static int read_batches(struct plan *plan, const struct json_cursor *root, struct trouble *trouble)
{
    static const char *const keys[] = {"size", "share", NULL};
    struct json_cursor array;
    size_t length;
    if (json_array(root, "batches", &array, &length, trouble))
        return -1;
    if (length < 1 || length > PLAN_BATCHES_MAX)
        return json_trouble(&array, trouble, "must have 1 to %d entries, has %zu", PLAN_BATCHES_MAX, length);
    for (size_t i = 0; i < length; i++) {
        struct json_cursor at = json_at(&array, i);
        int64_t size;
        if (json_known_keys(&at, keys, trouble) ||
            json_integer(&at, "size", 1, BATCH_SIZE_MAX, &size, trouble) ||
            read_share(&plan->batch[i], &at, trouble))
            return -1;
        plan->batch[i].size = (uint32_t)size;
        for (size_t k = 0; k < i; k++)
            if (plan->batch[k].size == plan->batch[i].size)
                return json_trouble(&at, trouble,
                                    "size %u is there already; each batch size may be given once",
                                    plan->batch[i].size);
    }
    plan->batches = length;
    return check_shares(plan, &array, trouble);
}

static int read_tables(struct plan *plan, const struct json_cursor *root, struct trouble *trouble)
{
    struct json_cursor array;
    size_t length;
    if (json_array(root, "tables", &array, &length, trouble))
        return -1;
    if (length < 1 || length > PLAN_TABLES_MAX)
        return json_trouble(&array, trouble, "must have 1 to %d tables, has %zu", PLAN_TABLES_MAX, length);
    plan->table = calloc(length, sizeof *plan->table);
    if (!plan->table)
        return json_trouble(&array, trouble, "out of memory");
    for (size_t i = 0; i < length; i++) {
        struct json_cursor at = json_at(&array, i);
        if (table_read(&plan->table[i], &at, trouble))
            return -1;
        plan->tables = i + 1;
        for (size_t k = 0; k < i; k++)
            if (strcmp(plan->table[k].name, plan->table[i].name) == 0)
                return json_trouble(&at, trouble, "a table named \"%s\" is there already",
                                    plan->table[i].name);
    }
    return 0;
}

static int read_cell_table(const struct plan *plan, struct plan_cell *cell, const struct json_cursor *at,
                           struct trouble *trouble)
{
    const char *name;
    if (json_string(at, "table", &name, trouble))
        return -1;
    for (size_t i = 0; i < plan->tables; i++)
        if (strcmp(plan->table[i].name, name) == 0) {
            cell->table = &plan->table[i];
            return 0;
        }
    char known[512] = "";
    for (size_t i = 0, used = 0; i < plan->tables && used + 70 < sizeof known; i++, used = strlen(known))
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", plan->table[i].name);
    return json_trouble(at, trouble, "\"table\" names no table of this plan; its tables are: %s", known);
}

/* What only an equivalence cell has: epsilon and certify, always, and pad. */
static int read_certificate(struct plan_cell *cell, const struct json_cursor *at, struct trouble *trouble)
{
    static const char *const names[] = {"none", "ids", "bins", "ids-asymptotic", NULL};
    int certify;
    int64_t pad = 0;
    if (json_number(at, "epsilon", 0, 1, &cell->epsilon, trouble) ||
        json_one_of(at, "certify", names, &certify, trouble) ||
        (json_has(at, "pad") && json_integer(at, "pad", 1, PAD_MAX, &pad, trouble)))
        return -1;
    if (cell->epsilon <= 0 || cell->epsilon >= 1)
        return json_trouble(at, trouble, "\"epsilon\" must be above 0 and below 1, is %g", cell->epsilon);
    cell->certify = (enum cell_certify)certify;
    cell->pad = (size_t)pad;
    return 0;
}

bool plan_fits_fp32(double value, bool positive)
{
    return isfinite((float)value) && (!positive || (float)value > 0);
}

/* What is asked of a row beside the temperature. */
static int read_parameters(struct plan_cell *cell, const struct json_cursor *at, struct trouble *trouble)
{
    struct json_cursor object;
    const size_t vocab = cell->table->vocab;
    if (json_object(at, "parameters", &object, trouble) ||
        law_parameters_read(&cell->parameters, &object, vocab, trouble))
        return -1;
    const char *refused = law_parameters_refused(&cell->parameters, 1, vocab);
    if (refused)
        return json_trouble(
            &object, trouble,
            "\"%s\" has a value that no sampler may accept; accepted: top_k -1 or at least 1, top_p above "
            "0, min_p 0 to 1, repetition_penalty above 0, finite penalties, ids 0 to %zu, min_tokens "
            "at least 0",
            refused, vocab - 1);
    const struct law_edits *edits = &cell->parameters.edits;
    if (!plan_fits_fp32(edits->repetition, true) || !plan_fits_fp32(edits->frequency, false) ||
        !plan_fits_fp32(edits->presence, false))
        return json_trouble(&object, trouble,
                            "a penalty is not what fp32 can hold: at most 3.4e38 either way, "
                            "repetition_penalty at least 1e-45");
    cell->parametered = law_limits_any(&cell->parameters.limits) || law_edits_any(&cell->parameters.edits);
    return cell->parametered ? 0 : json_trouble(&object, trouble, "asks for nothing; leave it out");
}

static int read_cell(const struct plan *plan, struct plan_cell *cell, const struct json_cursor *at,
                     struct trouble *trouble)
{
    static const char *const equivalence[] = {"family", "name",       "table",   "temperature",
                                              "draws",  "epsilon",    "certify", "published",
                                              "pad",    "parameters", NULL};
    static const char *const agreement[] = {"family", "name",      "table", "temperature",
                                            "draws",  "published", NULL};
    static const char *const drawn[] = {"family", "name", "table", "temperature", "draws", NULL};
    static const char *const expected[] = {"family", "name",
                                           NULL}; /* golden/FAMILY/NAME.json says the rest */
    static const char *const *const keys[FAMILIES] = {equivalence, agreement, expected, drawn,
                                                      drawn,       drawn,     expected, expected};
    const char *name, *published = "";
    int family;
    int64_t draws = 0;
    if (json_one_of(at, "family", cell_family_names, &family, trouble))
        return -1;
    cell->family = (enum cell_family)family;
    cell->temperature = 1;
    cell->parameters = law_parameters_none();
    if (family > FAMILY_AGREEMENT && !family_scripted(cell->family))
        return json_trouble(at, trouble, "this build has no check of family %s", cell_family_names[family]);
    bool table = keys[family] != expected;
    if (json_known_keys(at, keys[family], trouble) || json_string(at, "name", &name, trouble) ||
        (table &&
         (read_cell_table(plan, cell, at, trouble) ||
          json_integer(at, "draws", 1, family_scripted(cell->family) ? DRAWS_SCRIPTED_MAX : DRAWS_MAX, &draws,
                       trouble))) ||
        (json_has(at, "temperature") &&
         json_number(at, "temperature", 0, DBL_MAX, &cell->temperature, trouble)) ||
        (json_has(at, "published") && json_string(at, "published", &published, trouble)) ||
        (cell->family == FAMILY_EQUIVALENCE && read_certificate(cell, at, trouble)) ||
        (json_has(at, "parameters") && read_parameters(cell, at, trouble)))
        return -1;
    if (!json_is_name(name, sizeof cell->name))
        return json_trouble(at, trouble, "\"name\" must be " JSON_NAME_RULE);
    if (cell->temperature <= 0)
        return json_trouble(at, trouble, "\"temperature\" must be above 0 (greedy is another rule)");
    if (!plan_fits_fp32(cell->temperature, true))
        return json_trouble(at, trouble, "\"temperature\" must be what fp32 can hold: 1e-45 to 3.4e38, is %g",
                            cell->temperature);
    if (strlen(published) >= sizeof cell->published)
        return json_trouble(at, trouble, "\"published\" may have at most %zu bytes",
                            sizeof cell->published - 1);
    memcpy(cell->name, name, strlen(name) + 1);
    memcpy(cell->published, published, strlen(published) + 1);
    cell->draws = (uint64_t)draws;
    return 0;
}

static int read_cells(struct plan *plan, const struct json_cursor *root, struct trouble *trouble)
{
    struct json_cursor array;
    size_t length, equivalence = 0;
    if (json_array(root, "cells", &array, &length, trouble))
        return -1;
    if (length < 1 || length > PLAN_CELLS_MAX)
        return json_trouble(&array, trouble, "must have 1 to %d cells, has %zu", PLAN_CELLS_MAX, length);
    plan->cell = calloc(length, sizeof *plan->cell);
    if (!plan->cell)
        return json_trouble(&array, trouble, "out of memory");
    for (size_t i = 0; i < length; i++) {
        struct json_cursor at = json_at(&array, i);
        plan->cells = i + 1;
        if (read_cell(plan, &plan->cell[i], &at, trouble))
            return -1;
        for (size_t k = 0; k < i; k++)
            if (strcmp(plan->cell[k].name, plan->cell[i].name) == 0)
                return json_trouble(&at, trouble, "a cell named \"%s\" is there already", plan->cell[i].name);
        equivalence += plan->cell[i].family == FAMILY_EQUIVALENCE;
        if (equivalence > BUDGET_FINE_MAX)
            return json_trouble(
                &at, trouble,
                "more than %d cells of family equivalence: the error budget of a run has room for "
                "no more; split the plan",
                BUDGET_FINE_MAX);
    }
    return 0;
}

static int read_plan(struct plan *plan, const struct json_file *file, struct trouble *trouble)
{
    static const char *const schemas[] = {PLAN_SCHEMA, NULL};
    static const char *const keys[] = {"schema", "name", "notes", "seed", "batches", "tables", "cells", NULL};
    struct json_cursor root = json_root(file);
    const char *name, *notes;
    int schema;
    if (json_one_of(&root, "schema", schemas, &schema, trouble) || json_known_keys(&root, keys, trouble) ||
        json_string(&root, "name", &name, trouble) ||
        (json_has(&root, "notes") && json_string(&root, "notes", &notes, trouble)) ||
        json_u64_string(&root, "seed", &plan->seed, trouble))
        return -1;
    if (!json_is_name(name, sizeof plan->name))
        return json_trouble(&root, trouble, "\"name\" must be " JSON_NAME_RULE);
    memcpy(plan->name, name, strlen(name) + 1);
    text_sha256(file->text, file->bytes, plan->sha256);
    return read_batches(plan, &root, trouble) || read_tables(plan, &root, trouble) ||
                   read_cells(plan, &root, trouble)
               ? -1
               : 0;
}

static int name_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Ends in "no plan NAME" and the plans there are of its kind. */
static int no_such_plan(const char *name, const char *golden_dir, bool bench, struct trouble *trouble)
{
    char directory[1024], known[512] = "", *found[64];
    size_t count = 0;
    snprintf(directory, sizeof directory, "%s/plans", golden_dir);
    DIR *stream = opendir(directory);
    if (!stream)
        return trouble_set(trouble, EXIT_USAGE, "no plan \"%s\": %s: %s", name, directory, strerror(errno));
    for (struct dirent *entry; (entry = readdir(stream)) && count < sizeof found / sizeof *found;) {
        size_t length = strlen(entry->d_name);
        if (length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0 &&
            bench == !strncmp(entry->d_name, "bench-", 6))
            if ((found[count] = strndup(entry->d_name, length - 5)))
                count++;
    }
    closedir(stream);
    qsort(found, count, sizeof *found, name_order);
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", found[i]);
        free(found[i]);
    }
    return trouble_set(trouble, EXIT_USAGE,
                       "no plan \"%s\" in %s; there are: %s (a file is given with a '/' or .json)", name,
                       directory, count ? known : "none");
}

int plan_find(const char *name_or_file, const char *golden_dir, bool bench, char *path, size_t bytes,
              struct trouble *trouble)
{
    size_t length = strlen(name_or_file);
    bool is_file =
        strchr(name_or_file, '/') || (length > 5 && strcmp(name_or_file + length - 5, ".json") == 0);
    int written = is_file ? snprintf(path, bytes, "%s", name_or_file)
                          : snprintf(path, bytes, "%s/plans/%s.json", golden_dir, name_or_file);
    if (written < 0 || (size_t)written >= bytes)
        return trouble_set(trouble, EXIT_USAGE, "the plan's path is longer than %zu bytes", bytes - 1);
    return !is_file && access(path, F_OK) != 0 ? no_such_plan(name_or_file, golden_dir, bench, trouble) : 0;
}

int plan_load(struct plan *plan, const char *name_or_file, const char *golden_dir, struct trouble *trouble)
{
    *plan = (struct plan){0};
    char path[4096];
    if (plan_find(name_or_file, golden_dir, false, path, sizeof path, trouble))
        return -1;
    struct json_file file;
    if (json_open(&file, path, EXIT_USAGE, trouble))
        return -1;
    int failed = read_plan(plan, &file, trouble);
    json_close(&file);
    if (failed)
        plan_free(plan);
    else
        snprintf(plan->given, sizeof plan->given, "%s", name_or_file);
    snprintf(plan->golden_dir, sizeof plan->golden_dir, "%s", golden_dir);
    return failed;
}

void plan_free(struct plan *plan)
{
    for (size_t i = 0; i < plan->tables; i++)
        table_free(&plan->table[i]);
    for (size_t i = 0; i < plan->cells; i++)
        law_parameters_free(&plan->cell[i].parameters);
    free(plan->table);
    free(plan->cell);
    *plan = (struct plan){0};
}
