/* orders.c: the mixed batches of a replay cell, and which draw stands where. */
#include "suite/checks/replay/lines.h"

const struct replay_line replay_line[] = {
    {"listed", 64, REPLAY_LISTED, false},    {"permuted", 64, REPLAY_PERMUTED, false},
    {"joined", 64, REPLAY_JOINED, true},     {"filtered", 64, REPLAY_FILTERED, true},
    {"reversed", 8, REPLAY_REVERSED, false},
};
const size_t replay_lines = sizeof replay_line / sizeof *replay_line;

static size_t common_divisor(size_t a, size_t b)
{
    while (b) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

size_t replay_places(enum replay_order order, size_t draws, size_t *draw)
{
    size_t places = 0, stride = 23;
    while (common_divisor(stride, draws) != 1)
        stride += 2;
    for (size_t d = 0; d < draws; d++)
        switch (order) {
        case REPLAY_PERMUTED:
            draw[places++] = (stride * d + 7) % draws;
            break;
        case REPLAY_JOINED:
            draw[places++] = (d + draws / 2) % draws;
            break;
        case REPLAY_FILTERED:
            if (d % 3 != 1)
                draw[places++] = d;
            break;
        case REPLAY_REVERSED:
            draw[places++] = draws - 1 - d;
            break;
        default:
            draw[places++] = d;
        }
    return places;
}
