/* message.c: build `time` messages, and believe no answer that cannot be. */
#include "suite/bench/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite/judge/request.h"

#define CORES_MAX 8192 /* what Linux is built for at most */

/* Row r is the table's, turned by r / rows of its length: rows differ, their law does not. */
static void turn(const float *from, size_t vocab, size_t row, size_t rows, float *to)
{
    const size_t by = vocab / rows * row;
    memcpy(to, from + by, (vocab - by) * sizeof *to);
    memcpy(to + (vocab - by), from, by * sizeof *to);
}

/* What the sampler must be able to do for this cell, beyond drawing. */
static const char *lacks(const struct bench_message *message, const struct bench_cell *cell,
                         const struct sut *sut, size_t neighbours)
{
    const struct bench_ask *const asks[] = {&cell->ask, neighbours ? &cell->neighbour : NULL};
    for (size_t i = 0; i < 2; i++) {
        if (!asks[i])
            continue;
        const char *word = request_lacks(&asks[i]->parameters, sut);
        if (word)
            return word;
        if (asks[i]->temperature != 1 && message->kind == VALUE_LOGITS && !message->greedy &&
            !sut->temperature)
            return "temperature";
    }
    return NULL;
}

/* A penalty without a history asks for nothing, and a history without a penalty is not looked at: both are sent as they
 * are. */
static void parameters_add(struct bench_message *message, const struct bench_cell *cell, size_t neighbours,
                           struct frame *request)
{
    const struct law_parameters **of = script_memory(&message->memory, message->rows * sizeof *of);
    for (size_t r = 0; r < message->rows; r++)
        of[r] = r < neighbours ? &cell->neighbour.parameters : &cell->ask.parameters;
    const struct request_parameters parameters = request_parameters_make(
        &message->memory, of, message->rows, message->vocab, message->row_index, message->draws);
    request_parameters_add(&parameters, request, message->draws);
}

enum bench_state bench_message_make(struct bench_message *message, const struct bench *bench,
                                    const struct bench_point *point,
                                    const struct bench_contestant *contestant, char *why, size_t why_bytes)
{
    const struct bench_cell *cell = point->cell;
    const struct sut *sut = &bench->sut[contestant->sut].sut;
    const size_t neighbours = bench_neighbours(cell, point->batch);
    *message = (struct bench_message){.kind = bench->plan->kind,
                                      .dtype = sut->dtype,
                                      .rows = bench_rows(cell, point->batch),
                                      .vocab = cell->table->vocab,
                                      .draws = bench_draws(cell, point->batch),
                                      .seed = bench->plan->seed};
    snprintf(message->rule, sizeof message->rule, "%s", contestant->rule);
    if (!sut->takes[message->kind]) /* its call does more, or less: the report says what it was handed */
        message->kind = message->kind == VALUE_LOGITS ? VALUE_PROBABILITIES : VALUE_LOGITS;
    if (bench_greedy(cell) && bench_times_rule(sut, "greedy")) {
        message->greedy = true;
        strcpy(message->rule, "greedy");
    }
    const char *word = lacks(message, cell, sut, neighbours);
    if (!word && bench->plan->about == BENCH_ABOUT_PARAMETERS && message->kind != VALUE_LOGITS)
        word = "way to take logits";
    if (word) {
        snprintf(why, why_bytes, "the sampler has no %s", word);
        return BENCH_SKIPPED;
    }
    const size_t elements = message->rows * message->vocab;
    message->values = script_memory(&message->memory, elements * sizeof *message->values);
    message->row_index = script_memory(&message->memory, message->draws * sizeof *message->row_index);
    message->temperature = script_memory(&message->memory, message->draws * sizeof *message->temperature);
    double *pmf = calloc(message->vocab, sizeof *pmf);
    float *first = calloc(message->vocab, sizeof *first);
    if (!pmf || !first)
        abort();
    const double warmth = message->kind == VALUE_PROBABILITIES ? cell->ask.temperature : 1;
    law_hand_over(cell->table->logits, message->vocab, warmth, message->kind, message->dtype, first, pmf);
    for (size_t r = 0; r < message->rows; r++)
        turn(first, message->vocab, r, message->rows, message->values + r * message->vocab);
    free(pmf);
    free(first);
    if (message->dtype != VALUE_F32) {
        message->bits = script_memory(&message->memory, elements * sizeof *message->bits);
        for (size_t i = 0; i < elements; i++)
            message->bits[i] = law_bits(message->values[i], message->dtype);
    }
    for (size_t d = 0; d < message->draws; d++) {
        const size_t row = d / cell->samples;
        const double asked = row < neighbours ? cell->neighbour.temperature : cell->ask.temperature;
        message->row_index[d] = (int32_t)row;
        message->temperature[d] = message->kind == VALUE_PROBABILITIES || message->greedy ? 1 : asked;
    }
    return BENCH_PENDING;
}

