/* boundary_case.c: read the cases of golden/boundary/. */
#include "suite/golden/boundary_case.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An integer of numerator, or a string for what no fraction is. */
static int read_value(const struct json_cursor *at, double denominator, float *value, struct trouble *trouble)
{
    static const struct {
        const char *name;
        float value;
    } special[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
    int64_t numerator;
    for (size_t i = 0; cJSON_IsString(at->node) && i < sizeof special / sizeof *special; i++)
        if (strcmp(at->node->valuestring, special[i].name) == 0) {
            *value = special[i].value;
            return 0;
        }
    if (json_integer_here(at, -(1 << 24), 1 << 24, &numerator, trouble))
        return -1;
    *value = (float)((double)numerator / denominator);
    if ((double)*value * denominator != (double)numerator)
        return json_trouble(at, trouble, "over the denominator is nothing that a float holds exactly");
    return 0;
}

static int read_values(struct boundary_case *out, const struct json_cursor *at, struct trouble *trouble)
{
    struct json_cursor array;
    double denominator;
    bool wide = cJSON_IsString(cJSON_GetObjectItemCaseSensitive(at->node, "denominator"));
    if ((wide ? json_double_string(at, "denominator", &denominator, trouble)
              : json_number(at, "denominator", 1, 0x1p53, &denominator, trouble)) ||
        json_array(at, "values", &array, &out->vocab, trouble))
        return -1;
    if (out->vocab < 1 || out->vocab > BOUNDARY_VOCAB_MAX)
        return json_trouble(&array, trouble, "must have 1 to %d values, has %zu", BOUNDARY_VOCAB_MAX,
                            out->vocab);
    struct json_cursor element = json_at(&array, 0);
    for (size_t i = 0; i < out->vocab; i++, element = json_next(&element))
        if (read_value(&element, denominator, &out->values[i], trouble))
            return -1;
    return 0;
}

/* A number, or "nan". */
static int read_temperature(struct boundary_case *out, const struct json_cursor *at, struct trouble *trouble)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(at->node, "temperature");
    out->temperature = 1;
    if (cJSON_IsString(node) && strcmp(node->valuestring, "nan") == 0)
        out->temperature = NAN;
    else if (node)
        return json_number(at, "temperature", -DBL_MAX, DBL_MAX, &out->temperature, trouble);
    return 0;
}

int boundary_case_read(struct boundary_case *out, const struct json_cursor *at, struct trouble *trouble)
{
    static const char *const kinds[] = {"logits", "probabilities", NULL};
    struct json_cursor parameters;
    int kind;
    *out = (struct boundary_case){.parameters = law_parameters_none()};
    if (json_string(at, "id", &out->id, trouble) || json_one_of(at, "kind", kinds, &kind, trouble) ||
        read_values(out, at, trouble) || read_temperature(out, at, trouble) ||
        json_object(at, "parameters", &parameters, trouble) ||
        law_parameters_read(&out->parameters, &parameters, out->vocab, trouble))
        return -1;
    out->kind = kind == 0 ? VALUE_LOGITS : VALUE_PROBABILITIES;
    if (out->kind == VALUE_PROBABILITIES && (out->temperature != 1 || law_edits_any(&out->parameters.edits)))
        return json_trouble(at, trouble, "probabilities take no temperature and no edits");
    return 0;
}

void boundary_case_free(struct boundary_case *out)
{
    law_parameters_free(&out->parameters);
}

/* "2/3", or a decimal number. */
static int read_figure(const struct json_cursor *array, size_t i, double *value, struct trouble *trouble)
{
    const char *text;
    double above, below = 1;
    char *end;
    if (json_string_at(array, i, &text, trouble))
        return -1;
    above = strtod(text, &end);
    if (*end == '/' && end > text)
        below = strtod(end + 1, &end);
    *value = above / below;
    if (end == text || *end || !isfinite(*value))
        return json_trouble(array, trouble, "must hold strings such as \"2/3\" or \"6.66666666666667e-01\"");
    return 0;
}

/* As many figures as ids are kept. */
static int read_figures(const struct json_cursor *at, const char *key, size_t count, double *value,
                        struct trouble *trouble)
{
    struct json_cursor array;
    size_t length;
    if (json_array(at, key, &array, &length, trouble))
        return -1;
    if (length != count)
        return json_trouble(&array, trouble, "must have a figure for each of the %zu ids of \"kept\"", count);
    for (size_t i = 0; i < count; i++)
        if (read_figure(&array, i, &value[i], trouble))
            return -1;
    return 0;
}

static int read_answer(const struct json_cursor *at, const struct boundary_case *of,
                       struct boundary_answer *answer, struct trouble *trouble)
{
    struct json_cursor array;
    int64_t id, least = 0;
    if (json_has(at, "refused"))
        return json_string(at, "refused", &answer->refused, trouble);
    if (json_array(at, "kept", &array, &answer->kept, trouble))
        return -1;
    if (answer->kept > of->vocab)
        return json_trouble(&array, trouble, "holds more ids than the row");
    for (size_t i = 0; i < answer->kept; i++, least = id + 1) {
        if (json_integer_at(&array, i, least, (int64_t)of->vocab - 1, &id, trouble))
            return -1;
        answer->id[i] = (int32_t)id;
        answer->logit[i] = NAN;
    }
    answer->exact = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(at->node, "exact"));
    if (read_figures(at, "mass", answer->kept, answer->mass, trouble))
        return -1;
    return json_has(at, "logits") ? read_figures(at, "logits", answer->kept, answer->logit, trouble) : 0;
}

int boundary_told(const struct json_cursor *at, const struct boundary_case *of,
                  struct boundary_answer *answer, struct trouble *trouble)
{
    static const char *const keys[] = {"refused", "kept", "mass", "logits", "said", NULL};
    *answer = (struct boundary_answer){0};
    return json_known_keys(at, keys, trouble) ? -1 : read_answer(at, of, answer, trouble);
}

int boundary_expectation(const struct json_cursor *at, const struct boundary_case *of, const char *rule,
                         bool *found, struct boundary_answer *answer, struct trouble *trouble)
{
    static const char *const keys[] = {"rules", "refused", "kept", "mass", "logits", "exact", NULL};
    struct json_cursor array, rules;
    size_t entries, names;
    *found = false;
    *answer = (struct boundary_answer){0};
    if (json_array(at, "expect", &array, &entries, trouble))
        return -1;
    struct json_cursor entry = json_at(&array, 0);
    for (size_t e = 0; e < entries && !*found; e++, entry = json_next(&entry)) {
        if (json_array(&entry, "rules", &rules, &names, trouble))
            return -1;
        *found = !rule && entries == 1;
        for (size_t i = 0; i < names && !*found && rule; i++) {
            const char *name;
            if (json_string_at(&rules, i, &name, trouble))
                return -1;
            *found = strcmp(name, rule) == 0;
        }
        if (*found && (json_known_keys(&entry, keys, trouble) || read_answer(&entry, of, answer, trouble)))
            return -1;
    }
    return 0;
}
