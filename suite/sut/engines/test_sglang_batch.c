/* test_sglang_batch.c: the running batch against a recomputation from its whole history, event by event.
 *
 * The recomputation keeps no state: whose flags a batch has is read off the list of events, as in the
 * sentence "all requests of the prefill batches adopted since it last had no rows". Every history of up to
 * three requests in five kinds is walked (four requests, once, by `golden verify`). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suite/sut/engines/sglang.h"

#define EVENTS_MAX 16

static const struct engine_flags kinds[] = {{.need_top_k = false},
                                            {.all_greedy = true, .need_top_k = true},
                                            {.need_top_k = true},
                                            {.need_top_p = true},
                                            {.all_greedy = true, .need_top_k = true, .need_min_p = true}};
#define KINDS (sizeof kinds / sizeof *kinds)

enum act { ADMIT, JOIN, FINISH, FILTER };
struct event {
    enum act act;
    int who, kind;
};
struct history {
    struct event event[EVENTS_MAX];
    int events, requests;
};

/* The first event of this kind at or after `from`, for request `who` (-1: any); `events` if there is none. */
static int next(const struct history *h, enum act act, int who, int from)
{
    int t = from;
    while (t < h->events && !(h->event[t].act == act && (who < 0 || h->event[t].who == who)))
        t++;
    return t;
}

static int joined(const struct history *h, int who)
{
    return next(h, JOIN, -1, next(h, ADMIT, who, 0));
}

static bool has_row(const struct history *h, enum engine_reading reading, int who, int now)
{
    int join = joined(h, who), end = next(h, FINISH, who, 0);
    if (join >= now || end < join)
        return false;
    return end >= now || (reading == ENGINE_UPSTREAM && next(h, FILTER, -1, end) >= now);
}

static bool empty(const struct history *h, enum engine_reading reading, int now)
{
    for (int who = 0; who < h->requests; who++)
        if (has_row(h, reading, who, now))
            return false;
    return true;
}

/* Some request that this join takes along is unfinished. */
static bool adopts(const struct history *h, int join)
{
    for (int who = 0; who < h->requests; who++)
        if (joined(h, who) == join && next(h, FINISH, who, 0) > join)
            return true;
    return false;
}

/* The rows of the running (or prefill) batch, and the flags of all whose flags it has. */
static int expected(const struct history *h, enum engine_reading reading, bool running,
                    struct engine_flags *flags)
{
    int fresh = 0, rows = 0, sources = 0;
    for (int t = 0; t < h->events; t++)
        if (h->event[t].act == JOIN && adopts(h, t) && empty(h, reading, t))
            fresh = t;
    *flags = (struct engine_flags){.all_greedy = true};
    for (int who = 0; who < h->requests; who++) {
        int join = joined(h, who);
        bool ended = next(h, FINISH, who, 0) < h->events, waits = join == h->events;
        bool row =
            running ? has_row(h, reading, who, h->events) : waits && (reading == ENGINE_UPSTREAM || !ended);
        bool source = reading == ENGINE_ARTICLE_PORT ? row
                      : running                      ? !waits && join >= fresh && adopts(h, join)
                                                     : waits;
        rows += row;
        if (!source)
            continue;
        const struct engine_flags *its = &kinds[h->event[next(h, ADMIT, who, 0)].kind];
        flags->all_greedy &= its->all_greedy;
        flags->need_top_k |= its->need_top_k;
        flags->need_top_p |= its->need_top_p;
        flags->need_min_p |= its->need_min_p;
        sources++;
    }
    assert_true(rows == 0 || sources > 0);
    return rows;
}

static size_t compared;
static int most; /* requests of a history */

static void compare(const struct history *h, enum engine_reading reading, const struct engine_batch *batch,
                    bool running)
{
    struct engine_flags want, have;
    int rows = expected(h, reading, running, &want);
    assert_int_equal(sglang_state(reading, batch, &have), rows);
    bool same = want.all_greedy == have.all_greedy && want.need_top_k == have.need_top_k &&
                want.need_top_p == have.need_top_p && want.need_min_p == have.need_min_p;
    if (rows && !same)
        fail_msg("%s, %s batch after %d events", engine_reading_names[reading],
                 running ? "running" : "prefill", h->events);
    compared++;
}

/* Replay from the start: the batches then share nothing between histories. */
static void replay(const struct history *h, enum engine_reading reading)
{
    struct engine_batch prefill = {0}, running = {0};
    for (int t = 0; t < h->events; t++) {
        const struct event *event = &h->event[t];
        if (event->act == ADMIT)
            assert_int_equal(sglang_admit(&prefill, event->who, &kinds[event->kind]), 0);
        else if (event->act == JOIN)
            assert_int_equal(sglang_join(reading, &running, &prefill), 0);
        else if (event->act == FINISH)
            assert_true(engine_batch_finish(&prefill, event->who) ||
                        engine_batch_finish(&running, event->who));
        else
            engine_batch_filter(&running);
    }
    compare(h, reading, &prefill, false);
    compare(h, reading, &running, true);
    engine_batch_free(&prefill);
    engine_batch_free(&running);
}

