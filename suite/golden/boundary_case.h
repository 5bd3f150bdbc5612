/* boundary_case.h: one case of golden/boundary/: a small row, its parameters, and what each engine's rule leaves of it. */
#ifndef SAMPLEGATE_BOUNDARY_CASE_H
#define SAMPLEGATE_BOUNDARY_CASE_H
#include "suite/json/json.h"
#include "suite/oracle/parameters.h"

#define BOUNDARY_VOCAB_MAX 64

struct boundary_case {
    const char *id; /* borrowed from the file */
    enum value_kind kind;
    size_t vocab;
    float values[BOUNDARY_VOCAB_MAX]; /* exactly as written, or NaN or an infinity */
    double temperature;
    struct law_parameters parameters;
};
/* Owned: boundary_case_free, also after a failure. */
int boundary_case_read(struct boundary_case *out, const struct json_cursor *at, struct trouble *trouble);
void boundary_case_free(struct boundary_case *out);

/* What must come out under one rule, or did. */
struct boundary_answer {
    const char *refused; /* the parameter, NULL if it is drawn; then the rest holds */
    size_t kept;
    int32_t id[BOUNDARY_VOCAB_MAX]; /* rising */
    double mass[BOUNDARY_VOCAB_MAX];
    double logit[BOUNDARY_VOCAB_MAX]; /* after penalties; NAN where the file has none */
    bool exact;                       /* a mass or a weight lies exactly on its threshold */
};
/* The case's expectation for the rule of that name; NULL: the one that all rules share. *found: there is one. */
int boundary_expectation(const struct json_cursor *at, const struct boundary_case *of, const char *rule,
                         bool *found, struct boundary_answer *answer, struct trouble *trouble);
/* A record's answer: "refused", or "kept" and "mass" and, after penalties, "logits"; "said": the engine's own words. */
int boundary_told(const struct json_cursor *at, const struct boundary_case *of,
                  struct boundary_answer *answer, struct trouble *trouble);

/* fp32 logits of a few units, softmaxed. */
#define BOUNDARY_FP32_TOLERANCE 1e-5

/* The first thing in which two answers differ, in words. */
struct boundary_difference {
    char field[64], golden[256], ours[256];
};
/* false: none. Masses within the tolerance of themselves, logits of themselves and 1; figures that the golden lacks are
 * not compared. */
bool boundary_differs(const struct boundary_answer *golden, const struct boundary_answer *ours,
                      double tolerance, struct boundary_difference *difference);
#endif
