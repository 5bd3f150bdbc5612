/* running.c: the requests that run at once: how many sequences, and which passes they have run in each other's steps. */
#include "suite/cost/running.h"

#include <math.h>
#include <stdlib.h>

static int64_t sequences_of(const struct running *running)
{
    int64_t sequences = 0;
    for (unsigned mask = 0; mask < COST_MASKS; mask++)
        sequences += running->sequences[mask];
    return sequences;
}

static void advance(struct running *running, double time)
{
    const double seconds = running->begun ? time - running->now : 0;
    running->begun = true;
    running->now = time;
    if (seconds <= 0 || running->open == 0)
        return;
    running->busy += seconds;
    running->sequence_seconds += seconds * (double)sequences_of(running);
    for (int pass = 0; pass < COST_PASSES; pass++) {
        size_t asking = 0;
        for (unsigned mask = 0; mask < COST_MASKS; mask++)
            if (mask >> pass & 1) {
                asking += running->requests[mask];
                running->asked[pass] += seconds * (double)running->sequences[mask];
            }
        if (asking == 0)
            continue;
        running->on[pass] += seconds;
        running->mixed[pass] += asking < running->all ? seconds : 0;
    }
}

static void swap(struct running_request *a, struct running_request *b)
{
    const struct running_request kept = *a;
    *a = *b;
    *b = kept;
}

static void push(struct running *running, struct running_request request)
{
    struct running_request *heap = running->heap;
    if (running->open == running->room) {
        running->room = running->room ? 2 * running->room : 256;
        heap = realloc(heap, running->room * sizeof *heap);
        if (!heap)
            abort();
        running->heap = heap;
    }
    size_t at = running->open++;
    heap[at] = request;
    for (; at > 0 && heap[at].finish < heap[(at - 1) / 2].finish; at = (at - 1) / 2)
        swap(&heap[at], &heap[(at - 1) / 2]);
}

static struct running_request pop(struct running *running)
{
    struct running_request *heap = running->heap;
    const struct running_request first = heap[0];
    heap[0] = heap[--running->open];
    for (size_t at = 0;;) {
        size_t least = at, left = 2 * at + 1;
        if (left < running->open && heap[left].finish < heap[least].finish)
            least = left;
        if (left + 1 < running->open && heap[left + 1].finish < heap[least].finish)
            least = left + 1;
        if (least == at)
            return first;
        swap(&heap[at], &heap[least]);
        at = least;
    }
}

static void finish_first(struct running *running)
{
    advance(running, running->heap[0].finish);
    const struct running_request done = pop(running);
    running->requests[done.mask] -= done.requests;
    running->all -= done.requests;
    running->sequences[done.mask] -= done.sequences;
}

void running_arrive(struct running *running, double arrival, struct running_request request)
{
    while (running->open && running->heap[0].finish <= arrival)
        finish_first(running);
    advance(running, arrival);
    push(running, request);
    running->requests[request.mask] += request.requests;
    running->all += request.requests;
    running->sequences[request.mask] += request.sequences;
    const int64_t sequences = sequences_of(running);
    running->peak = sequences > running->peak ? sequences : running->peak;
}

void running_end(struct running *running)
{
    while (running->open && isfinite(running->heap[0].finish))
        finish_first(running);
}

void running_free(struct running *running)
{
    free(running->heap);
    *running = (struct running){0};
}
