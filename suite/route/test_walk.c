/* test_walk.c: the running batch over time, against a model that keeps every request and goes through time second by
 * second. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suite/route/trace.h"

enum kind { PLAIN, GREEDY, TOP_K, MIN_P, KINDS_OF_REQUESTS };
static const struct engine_flags flags_of[] = {[PLAIN] = {.all_greedy = false},
                                               [GREEDY] = {.all_greedy = true, .need_top_k = true},
                                               [TOP_K] = {.need_top_k = true},
                                               [MIN_P] = {.need_min_p = true}};

struct life {
    int arrival, finish;
    enum kind kind;
    int sequences;
};

/* What a step does with requests of these kinds in the batch's memory. */
static enum engine_path_kind path_of(const bool remembered[KINDS_OF_REQUESTS])
{
    if (!remembered[PLAIN] && !remembered[TOP_K] && !remembered[MIN_P])
        return ENGINE_GREEDY;
    return remembered[GREEDY] || remembered[TOP_K] || remembered[MIN_P] ? ENGINE_FILTERED : ENGINE_GUMBEL;
}

struct model {
    double seconds[ENGINE_PATHS], tokens[ENGINE_PATHS], outlived, idle;
};

/* Of SGLang as it is: kinds are remembered until nobody runs. Without `sticky`: as the article's code has it. */
static struct model by_the_second(const struct life *life, size_t lives, int end, bool sticky)
{
    struct model model = {0};
    bool remembered[KINDS_OF_REQUESTS] = {false};
    for (int t = life[0].arrival; t < end; t++) {
        bool living[KINDS_OF_REQUESTS] = {false}, arriving[KINDS_OF_REQUESTS] = {false};
        size_t before = 0, running = 0, joining = 0;
        int sequences = 0;
        for (size_t i = 0; i < lives; i++) {
            before += life[i].arrival < t && t < life[i].finish;
            joining += life[i].arrival == t && t < life[i].finish;
            running += life[i].arrival <= t && t < life[i].finish;
            if (life[i].arrival == t)
                arriving[life[i].kind] = true;
            if (life[i].arrival <= t && t < life[i].finish) {
                living[life[i].kind] = true;
                sequences += life[i].sequences;
            }
        }
        if (before == 0)
            memset(remembered, 0, sizeof remembered);
        /* Who was there for its prompt alone is remembered through those it came with. */
        for (int k = 0; joining && k < KINDS_OF_REQUESTS; k++)
            remembered[k] |= arriving[k];
        if (running == 0) {
            model.idle++;
            continue;
        }
        const enum engine_path_kind alive = path_of(living), path = sticky ? path_of(remembered) : alive;
        model.seconds[path]++;
        model.tokens[path] += sequences;
        model.outlived += path != alive;
    }
    return model;
}

static int random_below(unsigned *seed, int n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (int)((*seed >> 16) % (unsigned)n);
}

static int make_lives(unsigned *seed, struct life *life, size_t lives, int spread)
{
    int time = random_below(seed, 5), end = 0;
    for (size_t i = 0; i < lives; i++) {
        time += random_below(seed, spread);
        life[i] = (struct life){time, time + random_below(seed, 7), (enum kind)random_below(seed, 4),
                                1 + random_below(seed, 3)};
        end = life[i].finish > end ? life[i].finish : end;
    }
    return end;
}

