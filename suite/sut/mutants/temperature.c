/* temperature.c: mutants of the temperature.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"

/* Moves the head token by about 0.01 sum of p |log p - mean log p|: far below what an eye or a few samples
 * see. */
double mutant_warm(double temperature)
{
    return temperature * 1.01;
}
