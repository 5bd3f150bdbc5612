/* tables.c: recompute golden/equivalence/tables.json: the rows of the plans and the exact laws over them.
 *
 * Sees: a wrong table formula, a wrong softmax, a wrong expected total variation. A figure has 15 digits. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/total_variation.h"
#include "suite/golden/outcome.h"
#include "suite/json/text.h"
#include "suite/oracle/law.h"
#include "suite/oracle/table.h"

#define EXPECTED_DRAWS 200000    /* of expected_total_variation */
#define EXPECTED_TOLERANCE 2e-11 /* tv_expected adds up to 2^20 terms one after the other */
#define NAMED_MAX 16
#define OCTAVES 1080 /* a weight below 2^-1075 is 0 in double */

static const char *const case_keys[] = {
    "table",   "temperature",    "logits_sha256",   "named",
    "octaves", "sum_of_squares", "two_thirds_norm", "expected_total_variation",
    NULL};
static const char *const group_keys[] = {NULL};

/* Neumaier's sum, as in the law: `*lost` gathers what rounding drops from the running total. */
static void accumulate(double *total, double *lost, double term)
{
    double sum = *total + term;
    *lost += *total >= term ? (*total - sum) + term : (term - sum) + *total;
    *total = sum;
}

struct octave {
    int64_t ids;
    double mass, lost;
};

/* Octave k holds the ids with 2^-(k+1) < exp((l - lmax) / temperature) <= 2^-k. */
static void count_octaves(const struct table *table, double temperature, const double *pmf,
                          struct octave *octave)
{
    float most = -INFINITY;
    for (size_t i = 0; i < table->vocab; i++)
        most = fmaxf(most, table->logits[i]);
    const long double octave_nats = 0.693147180559945309417232121458176568L * (long double)temperature;
    for (size_t i = 0; i < table->vocab; i++) {
        long double down = ((long double)most - (long double)table->logits[i]) / octave_nats;
        if (!(down < OCTAVES))
            continue;
        struct octave *its = &octave[(size_t)down];
        its->ids++;
        accumulate(&its->mass, &its->lost, pmf[i]);
    }
}

static int same_sums(const struct golden_case *this, const struct table *table, const double *pmf)
{
    double squares = 0, squares_lost = 0, roots = 0, roots_lost = 0;
    for (size_t i = 0; i < table->vocab; i++) {
        accumulate(&squares, &squares_lost, pmf[i] * pmf[i]);
        accumulate(&roots, &roots_lost, pow(cbrt(pmf[i]), 2));
    }
    double norm = pow(roots + roots_lost, 1.5);
    return golden_same_figure(this, &this->at, "sum_of_squares", "sum_of_squares", GOLDEN_TOLERANCE,
                              squares + squares_lost) ||
                   golden_same_figure(this, &this->at, "two_thirds_norm", "two_thirds_norm", GOLDEN_TOLERANCE,
                                      norm) ||
                   golden_same_figure(this, &this->at, "expected_total_variation", "expected_total_variation",
                                      EXPECTED_TOLERANCE, tv_expected(pmf, table->vocab, EXPECTED_DRAWS))
               ? -1
               : 0;
}

static int same_named(const struct golden_case *this, const struct table *table, const double *pmf)
{
    static const char *const keys[] = {"id", "probability", NULL};
    struct trouble *damaged = &this->outcome->damaged;
    struct json_cursor array;
    size_t length;
    if (json_array(&this->at, "named", &array, &length, damaged))
        return -1;
    if (length < 1 || length > NAMED_MAX)
        return json_trouble(&array, damaged, "must name 1 to %d ids, names %zu", NAMED_MAX, length);
    for (size_t i = 0; i < length; i++) {
        struct json_cursor at = json_at(&array, i);
        int64_t id;
        char field[64];
        if (json_known_keys(&at, keys, damaged) ||
            json_integer(&at, "id", 0, (int64_t)table->vocab - 1, &id, damaged))
            return -1;
        snprintf(field, sizeof field, "probability of id %lld", (long long)id);
        if (golden_same_figure(this, &at, "probability", field, GOLDEN_TOLERANCE, pmf[id]))
            return -1;
    }
    return 0;
}

