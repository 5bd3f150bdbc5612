/* message.h: a point of a bench as `time` messages, and what came back, checked. */
#ifndef SAMPLEGATE_BENCH_MESSAGE_H
#define SAMPLEGATE_BENCH_MESSAGE_H
#include "suite/bench/bench.h"
#include "suite/judge/script.h"

/* What a message with rows carries; made for one sampler at one point. Zero-initialise; bench_rows_free. */
struct bench_message {
    struct script memory;
    enum value_kind kind;
    enum value_dtype dtype;
    size_t rows, vocab, draws;
    float *values;  /* [rows, vocab] as handed over */
    uint16_t *bits; /* the same in 16 bits, or NULL */
    int32_t *row_index;
    double *temperature; /* [draws] */
    uint64_t seed;
    bool greedy; /* asked for as the rule greedy, not as temperature 0 */
    char rule[32];
};
/* BENCH_PENDING, or BENCH_SKIPPED with why: the sampler lacks what the cell asks for. */
enum bench_state bench_message_make(struct bench_message *message, const struct bench *bench,
                                    const struct bench_point *point,
                                    const struct bench_contestant *contestant, char *why, size_t why_bytes);
void bench_message_free(struct bench_message *message);
/* A request for `calls` calls; its arrays are the message's, and only there if `rows`. Owned: frame_free. */
struct frame bench_message_frame(struct bench_message *message, const struct bench *bench,
                                 const struct bench_point *point, uint64_t chunk, uint32_t warmup,
                                 uint32_t calls, bool rows);
/* Times of an answer into series->of[figure][at ..]. `elapsed`: nanoseconds that passed meanwhile, which no times can exceed.
 * BENCH_PENDING, or BENCH_SKIPPED (unsupported), BENCH_ERROR with why. */
enum bench_state bench_message_take(const struct bench_message *message, const struct frame *answer,
                                    uint32_t calls, double elapsed, size_t at, size_t room,
                                    struct bench_series *series, char *why, size_t why_bytes);
#endif