void bench_message_free(struct bench_message *message)
{
    script_free(&message->memory);
    *message = (struct bench_message){0};
}

/* One temperature where all draws have the same: that is how an engine holds it, too. */
static void temperature_add(const struct bench_message *message, struct frame *request)
{
    bool same = true, off = true;
    for (size_t d = 0; d < message->draws; d++) {
        same &= message->temperature[d] == message->temperature[0];
        off &= message->temperature[d] == 1;
    }
    const uint64_t shape[] = {same ? 1 : message->draws};
    if (!off)
        frame_add(request, "temperature", FRAME_F64, 1, shape, message->temperature);
}

struct frame bench_message_frame(struct bench_message *message, const struct bench *bench,
                                 const struct bench_point *point, uint64_t chunk, uint32_t warmup,
                                 uint32_t calls, bool rows)
{
    static const enum frame_dtype dtypes[] = {FRAME_F32, FRAME_F16, FRAME_BF16};
    struct frame request = {0};
    frame_set(&request, "message", "time");
    frame_set(&request, "cell", point->name);
    frame_set_u64(&request, "chunk", chunk);
    frame_set_u64(&request, "warmup", warmup);
    frame_set_u64(&request, "calls", calls);
    frame_set_u64(&request, "fill", bench->plan->fill);
    if (*message->rule)
        frame_set(&request, "rule", message->rule);
    if (!rows)
        return request;
    const uint64_t shape[] = {message->rows, message->vocab}, draws[] = {message->draws};
    frame_set_u64(&request, "draws", message->draws);
    frame_set_u64(&request, "batch", message->draws);
    frame_set_u64(&request, "seed", message->seed);
    frame_set(&request, "kind", message->kind == VALUE_LOGITS ? "logits" : "probabilities");
    frame_add(&request, "values", dtypes[message->dtype], 2, shape,
              message->bits ? (const void *)message->bits : message->values);
    frame_add(&request, "row_index", FRAME_I32, 1, draws, message->row_index);
    temperature_add(message, &request);
    parameters_add(message, point->cell, bench_neighbours(point->cell, point->batch), &request);
    return request;
}

/* The array, or NULL with why. */
static const struct frame_array *times_find(const struct frame *answer, const char *name, uint32_t calls,
                                            char *why, size_t why_bytes)
{
    const struct frame_array *array = frame_find(answer, name);
    if (array && array->dtype == FRAME_I64 && array->rank == 1 && array->shape[0] == calls)
        return array;
    snprintf(why, why_bytes, "the worker's answer has no array %s of %u I64", name, calls);
    return NULL;
}

/* The last call's tokens: ids of the row, and not impossible ones; a sampler that draws nothing is no fast sampler. */
static bool tokens_good(const struct bench_message *message, const struct frame *answer, char *why,
                        size_t why_bytes)
{
    const struct frame_array *array = frame_find(answer, "token");
    if (!array || array->dtype != FRAME_I32 || array->rank != 1 || array->shape[0] != message->draws) {
        snprintf(why, why_bytes, "the worker's answer has no array token of %zu I32", message->draws);
        return false;
    }
    const int32_t *token = array->data;
    for (size_t d = 0; d < message->draws; d++) {
        const float *row = message->values + (size_t)message->row_index[d] * message->vocab;
        const bool inside = token[d] >= 0 && (size_t)token[d] < message->vocab;
        if (inside && (message->kind == VALUE_LOGITS ? row[token[d]] > -INFINITY : row[token[d]] > 0))
            continue;
        snprintf(why, why_bytes, "the last call's token of draw %zu is %d, %s", d, token[d],
                 inside ? "whose probability is zero" : "which is no id of the row");
        return false;
    }
    return true;
}

