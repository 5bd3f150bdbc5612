/* about.h: what a table of mutants says of each, for the kill table: the check it was made for and where they
 * meet.
 *
 * Each table (this folder's samplers; engines) gives its rows through one function, so that the kill table
 * need not know how a mutant works. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_MUTANTS_ABOUT_H
#define SAMPLEGATE_MUTANTS_ABOUT_H
#include <stddef.h>

/* What of a sampler is broken. */
enum mutant_kind {
    MUTANT_STATISTICS,  /* the law of a token, or tokens that depend on one another */
    MUTANT_DETERMINISM, /* the same request does not give the same token */
    MUTANT_ROUTING,     /* a row is drawn by the wrong path or with another row's parameters */
    MUTANT_CONFIG,      /* the parameters are not those that were asked for */
    MUTANT_ROBUSTNESS,  /* edge values, odd sizes, padding */
    MUTANT_KINDS
};

struct mutant_about {
    const char *id;
    enum mutant_kind kind;
    const char *check; /* key of the check that must reject it, run alone; NULL: the clean one */
    const char *cell;  /* "PLAN/CELL" where they meet */
    const char *sentence;
    const char *published; /* class of public defect, and one report of its kind where we know one */
    const char
        *statistic;    /* the statistic that must see it, by the start of its name; NULL: any of the check */
    const char *error; /* instead, the cell must err, with these words in its reason; NULL: it must run */
};

/* The members of a row's `about`, in this order, for a table's initialisers; the rest is said where it is needed. */
#define MUTANT_ABOUT(ID, KIND, CHECK, CELL, SENTENCE, PUBLISHED)                                             \
    .about.id = ID, .about.kind = MUTANT_##KIND, .about.check = CHECK, .about.cell = CELL,                   \
    .about.sentence = SENTENCE, .about.published = PUBLISHED

/* The rows of this folder's table, in order; NULL past the last. The first is the clean one. */
const struct mutant_about *mutant_about(size_t index);
#endif
