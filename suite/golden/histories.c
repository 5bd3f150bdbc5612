/* histories.c: every life of a running batch with a few requests, as a tree walked depth first. */
#include "suite/golden/products.h"

#define REQUESTS_MAX 4
#define KINDS_MAX 8

enum stage { WAITING, JOINED, ENDED_WAITING, ENDED, FILTERED };

/* One place in the tree. Batches are copied on the way down: they are small and the way back is then free. */
struct place {
    size_t depth, admitted;
    enum stage stage[REQUESTS_MAX];
    struct engine_row prefill_row[REQUESTS_MAX], running_row[REQUESTS_MAX];
    struct engine_batch prefill, running;
};

struct walk {
    const struct golden_group *group;
    FILE *lines;
    size_t requests, kinds[REQUESTS_MAX];
    bool mixes; /* with mixed chunks */
    struct engine_flags flags[REQUESTS_MAX][KINDS_MAX];
};

static void copy_place(struct place *to, const struct place *from)
{
    *to = *from;
    to->prefill.row = to->prefill_row;
    to->prefill.room = REQUESTS_MAX;
    to->running.row = to->running_row;
    to->running.room = REQUESTS_MAX;
    to->depth++;
}

static void print_state(const struct walk *walk, const struct engine_batch *batch, char end)
{
    struct engine_flags flags;
    char letters[ENGINE_FLAGS_TEXT];
    size_t rows = walk->group->engine->state(walk->group->reading, batch, &flags);
    fprintf(walk->lines, "%s%c", rows ? engine_flag_letters(walk->group->engine, &flags, letters) : "none",
            end);
}

static void step_from(const struct walk *walk, const struct place *here);

/* `after` is one event below `here`: the event's words are printed, then what it left, then everything below
 * it. */
static void went(const struct walk *walk, const struct place *after)
{
    print_state(walk, &after->prefill, ' ');
    print_state(walk, &after->running, '\n');
    step_from(walk, after);
}

/* A round of the scheduler is over: some engines drop ended rows in each. */
static void round_went(const struct walk *walk, struct place *after)
{
    for (size_t i = 0; walk->group->engine->filters_rounds && i < after->admitted; i++)
        if (after->stage[i] == ENDED)
            after->stage[i] = FILTERED;
}

static void admit(const struct walk *walk, const struct place *here, size_t kind)
{
    struct place after;
    char letters[ENGINE_FLAGS_TEXT];
    const struct engine_flags *flags = &walk->flags[here->admitted][kind];
    copy_place(&after, here);
    if (after.prefill.rows == 0) {
        engine_round(walk->group->engine, &after.running);
        round_went(walk, &after);
    }
    after.stage[after.admitted++] = WAITING;
    walk->group->engine->admit(&after.prefill, (int64_t)here->admitted, flags); /* there is room */
    fprintf(walk->lines, "%zu admit %zu %s: ", here->depth, here->admitted,
            engine_flag_letters(walk->group->engine, flags, letters));
    went(walk, &after);
}

static void join(const struct walk *walk, const struct place *here)
{
    struct place after;
    copy_place(&after, here);
    for (size_t i = 0; i < after.admitted; i++)
        after.stage[i] = after.stage[i] == WAITING         ? JOINED
                         : after.stage[i] == ENDED_WAITING ? FILTERED
                                                           : after.stage[i];
    walk->group->engine->join(walk->group->reading, &after.running, &after.prefill); /* there is room */
    round_went(walk, &after);
    fprintf(walk->lines, "%zu join: ", here->depth);
    went(walk, &after);
}

static void finish(const struct walk *walk, const struct place *here, size_t request)
{
    struct place after;
    copy_place(&after, here);
    bool waiting = here->stage[request] == WAITING;
    after.stage[request] = waiting ? ENDED_WAITING : ENDED;
    engine_batch_finish(waiting ? &after.prefill : &after.running, (int64_t)request);
    fprintf(walk->lines, "%zu finish %zu: ", here->depth, request);
    went(walk, &after);
}