/* Every octave the golden lists is ours, in rising order, and every octave of ours is listed. */
static int same_octaves(const struct golden_case *this, const struct octave *octave)
{
    static const char *const keys[] = {"octave", "ids", "mass", NULL};
    struct trouble *damaged = &this->outcome->damaged;
    struct json_cursor array;
    size_t length;
    int64_t next = 0;
    if (json_array(&this->at, "octaves", &array, &length, damaged))
        return -1;
    for (size_t i = 0; i <= length; i++) {
        struct json_cursor at = json_at(&array, i);
        int64_t k = OCTAVES;
        char field[64];
        if (i < length && (json_known_keys(&at, keys, damaged) ||
                           json_integer(&at, "octave", next, OCTAVES - 1, &k, damaged)))
            return -1;
        for (; next < k; next++)
            if (octave[next].ids) {
                char ours[32];
                snprintf(field, sizeof field, "octave %lld", (long long)next);
                snprintf(ours, sizeof ours, "%lld ids", (long long)octave[next].ids);
                return golden_disagrees(this, field, "no such octave", ours);
            }
        if (i == length)
            return 0;
        snprintf(field, sizeof field, "ids of octave %lld", (long long)k);
        if (golden_same_integer(this, &at, "ids", field, octave[k].ids))
            return -1;
        snprintf(field, sizeof field, "mass of octave %lld", (long long)k);
        if (golden_same_figure(this, &at, "mass", field, GOLDEN_TOLERANCE, octave[k].mass + octave[k].lost))
            return -1;
        next = k + 1;
    }
    return 0;
}

static int same_logits(const struct golden_case *this, const struct table *table)
{
    const char *golden;
    if (json_string(&this->at, "logits_sha256", &golden, &this->outcome->damaged))
        return -1;
    unsigned char *bytes = malloc(4 * table->vocab); /* little-endian whatever this machine is */
    if (!bytes)
        return json_trouble(&this->at, &this->outcome->damaged, "out of memory");
    for (size_t i = 0; i < table->vocab; i++) {
        uint32_t word;
        memcpy(&word, &table->logits[i], sizeof word);
        for (size_t b = 0; b < 4; b++)
            bytes[4 * i + b] = (unsigned char)(word >> (8 * b));
    }
    char ours[65];
    text_sha256(bytes, 4 * table->vocab, ours);
    free(bytes);
    return strcmp(golden, ours) == 0 ? 0 : golden_disagrees(this, "logits_sha256", golden, ours);
}

static int recompute(const struct golden_case *this, const void *shared)
{
    (void)shared;
    struct trouble *damaged = &this->outcome->damaged;
    struct json_cursor at;
    struct table table;
    double temperature;
    if (json_number(&this->at, "temperature", DBL_MIN, DBL_MAX, &temperature, damaged) ||
        json_object(&this->at, "table", &at, damaged) || table_read(&table, &at, damaged))
        return -1;
    double *pmf = malloc(table.vocab * sizeof *pmf);
    struct octave *octave = calloc(OCTAVES, sizeof *octave);
    int failed;
    if (pmf && octave) {
        law_of_logits(table.logits, table.vocab, temperature, pmf);
        count_octaves(&table, temperature, pmf, octave);
        failed = same_logits(this, &table) || same_named(this, &table, pmf) || same_octaves(this, octave) ||
                 same_sums(this, &table, pmf);
    } else {
        failed = json_trouble(&this->at, damaged, "out of memory");
    }
    free(octave);
    free(pmf);
    table_free(&table);
    return failed ? -1 : 0;
}

const struct golden_check golden_tables = {
    .family = "equivalence",
    .check = "tables",
    .what = "logits, exact probabilities and expected total variation",
    .group_keys = group_keys,
    .case_keys = case_keys,
    .recompute = recompute,
};