static void walk(struct history *h, enum engine_reading reading);

static void go(struct history *h, enum engine_reading reading, struct event event)
{
    h->event[h->events++] = event;
    h->requests += event.act == ADMIT;
    replay(h, reading);
    walk(h, reading);
    h->requests -= event.act == ADMIT;
    h->events--;
}

static void walk(struct history *h, enum engine_reading reading)
{
    bool waiting = false, marked = false;
    for (int who = 0; who < h->requests; who++) {
        waiting |= joined(h, who) == h->events;
        marked |= has_row(h, ENGINE_UPSTREAM, who, h->events) && next(h, FINISH, who, 0) < h->events;
    }
    for (int kind = 0; h->requests < most && kind < (int)KINDS; kind++)
        go(h, reading, (struct event){ADMIT, h->requests, kind});
    if (waiting)
        go(h, reading, (struct event){JOIN, -1, 0});
    for (int who = 0; who < h->requests; who++)
        if (next(h, FINISH, who, 0) == h->events)
            go(h, reading, (struct event){FINISH, who, 0});
    if (marked)
        go(h, reading, (struct event){FILTER, -1, 0});
}

/* 434,105 places in the tree of three requests in five kinds, 2,605 of two (counted apart from this walk),
 * two batches each. */
static void every_history(void **state)
{
    (void)state;
    const char *exhaustive = getenv("SAMPLEGATE_EXHAUSTIVE");
    most = exhaustive && strcmp(exhaustive, "0") == 0 ? 2 : 3;
    for (int reading = 0; reading < ENGINE_READINGS; reading++) {
        struct history h = {0};
        compared = 0;
        walk(&h, (enum engine_reading)reading);
        assert_int_equal(compared, 2 * (most == 2 ? 2605 : 434105));
    }
}

/* The article: one filtered request keeps its neighbours filtered until the batch has drained. */
static void sticky_until_drained(void **state)
{
    (void)state;
    const struct engine_server server = {0};
    struct engine_batch prefill = {0}, running = {0};
    struct engine_flags flags;
    struct engine_path path;
    struct engine_refusal refusal;
    sglang_admit(&prefill, 1, &kinds[0]);
    sglang_admit(&prefill, 2, &kinds[3]);
    sglang_join(ENGINE_UPSTREAM, &running, &prefill);
    assert_true(engine_batch_finish(&running, 2));
    assert_false(engine_batch_finish(&running, 2));
    engine_batch_filter(&running);
    assert_int_equal(sglang_state(ENGINE_UPSTREAM, &running, &flags), 1);
    assert_int_equal(sglang_0_5_20.path(ENGINE_UPSTREAM, &server, &flags, 1, &path, &refusal), 0);
    assert_int_equal(path.kind, ENGINE_FILTERED);
    engine_batch_finish(&running, 1);
    engine_batch_filter(&running);
    sglang_admit(&prefill, 3, &kinds[0]);
    sglang_join(ENGINE_UPSTREAM, &running, &prefill);
    assert_int_equal(sglang_state(ENGINE_UPSTREAM, &running, &flags), 1);
    assert_int_equal(sglang_0_5_20.path(ENGINE_UPSTREAM, &server, &flags, 1, &path, &refusal), 0);
    assert_int_equal(path.kind, ENGINE_GUMBEL);
    engine_batch_free(&prefill);
    engine_batch_free(&running);
}

/* Batches grow as far as they must. */
static void large_batches(void **state)
{
    (void)state;
    struct engine_batch prefill = {0}, running = {0};
    struct engine_flags flags;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 100; i++)
            assert_int_equal(sglang_admit(&prefill, 100 * round + i, &kinds[i == 99 ? 2 : 0]), 0);
        assert_int_equal(sglang_join(ENGINE_UPSTREAM, &running, &prefill), 0);
    }
    for (int id = 0; id < 2000; id += 2)
        assert_true(engine_batch_finish(&running, id));
    engine_batch_filter(&running);
    assert_int_equal(sglang_state(ENGINE_UPSTREAM, &running, &flags), 1000);
    assert_true(flags.need_top_k && !flags.need_top_p && !flags.all_greedy);
    engine_batch_free(&prefill);
    engine_batch_free(&running);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_history),
                                       cmocka_unit_test(sticky_until_drained),
                                       cmocka_unit_test(large_batches)};
    return cmocka_run_group_tests_name("sglang batch", tests, NULL, NULL);
}
