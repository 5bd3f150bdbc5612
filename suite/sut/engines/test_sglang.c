/* test_sglang.c: the article's own examples give the article's answers, and the smaller parts do what they
 * say.
 *
 * The broad comparison with the independent model is `golden verify`; the lives of batches are in
 * test_sglang_batch.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "suite/sut/engines/sglang.h"

#define TEMPERATURE(x) [ENGINE_TEMPERATURE] = {.kind = ENGINE_FLOAT, .number = (x)}
#define TOP_K(x) [ENGINE_TOP_K] = {.kind = ENGINE_INTEGER, .integer = (x), .number = (x)}
#define TOP_P(x) [ENGINE_TOP_P] = {.kind = ENGINE_FLOAT, .number = (x)}
#define MIN_P(x) [ENGINE_MIN_P] = {.kind = ENGINE_FLOAT, .number = (x)}
#define VALUES(...) ((struct engine_values){.at = {__VA_ARGS__}})

static const struct engine_values nothing = {0},
                                  qwen3 = {.at = {TEMPERATURE(0.6), TOP_P(0.95), TOP_K(20), MIN_P(0)}};

/* The path of a batch, all its requests sent to one endpoint; "refused: TEXT" if one is. */
static const char *route(const struct engine *engine, enum engine_reading reading,
                         const struct engine_server *server, enum engine_endpoint endpoint,
                         const struct engine_values *requests, size_t count)
{
    static struct engine_refusal refusal;
    struct engine_flags together = {0};
    for (size_t i = 0; i < count; i++) {
        struct engine_resolved resolved;
        struct engine_flags flags;
        if (engine->resolve(reading, server, endpoint, &requests[i], &resolved, &refusal) ||
            engine->normalize(reading, &resolved.values, &refusal) ||
            engine->verify(reading, &resolved.values, &refusal) ||
            engine->flags(reading, server, &resolved.values, &flags, &refusal))
            return refusal.text;
        together = i ? engine->together(together, flags) : flags;
    }
    struct engine_path path;
    if (engine->path(reading, server, &together, count, &path, &refusal))
        return refusal.text;
    return engine_path_names[path.kind];
}

/* Each example in all three readings: the article's claims here are the engine's behaviour. */
static void expect(const struct engine_server *server, enum engine_endpoint endpoint,
                   const struct engine_values *requests, size_t count, const char *path)
{
    for (int reading = 0; reading < ENGINE_READINGS; reading++)
        assert_string_equal(
            route(&sglang_0_5_20, (enum engine_reading)reading, server, endpoint, requests, count), path);
}

static void article_examples(void **state)
{
    (void)state;
    const struct engine_server with_file = {.generation_config = qwen3}, without = {0},
                               deterministic = {.deterministic = true},
                               openai = {.generation_config = qwen3, .neutral_defaults = true};
    expect(&with_file, ENGINE_CHAT, &nothing, 1, "filtered");
    expect(&with_file, ENGINE_COMPLETIONS, &nothing, 1, "gumbel");
    expect(&with_file, ENGINE_GENERATE, &nothing, 1, "gumbel");
    expect(&openai, ENGINE_CHAT, &nothing, 1, "gumbel");
    const struct engine_values unfiltered = VALUES(TOP_P(1), TOP_K(-1));
    expect(&with_file, ENGINE_CHAT, &unfiltered, 1, "gumbel");
    const struct engine_values neighbours[] = {unfiltered, VALUES(TEMPERATURE(0), TOP_P(1), TOP_K(-1)),
                                               unfiltered};
    expect(&with_file, ENGINE_CHAT, neighbours, 3, "filtered");
    expect(&without, ENGINE_CHAT, &nothing, 1, "gumbel");
    const struct engine_values greedy[] = {VALUES(TEMPERATURE(0)), VALUES(TOP_K(1))};
    expect(&without, ENGINE_CHAT, greedy, 2, "greedy");
    expect(&deterministic, ENGINE_CHAT, &nothing, 1, "deterministic");
    expect(&deterministic, ENGINE_CHAT, greedy, 2, "greedy");
    expect(&without, ENGINE_CHAT, NULL, 0, "a batch needs at least one request");
}