/* No more time than passed since the message was sent, and no more cores than any machine has. */
static bool times_passed(const double sum[BENCH_FIGURES], double elapsed, char *why, size_t why_bytes)
{
    const double calls = (sum[BENCH_SYNC] > 0 ? sum[BENCH_SYNC] : sum[BENCH_HOST]) + sum[BENCH_FULL];
    if (calls <= elapsed && sum[BENCH_CPU] <= CORES_MAX * elapsed)
        return true;
    snprintf(
        why, why_bytes,
        "the worker's calls took %.3g s (%.3g s of its cores) by its own clock, but only %.3g s passed: its "
        "times are no nanoseconds",
        calls / 1e9, sum[BENCH_CPU] / 1e9, elapsed / 1e9);
    return false;
}

enum bench_state bench_message_take(const struct bench_message *message, const struct frame *answer,
                                    uint32_t calls, double elapsed, size_t at, size_t room,
                                    struct bench_series *series, char *why, size_t why_bytes)
{
    static const char *const names[BENCH_FIGURES] = {"host_ns", "sync_ns", "host_full_ns", "cpu_ns"};
    const char *said = frame_get(answer, "message"), *text = frame_get(answer, "text"),
               *queue = frame_get(answer, "queue");
    if (said && (!strcmp(said, "unsupported") || !strcmp(said, "error"))) {
        snprintf(why, why_bytes, "%s", text ? text : "(no text)");
        return *said == 'u' ? BENCH_SKIPPED : BENCH_ERROR;
    }
    if (!said || strcmp(said, "times") || !queue || (strcmp(queue, "none") && strcmp(queue, "device"))) {
        snprintf(why, why_bytes, "the worker answered a message '%s' (queue '%s') to a message 'time'",
                 said ? said : "", queue ? queue : "");
        return BENCH_ERROR;
    }
    if (!tokens_good(message, answer, why, why_bytes))
        return BENCH_ERROR;
    const bool queues = !strcmp(queue, "device");
    if (series->of[BENCH_HOST] && (series->of[BENCH_SYNC] != NULL) != queues) {
        snprintf(why, why_bytes, "the worker's queue is '%s', and was not in an earlier block", queue);
        return BENCH_ERROR;
    }
    double sum[BENCH_FIGURES] = {0};
    for (int figure = 0; figure < BENCH_FIGURES; figure++) {
        if ((figure == BENCH_SYNC || figure == BENCH_FULL) && !queues)
            continue;
        const struct frame_array *array = times_find(answer, names[figure], calls, why, why_bytes);
        if (!array)
            return BENCH_ERROR;
        if (!series->of[figure]) {
            series->of[figure] = calloc(room, sizeof *series->of[figure]);
            if (!series->of[figure])
                abort();
        }
        const int64_t *ns = array->data;
        for (uint32_t i = 0; i < calls; i++) {
            if (ns[i] < (figure == BENCH_CPU ? 0 : 1)) {
                snprintf(why, why_bytes, "call %u took %lld ns by %s: no clock of use", i, (long long)ns[i],
                         names[figure]);
                return BENCH_ERROR;
            }
            series->of[figure][at + i] = (double)ns[i];
            sum[figure] += (double)ns[i];
            if (figure == BENCH_SYNC && (double)ns[i] < series->of[BENCH_HOST][at + i]) {
                snprintf(why, why_bytes, "call %u was done, by sync_ns, before it returned, by host_ns", i);
                return BENCH_ERROR;
            }
        }
    }
    return times_passed(sum, elapsed, why, why_bytes) ? BENCH_PENDING : BENCH_ERROR;
}
