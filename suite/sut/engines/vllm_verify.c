/* vllm_verify.c: the constructor of vLLM 0.5.0's SamplingParams: its checks, in its order and words, and what it
 * rewrites.
 *
 * A value of another type than a number dies in the first comparison with one. NaN passes wherever a bound is
 * asked from outside (`x < 1`), and is refused where it is asked from inside (`0 < x <= 1`).
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "suite/sut/engines/vllm.h"

int vllm_unordered(const struct engine_value *value, bool first, const char *compare, const char *other,
                   struct engine_refusal *refusal)
{
    const char *type = engine_python_type(value);
    return engine_refuse(refusal, 500, "'%s' not supported between instances of '%s' and '%s'", compare,
                         first ? type : other, first ? other : type);
}

/* `low <= x <= high` (closed) or `low < x <= high`, in floats. */
static const struct inside {
    enum engine_parameter parameter;
    bool closed;
    double low, high;
    const char *range;
} insides[] = {
    {ENGINE_PRESENCE_PENALTY, true, -2, 2, "[-2, 2]"},
    {ENGINE_FREQUENCY_PENALTY, true, -2, 2, "[-2, 2]"},
    {ENGINE_REPETITION_PENALTY, false, 0, 2, "(0, 2]"},
    {ENGINE_TOP_P, false, 0, 1, "(0, 1]"},
    {ENGINE_MIN_P, true, 0, 1, "[0, 1]"},
};

static int is_inside(const struct engine_values *values, const struct inside *inside,
                     struct engine_refusal *refusal)
{
    const struct engine_value *value = &values->at[inside->parameter];
    char text[32];
    if (!engine_is_number(value))
        return vllm_unordered(value, false, inside->closed ? "<=" : "<", "float", refusal);
    const double x = value->number;
    if ((inside->closed ? inside->low <= x : inside->low < x) && x <= inside->high)
        return 0;
    return engine_refuse(refusal, 400, "%s must be in %s, got %s.", engine_parameter_names[inside->parameter],
                         inside->range, engine_python_text(value, text, sizeof text));
}

/* `x < low` refuses; `optional`: not of None. */
static int is_least(const struct engine_values *values, enum engine_parameter parameter, double low,
                    bool optional, const char *type, const char *sentence, const char *end,
                    struct engine_refusal *refusal)
{
    const struct engine_value *value = &values->at[parameter];
    char text[32];
    if (optional && !engine_is_set(value))
        return 0;
    if (!engine_is_number(value))
        return vllm_unordered(value, true, "<", type, refusal);
    if (!(value->number < low))
        return 0;
    return engine_refuse(refusal, 400, "%s must be %s, got %s%s", engine_parameter_names[parameter], sentence,
                         engine_python_text(value, text, sizeof text), end);
}

static int check_counts(const struct engine_values *values, struct engine_refusal *refusal)
{
    const struct engine_value *n = &values->at[ENGINE_N], *best_of = &values->at[ENGINE_BEST_OF];
    char n_text[32], text[32];
    if (is_least(values, ENGINE_N, 1, false, "int", "at least 1", ".", refusal))
        return -1;
    if (!engine_is_number(best_of))
        return vllm_unordered(best_of, true, "<", engine_python_type(n), refusal);
    if (best_of->number < n->number)
        return engine_refuse(
            refusal, 400, "best_of must be greater than or equal to n, got n=%s and best_of=%s.",
            engine_python_text(n, n_text, sizeof n_text), engine_python_text(best_of, text, sizeof text));
    return 0;
}

static int check_top_k(const struct engine_values *values, struct engine_refusal *refusal)
{
    const struct engine_value *top_k = &values->at[ENGINE_TOP_K];
    char text[32];
    if (!engine_is_number(top_k))
        return vllm_unordered(top_k, true, "<", "int", refusal);
    if (top_k->number < -1 || top_k->number == 0)
        return engine_refuse(refusal, 400, "top_k must be -1 (disable), or at least 1, got %s.",
                             engine_python_text(top_k, text, sizeof text));
    return 0;
}

static int check_lengths(const struct engine_values *values, struct engine_refusal *refusal)
{
    const struct engine_value *most = &values->at[ENGINE_MAX_TOKENS], *least = &values->at[ENGINE_MIN_TOKENS];
    char text[32], most_text[32];
    if (is_least(values, ENGINE_MAX_TOKENS, 1, true, "int", "at least 1", ".", refusal) ||
        is_least(values, ENGINE_MIN_TOKENS, 0, false, "int", "greater than or equal to 0", ".", refusal))
        return -1;
    if (engine_is_set(most) && least->number > most->number)
        return engine_refuse(refusal, 400, "min_tokens must be less than or equal to max_tokens=%s, got %s.",
                             engine_python_text(most, most_text, sizeof most_text),
                             engine_python_text(least, text, sizeof text));
    return is_least(values, ENGINE_LOGPROBS, 0, true, "int", "non-negative", ".", refusal) ||
                   is_least(values, ENGINE_PROMPT_LOGPROBS, 0, true, "int", "non-negative", ".", refusal) ||
                   is_least(values, ENGINE_TRUNCATE_PROMPT_TOKENS, 1, true, "int", ">= 1", "", refusal)
               ? -1
               : 0;
}

