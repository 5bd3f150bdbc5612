/* trace.c: arrivals and finishes in the order of time, to every view's walk. */
#include "suite/route/trace.h"

#include <math.h>
#include <stdlib.h>

static void *memory(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static bool sooner(const struct trace_open *a, const struct trace_open *b)
{
    return a->finish != b->finish ? a->finish < b->finish : a->number < b->number;
}

static void push(struct trace *trace, struct trace_open *open)
{
    if (trace->open == trace->room) {
        trace->room = trace->room ? 2 * trace->room : 64;
        trace->heap = memory(realloc(trace->heap, trace->room * sizeof(struct trace_open *)));
    }
    size_t at = trace->open++;
    for (; at && sooner(open, trace->heap[(at - 1) / 2]); at = (at - 1) / 2)
        trace->heap[at] = trace->heap[(at - 1) / 2];
    trace->heap[at] = open;
}

static struct trace_open *pop(struct trace *trace)
{
    struct trace_open *first = trace->heap[0], *last = trace->heap[--trace->open];
    size_t at = 0;
    for (size_t child = 1; child < trace->open; child = 2 * at + 1) {
        child += child + 1 < trace->open && sooner(trace->heap[child + 1], trace->heap[child]);
        if (!sooner(trace->heap[child], last))
            break;
        trace->heap[at] = trace->heap[child];
        at = child;
    }
    if (trace->open)
        trace->heap[at] = last;
    return first;
}

static struct walk_request seen_by(const struct trace_open *open, size_t walk)
{
    return (struct walk_request){open->number, open->id, &open->flags[walk], open->sequences[walk],
                                 open->ahead[walk]};
}

/* Those that arrived at the same time join together; who finishes now was there for a prompt's step only. */
static void close_group(struct trace *trace)
{
    for (size_t w = 0; w < trace->walks; w++) {
        size_t count = 0;
        walk_prompts(&trace->walk[w]);
        for (size_t i = 0; i < trace->grouped; i++) {
            const struct trace_open *open = trace->group[i];
            if (!open->takes[w])
                continue;
            trace->joining[count] = seen_by(open, w);
            if (open->finish == trace->now)
                walk_finish(&trace->walk[w], &trace->joining[count]);
            count++;
        }
        walk_join(&trace->walk[w], trace->joining, count);
    }
    for (size_t i = 0; i < trace->grouped; i++)
        if (trace->group[i]->finish == trace->now)
            free(trace->group[i]);
        else
            push(trace, trace->group[i]);
    trace->grouped = 0;
}

static void advance(struct trace *trace, double time)
{
    for (size_t w = 0; w < trace->walks; w++)
        walk_advance(&trace->walk[w], time);
    trace->now = time;
}

/* Everything that finishes until then. */
static void finish_until(struct trace *trace, double time)
{
    while (trace->open && trace->heap[0]->finish <= time && isfinite(trace->heap[0]->finish)) {
        const double now = trace->heap[0]->finish;
        bool touched[ROUTE_VIEWS] = {false};
        advance(trace, now);
        while (trace->open && trace->heap[0]->finish == now) {
            struct trace_open *open = pop(trace);
            for (size_t w = 0; w < trace->walks; w++)
                if (open->takes[w]) {
                    const struct walk_request request = seen_by(open, w);
                    walk_finish(&trace->walk[w], &request);
                    touched[w] = true;
                }
            free(open);
        }
        for (size_t w = 0; w < trace->walks; w++)
            if (touched[w])
                walk_step(&trace->walk[w]);
    }
}

void trace_arrive(struct trace *trace, double arrival, const struct trace_open *open)
{
    if (!trace->begun || arrival > trace->now) {
        close_group(trace);
        finish_until(trace, arrival);
        advance(trace, arrival);
        trace->begun = true;
    }
    if (trace->grouped == trace->group_room) {
        trace->group_room = trace->group_room ? 2 * trace->group_room : 64;
        trace->group = memory(realloc(trace->group, trace->group_room * sizeof(struct trace_open *)));
        trace->joining = memory(realloc(trace->joining, trace->group_room * sizeof *trace->joining));
    }
    struct trace_open *copy = memory(malloc(sizeof *copy));
    *copy = *open;
    copy->number = trace->next++;
    trace->group[trace->grouped++] = copy;
    for (size_t w = 0; w < trace->walks; w++)
        if (copy->takes[w]) {
            const struct walk_request request = seen_by(copy, w);
            walk_admit(&trace->walk[w], &request);
        }
}

void trace_end(struct trace *trace, bool cut)
{
    close_group(trace);
    if (!cut)
        finish_until(trace, INFINITY);
    for (size_t w = 0; w < trace->walks; w++)
        walk_end(&trace->walk[w]);
}

void trace_free(struct trace *trace)
{
    while (trace->open)
        free(pop(trace));
    free(trace->heap);
    for (size_t i = 0; i < trace->grouped; i++)
        free(trace->group[i]);
    free(trace->group);
    free(trace->joining);
}
