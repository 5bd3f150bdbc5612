/* junit.h: DIR/junit.xml, for CI systems that show test cases: one case a (check, cell), and one for the
 * verdict. */
#ifndef SAMPLEGATE_JUNIT_H
#define SAMPLEGATE_JUNIT_H
#include "suite/judge/verdict.h"

/* directory NULL: nothing is written. What is pre-existing is skipped, with what it is; what was fixed is told in the case's
 * output. The file takes its name when it is whole. exit 99. */
int junit_write(const char *directory, const struct session *session, const struct verdict *verdict,
                double seconds, struct trouble *trouble);
#endif
