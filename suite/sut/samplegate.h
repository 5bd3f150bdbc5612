/* samplegate.h: the C ABI of a sampler plug-in, all that a stranger must include to have a sampler judged.
 *
 * A plug-in is a shared object with ONE exported function, samplegate_plugin(), which returns a static table. Every
 * struct starts with its own `size` in bytes, so either side may be older: read no field beyond the size you were given.
 * Rounding is the plug-in's business: parameters arrive as the user gave them (double, int64).
 * Answer SAMPLEGATE_UNSUPPORTED to a call whose `options` has a bit you do not implement; ignoring an option is a defect.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_H
#define SAMPLEGATE_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SAMPLEGATE_ABI_VERSION 1u
#define SAMPLEGATE_PLUGIN_SYMBOL "samplegate_plugin"

enum samplegate_status {
    SAMPLEGATE_OK = 0,
    SAMPLEGATE_UNSUPPORTED = 1, /* honest: this call asks for something the sampler does not have */
    SAMPLEGATE_INVALID = 2,     /* the sampler rejects the arguments */
    SAMPLEGATE_FAILED = 3       /* anything else; the instance may be unusable */
};

enum samplegate_dtype { SAMPLEGATE_F32 = 0, SAMPLEGATE_F16 = 1, SAMPLEGATE_BF16 = 2 };
enum samplegate_device { SAMPLEGATE_CPU = 0, SAMPLEGATE_CUDA = 1 };

/* What the values of a call are: logits, or probabilities that the sampler must not renormalise away. */
enum samplegate_values { SAMPLEGATE_LOGITS = 0, SAMPLEGATE_PROBABILITIES = 1 };

/* Capabilities a plug-in announces, and the optional inputs a call uses (the same bits). */
enum samplegate_option {
    SAMPLEGATE_TAKES_LOGITS = 1 << 0,
    SAMPLEGATE_TAKES_PROBABILITIES = 1 << 1,
    SAMPLEGATE_TEMPERATURE = 1 << 2,
    SAMPLEGATE_NOISE_IN = 1 << 3, /* the caller supplies Exp(1) noise; Gumbel noise is defined as -log(q) */
    SAMPLEGATE_SEEDED = 1 << 4,   /* per-draw seed and position decide the noise */
    SAMPLEGATE_TOP_K = 1 << 5,
    SAMPLEGATE_TOP_P = 1 << 6,
    SAMPLEGATE_MIN_P = 1 << 7,
    SAMPLEGATE_PENALTIES = 1 << 8,
    SAMPLEGATE_LOGIT_BIAS = 1 << 9,
    SAMPLEGATE_ALLOWED_MASK = 1 << 10,
    SAMPLEGATE_MIN_TOKENS = 1 << 11,
    SAMPLEGATE_LOGPROB_OUT = 1 << 12,
    SAMPLEGATE_KEPT_OUT = 1 << 13,
    SAMPLEGATE_PATH_OUT = 1 << 14
};

/* A borrowed view of rows of values. Row r starts at data + r * row_stride elements. row_stride may exceed columns, as it
 * does where an engine pads its vocabulary; what lies between is not the sampler's to read. */
struct samplegate_tensor {
    size_t size;
    const void *data;
    int32_t dtype;  /* enum samplegate_dtype */
    int32_t device; /* enum samplegate_device */
    int64_t rows, columns, row_stride;
};

/* One batch: `draws` tokens, draw d from row row_index[d]. Pointers are valid during the call (on a GPU: until the
 * stream has passed it). values, row_index, noise, logit_bias, allowed and the outputs live on values.device, which is the
 * device that open() was given (samplegate-host: option device=cuda); per-draw parameters and token lists on the host.
 * A NULL parameter array means "off" for every draw, and its bit in `options` is then clear. In an array "off" is
 * temperature 1, top_k -1, top_p 1, min_p 0, repetition_penalty 1, other penalties 0, min_tokens 0. */
