/* tally.c: how many requests are alike, and the first of them, in bounded memory. */
#include "suite/route/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tally_add(struct tally *tally, const char *text, const char *id)
{
    size_t i = tally->last;
    if (i >= tally->rows || strcmp(tally->row[i].text, text) != 0)
        for (i = 0; i < tally->rows && strncmp(tally->row[i].text, text, TALLY_TEXT - 1) != 0;)
            i++;
    if (i == TALLY_ROWS) {
        tally->others++;
        return;
    }
    struct tally_row *row = &tally->row[i];
    tally->last = i;
    if (i == tally->rows) {
        snprintf(row->text, sizeof row->text, "%s", text);
        tally->rows++;
    }
    if (row->count < TALLY_IDS)
        snprintf(row->id[row->count], REQUEST_ID, "%s", id);
    row->count++;
}

size_t tally_total(const struct tally *tally)
{
    size_t total = tally->others;
    for (size_t i = 0; i < tally->rows; i++)
        total += tally->row[i].count;
    return total;
}

const char *tally_ids(const struct tally_row *row, char text[TALLY_IDS * (REQUEST_ID + 2) + 32])
{
    text[0] = 0;
    for (size_t i = 0; i < row->count && i < TALLY_IDS; i++)
        sprintf(text + strlen(text), "%s%s", i ? ", " : "", row->id[i]);
    if (row->count > TALLY_IDS)
        sprintf(text + strlen(text), " and %zu more", row->count - TALLY_IDS);
    return text;
}

static int by_count(const void *a, const void *b)
{
    const struct tally_row *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : strcmp(x->text, y->text);
}

void tally_sort(struct tally *tally)
{
    qsort(tally->row, tally->rows, sizeof *tally->row, by_count);
    tally->last = TALLY_ROWS;
}