static void filter(const struct walk *walk, const struct place *here)
{
    struct place after;
    copy_place(&after, here);
    for (size_t i = 0; i < after.admitted; i++)
        if (after.stage[i] == ENDED)
            after.stage[i] = FILTERED;
    walk->group->engine->filter(&after.running);
    fprintf(walk->lines, "%zu filter: ", here->depth);
    went(walk, &after);
}

/* Rows of the running batch go where they wait to be joined; ended ones are dropped on the way. */
static void mix(const struct walk *walk, const struct place *here)
{
    struct place after;
    copy_place(&after, here);
    for (size_t i = 0; i < after.admitted; i++)
        after.stage[i] = after.stage[i] == JOINED  ? WAITING
                         : after.stage[i] == ENDED ? FILTERED
                                                   : after.stage[i];
    walk->group->engine->mix(&after.running, &after.prefill); /* there is room */
    fprintf(walk->lines, "%zu mix: ", here->depth);
    went(walk, &after);
}

static bool any(const struct place *here, enum stage a, enum stage b)
{
    for (size_t i = 0; i < here->admitted; i++)
        if (here->stage[i] == a || here->stage[i] == b)
            return true;
    return false;
}

static void step_from(const struct walk *walk, const struct place *here)
{
    if (here->admitted < walk->requests)
        for (size_t kind = 0; kind < walk->kinds[here->admitted]; kind++)
            admit(walk, here, kind);
    if (any(here, WAITING, ENDED_WAITING))
        join(walk, here);
    for (size_t i = 0; i < here->admitted; i++)
        if (here->stage[i] == WAITING || here->stage[i] == JOINED)
            finish(walk, here, i);
    if (any(here, ENDED, ENDED))
        filter(walk, here);
    if (walk->mixes && any(here, WAITING, ENDED_WAITING) && any(here, JOINED, ENDED))
        mix(walk, here);
}

static int read_kinds(const struct golden_case *this, struct walk *walk)
{
    struct trouble *damaged = &this->outcome->damaged;
    struct json_cursor array;
    if (json_array(&this->at, "kinds", &array, &walk->requests, damaged))
        return -1;
    if (walk->requests > REQUESTS_MAX)
        return json_trouble(&array, damaged, "has %zu requests; at most %d are walked", walk->requests,
                            REQUESTS_MAX);
    struct json_cursor kinds = json_at(&array, 0);
    for (size_t i = 0; i < walk->requests; i++, kinds = json_next(&kinds)) {
        walk->kinds[i] = cJSON_IsArray(kinds.node) ? (size_t)cJSON_GetArraySize(kinds.node) : 0;
        if (walk->kinds[i] < 1 || walk->kinds[i] > KINDS_MAX)
            return json_trouble(&kinds, damaged, "must be an array of 1 to %d kinds", KINDS_MAX);
        for (size_t k = 0; k < walk->kinds[i]; k++) {
            const char *letters;
            if (json_string_at(&kinds, k, &letters, damaged))
                return -1;
            if (!engine_flags_of_letters(walk->group->engine, letters, &walk->flags[i][k]))
                return json_trouble(&kinds, damaged, "\"%.20s\": must be flags as in \"Gk--\"", letters);
        }
    }
    return 0;
}

int product_histories(const struct golden_case *this, const struct golden_group *group, FILE *lines)
{
    struct walk walk = {.group = group, .lines = lines};
    struct place root = {0};
    const cJSON *mixes = cJSON_GetObjectItemCaseSensitive(this->at.node, "mixes");
    if (mixes && !cJSON_IsBool(mixes))
        return json_trouble(&this->at, &this->outcome->damaged, "\"mixes\": must be true or false");
    walk.mixes = cJSON_IsTrue(mixes);
    if (walk.mixes && !group->engine->mix)
        return json_trouble(&this->at, &this->outcome->damaged, "\"mixes\": %s has no mixed chunks",
                            group->engine->name);
    if (read_kinds(this, &walk))
        return -1;
    step_from(&walk, &root);
    return 0;
}
