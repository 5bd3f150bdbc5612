/* grid.c: a table's texts are kept until every column's width is known. */
#include "suite/bench/grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct grid grid_new(size_t columns)
{
    return (struct grid){.columns = columns};
}

void grid_add(struct grid *grid, const char *format, ...)
{
    char *text;
    va_list list;
    va_start(list, format);
    if (vasprintf(&text, format, list) < 0)
        abort();
    va_end(list);
    grid->text = realloc(grid->text, (grid->texts + 1) * sizeof *grid->text);
    if (!grid->text)
        abort();
    grid->text[grid->texts++] = text;
}

static void print_rule(const struct grid *grid, size_t left)
{
    for (size_t c = 0; c < grid->columns; c++)
        fputs(c < left ? "|---" : "|---:", stdout);
    puts("|");
}

void grid_print(const struct grid *grid, size_t left, bool markdown)
{
    size_t *width = calloc(grid->columns, sizeof *width);
    if (!width)
        abort();
    for (size_t i = 0; i < grid->texts; i++) {
        const size_t length = strlen(grid->text[i]);
        if (length > width[i % grid->columns])
            width[i % grid->columns] = length;
    }
    for (size_t i = 0; i < grid->texts; i++) {
        const size_t c = i % grid->columns;
        const bool last = c + 1 == grid->columns;
        if (markdown)
            printf("| %s%s", grid->text[i], last ? " |\n" : " ");
        else if (c < left)
            printf("%s%-*s%s", c ? "  " : "", last ? 0 : (int)width[c], grid->text[i], last ? "\n" : "");
        else
            printf("%s%*s%s", c ? "  " : "", (int)width[c], grid->text[i], last ? "\n" : "");
        if (markdown && i + 1 == grid->columns)
            print_rule(grid, left);
    }
    free(width);
}

void grid_free(struct grid *grid)
{
    for (size_t i = 0; i < grid->texts; i++)
        free(grid->text[i]);
    free(grid->text);
    *grid = (struct grid){0};
}
