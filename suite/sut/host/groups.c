/* groups.c: the draws of a message by row and parameters, so that each row is prepared once.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/host.h"

#include <stdlib.h>
#include <string.h>

static int integer_compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* By bits: any order will do, as long as NaN has its place in it. */
static int number_compare(double a, double b)
{
    return memcmp(&a, &b, sizeof a);
}

static int list_compare(const struct host_lists *lists, int64_t a, int64_t b)
{
    if (!lists->offset)
        return 0;
    const int64_t from_a = lists->offset[a], from_b = lists->offset[b];
    const int64_t length = lists->offset[a + 1] - from_a;
    const int by_length = integer_compare(length, lists->offset[b + 1] - from_b);
    if (by_length || length == 0)
        return by_length;
    return memcmp(lists->id + from_a, lists->id + from_b, (size_t)length * sizeof *lists->id);
}

static int64_t row_of(const struct host_request *request, int64_t draw)
{
    return request->row_index ? request->row_index[draw] : 0;
}

/* 0 if two draws are from the same row under the same parameters. */
static int parameters_compare(const struct host_request *request, int64_t a, int64_t b)
{
    const struct host_numbers *const numbers[] = {&request->top_p, &request->min_p,
                                                  &request->repetition_penalty, &request->frequency_penalty,
                                                  &request->presence_penalty};
    const struct host_integers *const integers[] = {&request->top_k, &request->min_tokens};
    const struct host_lists *const lists[] = {&request->prompt, &request->output, &request->stop};
    int order = integer_compare(row_of(request, a), row_of(request, b));
    if (!order)
        order = number_compare(host_request_temperature(request, a), host_request_temperature(request, b));
    for (size_t i = 0; !order && i < sizeof integers / sizeof *integers; i++)
        order = integer_compare(host_integer(integers[i], a, 0), host_integer(integers[i], b, 0));
    for (size_t i = 0; !order && i < sizeof numbers / sizeof *numbers; i++)
        order = number_compare(host_number(numbers[i], a, 0), host_number(numbers[i], b, 0));
    for (size_t i = 0; !order && i < sizeof lists / sizeof *lists; i++)
        order = list_compare(lists[i], a, b);
    return order;
}

static int draw_compare(const void *a, const void *b, void *request)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    const int order = parameters_compare(request, x, y);
    return order ? order : integer_compare(x, y);
}

/* Whether the draws of a message can differ in more than their noise. */
static bool draws_differ(const struct host_request *request)
{
    return request->row_index || request->temperatures > 1 || request->top_k.count > 1 ||
           request->top_p.count > 1 || request->min_p.count > 1 || request->repetition_penalty.count > 1 ||
           request->frequency_penalty.count > 1 || request->presence_penalty.count > 1 ||
           request->min_tokens.count > 1 || request->prompt.offset || request->output.offset ||
           request->stop.offset;
}

/* The group that holds the first draw of its row. */
static void first_mark(const struct host_request *request, struct host_group *group, int64_t groups)
{
    int64_t *first = host_memory(malloc((size_t)request->rows * sizeof *first));
    for (int64_t r = 0; r < request->rows; r++)
        first[r] = -1;
    for (int64_t g = 0; g < groups; g++) {
        int64_t *of_row = &first[group[g].row];
        if (*of_row < 0 || group[g].draw[0] < group[*of_row].draw[0])
            *of_row = g;
    }
    for (int64_t r = 0; r < request->rows; r++)
        if (first[r] >= 0)
            group[first[r]].first_of_row = true;
    free(first);
}

int64_t host_groups(const struct host_request *request, struct host_group **group)
{
    int64_t *draw = host_memory(malloc((size_t)request->draws * sizeof *draw)), groups = 1;
    const bool differ = draws_differ(request);
    for (int64_t d = 0; d < request->draws; d++)
        draw[d] = d;
    if (differ) {
        qsort_r(draw, (size_t)request->draws, sizeof *draw, draw_compare, (void *)(uintptr_t)request);
        for (int64_t i = 1; i < request->draws; i++)
            groups += parameters_compare(request, draw[i - 1], draw[i]) != 0;
    }
    struct host_group *made = host_memory(calloc((size_t)groups, sizeof *made));
    int64_t g = 0;
    for (int64_t i = 0; i < request->draws; i++) {
        if (differ && i > 0 && parameters_compare(request, draw[i - 1], draw[i]) != 0)
            g++;
        if (made[g].draws++ == 0) {
            made[g].draw = draw + i;
            made[g].row = row_of(request, draw[i]);
        }
    }
    first_mark(request, made, groups);
    *group = made;
    return groups;
}

void host_groups_free(struct host_group *group)
{
    free(group[0].draw);
    free(group);
}