static int check_stop(const struct engine_values *values, struct engine_refusal *refusal)
{
    const struct engine_value *stop = &values->at[ENGINE_STOP];
    if (stop->kind != ENGINE_TEXT)
        return 0; /* no stop string that is seen here */
    if (!*stop->text)
        return engine_refuse(refusal, 400, "stop cannot contain an empty string.");
    if (!engine_is_true(&values->at[ENGINE_DETOKENIZE]))
        return engine_refuse(
            refusal, 400,
            "stop strings are only supported when detokenize is True. Set detokenize=True to use "
            "stop.");
    return 0;
}

static int check_arguments(const struct engine_values *values, struct engine_refusal *refusal)
{
    const struct engine_value *stop = &values->at[ENGINE_STOP];
    /* The list is made before anything is checked. */
    if (engine_is_number(stop))
        return engine_refuse(refusal, 500, "'%s' object is not iterable", engine_python_type(stop));
    return check_counts(values, refusal) || is_inside(values, &insides[0], refusal) ||
                   is_inside(values, &insides[1], refusal) || is_inside(values, &insides[2], refusal) ||
                   is_least(values, ENGINE_TEMPERATURE, 0, false, "float", "non-negative", ".", refusal) ||
                   is_inside(values, &insides[3], refusal) || check_top_k(values, refusal) ||
                   is_inside(values, &insides[4], refusal) || check_lengths(values, refusal) ||
                   check_stop(values, refusal)
               ? -1
               : 0;
}

static int check_beam(const struct engine_values *values, struct engine_refusal *refusal)
{
    const struct engine_value *at = values->at, *early = &at[ENGINE_EARLY_STOPPING];
    char text[32];
    if (at[ENGINE_BEST_OF].number == 1)
        return engine_refuse(refusal, 400, "best_of must be greater than 1 when using beam search. Got %s.",
                             engine_python_text(&at[ENGINE_BEST_OF], text, sizeof text));
    if (at[ENGINE_TEMPERATURE].number > VLLM_EPSILON)
        return engine_refuse(refusal, 400, "temperature must be 0 when using beam search.");
    if (at[ENGINE_TOP_P].number < 1 - VLLM_EPSILON)
        return engine_refuse(refusal, 400, "top_p must be 1 when using beam search.");
    if (at[ENGINE_TOP_K].number != -1)
        return engine_refuse(refusal, 400, "top_k must be -1 when using beam search.");
    /* `in [True, False, "never"]`: 1 and 0 are in it. */
    const bool listed = engine_is_number(early) ? early->number == 0 || early->number == 1
                                                : early->kind == ENGINE_TEXT && !strcmp(early->text, "never");
    if (!listed)
        return engine_refuse(refusal, 400, "early_stopping must be True, False, or 'never', got %s.",
                             engine_python_text(early, text, sizeof text));
    return 0;
}

static int check_no_beam(const struct engine_values *values, struct engine_refusal *refusal)
{
    const struct engine_value *early = &values->at[ENGINE_EARLY_STOPPING],
                              *length = &values->at[ENGINE_LENGTH_PENALTY];
    if (early->kind != ENGINE_BOOLEAN || early->integer) /* `is not False` */
        return engine_refuse(refusal, 400,
                             "early_stopping is not effective and must be False when not using beam search.");
    if (!engine_is_number(length))
        return vllm_unordered(length, true, "<", "float", refusal);
    if (length->number < 1 - VLLM_EPSILON || length->number > 1 + VLLM_EPSILON)
        return engine_refuse(
            refusal, 400,
            "length_penalty is not effective and must be the default value of 1.0 when not using "
            "beam search.");
    return 0;
}

/* What the constructor makes of absent and sentinel values before it checks anything. */
static void fill(struct engine_values *values)
{
    struct engine_value *seed = &values->at[ENGINE_SEED];
    if (!engine_is_set(&values->at[ENGINE_BEST_OF]))
        values->at[ENGINE_BEST_OF] = values->at[ENGINE_N];
    if (engine_is_number(seed) && seed->number == -1)
        *seed = (struct engine_value){.kind = ENGINE_NULL};
}

int vllm_normalize(enum engine_reading reading, struct engine_values *values, struct engine_refusal *refusal)
{
    fill(values);
    if (reading != ENGINE_UPSTREAM)
        return 0; /* the article checks nothing and rewrites nothing else */
    const bool beam = engine_is_true(&values->at[ENGINE_USE_BEAM_SEARCH]);
    if (check_arguments(values, refusal) ||
        (beam ? check_beam(values, refusal) : check_no_beam(values, refusal)))
        return -1;
    if (!beam && values->at[ENGINE_TEMPERATURE].number < VLLM_EPSILON) {
        values->at[ENGINE_TOP_P] = engine_float(1);
        values->at[ENGINE_TOP_K] = engine_integer(-1);
        values->at[ENGINE_MIN_P] = engine_float(0);
    }
    values->at[ENGINE_STOP] = (struct engine_value){.kind = ENGINE_ARRAY};
    return 0;
}

int vllm_verify(enum engine_reading reading, const struct engine_values *values,
                struct engine_refusal *refusal)
{
    const struct engine_value *best_of = &values->at[ENGINE_BEST_OF];
    char text[32];
    if (reading != ENGINE_UPSTREAM || vllm_draw_of(values) != ENGINE_DRAW_GREEDY || !(best_of->number > 1))
        return 0;
    return engine_refuse(refusal, 400, "best_of must be 1 when using greedy sampling.Got %s.",
                         engine_python_text(best_of, text, sizeof text));
}
