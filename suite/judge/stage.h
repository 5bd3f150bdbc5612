/* stage.h: all chunks of one stage, drawn by as many workers as the user allows, merged as integers. */
#ifndef SAMPLEGATE_STAGE_H
#define SAMPLEGATE_STAGE_H
#include "suite/judge/session.h"

/* Stage 1: every selected cell; stage 2: the flagged ones. `first`: a worker already started, reused (NULL
 * with a recording, and where every worker shall be a new process). Cells end as CELL_RAN, or as what stopped them. `start`: when the session began, for
 * --budget. */
int stage_run(struct session *session, int stage, struct worker *first, double start,
              struct trouble *trouble);
#endif
