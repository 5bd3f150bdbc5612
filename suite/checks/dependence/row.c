/* row.c: unseeded draws in the order in which they were made: at every distance, between the rows of a batch, and between
 * two requests.
 * Sees: rows that share noise, calls that repeat, a stream that begins anew in each process, noise on a lattice.
 * Cannot see: repetition further apart than 1,024 draws. */
#include "suite/checks/dependence/lines.h"

static void add_line(const struct check *check, const struct check_input *input,
                     const struct script_line *line, size_t rows, const char *draws_name,
                     const char *rows_name, struct evidence *evidence)
{
    const size_t draws = (size_t)line->draws;
    struct match match = match_lags(line->token, draws, 1, MATCH_LAGS_MAX, input->pmf, input->vocab);
    dependence_add(check, &match, draws_name, "draws", evidence);
    match = match_rows(line->token, draws / rows, rows, input->pmf, input->vocab);
    dependence_add(check, &match, rows_name, "rows of a batch", evidence);
}

void check_row(const struct check *check, const struct check_input *input, struct evidence *evidence)
{
    const struct script_line *many = dependence_line(check, input, "calls-32", evidence);
    const struct script_line *few = dependence_line(check, input, "calls-8", evidence);
    if (many)
        add_line(check, input, many, DEPENDENCE_ROWS, "draws-32", "rows-32", evidence);
    if (few)
        add_line(check, input, few, DEPENDENCE_ROWS_FEW, "draws-8", "rows-8", evidence);
    if (many && few) {
        const struct match match = match_between(many->token, few->token, (size_t)many->draws, MATCH_LAGS_MAX,
                                                 input->pmf, input->vocab);
        dependence_add(check, &match, "requests", "draws of two requests", evidence);
    }
}
