/* plan_cell.c: read one cell of a bench plan: table, batches, and what its rows ask for. */
#include "suite/bench/plan_cell.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/judge/plan.h"

#define HISTORY_MAX 65536
#define VALUES_MAX (1 << 28) /* of one call: 1 GiB in fp32 */
#define IDS_MAX (1 << 26)    /* of its histories: 512 MiB */
#define HISTORY_STEP                                                                                         \
    7919 /* ids of a made-up history: multiples of a prime, so that they spread and some repeat */

static int read_table(const struct bench_plan *plan, struct bench_cell *cell, const struct json_cursor *at,
                      struct trouble *trouble)
{
    const char *name;
    char known[512] = "";
    if (json_string(at, "table", &name, trouble))
        return -1;
    for (size_t i = 0; i < plan->tables; i++) {
        if (!strcmp(plan->table[i].name, name)) {
            cell->table = &plan->table[i];
            return 0;
        }
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", plan->table[i].name);
    }
    return json_trouble(at, trouble, "\"table\" names no table of this plan; its tables are: %s", known);
}

int bench_cell_named(const struct bench_plan *plan, const struct json_cursor *at, const char *key,
                     const struct bench_cell **cell, struct trouble *trouble)
{
    const char *name;
    char known[512] = "";
    if (json_string(at, key, &name, trouble))
        return -1;
    for (size_t i = 0; i < plan->cells; i++) {
        if (!strcmp(plan->cell[i].name, name)) {
            *cell = &plan->cell[i];
            return 0;
        }
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", plan->cell[i].name);
    }
    return json_trouble(at, trouble, "\"%s\" names none of the cells so far; there are: %s", key, known);
}

static void history_of(struct law_ids *ids, int64_t length, int64_t first, size_t vocab)
{
    ids->id = malloc((size_t)(length ? length : 1) * sizeof *ids->id);
    if (!ids->id)
        abort();
    ids->count = (size_t)length;
    for (int64_t i = 0; i < length; i++)
        ids->id[i] = (first + i) * HISTORY_STEP % (int64_t)vocab;
}

/* {"prompt": tokens, "output": tokens}: how long the history of each row is. */
static int read_history(struct bench_ask *ask, const struct json_cursor *at, size_t vocab,
                        struct trouble *trouble)
{
    static const char *const keys[] = {"prompt", "output", NULL};
    struct json_cursor object;
    int64_t prompt, output;
    if (json_object(at, "history", &object, trouble) || json_known_keys(&object, keys, trouble) ||
        json_integer(&object, "prompt", 0, HISTORY_MAX, &prompt, trouble) ||
        json_integer(&object, "output", 0, HISTORY_MAX, &output, trouble))
        return -1;
    struct law_edits *edits = &ask->parameters.edits;
    if (edits->prompt.count || edits->output.count)
        return json_trouble(&object, trouble, "has no place beside lists of prompt or output");
    history_of(&edits->prompt, prompt, 0, vocab);
    history_of(&edits->output, output, prompt, vocab);
    return 0;
}

static int read_ask(const struct bench_plan *plan, struct bench_ask *ask, const struct json_cursor *at,
                    size_t vocab, struct trouble *trouble)
{
    struct json_cursor object;
    *ask = (struct bench_ask){.temperature = 1, .parameters = law_parameters_none()};
    if ((json_has(at, "temperature") &&
         json_number(at, "temperature", 0, FLT_MAX, &ask->temperature, trouble)) ||
        (json_has(at, "parameters") && (json_object(at, "parameters", &object, trouble) ||
                                        law_parameters_read(&ask->parameters, &object, vocab, trouble))) ||
        (json_has(at, "history") && read_history(ask, at, vocab, trouble)))
        return -1;
    if (ask->temperature == 0 && plan->about == BENCH_ABOUT_RULE)
        return json_trouble(
            at, trouble,
            "temperature 0 is greedy: an argmax, which never calls the drawing rule, so its times "
            "are no evidence about the rule; accepted: a temperature above 0, or a plan whose "
            "\"about\" is \"parameters\"");
    const char *refused =
        law_parameters_refused(&ask->parameters, ask->temperature == 0 ? 1 : ask->temperature, vocab);
    if (refused)
        return json_trouble(at, trouble, "\"%s\" has a value that no sampler may accept", refused);
    const struct law_edits *edits = &ask->parameters.edits;
    if ((ask->temperature > 0 && !plan_fits_fp32(ask->temperature, true)) ||
        !plan_fits_fp32(edits->repetition, true) || !plan_fits_fp32(edits->frequency, false) ||
        !plan_fits_fp32(edits->presence, false))
        return json_trouble(at, trouble,
                            "a temperature or penalty is not what fp32 can hold: at most 3.4e38 either way, "
                            "temperature (where it is not 0) and repetition_penalty at least 1e-45");
    return 0;
}

static int read_neighbour(const struct bench_plan *plan, struct bench_cell *cell,
                          const struct json_cursor *at, struct trouble *trouble)
{
    static const char *const keys[] = {"rows", "one_in", "temperature", "parameters", "history", NULL};
    struct json_cursor object;
    int64_t number;
    if (json_object(at, "neighbour", &object, trouble) || json_known_keys(&object, keys, trouble) ||
        read_ask(plan, &cell->neighbour, &object, cell->table->vocab, trouble))
        return -1;
    const bool rows = json_has(&object, "rows");
    if (rows == json_has(&object, "one_in"))
        return json_trouble(&object, trouble,
                            "needs \"rows\" (how many of the first rows) or \"one_in\" (one row in so many)");
    if (json_integer(&object, rows ? "rows" : "one_in", rows ? 1 : 2, BENCH_ROWS_MAX, &number, trouble))
        return -1;
    *(rows ? &cell->neighbours : &cell->neighbour_share) = (uint32_t)number;
    return 0;
}