static void versions_and_switch(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool on;
    } spellings[] = {{NULL, true},   {"0", false},  {"false", false}, {"FALSE", false}, {"no", false},
                     {"N", false},   {"1", true},   {"true", true},   {"yes", true},    {"off", true},
                     {"", true},     {" 0", true},  {"0 ", true},     {"f", true},      {"00", true},
                     {"None", true}, {"nope", true}};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const struct engine_server server = {.gumbel_switch = spellings[i].text};
        const char *plain = spellings[i].on ? "gumbel" : "multinomial";
        assert_int_equal(sglang_switch_is_on(spellings[i].text), spellings[i].on);
        assert_string_equal(route(&sglang_0_5_20, ENGINE_UPSTREAM, &server, ENGINE_CHAT, &nothing, 1), plain);
        assert_string_equal(route(&sglang_0_5_20, ENGINE_ARTICLE_PORT, &server, ENGINE_CHAT, &nothing, 1),
                            "gumbel");
        assert_string_equal(route(&sglang_0_5_19, ENGINE_UPSTREAM, &server, ENGINE_CHAT, &nothing, 1),
                            "multinomial");
    }
    assert_ptr_equal(engine_find("sglang-0.5.19"), &sglang_0_5_19);
    assert_ptr_equal(engine_find("sglang-0.5.20"), &sglang_0_5_20);
    assert_null(engine_find("sglang"));
}

/* Where the three readings part. */
static void readings_differ(void **state)
{
    (void)state;
    const struct engine_server deterministic = {.deterministic = true},
                               preferred = {.preferred = VALUES(TOP_K(40))};
    const struct engine_values top_k = VALUES(TOP_K(20)), zero = VALUES(TOP_K(0)), min_p = VALUES(MIN_P(0.1));
    const struct {
        const struct engine_server *server;
        enum engine_endpoint endpoint;
        const struct engine_values *request;
        const char *path[ENGINE_READINGS];
    } differ[] = {
        {&deterministic, ENGINE_CHAT, &top_k, {"filtered", "deterministic", "filtered"}},
        {&deterministic,
         ENGINE_CHAT,
         &min_p,
         {"filtered", "deterministic",
          "With sampling seed, multinomial_with_seed will "
          "provide wrong results"}},
        {&preferred, ENGINE_CHAT, &nothing, {"gumbel", "filtered", "gumbel"}},
        {&preferred, ENGINE_COMPLETIONS, &nothing, {"gumbel", "filtered", "gumbel"}},
        {&preferred, ENGINE_RESPONSES, &nothing, {"gumbel", "filtered", "filtered"}},
        {&preferred, ENGINE_GENERATE, &nothing, {"gumbel", "filtered", "filtered"}},
        {&deterministic,
         ENGINE_CHAT,
         &zero,
         {"greedy", "greedy", "top_k must be -1 (disable) or at least 1, got 0."}},
    };
    for (size_t i = 0; i < sizeof differ / sizeof *differ; i++)
        for (int r = 0; r < ENGINE_READINGS; r++)
            assert_string_equal(route(&sglang_0_5_20, (enum engine_reading)r, differ[i].server,
                                      differ[i].endpoint, differ[i].request, 1),
                                differ[i].path[r]);
}

