/* products.h: the walk over every life of a running batch. Internal to suite/golden/. */
#ifndef SAMPLEGATE_PRODUCTS_H
#define SAMPLEGATE_PRODUCTS_H
#include <stdio.h>

#include "suite/golden/questions.h"

/* Print a line for each event of every history of the case's requests: "kinds" lists, for each request in
 * turn, the flags it may have. At each place of a history: admit the next request in each of its kinds; join,
 * if requests wait; finish each unfinished request in turn; filter, if a request finished since it joined. */
int product_histories(const struct golden_case *this, const struct golden_group *group, FILE *lines);
#endif
