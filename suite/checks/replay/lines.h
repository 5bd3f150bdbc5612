/* lines.h: what a replay cell asks: requests of all kinds, each alone, and the same requests in mixed batches.
 *
 * Draw d is one request: a row of its own (the cell's table, rotated, backwards, or rounded so that it has ties), and as much
 * of temperature, top_k, top_p, min_p, penalties with histories, bias, bans and min_tokens as the sampler announces: some have
 * all, most have some, and few share any.
 *
 * line     | layout                                  | kinds of defect that show there
 * solo     | a call for each                         |
 * listed   | 64 a call                               | parameters of the last or first row, or of the capture, for all; a
 *          |                                         | filter ignored, or its ties kept otherwise, above some batch size;
 *          |                                         | what is unset taken from a neighbour; greedy rows sampled
 * permuted | 64 a call, rows where they were         | rows and parameters in two orders; the sorted ids of another row
 * joined   | 64 a call, the second half first        | histories and masks shifted by what they were joined to
 * filtered | 64 a call, without every third          | seeds, masks and histories that stay in their old slots
 * reversed | 8 a call, backwards                     | whatever depends on the size of the call or the order
 * golden-* | golden/replay/batches.json, if this     | the same, against exact arithmetic
 *          | sampler's contract names the rule       |
 *
 * Who does not claim that a draw's token is decided by the draw alone (keying.h) is asked for the tokens of top_k 1 only, in
 * rows with one heaviest id and no edits; kept sets are nobody's choice. */
#ifndef SAMPLEGATE_REPLAY_LINES_H
#define SAMPLEGATE_REPLAY_LINES_H
#include "suite/checks/check.h"
#include "suite/checks/family.h"
#include "suite/checks/keying.h"

enum replay_order { REPLAY_LISTED, REPLAY_PERMUTED, REPLAY_JOINED, REPLAY_FILTERED, REPLAY_REVERSED };

struct replay_line {
    const char *name;
    uint64_t batch;
    enum replay_order order;
    bool moved; /* row r is that of place r; else that of draw r, and row_index says whose turn it is */
};
/* Those that must repeat "solo". */
extern const struct replay_line replay_line[];
extern const size_t replay_lines;

/* draw[places]: which draw is asked for at each place of a line. Returns how many places, at most `draws`. */
size_t replay_places(enum replay_order order, size_t draws, size_t *draw);

/* One request. Lists of its parameters are borrowed. */
struct replay_draw {
    float *values; /* [vocab] as handed over */
    struct law_parameters parameters;
    double temperature; /* 1 with probabilities */
    int64_t seed, position;
};
struct replay_draws {
    struct replay_draw *draw;
    size_t count, vocab;
};
/* The requests of a cell at a stage. Memory is the script's. */
struct replay_draws replay_draws_choose(const struct script_input *input, struct script *memory);

/* The golden batches of the rule that this sampler claims, if it can be asked for all that they hold. Owned:
 * replay_golden_free, after a failure too; then -1, and why. */
struct replay_golden {
    struct json_file file;
    struct draws_requests requests;
    struct draws_batch *batch;
    size_t batches;
};
int replay_golden_read(const struct plan *plan, const struct plan_cell *cell, const struct sut *sut,
                       struct replay_golden *golden, char *why, size_t why_bytes);
void replay_golden_free(struct replay_golden *golden);

enum script_start replay_script(const struct script_input *input, struct script *script, char *why,
                                size_t why_bytes);
#endif
