/* test_traffic.c: what requests are counted as: parameters off default, passes, forks, mixing, over time. */
#include <math.h>

#include "suite/cost/test_traffic.h"

/* The published table: parameter, default, the switch it opens. */
static void the_table_of_seven(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double normal;
        const char *opens;
    } table[] = {{"temperature", 1, ""},
                 {"top_p", 1, "do_top_p_top_k"},
                 {"top_k", -1, "do_top_p_top_k"},
                 {"min_p", 0, "do_min_p"},
                 {"presence_penalty", 0, "do_penalties"},
                 {"frequency_penalty", 0, "do_penalties"},
                 {"repetition_penalty", 1, "do_penalties"}};
    assert_int_equal(read_traffic(LINE("")), 0);
    assert_int_equal(COST_TABLED, 7);
    for (size_t i = 0; i < 7; i++) {
        const enum engine_parameter p = cost_tabled[i];
        const enum cost_pass pass = cost_pass_of(&traffic, p);
        assert_string_equal(engine_parameter_names[p], table[i].name);
        assert_true(traffic.defaults[ENGINE_GENERATE].at[p].number == table[i].normal);
        assert_string_equal(pass < COST_PASSES ? cost_pass_flag[pass] : "", table[i].opens);
        assert_int_equal(traffic.off[p], 0);
    }
}

static void each_parameter_off_default_is_counted(void **state)
{
    (void)state;
    assert_int_equal(
        read_traffic(LINE("\"temperature\": 0.5")                      /**/
                     LINE("\"top_p\": 0.9, \"top_k\": 50")             /**/
                     LINE("\"top_k\": 1000")                           /* the whole vocabulary */
                     LINE("\"top_p\": 0.999995")                       /* within the epsilon */
                     LINE("\"min_p\": 0.1, \"repetition_penalty\": 2") /**/
                     LINE("\"presence_penalty\": -1, \"frequency_penalty\": 0.5") LINE(
                         "\"temperature\": 0, \"top_p\": 0.5, \"min_p\": 0.5") "{\"endpoint\": \"chat\", "
                                                                               "\"body\": {}}\n"),
        0);
    assert_int_equal(traffic.requests, 8);
    assert_int_equal(traffic.off[ENGINE_TEMPERATURE], 2); /* chat's own default is 0.7 */
    assert_int_equal(traffic.off[ENGINE_TOP_P], 1);
    assert_int_equal(traffic.off[ENGINE_TOP_K], 1);
    assert_int_equal(traffic.off[ENGINE_MIN_P], 1);
    assert_int_equal(traffic.off[ENGINE_PRESENCE_PENALTY], 1);
    assert_int_equal(traffic.off[ENGINE_FREQUENCY_PENALTY], 1);
    assert_int_equal(traffic.off[ENGINE_REPETITION_PENALTY], 1);
    assert_int_equal(traffic.pass[COST_PENALTIES], 2);
    assert_int_equal(traffic.pass[COST_TOP_P_TOP_K], 1);
    assert_int_equal(traffic.pass[COST_MIN_P], 1);
    assert_int_equal(traffic.draws[ENGINE_DRAW_GREEDY], 1);
    assert_int_equal(traffic.draws[ENGINE_DRAW_RANDOM], 7);
}

static void forks_multiply_sequences(void **state)
{
    (void)state;
    assert_int_equal(read_traffic(LINE("\"n\": 2") LINE("\"best_of\": 8") LINE("\"seed\": 3") /**/
                                  LINE("\"use_beam_search\": true, \"temperature\": 0, \"best_of\": 4")),
                     0);
    assert_int_equal(cost_sequences(&traffic), 2 + 8 + 1 + 4);
    assert_int_equal(traffic.forked, 3);
    assert_int_equal(traffic.forked_sequences, 14);
    assert_int_equal(traffic.widest, 8);
    assert_int_equal(traffic.seeded, 1);
    const struct cost_step step = cost_traffic_step(&traffic, &options);
    assert_int_equal(cost_rows(&step), 15);
    assert_int_equal(step.rows[ENGINE_DRAW_RANDOM], 10);
    assert_int_equal(step.rows[ENGINE_DRAW_RANDOM_SEED], 1);
    assert_int_equal(step.rows[ENGINE_DRAW_BEAM], 4);
}

