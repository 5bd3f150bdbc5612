/* lines.h: what a determinism cell asks: the same draws again and again, each time in other company.
 *
 * Draw d of n is lane d mod 32, step d / 32: 32 requests that decode side by side. A lane is a seed, the steps its positions.
 *
 * line                  | layout                                       | kinds of defect that show there
 * base                  | 32 a call                                    |
 * again, fresh          | the same; in a process of its own            | seed ignored, or mixed with the process or its state
 * batch-1, -8, -33, ... | other sizes of call                          | first row's seed for all; first row from another state;
 *                       |                                              | seed captured at the first call; kernels by size
 * reversed, permuted    | other places in the call, other neighbours   | seed looked up by slot; place mixed into the noise
 * by-seed               | a request at a time                          | stale slot after compaction; state advanced by the call
 * neighbours            | every other row from another row, warmer     | parameters or rows of a neighbour; noise by row
 * filtered              | one row of each call has top_k 2             | another path, with other noise, for the whole call
 * plus-one, plus-2^32   | every seed one, or 2^32, further             | seed ignored, constant, or cut to 32 bits
 * position-2^16         | every position 2^16 further                  | positions cut short
 * special, special-again| the ends of 64 bits, -1 and 0, and what they | sentinels that mean "no seed", or a default; signs
 *                       | may be taken for; twice                      | lost; widths
 * golden-N              | golden/determinism/tokens.json, if this      | positions cut short, hash or key changed, ties the other
 *                       | sampler's contract names the rule            | way, another filter
 *
 * Every message has an unseeded seed of its own, so that a sampler that ignores the draws' seeds cannot seem to repeat. */
#ifndef SAMPLEGATE_DETERMINISM_LINES_H
#define SAMPLEGATE_DETERMINISM_LINES_H
#include "suite/checks/check.h"
#include "suite/checks/family.h"
#include "suite/checks/keying.h"

#define DETERMINISM_LANES 32
#define DETERMINISM_SPECIALS 8
extern const int64_t determinism_special[DETERMINISM_SPECIALS];

/* Where the draws of the cell stand in a line. */
enum determinism_order {
    ORDER_SAME,
    ORDER_REVERSED,
    ORDER_PERMUTED,
    ORDER_BY_SEED,
    ORDER_EVEN,    /* a neighbour behind each */
    ORDER_FILTERED /* 31 in a call, and a neighbour whose place moves on by one each call */
};

enum determinism_promise {
    PROMISE_PROCESS,   /* of who is reproducible at all */
    PROMISE_BATCH,     /* of who says that a draw stands alone */
    PROMISE_NEIGHBOUR, /* the same */
    PROMISE_FILTERED   /* the same, unless the noise goes by rank */
};

struct determinism_line {
    const char *name;
    uint64_t batch;
    bool fresh;
    enum determinism_order order;
    enum determinism_promise promise;
};
/* Those that must repeat the tokens of "base". */
extern const struct determinism_line determinism_line[];
extern const size_t determinism_lines;

/* The draws of a cell at a stage, a multiple of 64; those of a line; and the place in it of draw d. */
uint64_t determinism_draws(const struct plan_cell *cell, int stage);
uint64_t determinism_line_draws(enum determinism_order order, uint64_t draws);
uint64_t determinism_place(enum determinism_order order, uint64_t draw, uint64_t draws);

/* The golden cases of the rule that this sampler claims, on the cell's table, of what it can be asked. Owned:
 * determinism_golden_free, after a failure too; then -1, and why. No claim: no cases. */
struct determinism_golden {
    struct json_file file;
    struct draws_case *draws;
    size_t cases;
};
int determinism_golden_read(const struct plan *plan, const struct plan_cell *cell, const struct sut *sut,
                            struct determinism_golden *golden, char *why, size_t why_bytes);
void determinism_golden_free(struct determinism_golden *golden);

enum script_start determinism_script(const struct script_input *input, struct script *script, char *why,
                                     size_t why_bytes);
#endif