struct samplegate_call {
    size_t size;
    uint64_t options; /* bits of enum samplegate_option that this call needs */
    void *stream;     /* cudaStream_t, or NULL on a CPU */
    struct samplegate_tensor values;
    int32_t values_kind; /* enum samplegate_values */
    int32_t reserved;
    int64_t draws;
    const int32_t *row_index;  /* [draws] */
    const float *noise;        /* [draws, columns] Exp(1) variates, dense */
    const double *temperature; /* [draws], each parameter as the user gave it */
    const int64_t *seed;       /* [draws] */
    const int64_t *position;   /* [draws] index of the token in its sequence */
    const int64_t *top_k;      /* [draws] */
    const double *top_p;       /* [draws] */
    const double *min_p;       /* [draws] */
    const double *repetition_penalty, *frequency_penalty, *presence_penalty; /* [draws] */
    const int64_t *prompt_tokens, *prompt_offsets; /* ragged: draw d has tokens[offsets[d] .. offsets[d+1]) */
    const int64_t *output_tokens, *output_offsets; /* ragged, as above */
    const float *logit_bias;                       /* [rows, columns], dense */
    const uint8_t *allowed;                        /* [rows, columns], 1 = allowed */
    const int64_t *min_tokens;                     /* [draws] */
    const int64_t *stop_ids, *stop_offsets;        /* ragged, as above */
    int32_t *token;                                /* out [draws]; -1 = this row cannot be sampled */
    float *logprob;                                /* out [draws] or NULL; not asked for yet */
    uint8_t *kept; /* out [rows, columns] or NULL: 1 where the parameters of a row's first draw leave the id, else 0;
                    * only rows that this call draws from need be written */
    int32_t *path;                                 /* out [draws] or NULL; not asked for yet */
};

/* The contract: an object of strings. What is claimed is tested, what is not is skipped. A claim that is not in this
 * table is refused (exit 2), and so is a value of bitwise, rule, filters or penalties.
 *
 * claim      | value
 * rng_keying | what decides the noise of one id in a seeded draw, commas between: seed, position, column (the id), rank (the
 *            | id's place in the sorted row, at least where filters are on). With any other word (batch, row, call, ...) a
 *            | draw need not give the same token in another batch.
 * bitwise    | where the same draw gives the same token, whatever the batch, its place in it and its neighbours: "any
 *            | device", "same device"; "none": not even the same call does
 * rule       | the reference's rule whose tokens it gives for a seed and a position: greedy, categorical, race, gumbel,
 *            | torch-race, seeded, seeded-2025; by rank if rng_keying says rank
 * filters    | whose top_k, top_p and min_p it has: sglang-pytorch, flashinfer-joint, flashinfer-top-k-first, vllm-0.5.0,
 *            | vllm-v1, hf-transformers, llama.cpp, tensorrt-llm-torch, tensorrt-llm-cpp
 * penalties  | whose penalties: sglang, vllm-0.5.0, vllm-v1, tensorrt-llm-cpp
 * nan_policy | "never drawn": an id whose weight is NaN, infinite or negative is not drawn; a row that leaves no id gives
 *            | token -1, or is refused
 * weights    | "any scale": probabilities need not sum to 1
 * tie_rule   | which of equal scores wins: "lowest id" */
struct samplegate_plugin {
    size_t size;
    uint32_t abi_version; /* SAMPLEGATE_ABI_VERSION */
    uint32_t reserved;
    const char *name, *version;
    uint64_t capabilities;    /* bits of enum samplegate_option */
    const char *contract;     /* JSON text of the claims, or NULL: nothing claimed. See above */
    /* options: the SPEC's "key=value,..." text, "" if none. On failure write one line to `error` (NUL-terminated). */
    int (*open)(const char *options, int32_t device, void **instance, char *error, size_t error_bytes);
    int (*prepare)(void *instance, int64_t max_draws, int64_t max_rows, int64_t columns); /* may allocate; may be NULL */
    int (*sample)(void *instance, const struct samplegate_call *call);
    int (*reset)(void *instance, uint64_t seed); /* restart the noise of unseeded draws from `seed` */
    void (*close)(void *instance);
};

/* The one exported symbol. The table must outlive every instance. */
typedef const struct samplegate_plugin *(*samplegate_plugin_function)(void);
const struct samplegate_plugin *samplegate_plugin(void);

#ifdef __cplusplus
}
#endif
#endif
