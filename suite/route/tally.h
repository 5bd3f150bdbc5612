/* tally.h: how many requests are alike, and the first of them, in bounded memory. */
#ifndef SAMPLEGATE_ROUTE_TALLY_H
#define SAMPLEGATE_ROUTE_TALLY_H
#include <stddef.h>
#include "suite/route/request.h"

#define TALLY_ROWS 48
#define TALLY_TEXT 640
#define TALLY_IDS 3

/* Zero-initialise. */
struct tally {
    struct tally_row {
        char text[TALLY_TEXT];
        size_t count;
        char id[TALLY_IDS][REQUEST_ID];
    } row[TALLY_ROWS];
    size_t rows;
    size_t others; /* that were like none of these when the rows were full */
    size_t last;   /* the row added to: traffic comes in runs */
};

void tally_add(struct tally *tally, const char *text, const char *id);
/* All counts together. */
size_t tally_total(const struct tally *tally);
/* "a, b, c and 12 more" */
const char *tally_ids(const struct tally_row *row, char text[TALLY_IDS * (REQUEST_ID + 2) + 32]);
/* Most first. */
void tally_sort(struct tally *tally);
#endif
