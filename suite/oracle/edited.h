/* edited.h: logits after bias, bans, min_tokens, temperature and penalties, in double, in each engine's order; written
 * apart from kernels/.
 *
 * repetition r: l / r where l > 0, else l r, for ids of prompt or output. frequency f: l - f c, c how often the id is
 * in the output (some engines: the prompt too). presence a: l - a where c > 0. */
#ifndef SAMPLEGATE_EDITED_H
#define SAMPLEGATE_EDITED_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One engine's way, by the name that a contract's "penalties" has; NULL if unknown, or past the last. */
struct law_editor;
const struct law_editor *law_editor_of(const char *name);
const struct law_editor *law_editor_at(size_t index);
const char *law_editor_name(const struct law_editor *editor);

struct law_ids {
    int64_t *id;
    size_t count;
};
struct law_bias {
    int64_t id;
    double value;
};
/* What a request asks for; law_edits_none() asks for nothing. */
struct law_edits {
    double repetition, frequency, presence; /* 1, 0, 0: off */
    struct law_ids prompt, output, banned, stop;
    int64_t min_tokens; /* no stop id before the output has so many */
    struct law_bias *bias;
    size_t biases;
};
struct law_edits law_edits_none(void);
bool law_edits_any(const struct law_edits *edits);
/* The name of the first that no sampler may accept ("repetition_penalty": not positive and finite; "frequency_penalty",
 * "presence_penalty": not finite; "min_tokens": negative; "prompt", "output", "stop": an id outside the vocabulary), else
 * NULL. */
const char *law_edits_refused(const struct law_edits *edits, size_t vocab);

/* edited[vocab] from logits[vocab], divided by the temperature where the engine has it. Edits that are not refused;
 * biases and bans name ids of the vocabulary. */
void law_edited(const struct law_editor *editor, const struct law_edits *edits, double temperature,
                const float *logits, size_t vocab, double *edited);
#endif