static void compare(const struct life *life, size_t lives, int end, bool sticky)
{
    struct route_view view = {.engine = engine_find("sglang-0.5.20"),
                              .reading = sticky ? ENGINE_UPSTREAM : ENGINE_ARTICLE_PORT};
    struct walk walk;
    struct trace trace = {.walk = &walk, .walks = 1};
    const struct model model = by_the_second(life, lives, end, sticky);
    double seconds[ENGINE_PATHS] = {0}, tokens[ENGINE_PATHS] = {0};
    walk_begin(&walk, &view, NULL, NULL);
    for (size_t i = 0; i < lives; i++) {
        struct trace_open open = {.finish = life[i].finish,
                                  .takes = {true},
                                  .flags = {flags_of[life[i].kind]},
                                  .sequences = {life[i].sequences}};
        snprintf(open.id, sizeof open.id, "%zu", i);
        trace_arrive(&trace, life[i].arrival, &open);
    }
    trace_end(&trace, false);
    for (size_t i = 0; i < walk.shares; i++) {
        seconds[walk.share[i].state.path.kind] += walk.share[i].seconds;
        tokens[walk.share[i].state.path.kind] += walk.share[i].sequence_seconds;
    }
    for (int k = 0; k < ENGINE_PATHS; k++)
        if (seconds[k] != model.seconds[k] || tokens[k] != model.tokens[k])
            fail_msg("%s: %g s and %g tokens, by the second %g and %g", engine_path_names[k], seconds[k],
                     tokens[k], model.seconds[k], model.tokens[k]);
    assert_true(walk.outlived_seconds == model.outlived);
    assert_true(walk.idle == model.idle);
    assert_int_equal(walk.open, 0);
    assert_int_equal(walk.sequences, 0);
    trace_free(&trace);
    walk_free(&walk);
}

static void time_on_each_path_is_the_models(void **state)
{
    (void)state;
    unsigned seed = 1;
    for (int round = 0; round < 4000; round++) {
        struct life life[40];
        const size_t lives = 1 + (size_t)random_below(&seed, 40);
        const int end = make_lives(&seed, life, lives, 1 + round % 6);
        compare(life, lives, end, true);
        compare(life, lives, end, false);
    }
}

/* One after the other, with who is named for it. */
static struct {
    double time;
    char text[80];
} told[16];
static size_t tellings;

static void tell(void *context, const struct walk_change *change)
{
    char from[ROUTE_TEXT], to[ROUTE_TEXT];
    (void)context;
    told[tellings].time = change->time;
    snprintf(told[tellings++].text, sizeof told[0].text, "%.16s -> %.16s by %.16s",
             route_state_text(&change->from, from), route_state_text(&change->to, to), change->cause);
}

static void changes_name_their_cause(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        double arrival, finish;
        enum kind kind;
    } requests[] = {
        {"a", 0, 10, PLAIN},   {"b", 0, 1, PLAIN},       {"c", 2, 4, PLAIN},   {"noise", 2, 3, GREEDY},
        {"late", 5, 9, TOP_K}, {"again", 12, 20, MIN_P}, {"d", 13, 15, PLAIN}, {"e", 20, 21, GREEDY},
    };
    static const struct {
        double time;
        const char *text;
    } expected[] = {
        {0, "idle -> gumbel by a"},        {2, "gumbel -> filtered by noise"}, {10, "filtered -> idle by a"},
        {12, "idle -> filtered by again"}, {20, "filtered -> idle by again"},  {20, "idle -> greedy by e"},
        {21, "greedy -> idle by e"},
    };
    struct route_view view = {.engine = engine_find("sglang-0.5.20"), .reading = ENGINE_UPSTREAM};
    struct walk walk;
    struct trace trace = {.walk = &walk, .walks = 1};
    walk_begin(&walk, &view, tell, NULL);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct trace_open open = {
            .finish = requests[i].finish, .takes = {true}, .flags = {flags_of[requests[i].kind]}};
        snprintf(open.id, sizeof open.id, "%s", requests[i].id);
        trace_arrive(&trace, requests[i].arrival, &open);
    }
    trace_end(&trace, false);
    assert_int_equal(tellings, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < tellings; i++) {
        assert_string_equal(told[i].text, expected[i].text);
        assert_true(told[i].time == expected[i].time);
    }
    /* noise ends at 3, late comes at 5: two seconds. It ends at 9, a at 10: one more. */
    assert_int_equal(walk.outlived, 2);
    assert_true(walk.outlived_seconds == 3);
    assert_true(walk.longest.from == 3 && walk.longest.to == 5);
    assert_string_equal(walk.longest.cause, "noise");
    assert_string_equal(walk.longest.last, "noise");
    assert_int_equal(walk.peak, 3);
    trace_free(&trace);
    walk_free(&walk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_on_each_path_is_the_models),
        cmocka_unit_test(changes_name_their_cause),
    };
    return cmocka_run_group_tests_name("route/walk", tests, NULL, NULL);
}