static void who_gets_no_token_is_set_aside(void **state)
{
    (void)state;
    assert_int_equal(
        read_traffic(LINE("") LINE("\"top_p\": 2") LINE(
            "\"temperature\": 0, \"n\": 2") "{\"endpoint\": \"responses\", \"body\": {}}\n"
                                            "{\"endpoint\": \"generate\", \"body\": {\"top_k\": 0.5}}\n"),
        0);
    assert_int_equal(traffic.requests, 1);
    assert_int_equal(tally_total(&traffic.refused), 4);
    assert_int_equal(traffic.refused.rows, 4);
    /* The engine's own object knows of no HTTP: what it refuses is the demo server's fault. */
    assert_int_equal(read_traffic("{\"endpoint\": \"generate\", \"body\": {\"top_p\": 2}}\n"), -1);
    assert_non_null(strstr(trouble.text, "HTTP 500: top_p must be in (0, 1], got 2"));
    assert_int_equal(read_traffic(LINE("\"top_p\": 2")), -1);
    assert_int_equal(trouble.exit, 2);
    assert_non_null(strstr(trouble.text, "top_p must be in (0, 1], got 2"));
}

/* One request in four sorts: alone 1/4 of steps, two at a time 1 - (3/4)^2 = 7/16; all at once always. */
static void the_share_of_steps_without_times(void **state)
{
    (void)state;
    const char *text = LINE("\"top_p\": 0.9") LINE("") LINE("") LINE("");
    const double expected[] = {1, 0.25, 0.4375};
    for (int64_t batch = 0; batch < 3; batch++) {
        options.batch = batch;
        assert_int_equal(read_traffic(text), 0);
        const struct cost_step step = cost_traffic_step(&traffic, &options);
        assert_true(fabs(cost_share(&traffic, &step, COST_TOP_P_TOP_K) - expected[batch]) < 1e-12);
        assert_true(cost_share(&traffic, &step, COST_MIN_P) == 0);
        assert_true(cost_stage_share(&traffic, &step, ENGINE_STAGE_SOFTMAX) == 1);
        assert_true(cost_stage_share(&traffic, &step, ENGINE_STAGE_MIN_P) == 0);
        assert_true(cost_is_mixed(&traffic, COST_TOP_P_TOP_K));
        assert_false(cost_is_mixed(&traffic, COST_MIN_P));
    }
}

/* Busy from 0 to 4 and from 6 to 8. The sort runs from 1 to 3, beside a plain request until 2; penalties from 6 to 8,
 * never beside anybody. Sequences: 1 to 1, 4 to 2, 3 to 3, 1 from 3 to 4; 1 again from 6 to 8. */
static void a_trace(void **state)
{
    (void)state;
    assert_int_equal(read_traffic(TIMED(0, 2, "")                         /**/
                                  TIMED(1, 3, "\"top_p\": 0.5, \"n\": 3") /**/
                                  TIMED(3, 4, "")                         /**/
                                  TIMED(6, 8, "\"frequency_penalty\": 1")),
                     0);
    assert_true(traffic.order.timed);
    assert_true(traffic.running.busy == 6);
    assert_int_equal(traffic.running.peak, 4);
    assert_true(traffic.running.sequence_seconds == 1 + 4 + 3 + 1 + 2);
    assert_true(traffic.running.on[COST_TOP_P_TOP_K] == 2);
    assert_true(traffic.running.mixed[COST_TOP_P_TOP_K] == 1);
    assert_true(traffic.running.asked[COST_TOP_P_TOP_K] == 3 * 2);
    assert_true(traffic.running.on[COST_PENALTIES] == 2);
    assert_false(cost_is_mixed(&traffic, COST_PENALTIES));
    assert_true(cost_is_mixed(&traffic, COST_TOP_P_TOP_K));
    const struct cost_step step = cost_traffic_step(&traffic, &options);
    assert_int_equal(cost_rows(&step), 4);
    assert_true(fabs(cost_share(&traffic, &step, COST_TOP_P_TOP_K) - 2.0 / 6) < 1e-12);
}

