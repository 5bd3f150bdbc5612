/* parameters.c: read parameters, and chain edits, softmax and filters as an engine does. */
#include "suite/oracle/parameters.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct law_parameters law_parameters_none(void)
{
    return (struct law_parameters){.limits = {-1, 1, 0}, .edits = law_edits_none()};
}

void law_parameters_free(struct law_parameters *parameters)
{
    free(parameters->edits.prompt.id);
    free(parameters->edits.output.id);
    free(parameters->edits.banned.id);
    free(parameters->edits.stop.id);
    free(parameters->edits.bias);
    *parameters = law_parameters_none();
}

/* A number, or a string with one, which may also be nan, inf or -inf. Absent: left as it is. */
static int read_number(const struct json_cursor *at, const char *key, double *value, struct trouble *trouble)
{
    static const struct {
        const char *name;
        double value;
    } special[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
    const char *text;
    if (!json_has(at, key))
        return 0;
    if (!cJSON_IsString(cJSON_GetObjectItemCaseSensitive(at->node, key)))
        return json_number(at, key, -DBL_MAX, DBL_MAX, value, trouble);
    if (json_string(at, key, &text, trouble))
        return -1;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (strcmp(text, special[i].name) == 0) {
            *value = special[i].value;
            return 0;
        }
    return json_double_string(at, key, value, trouble);
}

static int read_integer(const struct json_cursor *at, const char *key, int64_t *value,
                        struct trouble *trouble)
{
    const int64_t most = (int64_t)1 << 53;
    return json_has(at, key) ? json_integer(at, key, -most, most, value, trouble) : 0;
}

/* Any 32-bit ids, or only those of a vocabulary. */
static int read_ids(const struct json_cursor *at, const char *key, int64_t low, int64_t high,
                    struct law_ids *ids, struct trouble *trouble)
{
    struct json_cursor array;
    if (!json_has(at, key))
        return 0;
    if (json_array(at, key, &array, &ids->count, trouble))
        return -1;
    ids->id = calloc(ids->count + 1, sizeof *ids->id);
    if (!ids->id)
        abort();
    struct json_cursor element = json_at(&array, 0);
    for (size_t i = 0; i < ids->count; i++, element = json_next(&element))
        if (json_integer_here(&element, low, high, &ids->id[i], trouble))
            return -1;
    return 0;
}

static int read_biases(const struct json_cursor *at, size_t vocab, struct law_edits *edits,
                       struct trouble *trouble)
{
    struct json_cursor array;
    if (!json_has(at, "logit_bias"))
        return 0;
    if (json_array(at, "logit_bias", &array, &edits->biases, trouble))
        return -1;
    edits->bias = calloc(edits->biases + 1, sizeof *edits->bias);
    if (!edits->bias)
        abort();
    struct json_cursor pair = json_at(&array, 0);
    for (size_t i = 0; i < edits->biases; i++, pair = json_next(&pair)) {
        struct law_bias *bias = &edits->bias[i];
        const cJSON *value = cJSON_GetArrayItem(pair.node, 1);
        if (cJSON_GetArraySize(pair.node) != 2 || !cJSON_IsNumber(value))
            return json_trouble(&pair, trouble, "must be [id, value]");
        if (json_integer_at(&pair, 0, 0, (int64_t)vocab - 1, &bias->id, trouble))
            return -1;
        bias->value = value->valuedouble;
        if ((double)(float)bias->value != bias->value)
            return json_trouble(&pair, trouble, "must have a value that a float holds exactly");
    }
    return 0;
}

int law_parameters_read(struct law_parameters *parameters, const struct json_cursor *at, size_t vocab,
                        struct trouble *trouble)
{
    static const char *const keys[] = {"top_k",
                                       "top_p",
                                       "min_p",
                                       "repetition_penalty",
                                       "frequency_penalty",
                                       "presence_penalty",
                                       "prompt",
                                       "output",
                                       "banned",
                                       "stop",
                                       "logit_bias",
                                       "min_tokens",
                                       NULL};
    *parameters = law_parameters_none();
    struct law_edits *edits = &parameters->edits;
    return json_known_keys(at, keys, trouble) ||
                   read_integer(at, "top_k", &parameters->limits.top_k, trouble) ||
                   read_number(at, "top_p", &parameters->limits.top_p, trouble) ||
                   read_number(at, "min_p", &parameters->limits.min_p, trouble) ||
                   read_number(at, "repetition_penalty", &edits->repetition, trouble) ||
                   read_number(at, "frequency_penalty", &edits->frequency, trouble) ||
                   read_number(at, "presence_penalty", &edits->presence, trouble) ||
                   read_ids(at, "prompt", INT32_MIN, INT32_MAX, &edits->prompt, trouble) ||
                   read_ids(at, "output", INT32_MIN, INT32_MAX, &edits->output, trouble) ||
                   read_ids(at, "stop", INT32_MIN, INT32_MAX, &edits->stop, trouble) ||
                   read_ids(at, "banned", 0, (int64_t)vocab - 1, &edits->banned, trouble) ||
                   read_biases(at, vocab, edits, trouble) ||
                   read_integer(at, "min_tokens", &edits->min_tokens, trouble)
               ? -1
               : 0;
}

const char *law_parameters_refused(const struct law_parameters *parameters, double temperature, size_t vocab)
{
    if (!(temperature > 0 && temperature < INFINITY))
        return "temperature";
    const char *refused = law_limits_refused(&parameters->limits);
    return refused ? refused : law_edits_refused(&parameters->edits, vocab);
}

bool law_limits_any(const struct law_limits *limits)
{
    return limits->top_k > 0 || limits->top_p < 1 || limits->min_p > 0;
}

/* The filters on the row at temperature 1, the temperature on what they leave. */
static struct law_filtered temperature_last(const struct law_filter *filter, const struct law_limits *limits,
                                            const double *logits, size_t vocab, double temperature,
                                            double *pmf, uint8_t *kept)
{
    law_of_doubles(logits, vocab, 1, pmf);
    struct law_filtered result = law_filtered(filter, limits, pmf, vocab, pmf, kept);
    for (size_t i = 0; i < vocab; i++)
        pmf[i] = kept[i] ? logits[i] : -INFINITY;
    law_of_doubles(pmf, vocab, temperature, pmf);
    return result;
}

/* Do ids of different logits tie, once edited, where the filters end? Exact arithmetic has them equal, fp32 need not. */
static bool edits_tie(const float *values, const double *logits, const uint8_t *kept, size_t vocab)
{
    size_t least = vocab;
    for (size_t i = 0; i < vocab; i++)
        if (kept[i] && (least == vocab || logits[i] < logits[least]))
            least = i;
    for (size_t i = 0; i < vocab && least < vocab; i++)
        if (logits[i] == logits[least] && values[i] != values[least])
            return true;
    return false;
}

struct law_filtered law_under(const struct law_filter *filter, const struct law_editor *editor,
                              const struct law_parameters *parameters, enum value_kind kind,
                              const float *values, size_t vocab, double temperature, double *pmf,
                              uint8_t *kept)
{
    const struct law_limits *limits = &parameters->limits;
    if (kind == VALUE_PROBABILITIES) {
        for (size_t i = 0; i < vocab; i++)
            pmf[i] = (double)values[i];
        return law_filtered(filter, limits, pmf, vocab, pmf, kept);
    }
    bool last = law_filter_temperature_last(filter) && law_limits_any(limits);
    double *logits = malloc(vocab * sizeof *logits);
    if (!logits)
        abort();
    law_edited(editor, &parameters->edits, last ? 1 : temperature, values, vocab, logits);
    struct law_filtered result;
    if (last) {
        result = temperature_last(filter, limits, logits, vocab, temperature, pmf, kept);
    } else {
        law_of_doubles(logits, vocab, 1, pmf);
        result = law_filtered(filter, limits, pmf, vocab, pmf, kept);
    }
    if (law_limits_any(limits) && law_edits_any(&parameters->edits) && edits_tie(values, logits, kept, vocab))
        result.weight_margin = 0;
    free(logits);
    return result;
}
