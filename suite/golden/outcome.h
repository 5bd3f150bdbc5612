/* outcome.h: what goldens' readers and recomputations share: two kinds of trouble, and one walk over a golden's cases.
 *
 * Internal to suite/golden/. A golden is damaged when it cannot be trusted to say what it once said (a hash, bad syntax,
 * a missing field); it disagrees when it is sound and this build computes something else. */
#ifndef SAMPLEGATE_OUTCOME_H
#define SAMPLEGATE_OUTCOME_H
#include <stdbool.h>
#include <stddef.h>
#include "suite/json/json.h"

struct golden_outcome {
    struct trouble damaged, disagrees;
    char flags[256]; /* of the case that disagrees: " boundary null ", "" without */
    size_t cases, left_out;
};

/* One case while it is being checked. */
struct golden_case {
    const struct golden_check *check;
    struct json_cursor at, notes;
    const char *id, *source; /* source: of its group */
    struct golden_outcome *outcome;
    void *context; /* of golden_walk */
};

/* "FILE#ID: FIELD: the golden has X, this build computes Y". Returns -1. */
int golden_disagrees(const struct golden_case *this, const char *field, const char *golden, const char *ours);
/* The decimal string `key` of `at` (the case or part of it) against ours, within a relative tolerance. `field` names it. */
#define GOLDEN_TOLERANCE 1e-12 /* of 15 digits, where ours is within a few units of 2^-53 */
int golden_same_figure(const struct golden_case *this, const struct json_cursor *at, const char *key, const char *field,
                       double tolerance, double ours);
int golden_same_integer(const struct golden_case *this, const struct json_cursor *at, const char *key, const char *field,
                        int64_t ours);

/* One golden file and how it is recomputed. Keys are the NULL-terminated lists beyond source, version, cases and id, flags. */
struct golden_check {
    const char *family, *check, *what;
    const char *const *group_keys, *const *case_keys;
    bool has_third; /* cases worked by hand, which tell who is wrong: suspect.c */
    /* Begin a group: what its cases share, in *shared (may be NULL functions: nothing shared). */
    int (*begin)(const struct json_cursor *group, void **shared, struct golden_outcome *outcome);
    int (*recompute)(const struct golden_case *this, const void *shared);
    void (*end)(void *shared);
};
extern const struct golden_check golden_tables, golden_tokens, golden_predicate_path, golden_predicate_history,
    golden_predicate_forks, golden_defaults_tensors, golden_predicate_draw, golden_predicate_rows, golden_predicate_candidates,
    golden_predicate_products, golden_defaults_effective, golden_defaults_normalize, golden_defaults_products,
    golden_boundary_nucleus, golden_boundary_top_k, golden_boundary_min_p, golden_boundary_combined, golden_boundary_penalties,
    golden_boundary_degenerate, golden_dependence, golden_determinism, golden_replay;

/* Read DIRECTORY/family/check.json and hand every case to check->recompute. Returns 0, or -1 with one kind of trouble. */
int golden_walk(const char *directory, const struct golden_check *check, void *context, struct golden_outcome *outcome);
int golden_recompute(const char *directory, const struct golden_check *check, struct golden_outcome *outcome);

/* Add to a disagreement which side the cases take that were worked by hand. */
void golden_suspect(const char *directory, const struct golden_check *check, struct golden_outcome *outcome);

/* DIRECTORY/SHA256SUMS against the files that are there. `files` counts them. */
int golden_check_sums(const char *directory, size_t *files, struct trouble *damaged);
/* PROVENANCE.json parses and names every DIRECTORY/<family>/<check>.json. */
int golden_check_provenance(const char *directory, size_t *files, struct trouble *damaged);
#endif
