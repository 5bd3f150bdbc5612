/* kill_table.c: `make mutants`: every check must reject the mutant designed for it; one that survives fails
 * the table.
 *
 * Usage: kill_table MUTANTS.so. Each mutant runs through all checks of its cell, so that the table also shows
 * who else saw it. A check run alone has a laxer second-stage level on the same draws, so what it rejects
 * here it rejects alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/golden/golden.h"
#include "suite/judge/session.h"

static int load(struct plan *plan, const char *name, struct trouble *trouble)
{
    char golden[4096];
    return golden_directory(NULL, golden, sizeof golden, trouble) || plan_load(plan, name, golden, trouble)
               ? -1
               : 0;
}

static int judge(struct session *session, const struct plan *plan, struct spec *spec, const char *library,
                 const char *mutant, const char *cell, struct trouble *trouble)
{
    char text[4200];
    snprintf(text, sizeof text, "%s,id=%s", library, mutant);
    struct session_options options = {
        .checks = "", .cells = cell, .jobs = 2, .timeout = 300, .label = mutant};
    return spec_parse(spec, text, trouble) || session_run(session, plan, spec, &options, trouble) ? -1 : 0;
}

/* The session's cell of exactly this name ("gap-18" must not find "gap-18.5"). */
static const struct cell_result *cell_named(const struct session *session, const char *name)
{
    for (size_t i = 0; i < session->plan->cells; i++)
        if (!strcmp(session->cell[i].cell->name, name))
            return &session->cell[i];
    return NULL;
}

static const struct statistic *strongest(const struct cell_result *result, const struct check *check)
{
    const struct statistic *best = NULL;
    for (size_t s = 0; s < result->evidence.count; s++) {
        const struct statistic *statistic = &result->evidence.statistic[s];
        if (statistic->check == check && statistic->confirmed &&
            (!best || statistic->tail2.p < best->tail2.p))
            best = statistic;
    }
    return best;
}

static bool print_row(const struct session *session, const struct check *check)
{
    const struct cell_result *result = cell_named(session, check->mutant_cell);
    const struct statistic *killer = result && result->state == CELL_RAN ? strongest(result, check) : NULL;
    printf("%-24s %-15s %-16s ", check->key, check->mutant, check->mutant_cell);
    if (!result || result->state != CELL_RAN) {
        printf("NOT RUN: %s\n", result ? result->why : "no such cell in plan gate");
        return false;
    }
    unsigned long long first =
        result->cell->family == FAMILY_AGREEMENT ? result->agreement.rows : result->counts[0].draws;
    if (!killer) {
        printf("SURVIVED %llu draws\n", first);
        return false;
    }
    printf("killed %9llu + %-8llu %5.1f s  ", first, (unsigned long long)result->counts[1].draws,
           session->seconds);
    if (killer->violation)
        printf("%-28s", "impossible");
    else
        printf("p %.0e, then %-13.0e", killer->tail.p, killer->tail2.p);
    for (size_t i = 0; i < check_registry_count; i++)
        if (&check_registry[i] != check && strongest(result, &check_registry[i]))
            printf(" %s", strchr(check_registry[i].key, '.') + 1);
    putchar('\n');
    return true;
}

static bool clean_passes(const char *library, struct trouble *trouble)
{
    struct plan plan = {0};
    struct spec spec = {0};
    struct session session = {0};
    bool passes =
        !load(&plan, "quick", trouble) && !judge(&session, &plan, &spec, library, "clean", "", trouble);
    for (size_t i = 0; passes && i < plan.cells; i++) {
        passes = session.cell[i].state == CELL_RAN;
        for (size_t s = 0; s < session.cell[i].evidence.count; s++)
            passes &= !session.cell[i].evidence.statistic[s].confirmed;
    }
    printf("%-24s %-15s %-16s %s\n", "(all checks)", "clean", "plan quick",
           passes ? "passes" : "REJECTED or not run: the table means nothing");
    session_free(&session);
    spec_free(&spec);
    plan_free(&plan);
    return passes;
}

/* Two checks may share a mutant and a cell: one session answers for both. */
static bool same_meeting(const struct check *a, const struct check *b)
{
    return !strcmp(a->mutant, b->mutant) && !strcmp(a->mutant_cell, b->mutant_cell);
}

static bool met_before(size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (same_meeting(&check_registry[i], &check_registry[j]))
            return true;
    return false;
}

int main(int argc, char **argv)
{
    struct trouble trouble = {0};
    struct plan plan = {0};
    if (argc != 2 || !strchr(argv[1], '/')) {
        fprintf(stderr, "usage: kill_table PATH/TO/mutants.so\n");
        return EXIT_USAGE;
    }
    size_t killed = 0;
    bool clean = !load(&plan, "gate", &trouble) && clean_passes(argv[1], &trouble);
    if (clean)
        printf("\n%-24s %-15s %-16s %-38s %-28s %s\n", "check", "mutant", "cell",
               "draws in stage one + two, time", "evidence", "also seen by");
    for (size_t i = 0; i < check_registry_count && clean && !trouble.exit; i++) {
        if (met_before(i))
            continue;
        struct spec spec = {0};
        struct session session = {0};
        const struct check *first = &check_registry[i];
        if (!judge(&session, &plan, &spec, argv[1], first->mutant, first->mutant_cell, &trouble))
            for (size_t j = i; j < check_registry_count; j++)
                if (same_meeting(first, &check_registry[j]))
                    killed += print_row(&session, &check_registry[j]);
        fflush(stdout);
        session_free(&session);
        spec_free(&spec);
    }
    plan_free(&plan);
    if (trouble.exit) {
        fprintf(stderr, "kill_table: %s\n", trouble.text);
        return trouble.exit;
    }
    printf("\n%zu of %zu mutants killed, each by its own check\n", killed, check_registry_count);
    return clean && killed == check_registry_count ? EXIT_PASS : EXIT_FAIL;
}
