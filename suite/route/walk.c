/* walk.c: the running batch of one view over time.
 *
 * A trace has the times at which requests arrive and finish, and no steps. So: every step takes equally long, every
 * sequence draws a token a step, and time stands for both. A prompt's own step takes no time. What else happens is the
 * engine's: its functions admit, join, filter and remember. One thing is taken for granted of every engine, or a million
 * requests would take minutes: a path does not change when a request comes or goes while another with the same flags
 * runs. So the batch is looked at only when the kinds of running requests change, and rows that have finished are
 * dropped then, or when they are many. */
#include "suite/route/walk.h"

#include <stdlib.h>
#include <string.h>

static void *memory(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

void walk_begin(struct walk *walk, const struct route_view *view, walk_report report, void *context)
{
    *walk = (struct walk){.view = view, .report = report, .context = context};
    walk->state.idle = walk->wanted.idle = true;
}

static struct walk_share *share_of(struct walk *walk, const struct route_state *state)
{
    for (size_t i = 0; i < walk->shares; i++)
        if (route_state_same(&walk->share[i].state, state))
            return &walk->share[i];
    walk->share = memory(realloc(walk->share, (walk->shares + 1) * sizeof *walk->share));
    walk->share[walk->shares] = (struct walk_share){.state = *state};
    return &walk->share[walk->shares++];
}

void walk_advance(struct walk *walk, double time)
{
    const double seconds = walk->begun ? time - walk->now : 0;
    walk->begun = true;
    walk->now = time;
    if (seconds <= 0)
        return;
    if (walk->state.idle) {
        walk->idle += seconds;
        return;
    }
    struct walk_share *share = share_of(walk, &walk->state);
    walk->busy += seconds;
    share->seconds += seconds;
    share->sequence_seconds += seconds * (double)walk->sequences;
    walk->sequence_seconds += seconds * (double)walk->sequences;
    if (walk->outliving) {
        share->outlived += seconds;
        walk->outlived_seconds += seconds;
    }
}

/* The path of the unfinished requests on their own. */
static struct route_state wanted_by_the_living(const struct walk *walk)
{
    struct engine_flags flags = {0};
    bool first = true;
    for (size_t i = 0; i < walk->lives; i++)
        if (walk->live[i].requests) {
            flags = first ? walk->live[i].flags : walk->view->engine->together(flags, walk->live[i].flags);
            first = false;
        }
    return route_state_rounded(walk->view, &flags, walk->open);
}

/* One request more, or less. Returns whether that changed what is wanted. */
static bool count_live(struct walk *walk, const struct walk_request *request, bool more)
{
    const struct engine_flags *flags = request->flags;
    size_t i = 0;
    while (i < walk->lives && !engine_flags_same(&walk->live[i].flags, flags))
        i++;
    if (i == walk->lives) {
        walk->live = memory(realloc(walk->live, (i + 1) * sizeof *walk->live));
        walk->live[walk->lives++] = (struct walk_live){.flags = *flags};
    }
    walk->live[i].requests += more ? 1 : (size_t)-1;
    walk->open += more ? 1 : (size_t)-1;
    walk->sequences += more ? request->sequences : -request->sequences;
    if (walk->open > walk->peak)
        walk->peak = walk->open;
    if (walk->sequences > walk->sequence_peak)
        walk->sequence_peak = walk->sequences;
    if (walk->live[i].requests > more)
        return false; /* others had, or have, the same flags */
    walk->others = true;
    const struct route_state wanted = wanted_by_the_living(walk);
    const bool changed = !route_state_same(&wanted, &walk->wanted);
    walk->wanted = wanted;
    return changed;
}

/* After an event: the path that the running batch is on now. */
static struct route_state look(struct walk *walk)
{
    walk->others = false;
    walk->rows = walk->view->engine->state(walk->view->reading, &walk->running, &walk->flags);
    return route_state_rounded(walk->view, &walk->flags, walk->rows);
}

static void copy_id(char to[REQUEST_ID], const char *id)
{
    memcpy(to, id, strnlen(id, REQUEST_ID - 1) + 1);
    to[REQUEST_ID - 1] = 0;
}

/* A path begins, or ends, to outlive its causes. */
static void follow_outlived(struct walk *walk)
{
    const bool outlives =
        !walk->state.idle && walk->open > 0 && !route_state_same(&walk->state, &walk->wanted);
    const bool another = outlives && walk->outliving && !route_state_same(&walk->state, &walk->current.state);
    if (walk->outliving && (!outlives || another)) {
        walk->current.to = walk->now;
        if (walk->current.to - walk->current.from > walk->longest.to - walk->longest.from)
            walk->longest = walk->current;
        walk->outliving = false;
    }
    if (outlives && !walk->outliving) {
        walk->current = (struct walk_outlived){.from = walk->now, .state = walk->state};
        copy_id(walk->current.cause, walk->cause);
        copy_id(walk->current.last, walk->ender);
        walk->outliving = true;
        walk->outlived++;
    }
}

/* The batch is in another state, since this request. */
static void change(struct walk *walk, const struct route_state *to, bool joined, const char *cause)
{
    const struct walk_change change = {walk->now, walk->state, *to, joined, cause};
    if (route_state_same(&walk->state, to))
        return;
    walk->state = *to;
    walk->changes++;
    copy_id(walk->cause, cause);
    if (walk->report)
        walk->report(walk->context, &change);
}

void walk_admit(struct walk *walk, const struct walk_request *request)
{
    /* Ended rows that are left among others matter to nobody; a batch that has no other rows starts afresh. */
    if (walk->prefill.rows == 0 && walk->ended == walk->running.rows) {
        engine_round(walk->view->engine, &walk->running);
        walk->ended = walk->view->engine->filters_rounds ? 0 : walk->ended;
    }
    if (walk->view->engine->admit(&walk->prefill, request->number, request->flags))
        abort();
    if (request->ahead) {
        const struct route_state alone = route_state_rounded(walk->view, request->flags, 1);
        share_of(walk, &alone)->prefills += (size_t)request->ahead;
    }
    count_live(walk, request, true);
}

void walk_prompts(struct walk *walk)
{
    struct engine_flags flags;
    if (walk->prefill.rows == 0)
        return;
    const size_t rows = walk->view->engine->state(walk->view->reading, &walk->prefill, &flags);
    const struct route_state prompts = route_state_rounded(walk->view, &flags, rows);
    share_of(walk, &prompts)->prefills++;
}

/* The first of the joining requests with which the batch is on the path that it is on after all of them. `before`: its
 * flags, if it had rows. */
static const char *joined_cause(const struct walk *walk, const struct engine_flags *before,
                                const struct route_state *after, const struct walk_request *requests,
                                size_t count)
{
    struct engine_flags flags = before ? *before : *requests[0].flags;
    for (size_t i = 0; i < count; i++) {
        flags = walk->view->engine->together(flags, *requests[i].flags);
        const struct route_state state = route_state_rounded(walk->view, &flags, 1);
        if (route_state_same(&state, after))
            return requests[i].id;
    }
    return requests[count - 1].id;
}

void walk_join(struct walk *walk, const struct walk_request *requests, size_t count)
{
    const struct engine_flags before = walk->flags;
    const size_t rows = walk->rows;
    if (count == 0)
        return;
    if (walk->view->engine->join(walk->view->reading, &walk->running, &walk->prefill))
        abort();
    if (!walk->others)
        return;
    const struct route_state after = look(walk);
    if (!route_state_same(&walk->state, &after))
        change(walk, &after, true, joined_cause(walk, rows ? &before : NULL, &after, requests, count));
    follow_outlived(walk);
}

/* engine_batch_finish where numbers rise: requests join in the order in which they came. */
static bool finish_row(struct engine_batch *batch, int64_t number)
{
    size_t from = 0, to = batch->rows;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (batch->row[middle].id < number)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == batch->rows || batch->row[from].id != number || batch->row[from].finished)
        return false;
    return batch->row[from].finished = true;
}