/* A list of prompts is as many requests; n of each are sequences. */
static void prompts_are_requests(void **state)
{
    (void)state;
    assert_int_equal(read_traffic(LINE("\"prompt\": [\"a\", \"b, ]\", \"\\\"\"], \"n\": 2, \"top_k\": 5") /**/
                                  LINE("\"prompt\": [[1, 2], [3]]") LINE("\"prompt\": [1, 2, 3]")         /**/
                                  LINE("\"prompt\": []") LINE("")),
                     0);
    assert_int_equal(traffic.lines, 5);
    assert_int_equal(traffic.requests, 3 + 2 + 1 + 1 + 1);
    assert_int_equal(cost_sequences(&traffic), 6 + 2 + 1 + 1 + 1);
    assert_int_equal(traffic.forked, 3);
    assert_int_equal(traffic.forked_sequences, 6);
    assert_int_equal(traffic.widest, 2);
    assert_int_equal(traffic.off[ENGINE_TOP_K], 3);
    assert_int_equal(traffic.pass[COST_TOP_P_TOP_K], 3);
    assert_int_equal(traffic.pass_sequences[COST_TOP_P_TOP_K], 6);
    assert_int_equal(read_traffic(TIMED(0, 2, "\"prompt\": [\"a\", \"b\"], \"min_p\": 0.5")), 0);
    assert_int_equal(traffic.running.peak, 2);
    assert_true(traffic.running.mixed[COST_MIN_P] == 0);
    assert_int_equal(read_traffic(TIMED(0, 2, "\"prompt\": [\"a\", \"b\"], \"min_p\": 0.5") TIMED(1, 2, "")),
                     0);
    assert_true(traffic.running.mixed[COST_MIN_P] == 1);
}

/* With log-probabilities, an echoed prompt has a row for each token but the last; not where the article is followed. */
static void echoed_prompts_are_rows(void **state)
{
    (void)state;
    static const char text[] =
        LINE("\"prompt\": [[1, 2, 3], [4, 5, 6, 7, 8]], \"echo\": true, \"logprobs\": 1")
            LINE("\"prompt\": [1, 2, 3], \"echo\": true")
                LINE("\"prompt\": [1, 2, 3, 4, 5, 6], \"echo\": true, \"logprobs\": 0, \"max_tokens\": 0, "
                     "\"truncate_prompt_tokens\": 4") LINE("\"prompt\": \"a\", \"echo\": true, \"logprobs\": "
                                                           "0") "{\"endpoint\": \"chat\", \"body\": "
                                                                "{\"echo\": true}, \"prompt_tokens\": 101}\n"
                                                                "{\"endpoint\": \"chat\", \"body\": "
                                                                "{\"echo\": true, \"top_logprobs\": null}, "
                                                                "\"prompt_tokens\": 200}\n"
                                                                "{\"endpoint\": \"chat\", \"body\": "
                                                                "{\"top_logprobs\": 3}, \"prompt_tokens\": "
                                                                "200}\n";
    assert_int_equal(read_traffic(text), 0);
    assert_int_equal(tally_total(&traffic.refused), 0);
    assert_int_equal(traffic.prompt_logprobs, 2 + 1 + 1 + 1);
    assert_int_equal(traffic.unknown_prompts, 1);
    assert_int_equal(traffic.prompt_rows, 2 + 4 + 3 + 100);
    assert_int_equal(traffic.widest_prompt, 100);
    const struct cost_step step = cost_traffic_step(&traffic, &options);
    assert_int_equal(cost_rows(&step), 8);
    assert_int_equal(cost_most_rows(&traffic, &step), 101);
    options.reading = ENGINE_ARTICLE_PORT;
    assert_int_equal(read_traffic(text), 0);
    assert_int_equal(traffic.prompt_logprobs, 0);
    assert_int_equal(cost_most_rows(&traffic, &step), 8);
}

