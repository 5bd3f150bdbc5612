/* test_traffic.h: traffic from lines of text, for tests. */
#ifndef SAMPLEGATE_COST_TEST_TRAFFIC_H
#define SAMPLEGATE_COST_TEST_TRAFFIC_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite/cost/traffic.h"

/* A test's only traffic: 1,000 ids, half logits. */
static struct cost_options options = {.reading = ENGINE_UPSTREAM};
static struct cost_traffic traffic;
static struct trouble trouble;

/* Returns what reading the text returned; `extra` options are set by the caller before. */
static inline int read_traffic(const char *text)
{
    char path[] = "/tmp/samplegate-cost-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    options.engine = engine_find("vllm-0.5.0");
    options.vocab = options.vocab ? options.vocab : 1000;
    options.requests = path;
    trouble = (struct trouble){0};
    cost_traffic_free(&traffic); /* of a text before */
    const int result = cost_traffic_read(&traffic, &options, &trouble);
    unlink(path);
    return result;
}

static inline int forget(void **state)
{
    (void)state;
    cost_traffic_free(&traffic);
    options = (struct cost_options){.reading = ENGINE_UPSTREAM};
    return 0;
}

#define LINE(body) "{\"endpoint\": \"completions\", \"body\": {" body "}}\n"
#define TIMED(arrival, finish, body)                                                                         \
    "{\"endpoint\": \"completions\", \"body\": {" body "}, \"arrival\": " #arrival ", \"finish\": " #finish  \
    "}\n"
#endif