static void layers(void **state)
{
    (void)state;
    const struct engine_server server = {.generation_config = qwen3,
                                         .preferred = VALUES(TOP_K(40), MIN_P(0.3))};
    struct engine_values request = VALUES(TEMPERATURE(0.9));
    struct engine_resolved resolved;
    struct engine_refusal refusal;
    assert_int_equal(
        sglang_resolve(ENGINE_ARTICLE_PROSE, &server, ENGINE_CHAT, &request, &resolved, &refusal), 0);
    static const enum engine_layer prose[] = {ENGINE_LAYER_REQUEST, ENGINE_LAYER_PREFERRED,
                                              ENGINE_LAYER_MODEL, ENGINE_LAYER_PREFERRED,
                                              ENGINE_LAYER_DEFAULT};
    for (size_t p = 0; p < sizeof prose / sizeof *prose; p++)
        assert_int_equal(resolved.layer[p], prose[p]);
    assert_int_equal(resolved.layer[ENGINE_SEED], ENGINE_LAYER_NONE);
    /* Null at /generate is an answer; on chat it is silence; on completions it is refused. */
    request.at[ENGINE_TOP_K].kind = ENGINE_NULL;
    assert_int_equal(sglang_resolve(ENGINE_UPSTREAM, &server, ENGINE_GENERATE, &request, &resolved, &refusal),
                     0);
    assert_int_equal(resolved.layer[ENGINE_TOP_K], ENGINE_LAYER_REQUEST);
    assert_int_equal(resolved.layer[ENGINE_MIN_P], ENGINE_LAYER_PREFERRED);
    assert_int_equal(sglang_resolve(ENGINE_UPSTREAM, &server, ENGINE_CHAT, &request, &resolved, &refusal), 0);
    assert_int_equal(resolved.layer[ENGINE_TOP_K], ENGINE_LAYER_MODEL);
    assert_int_equal(
        sglang_resolve(ENGINE_UPSTREAM, &server, ENGINE_COMPLETIONS, &request, &resolved, &refusal), -1);
    assert_int_equal(refusal.status, 400);
    assert_string_equal(refusal.text, "top_k must be an integer, is null");
}

/* The list of differences in sglang_new.c, one by one, each beside what 0.5.20 does. */
static void newest_release(void **state)
{
    (void)state;
    const struct engine_server plain = {0}, seeds = {.deterministic = true},
                               pytorch = {.backend = ENGINE_PYTORCH}, xpu = {.device = ENGINE_XPU},
                               misplaced = {.backend = ENGINE_INTEL_XPU};
    struct engine_values truth = {0}, seed = {0};
    truth.at[ENGINE_MIN_P] = (struct engine_value){.kind = ENGINE_BOOLEAN, .integer = 1, .number = 1};
    seed.at[ENGINE_SEED] = engine_float(0x1p63);
    const struct {
        const struct engine_server *server;
        const struct engine_values *request;
        const char *old, *new;
    } differ[] = {
        {&plain, &truth, "filtered", "invalid type: boolean `true`, expected f64"},
        {&plain, &seed, "gumbel", "sampling_seed must be in [-2**63, 2**63 - 1], got 9223372036854775808."},
        {&seeds, &seed, "a seed does not fit the batch's int64 tensor",
         "sampling_seed must be in [-2**63, 2**63 - 1], got 9223372036854775808."},
        {&misplaced, &nothing, "gumbel",
         "--sampling-backend intel_xpu requires --device xpu, got --device cuda"},
    };
    for (size_t i = 0; i < sizeof differ / sizeof *differ; i++) {
        assert_string_equal(
            route(&sglang_0_5_20, ENGINE_UPSTREAM, differ[i].server, ENGINE_GENERATE, differ[i].request, 1),
            differ[i].old);
        assert_string_equal(
            route(&sglang_0_5_23, ENGINE_UPSTREAM, differ[i].server, ENGINE_GENERATE, differ[i].request, 1),
            differ[i].new);
    }
    const struct engine_flags bounded = {.need_top_k = true, .top_k_bound = 20};
    struct engine_path path;
    struct engine_refusal refusal;
    assert_int_equal(sglang_0_5_20.path(ENGINE_UPSTREAM, &pytorch, &bounded, 2, &path, &refusal), 0);
    assert_int_equal(path.top_k_bound, 0);
    assert_int_equal(sglang_0_5_23.path(ENGINE_UPSTREAM, &pytorch, &bounded, 2, &path, &refusal), 0);
    assert_int_equal(path.top_k_bound, 20);
    assert_int_equal(sglang_0_5_23.path(ENGINE_UPSTREAM, &seeds, &bounded, 2, &path, &refusal), 0);
    assert_int_equal(path.top_k_bound, 0);
    assert_int_equal(sglang_0_5_20.path(ENGINE_UPSTREAM, &xpu, &bounded, 2, &path, &refusal), 0);
    assert_int_equal(path.backend, ENGINE_PYTORCH);
    assert_int_equal(sglang_0_5_23.path(ENGINE_UPSTREAM, &xpu, &bounded, 2, &path, &refusal), 0);
    assert_int_equal(path.backend, ENGINE_INTEL_XPU);
}

