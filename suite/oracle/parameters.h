/* parameters.h: what a plan's cell or a golden's case asks of a sampler beside the temperature, and the law under it. */
#ifndef SAMPLEGATE_ORACLE_PARAMETERS_H
#define SAMPLEGATE_ORACLE_PARAMETERS_H
#include "suite/json/json.h"
#include "suite/oracle/edited.h"
#include "suite/oracle/filtered.h"
#include "suite/oracle/law.h"

struct law_parameters {
    struct law_limits limits;
    struct law_edits edits;
};
struct law_parameters law_parameters_none(void);
void law_parameters_free(struct law_parameters *parameters);

/* From an object with any of top_k, top_p, min_p, repetition_penalty, frequency_penalty, presence_penalty (numbers; in a
 * string also hexadecimal, nan, inf, -inf), prompt, output, banned, stop ([id, ...]), logit_bias ([[id, value], ...]),
 * min_tokens. Ids of banned and logit_bias must be of the vocabulary; whether a value makes sense is asked of
 * law_parameters_refused. Owned: law_parameters_free, also after a failure. */
int law_parameters_read(struct law_parameters *parameters, const struct json_cursor *at, size_t vocab,
                        struct trouble *trouble);
/* The name of the first that no sampler may accept ("temperature": not positive and finite; zero is greedy, another rule),
 * else NULL. */
const char *law_parameters_refused(const struct law_parameters *parameters, double temperature, size_t vocab);
bool law_limits_any(const struct law_limits *limits);

/* pmf[vocab] and kept[vocab] of values handed over as `kind`, under parameters that are not refused, as an engine does
 * it. Probabilities take no edits, and no temperature but 1. Where different logits are equal once edited, and the filters
 * end at them, weight_margin is 0: rounding decides. */
struct law_filtered law_under(const struct law_filter *filter, const struct law_editor *editor,
                              const struct law_parameters *parameters, enum value_kind kind,
                              const float *values, size_t vocab, double temperature, double *pmf,
                              uint8_t *kept);
#endif