static int read_batches(struct bench_cell *cell, const struct json_cursor *at, struct trouble *trouble)
{
    struct json_cursor array;
    size_t length;
    if (json_array(at, "batches", &array, &length, trouble))
        return -1;
    if (length < 1 || length > BENCH_BATCHES_MAX)
        return json_trouble(&array, trouble, "must have 1 to %d sizes, has %zu", BENCH_BATCHES_MAX, length);
    for (size_t i = 0; i < length; i++) {
        int64_t size;
        if (json_integer_at(&array, i, 1, BENCH_ROWS_MAX, &size, trouble))
            return -1;
        if (i > 0 && (uint32_t)size <= cell->batch[i - 1])
            return json_trouble(&array, trouble, "sizes must rise");
        cell->batch[i] = (uint32_t)size;
    }
    cell->batches = length;
    return 0;
}

static int read_forks(struct bench_cell *cell, const struct json_cursor *at, struct trouble *trouble)
{
    int64_t copies = 1, samples = 1;
    if ((json_has(at, "copies") && json_integer(at, "copies", 1, 64, &copies, trouble)) ||
        (json_has(at, "samples") && json_integer(at, "samples", 1, 64, &samples, trouble)))
        return -1;
    cell->copies = (uint32_t)copies;
    cell->samples = (uint32_t)samples;
    const uint32_t largest = cell->batch[cell->batches - 1];
    if (largest * copies * samples > BENCH_ROWS_MAX)
        return json_trouble(at, trouble, "a call may have %d draws, the largest batch has %lld",
                            BENCH_ROWS_MAX, (long long)(largest * copies * samples));
    return 0;
}

/* The message of the largest call is held several times over, here and by workers. */
static int check_size(const struct bench_cell *cell, const struct json_cursor *at, struct trouble *trouble)
{
    const uint32_t largest = cell->batch[cell->batches - 1];
    const size_t values = bench_rows(cell, largest) * cell->table->vocab, draws = bench_draws(cell, largest);
    const struct law_edits *const edits[] = {&cell->ask.parameters.edits, &cell->neighbour.parameters.edits};
    if (values > VALUES_MAX)
        return json_trouble(at, trouble,
                            "a call of its largest batch hands over %zu values; accepted: at most %d", values,
                            VALUES_MAX);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const size_t ids = edits[i]->prompt.count + edits[i]->output.count;
        if (ids * draws > IDS_MAX)
            return json_trouble(
                at, trouble,
                "the histories of a call of its largest batch have %zu ids; accepted: at most %d",
                ids * draws, IDS_MAX);
    }
    return 0;
}

int bench_cell_read(const struct bench_plan *plan, struct bench_cell *cell, const struct json_cursor *at,
                    struct trouble *trouble)
{
    static const char *const about_rule[] = {"name", "table", "batches", "temperature", NULL};
    static const char *const about_parameters[] = {"name",       "table",   "batches",   "temperature",
                                                   "parameters", "history", "neighbour", "copies",
                                                   "samples",    "over",    "series",    NULL};
    const char *name, *series = "";
    *cell = (struct bench_cell){.copies = 1, .samples = 1};
    cell->neighbour.parameters = law_parameters_none();
    if (json_known_keys(at, plan->about == BENCH_ABOUT_RULE ? about_rule : about_parameters, trouble) ||
        json_string(at, "name", &name, trouble) || read_table(plan, cell, at, trouble) ||
        read_batches(cell, at, trouble) || read_ask(plan, &cell->ask, at, cell->table->vocab, trouble) ||
        read_forks(cell, at, trouble) ||
        (json_has(at, "neighbour") && read_neighbour(plan, cell, at, trouble)) ||
        check_size(cell, at, trouble) ||
        (json_has(at, "over") && bench_cell_named(plan, at, "over", &cell->over, trouble)) ||
        (json_has(at, "series") && json_string(at, "series", &series, trouble)))
        return -1;
    if (*series && !json_is_name(series, sizeof cell->series))
        return json_trouble(at, trouble, "\"series\" must be " JSON_NAME_RULE);
    if (cell->over && cell->over->table != cell->table)
        return json_trouble(at, trouble, "\"over\" must be a cell of the same table");
    memcpy(cell->series, series, strlen(series) + 1);
    if (!json_is_name(name, sizeof cell->name))
        return json_trouble(at, trouble, "\"name\" must be " JSON_NAME_RULE);
    for (size_t i = 0; i < plan->cells; i++)
        if (!strcmp(plan->cell[i].name, name))
            return json_trouble(at, trouble, "a cell named \"%s\" is there already", name);
    memcpy(cell->name, name, strlen(name) + 1);
    return 0;
}

size_t bench_rows(const struct bench_cell *cell, uint32_t batch)
{
    return (size_t)batch * cell->copies;
}

size_t bench_draws(const struct bench_cell *cell, uint32_t batch)
{
    return bench_rows(cell, batch) * cell->samples;
}

size_t bench_neighbours(const struct bench_cell *cell, uint32_t batch)
{
    const size_t rows = bench_rows(cell, batch);
    if (cell->neighbour_share)
        return rows / cell->neighbour_share;
    return cell->neighbours < rows ? cell->neighbours : rows;
}

bool bench_greedy(const struct bench_cell *cell)
{
    return cell->ask.temperature == 0 &&
           (!(cell->neighbours || cell->neighbour_share) || cell->neighbour.temperature == 0);
}
