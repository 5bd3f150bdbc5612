/* table.c: named rows of logits made from integer formulas (table.h has them).
 *
 * A logit is computed in integers as a multiple of 2^-10 and converted once: below 2^24 units that is exact
 * in fp32. */
#include "suite/oracle/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <Random123/philox.h>

#define UNIT 0x1p-10f
#define LIST_UNITS_MAX ((int64_t)1 << 20)
#define GAP_UNITS_MAX ((int64_t)1 << 17)
#define SIGMA_MAX 10
#define MASK_EVERY_MAX 64
#define NORMAL_STREAM 2 /* counter word that keeps these words apart from those of sampling noise */

enum table_kind { TABLE_LIST, TABLE_FLAT, TABLE_ZIPF, TABLE_HEAD, TABLE_NORMAL };
static const char *const kind_names[] = {"list", "flat", "zipf", "head", "normal", NULL};
static const char *const kind_keys[][7] = {
    [TABLE_LIST] = {"name", "kind", "logits", "masked"},
    [TABLE_FLAT] = {"name", "kind", "vocab", "masked"},
    [TABLE_ZIPF] = {"name", "kind", "vocab", "masked"},
    [TABLE_HEAD] = {"name", "kind", "vocab", "head", "gap", "masked"},
    [TABLE_NORMAL] = {"name", "kind", "vocab", "sigma", "masked"},
};

/* The sum of the twelve 16-bit halves of six Philox words of id i. */
static int64_t normal_sum(uint32_t id)
{
    int64_t sum = 0;
    for (uint32_t block = 0; block < 2; block++) {
        philox4x32_ctr_t counter = {{id, NORMAL_STREAM, block, 0}};
        philox4x32_key_t key = {{0, 0}};
        philox4x32_ctr_t words = philox4x32_R(10, counter, key);
        for (int w = 0; w < (block == 0 ? 4 : 2); w++)
            sum += (words.v[w] & 0xffff) + (words.v[w] >> 16);
    }
    return sum;
}

/* floor(sigma * (sum - 12 * 65535 / 2) / 64): C's division rounds toward zero, so the remainder decides. */
static int64_t normal_units(uint32_t id, int64_t sigma)
{
    int64_t scaled = sigma * (normal_sum(id) - 393210);
    return scaled / 64 - (scaled % 64 < 0);
}

static int table_allocate(struct table *table, int64_t vocab, const struct json_cursor *at,
                          struct trouble *trouble)
{
    table->vocab = (size_t)vocab;
    table->logits = malloc(table->vocab * sizeof *table->logits);
    return table->logits ? 0 : json_trouble(at, trouble, "out of memory");
}

static int read_list(struct table *table, const struct json_cursor *at, struct trouble *trouble)
{
    struct json_cursor list;
    size_t length;
    if (json_array(at, "logits", &list, &length, trouble))
        return -1;
    if (length < 1 || length > (size_t)TABLE_VOCAB_MAX)
        return json_trouble(&list, trouble, "must have 1 to 1048576 logits, has %zu", length);
    if (table_allocate(table, (int64_t)length, at, trouble))
        return -1;
    struct json_cursor element = json_at(&list, 0);
    for (size_t i = 0; i < length; i++, element = json_next(&element)) {
        int64_t units;
        if (json_integer_here(&element, -LIST_UNITS_MAX, LIST_UNITS_MAX, &units, trouble))
            return -1;
        table->logits[i] = (float)units * UNIT;
    }
    return 0;
}

static int read_formula(struct table *table, enum table_kind kind, const struct json_cursor *at,
                        struct trouble *trouble)
{
    int64_t vocab, head = 0, gap = 0, sigma = 0;
    if (json_integer(at, "vocab", 1, TABLE_VOCAB_MAX, &vocab, trouble))
        return -1;
    if (kind == TABLE_HEAD && (json_integer(at, "head", 0, vocab - 1, &head, trouble) ||
                               json_integer(at, "gap", 1, GAP_UNITS_MAX, &gap, trouble)))
        return -1;
    if (kind == TABLE_NORMAL && json_integer(at, "sigma", 1, SIGMA_MAX, &sigma, trouble))
        return -1;
    if (table_allocate(table, vocab, at, trouble))
        return -1;
    for (size_t i = 0; i < table->vocab; i++) {
        int64_t units = 0;
        if (kind == TABLE_ZIPF)
            units = -llround(1024 * log((double)i + 1));
        else if (kind == TABLE_HEAD)
            units = i == (size_t)head ? gap : 0;
        else if (kind == TABLE_NORMAL)
            units = normal_units((uint32_t)i, sigma);
        table->logits[i] = (float)units * UNIT;
    }
    return 0;
}

static int mask(struct table *table, const struct json_cursor *at, struct trouble *trouble)
{
    static const char *const keys[] = {"every", "first", NULL};
    struct json_cursor masked;
    int64_t every, first;
    if (json_object(at, "masked", &masked, trouble) || json_known_keys(&masked, keys, trouble) ||
        json_integer(&masked, "every", 2, MASK_EVERY_MAX, &every, trouble) ||
        json_integer(&masked, "first", 0, every - 1, &first, trouble))
        return -1;
    for (size_t i = (size_t)first; i < table->vocab; i += (size_t)every)
        table->logits[i] = -INFINITY;
    if (table->vocab == 1 && first == 0)
        return json_trouble(&masked, trouble, "masks every id; at least one must stay");
    return 0;
}

static int read_name(struct table *table, const struct json_cursor *at, struct trouble *trouble)
{
    const char *name;
    if (json_string(at, "name", &name, trouble))
        return -1;
    if (!json_is_name(name, sizeof table->name))
        return json_trouble(at, trouble, "\"name\" must be " JSON_NAME_RULE);
    memcpy(table->name, name, strlen(name) + 1);
    return 0;
}

int table_read(struct table *table, const struct json_cursor *at, struct trouble *trouble)
{
    *table = (struct table){0};
    int kind;
    bool failed = json_one_of(at, "kind", kind_names, &kind, trouble) ||
                  json_known_keys(at, kind_keys[kind], trouble) || read_name(table, at, trouble) ||
                  (kind == TABLE_LIST ? read_list(table, at, trouble)
                                      : read_formula(table, (enum table_kind)kind, at, trouble)) ||
                  (json_has(at, "masked") && mask(table, at, trouble));
    if (failed)
        table_free(table);
    return failed ? -1 : 0;
}

void table_free(struct table *table)
{
    free(table->logits);
    *table = (struct table){0};
}
