/* grid.h: a table of texts, printed in columns or as Markdown. */
#ifndef SAMPLEGATE_BENCH_GRID_H
#define SAMPLEGATE_BENCH_GRID_H
#include <stdbool.h>
#include <stddef.h>

struct grid {
    char **text; /* row by row; the first row is the head */
    size_t columns, texts;
};
/* So many columns. Owned: grid_free. */
struct grid grid_new(size_t columns);
/* The next text, left to right, then the next row. */
__attribute__((format(printf, 2, 3))) void grid_add(struct grid *grid, const char *format, ...);
/* The first `left` columns to the left, the others to the right. */
void grid_print(const struct grid *grid, size_t left, bool markdown);
void grid_free(struct grid *grid);
#endif