/* Where the article's code, its sentences and the engine differ, each has its own count, and says how the others differ. */
static void readings_differ(void **state)
{
    (void)state;
    static const char text[] = LINE("") LINE("\"top_k\": 1001") /* beyond the vocabulary */
        LINE("\"temperature\": 0, \"top_k\": 5")                /* greedy */
        LINE("\"top_p\": 0.999995") LINE("\"min_p\": 1e-6")
            LINE("\"presence_penalty\": 1e-6"); /* within the epsilon */
    static const struct {
        enum engine_reading reading;
        size_t sorts, min_p, penalties, differ[ENGINE_READINGS];
    } expected[] = {{ENGINE_UPSTREAM, 0, 0, 0, {2, 5, 0}},
                    {ENGINE_ARTICLE_PORT, 2, 0, 0, {0, 3, 2}},
                    {ENGINE_ARTICLE_PROSE, 3, 1, 1, {3, 0, 5}}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        options.reading = expected[i].reading;
        assert_int_equal(read_traffic(text), 0);
        assert_int_equal(traffic.pass[COST_TOP_P_TOP_K], expected[i].sorts);
        assert_int_equal(traffic.pass[COST_MIN_P], expected[i].min_p);
        assert_int_equal(traffic.pass[COST_PENALTIES], expected[i].penalties);
        for (enum engine_reading other = 0; other < ENGINE_READINGS; other++)
            assert_int_equal(tally_total(&traffic.difference[other]), expected[i].differ[other]);
        const struct cost_step step = cost_traffic_step(&traffic, &options);
        assert_true(cost_stage_share(&traffic, &step, ENGINE_STAGE_LOGPROBS) ==
                    (expected[i].reading == ENGINE_UPSTREAM));
    }
}

/* Many at once, against one count a second. */
static void a_crowd(void **state)
{
    (void)state;
    enum { COUNT = 400, END = 900 };
    static int open_at[END], sorted_at[END];
    char *text = calloc(COUNT, 120), *to = text;
    int64_t peak = 0, sequence_seconds = 0, on = 0, busy = 0;
    assert_non_null(text);
    for (int i = 0; i < COUNT; i++) {
        const int finish = i + 1 + i * 37 % 300;
        to +=
            sprintf(to, "{\"endpoint\": \"completions\", \"body\": {%s}, \"arrival\": %d, \"finish\": %d}\n",
                    i % 50 == 7 ? "\"top_k\": 5" : "", i, finish);
        for (int t = i; t < finish; t++) {
            open_at[t]++;
            sorted_at[t] += i % 50 == 7;
        }
    }
    for (int t = 0; t < END; t++) {
        peak = open_at[t] > peak ? open_at[t] : peak;
        sequence_seconds += open_at[t];
        on += sorted_at[t] > 0;
        busy += open_at[t] > 0;
    }
    assert_int_equal(read_traffic(text), 0);
    free(text);
    assert_int_equal(traffic.running.peak, peak);
    assert_true(traffic.running.sequence_seconds == (double)sequence_seconds);
    assert_true(traffic.running.on[COST_TOP_P_TOP_K] == (double)on);
    assert_true(traffic.running.busy == (double)busy);
    assert_int_equal(traffic.running.open, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_table_of_seven, forget),
        cmocka_unit_test_teardown(each_parameter_off_default_is_counted, forget),
        cmocka_unit_test_teardown(forks_multiply_sequences, forget),
        cmocka_unit_test_teardown(who_gets_no_token_is_set_aside, forget),
        cmocka_unit_test_teardown(the_share_of_steps_without_times, forget),
        cmocka_unit_test_teardown(a_trace, forget),
        cmocka_unit_test_teardown(a_crowd, forget),
        cmocka_unit_test_teardown(prompts_are_requests, forget),
        cmocka_unit_test_teardown(echoed_prompts_are_rows, forget),
        cmocka_unit_test_teardown(readings_differ, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
