/* test_choices.h: rows and noise whose tokens are worked out by hand, at every edge of the rules that take
 * noise. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_TEST_CHOICES_H
#define SAMPLEGATE_TEST_CHOICES_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define TINY 0x1p-149f

/* One row, one noise vector, the token of each rule. */
struct choice_case {
    const char *what;
    size_t vocab;
    float weight[4], q[4];
    int32_t race, gumbel, torch;
};

static const struct choice_case choices[] = {
    {"one id", 1, {0.5f}, {3}, 0, 0, 0},
    {"larger ratio wins", 3, {0.5f, 0.25f, 0.25f}, {4, 1, 3}, 1, 1, 1},
    {"tie goes to the lowest id", 3, {0.25f, 0.5f, 0.5f}, {1, 1, 1}, 1, 1, 1},
    {"tie of all", 4, {1, 1, 1, 1}, {2, 2, 2, 2}, 0, 0, 0},
    {"unnormalised", 2, {100, 300}, {1, 1}, 1, 1, 1},
    {"zero never wins", 3, {0, 0x1p-30f, 0}, {0x1p-33f, 22, 0x1p-33f}, 1, 1, 1},
    {"NaN never wins, in torch it always does", 3, {NAN, 1, NAN}, {1, 20, 1}, 1, 1, 0},
    {"first NaN in torch", 3, {INFINITY, NAN, NAN}, {1, 1, 1}, -1, -1, 1},
    {"inf never wins, in torch it does", 2, {1, INFINITY}, {1, 1}, 0, 0, 1},
    {"negative never wins, in torch it competes", 3, {-1, -2, -1}, {1, 1, 1}, -1, -1, 0},
    {"negative against tiny", 2, {-1, TINY}, {1, 20}, 1, 1, 1},
    {"all zero", 3, {0, 0, 0}, {1, 2, 3}, -1, -1, 0},
    {"minus zero is zero", 2, {-0.0f, 0}, {1, 1}, -1, -1, 0},
    {"all -inf", 2, {-INFINITY, -INFINITY}, {1, 1}, -1, -1, 0},
    {"all NaN", 2, {NAN, NAN}, {1, 1}, -1, -1, 0},
    /* TINY / 4 rounds to 0, so torch sees two zeros and takes id 0. */
    {"a ratio that underflows to 0 can win", 2, {0, TINY}, {1, 4}, 1, 1, 0},
    {"denormals in order", 3, {TINY, 3 * TINY, 2 * TINY}, {1, 1, 1}, 1, 1, 1},
    /* In fp32 both ratios overflow to +inf: a tie for the quotient, not for the logarithms. */
    {"ratios that overflow tie", 2, {1e38f, 3e38f}, {0x1p-33f, 0x1p-33f}, 0, 1, 0},
    {"noise 0 gives +inf", 2, {1, 2}, {0, 1}, 0, 0, 0},
    {"noise NaN never wins, in torch it does", 2, {1, 1}, {NAN, 9}, 1, 1, 0},
    {"noise of all NaN", 2, {1, 1}, {NAN, NAN}, -1, -1, 0},
    {"0 / 0 is torch's NaN", 3, {1, 0, 0}, {1, 0, 0}, 0, 0, 1},
};
#endif