void walk_finish(struct walk *walk, const struct walk_request *request)
{
    if (finish_row(&walk->running, request->number))
        walk->ended++;
    else
        finish_row(&walk->prefill, request->number);
    if (count_live(walk, request, false))
        copy_id(walk->ender, request->id);
}

void walk_step(struct walk *walk)
{
    if (!walk->others && 2 * walk->ended < walk->running.rows)
        return;
    walk->view->engine->filter(&walk->running);
    walk->ended = 0;
    const struct route_state after = look(walk);
    change(walk, &after, false, walk->ender);
    follow_outlived(walk);
}

void walk_end(struct walk *walk)
{
    for (size_t i = 0; i < walk->running.rows; i++)
        walk->running.row[i].finished = true;
    for (size_t i = 0; i < walk->lives; i++)
        walk->live[i].requests = 0;
    walk->open = 0;
    walk->sequences = 0;
    walk->wanted = (struct route_state){.idle = true};
    follow_outlived(walk);
}

double walk_tokens(const struct walk *walk, const struct route_state *state)
{
    for (size_t i = 0; i < walk->shares; i++)
        if (route_state_same(&walk->share[i].state, state))
            return walk->share[i].sequence_seconds;
    return 0;
}

void walk_free(struct walk *walk)
{
    engine_batch_free(&walk->prefill);
    engine_batch_free(&walk->running);
    free(walk->live);
    free(walk->share);
    walk->live = NULL;
    walk->share = NULL;
}