/* What CPython prints for these doubles. */
static void python_texts(void **state)
{
    (void)state;
    static const struct {
        double number;
        const char *text;
    } known[] = {{0, "0.0"},
                 {-0.0, "-0.0"},
                 {1, "1.0"},
                 {-0.5, "-0.5"},
                 {0.1, "0.1"},
                 {1e-4, "0.0001"},
                 {1e-5, "1e-05"},
                 {123456.789, "123456.789"},
                 {1e15, "1000000000000000.0"},
                 {1e16, "1e+16"},
                 {5e-324, "5e-324"},
                 {1.7976931348623157e308, "1.7976931348623157e+308"},
                 {1.0 / 3, "0.3333333333333333"},
                 {100, "100.0"},
                 {9007199254740993.0, "9007199254740992.0"},
                 {123456789012345680.0, "1.2345678901234568e+17"},
                 {-1e-9, "-1e-09"},
                 {1.0000000000000002, "1.0000000000000002"},
                 {NAN, "nan"},
                 {HUGE_VAL, "inf"},
                 {-HUGE_VAL, "-inf"}};
    char text[40];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct engine_value value = engine_float(known[i].number);
        assert_string_equal(engine_python_text(&value, text, sizeof text), known[i].text);
    }
    struct engine_value lowest = engine_integer(INT64_MIN), truth = {.kind = ENGINE_BOOLEAN, .integer = 1};
    assert_string_equal(engine_python_text(&lowest, text, sizeof text), "-9223372036854775808");
    assert_string_equal(engine_python_text(&truth, text, sizeof text), "True");
}

/* What pydantic 2 makes of text for a float and an integer field; NULL: refused. */
static void spelled_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *as_float, *as_integer;
    } known[] = {{"0.5", "0.5", NULL},   {"1", "1.0", "1"},    {" 1 ", "1.0", "1"},   {"1e3", "1000.0", NULL},
                 {"nan", "nan", NULL},   {"-1", "-1.0", "-1"}, {"+5", "5.0", "5"},    {"20.0", "20.0", "20"},
                 {"20.5", "20.5", NULL}, {"007", "7.0", "7"},  {"1_0", "10.0", "10"}, {"x", NULL, NULL},
                 {"", NULL, NULL},       {"0x10", NULL, NULL}, {"_1", NULL, NULL},    {"1 0", NULL, NULL},
                 {"nan(1)", NULL, NULL}, {"-", NULL, NULL},    {"1__0", NULL, NULL}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (int integer = 0; integer < 2; integer++) {
            struct engine_value value = {.kind = ENGINE_TEXT, .text = known[i].text};
            struct engine_refusal refusal;
            const char *expected = integer ? known[i].as_integer : known[i].as_float;
            char text[40];
            int refused = engine_coerce(integer ? ENGINE_TOP_K : ENGINE_TOP_P, "key", &value, &refusal);
            assert_string_equal(refused ? "refused" : engine_python_text(&value, text, sizeof text),
                                expected ? expected : "refused");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(article_examples), cmocka_unit_test(versions_and_switch),
        cmocka_unit_test(readings_differ),  cmocka_unit_test(layers),
        cmocka_unit_test(python_texts),     cmocka_unit_test(newest_release),
        cmocka_unit_test(spelled_numbers),
    };
    return cmocka_run_group_tests_name("sglang", tests, NULL, NULL);
}
