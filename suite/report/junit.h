/* junit.h: DIR/junit.xml, for CI systems that show test cases: one case a (check, cell), and one for the
 * verdict. */
#ifndef SAMPLEGATE_JUNIT_H
#define SAMPLEGATE_JUNIT_H
#include "suite/judge/verdict.h"

/* directory NULL: nothing is written. old: the sampler compared with, whose rejections are pre-existing
 * (skipped, named), or NULL. The file takes its name when it is whole. exit 99. */
int junit_write(const char *directory, const struct session *session, const struct session *old,
                const struct verdict *verdict, double seconds, struct trouble *trouble);
#endif
