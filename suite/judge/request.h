/* request.h: the parameters of a sample message as arrays of frame.h's table. */
#ifndef SAMPLEGATE_JUDGE_REQUEST_H
#define SAMPLEGATE_JUDGE_REQUEST_H
#include "suite/judge/script.h"
#include "suite/judge/worker.h"
#include "suite/oracle/parameters.h"

/* Ragged lists, one a draw: those of draw d are id[offset[d]] to id[offset[d + 1]]. NULL: every list is empty. */
struct request_lists {
    int64_t *id, *offset;
};

/* What some row asks for; NULL where none does. Numbers are one for all draws, or with `a_draw` one a draw. */
struct request_parameters {
    size_t rows, vocab;
    bool a_draw;
    int64_t *top_k, *min_tokens;
    double *top_p, *min_p, *repetition, *frequency, *presence;
    struct request_lists prompt, output, stop;
    float *bias;      /* [rows, vocab] */
    uint8_t *allowed; /* [rows, vocab] */
};

/* of[rows]: the parameters of each row; row_index[draws], or NULL with one row. Memory is the script's. */
struct request_parameters request_parameters_make(struct script *memory,
                                                  const struct law_parameters *const *of, size_t rows,
                                                  size_t vocab, const int32_t *row_index, size_t draws);
/* Add them to a message of so many of those draws, the first ones; arrays are borrowed. */
void request_parameters_add(const struct request_parameters *parameters, struct frame *request, size_t draws);

/* The first capability that these parameters need and the sampler does not announce, else NULL. */
const char *request_lacks(const struct law_parameters *parameters, const struct sut *sut);
#endif
