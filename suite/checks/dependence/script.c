/* script.c: the lines of a dependence cell (lines.h). */
#include <string.h>

#include "suite/checks/dependence/lines.h"
#include "suite/judge/worker.h"

#define SEED_BELOW ((uint64_t)1 << 31)
#define POSITION_BELOW ((uint64_t)1 << 16)

static struct script_line *line_add(const struct script_input *input, struct script *script, const char *name,
                                    uint64_t batch, uint64_t draws)
{
    const struct plan_cell *cell = input->cell;
    struct script_line *line =
        script_sample(script, name, batch, draws, plan_seed(input->plan, cell, input->stage, name));
    script_values(script, line, input->kind, input->sut->dtype, input->values, 1, cell->table->vocab);
    if (input->kind == VALUE_LOGITS && cell->temperature != 1)
        frame_add(&line->request, "temperature", FRAME_F64, 1, (uint64_t[]){1}, &cell->temperature);
    return line;
}

/* Seeds step by step and positions lane by lane, or the other way round. */
static void seeded_add(const struct script_input *input, struct script *script, const char *name,
                       uint64_t draws, bool seed_steps)
{
    struct script_line *line = line_add(input, script, name, DEPENDENCE_ROWS, draws);
    int64_t *seed = script_memory(script, draws * sizeof *seed);
    int64_t *position = script_memory(script, draws * sizeof *position);
    const int64_t first_seed = (int64_t)(plan_seed(input->plan, input->cell, input->stage, "s") % SEED_BELOW);
    const int64_t first_position =
        (int64_t)(plan_seed(input->plan, input->cell, input->stage, "p") % POSITION_BELOW);
    for (uint64_t d = 0; d < draws; d++) {
        const int64_t step = (int64_t)(d / DEPENDENCE_LANES), lane = (int64_t)(d % DEPENDENCE_LANES);
        seed[d] = first_seed + (seed_steps ? DEPENDENCE_LANES + step : lane);
        position[d] = first_position + (seed_steps ? lane : step);
    }
    frame_add(&line->request, "seeds", FRAME_I64, 1, &draws, seed);
    frame_add(&line->request, "positions", FRAME_I64, 1, &draws, position);
}

/* Of its family, in the plan's order. */
static bool first_cell(const struct plan *plan, const struct plan_cell *cell)
{
    for (const struct plan_cell *other = plan->cell; other < cell; other++)
        if (other->family == cell->family)
            return false;
    return true;
}

enum script_start dependence_script(const struct script_input *input, struct script *script, char *why,
                                    size_t why_bytes)
{
    (void)why;
    (void)why_bytes;
    const bool seeded = sut_can(input->sut, "seeded");
    const uint64_t lines = seeded ? 4 : 2;
    const uint64_t draws = input->cell->draws * (input->stage == 2 ? BUDGET_SECOND_DRAWS : 1);
    const uint64_t calls = (draws + lines * DEPENDENCE_ROWS - 1) / (lines * DEPENDENCE_ROWS);
    const uint64_t whole_calls = calls * DEPENDENCE_ROWS; /* of each line */
    const bool fresh = first_cell(input->plan, input->cell);
    line_add(input, script, "calls-32", DEPENDENCE_ROWS, whole_calls)->fresh = fresh;
    line_add(input, script, "calls-8", DEPENDENCE_ROWS_FEW, whole_calls)->fresh = fresh;
    if (seeded) {
        seeded_add(input, script, "positions", whole_calls, false);
        seeded_add(input, script, "seeds", whole_calls, true);
    }
    return SCRIPT_READY;
}
