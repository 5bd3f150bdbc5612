/* questions.h: families predicate and defaults: the cases of golden/FAMILY/CELL.json put to the sampler. */
#ifndef SAMPLEGATE_CHECKS_QUESTIONS_H
#define SAMPLEGATE_CHECKS_QUESTIONS_H
#include "suite/checks/family.h"

/* The script of both families: the cases of the engine and the readings that the sampler claims, a few messages in
 * all. */
enum script_start questions_script(const struct script_input *input, struct script *script, char *why,
                                   size_t why_bytes);
#endif
