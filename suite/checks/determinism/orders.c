/* orders.c: the lines that repeat the cell's draws, and where each draw stands in them. */
#include "suite/checks/determinism/lines.h"

/* -1 and 0 mean "none" somewhere, and 42 is a default; without its sign the second is the last, and -1 is 1; cut to 32 bits,
 * 2^32 is 0. */
const int64_t determinism_special[DETERMINISM_SPECIALS] = {INT64_MIN, INT64_MIN + 1,    -1,       0, 1,
                                                           42,        (int64_t)1 << 32, INT64_MAX};

const struct determinism_line determinism_line[] = {
    {"again", 32, false, ORDER_SAME, PROMISE_PROCESS},
    {"fresh", 32, true, ORDER_SAME, PROMISE_PROCESS},
    {"batch-1", 1, false, ORDER_SAME, PROMISE_BATCH},
    {"batch-8", 8, false, ORDER_SAME, PROMISE_BATCH},
    {"batch-33", 33, false, ORDER_SAME, PROMISE_BATCH}, /* no power of two: sizes that are padded */
    {"batch-64", 64, false, ORDER_SAME, PROMISE_BATCH},
    {"batch-256", 256, false, ORDER_SAME, PROMISE_BATCH},
    {"reversed", 32, false, ORDER_REVERSED, PROMISE_BATCH},
    {"permuted", 32, false, ORDER_PERMUTED, PROMISE_BATCH},
    {"by-seed", 32, false, ORDER_BY_SEED, PROMISE_BATCH},
    {"neighbours", 64, false, ORDER_EVEN, PROMISE_NEIGHBOUR},
    {"filtered", DETERMINISM_LANES, false, ORDER_FILTERED, PROMISE_FILTERED},
};
const size_t determinism_lines = sizeof determinism_line / sizeof *determinism_line;

#define OWN (DETERMINISM_LANES - 1) /* rows of a call beside the filtered one */

uint64_t determinism_draws(const struct plan_cell *cell, int stage)
{
    const uint64_t draws = cell->draws * (stage == 2 ? BUDGET_SECOND_DRAWS : 1);
    return (draws + 63) / 64 * 64;
}

uint64_t determinism_line_draws(enum determinism_order order, uint64_t draws)
{
    return order == ORDER_EVEN       ? 2 * draws
           : order == ORDER_FILTERED ? draws + (draws + OWN - 1) / OWN
                                     : draws;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint64_t permuted(uint64_t draw, uint64_t draws)
{
    uint64_t stride = 37; /* neighbours go to other calls */
    while (common_divisor(stride, draws) != 1)
        stride += 2;
    return (stride * draw + 11) % draws;
}

/* The filtered row of a call, at the end if the call is short. */
static uint64_t beside_filtered(uint64_t draw, uint64_t draws)
{
    const uint64_t call = draw / OWN, row = draw % OWN, left = draws - call * OWN;
    const uint64_t rows = left < OWN ? left : OWN, wanted = call % DETERMINISM_LANES;
    const uint64_t filtered = wanted < rows ? wanted : rows;
    return call * DETERMINISM_LANES + row + (row >= filtered);
}

uint64_t determinism_place(enum determinism_order order, uint64_t draw, uint64_t draws)
{
    switch (order) {
    case ORDER_REVERSED:
        return draws - 1 - draw;
    case ORDER_PERMUTED:
        return permuted(draw, draws);
    case ORDER_BY_SEED:
        return draw % DETERMINISM_LANES * (draws / DETERMINISM_LANES) + draw / DETERMINISM_LANES;
    case ORDER_EVEN:
        return 2 * draw;
    case ORDER_FILTERED:
        return beside_filtered(draw, draws);
    default:
        return draw;
    }
}
