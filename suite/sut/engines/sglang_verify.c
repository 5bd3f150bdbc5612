/* sglang_verify.c: what SGLang makes of parameters when it builds its own object, and which it refuses.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "suite/sut/engines/sglang.h"

static int not_a_number(enum engine_parameter parameter, const struct engine_value *value,
                        struct engine_refusal *refusal)
{
    return engine_refuse(refusal, 500, "%s must be a number, is %s", engine_parameter_names[parameter],
                         engine_json_type(value));
}

/* Null means the default; for the seed it stays null, which is no seed. */
static void fill_nulls(struct engine_values *values)
{
    static const double neutral[] = {[ENGINE_TEMPERATURE] = 1,
                                     [ENGINE_TOP_P] = 1,
                                     [ENGINE_REPETITION_PENALTY] = 1,
                                     [ENGINE_PRESENCE_PENALTY] = 0};
    for (int p = 0; p < ENGINE_SEED; p++)
        if (values->at[p].kind == ENGINE_NULL)
            values->at[p] = p == ENGINE_TOP_K ? engine_integer(-1) : engine_float(neutral[p]);
}

int sglang_normalize(enum engine_reading reading, struct engine_values *values,
                     struct engine_refusal *refusal)
{
    struct engine_value *temperature = &values->at[ENGINE_TEMPERATURE], *top_k = &values->at[ENGINE_TOP_K];
    if (reading == ENGINE_UPSTREAM)
        fill_nulls(values);
    if (!engine_is_number(temperature)) {
        if (reading == ENGINE_UPSTREAM)
            return not_a_number(ENGINE_TEMPERATURE, temperature, refusal);
        return engine_refuse(refusal, 0, "'<=' not supported between instances of 'int' and '%s'",
                             engine_python_type(temperature));
    }
    if (temperature->number >= 0 && temperature->number < SGLANG_EPSILON) {
        *temperature = engine_float(1);
        *top_k = engine_integer(1);
    }
    if (engine_is_number(top_k) && top_k->number == -1)
        *top_k = engine_integer(SGLANG_TOP_K_ALL);
    return 0;
}

/* In the order in which the engine asks: from low to high, low itself only if `closed`. NaN passes for top_k
 * alone. */
static const struct range {
    enum engine_parameter parameter;
    double low, high;
    bool closed, nan;
    const char *rule;
} ranges[] = {
    {ENGINE_TEMPERATURE, 0, HUGE_VAL, true, false, "must be a non-negative finite number"},
    {ENGINE_TOP_P, 0, 1, false, false, "must be in (0, 1]"},
    {ENGINE_MIN_P, 0, 1, true, false, "must be in [0, 1]"},
    {ENGINE_TOP_K, 1, HUGE_VAL, true, true, "must be -1 (disable) or at least 1"},
    {ENGINE_FREQUENCY_PENALTY, -2, 2, true, false, "must be in [-2, 2]"},
    {ENGINE_PRESENCE_PENALTY, -2, 2, true, false, "must be in [-2, 2]"},
    {ENGINE_REPETITION_PENALTY, 0, 2, false, false, "must be in (0, 2] (1.0 = no penalty)"},
};

static bool accepts(const struct range *range, double number)
{
    if (isnan(number))
        return range->nan;
    if (range->parameter == ENGINE_TEMPERATURE && isinf(number))
        return false;
    return (number > range->low || (range->closed && number == range->low)) && number <= range->high;
}

int sglang_verify(enum engine_reading reading, const struct engine_values *values,
                  struct engine_refusal *refusal)
{
    for (size_t i = 0; reading == ENGINE_UPSTREAM && i < sizeof ranges / sizeof *ranges; i++) {
        const struct range *range = &ranges[i];
        const struct engine_value *value = &values->at[range->parameter];
        char text[32];
        if (!engine_is_number(value))
            return not_a_number(range->parameter, value, refusal);
        if (!accepts(range, value->number))
            return engine_refuse(refusal, 400, "%s %s, got %s.", engine_parameter_names[range->parameter],
                                 range->rule, engine_python_text(value, text, sizeof text));
    }
    return 0;
}
