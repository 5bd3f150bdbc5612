/* kill_table.c: `make mutants`: every mutant must be rejected by the check it was made for, that check run alone
 * on the one cell where they meet.
 *
 * Usage: kill_table BUILD [--others]. First the clean sampler of each table passes every check of every cell
 * used. --others runs each mutant through all checks, to show who else sees it (slower). It fails if a mutant
 * survives, if a check has no mutant, or if a family or a kind has too few. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/golden/golden.h"
#include "suite/judge/session.h"
#include "suite/sut/mutants/about.h"
#include "suite/sut/mutants/engines.h"

#define FAMILY_LEAST 4 /* mutants that each family of checks must kill, ... */
#define KIND_LEAST 8   /* ... and that there must be of each kind */
#define PLANS_MAX 8

/* The tables of mutants: their rows, and how a SPEC names one (BUILD, id). */
static const struct {
    const struct mutant_about *(*about)(size_t index);
    const char *spec;
} tables[] = {
    {mutant_about, "%s/mutants.so,id=%s"},
    {engine_mutant_about, "engine:%s/mutants.so,id=%s"},
    {vllm_mutant_about, "engine:%s/mutants.so,id=%s"},
};
#define TABLES (sizeof tables / sizeof *tables)

static const char *const kind_name[MUTANT_KINDS] = {"statistics", "determinism", "routing", "config",
                                                    "robustness"};

/* What the run has come to. */
struct tally {
    size_t mutants, killed, kind[MUTANT_KINDS];
    size_t *check; /* [check_registry_count] mutants killed by each */
    double seconds;
};

/* Plans by name, loaded once. */
static struct plan plans[PLANS_MAX];

static struct plan *plan_named(const char *name, struct trouble *trouble)
{
    char golden[4096];
    size_t i = 0;
    while (i < PLANS_MAX && plans[i].cells && strcmp(plans[i].name, name))
        i++;
    if (i < PLANS_MAX && plans[i].cells)
        return &plans[i];
    if (i == PLANS_MAX)
        trouble_set(trouble, EXIT_USAGE, "more than %d plans", PLANS_MAX);
    else if (!golden_directory(NULL, golden, sizeof golden, trouble) &&
             !plan_load(&plans[i], name, golden, trouble))
        return &plans[i];
    return NULL;
}

/* In the registry; its length if there is none. */
static size_t check_named(const char *key)
{
    size_t i = 0;
    while (i < check_registry_count && strcmp(check_registry[i].key, key))
        i++;
    return i;
}

/* "PLAN/CELL": the plan, and the cell's index in it. NULL with trouble. */
static struct plan *meeting_plan(const char *meeting, size_t *cell, struct trouble *trouble)
{
    const char *slash = strchr(meeting, '/');
    char name[64];
    snprintf(name, sizeof name, "%.*s", slash ? (int)(slash - meeting) : 0, meeting);
    struct plan *plan = plan_named(name, trouble);
    for (size_t i = 0; plan && i < plan->cells; i++)
        if (!strcmp(plan->cell[i].name, slash + 1)) {
            *cell = i;
            return plan;
        }
    trouble_set(trouble, EXIT_USAGE, "%s: no such cell", meeting);
    return NULL;
}

static int judge(struct session *session, const struct plan *plan, struct spec *spec, const char *build,
                 size_t table, const char *mutant, const char *checks, struct trouble *trouble)
{
    char text[4200];
    snprintf(text, sizeof text, tables[table].spec, build, mutant);
    struct session_options options = {
        .checks = checks, .cells = "", .jobs = 2, .timeout = 300, .label = mutant};
    return spec_parse(spec, text, trouble) || session_run(session, plan, spec, &options, trouble) ? -1 : 0;
}

/* The statistic of `key` that rejects most clearly, among those whose name starts with `name`. */
static const struct statistic *strongest(const struct cell_result *result, const char *key, const char *name)
{
    const struct statistic *best = NULL;
    for (size_t s = 0; s < result->evidence.count; s++) {
        const struct statistic *statistic = &result->evidence.statistic[s];
        if (statistic->confirmed && !strcmp(statistic->check->key, key) &&
            !strncmp(statistic->name, name, strlen(name)) &&
            (!best || statistic->violation > best->violation ||
             (statistic->violation == best->violation && statistic->tail2.p < best->tail2.p)))
            best = statistic;
    }
    return best;
}

static uint64_t draws_made(const struct cell_result *result, int stage)
{
    if (result->cell->family == FAMILY_AGREEMENT)
        return stage == 1 ? result->agreement.rows : 0;
    if (result->cell->family == FAMILY_EQUIVALENCE)
        return result->counts[stage - 1].draws;
    return script_draws(&result->script[stage - 1]);
}

static void print_killer(const struct cell_result *result, const struct statistic *killer)
{
    printf("%s: ", killer->name);
    if (killer->violation)
        printf("impossible");
    else
        printf("p %.0e, then %.0e", killer->tail.p, killer->tail2.p);
    for (size_t i = 0; i < check_registry_count; i++)
        if (&check_registry[i] != killer->check && strongest(result, check_registry[i].key, ""))
            printf("; also %s", check_registry[i].key);
    putchar('\n');
}

/* One line of the table: was it killed? */
static bool print_row(const struct session *session, const struct mutant_about *about)
{
    const struct cell_result *result = &session->cell[0];
    const bool erred =
        about->error && result->state == CELL_ERROR && strstr(result->why, about->error) != NULL;
    const struct statistic *killer = NULL;
    if (result->state == CELL_RAN && !about->error)
        killer = strongest(result, about->check, about->statistic ? about->statistic : "");
    printf("%-24s %-22s %-12s %-24s ", about->check, about->id, kind_name[about->kind], about->cell);
    printf("%9llu + %-9llu %5.1f s  ", (unsigned long long)draws_made(result, 1),
           (unsigned long long)draws_made(result, 2), session->seconds);
    if (erred)
        printf("error: %s\n", result->why);
    else if (result->state != CELL_RAN)
        printf("NOT RUN: %s\n", result->why);
    else if (!killer)
        puts("SURVIVED");
    else
        print_killer(result, killer);
    fflush(stdout);
    return killer || erred;
}

static bool mutant_run(const struct mutant_about *about, const char *build, size_t table, bool others,
                       struct tally *tally, struct trouble *trouble)
{
    const size_t check = check_named(about->check);
    size_t cell = 0;
    const struct plan *plan = meeting_plan(about->cell, &cell, trouble);
    if (!plan)
        return false;
    struct plan one = *plan;
    one.cell = &plan->cell[cell];
    one.cells = 1;
    struct spec spec = {0};
    struct session session = {0};
    if (!judge(&session, &one, &spec, build, table, about->id, others ? "" : about->check, trouble) &&
        print_row(&session, about)) {
        tally->killed++;
        tally->check[check]++;
        tally->kind[about->kind]++;
    }
    tally->mutants++;
    tally->seconds += session.seconds;
    session_free(&session);
    spec_free(&spec);
    return !trouble->exit;
}

/* Is it a cell where a mutant of this table meets its check? */
static bool cell_used(size_t table, const struct plan *plan, const struct plan_cell *cell)
{
    const size_t length = strlen(plan->name);
    const struct mutant_about *about;
    for (size_t i = 0; (about = tables[table].about(i)); i++)
        if (about->check && !strncmp(about->cell, plan->name, length) && about->cell[length] == '/' &&
            !strcmp(about->cell + length + 1, cell->name))
            return true;
    return false;
}

/* The clean one through the cells of a plan that this table uses. */
static bool clean_passes(size_t table, const struct plan *plan, const char *build, struct tally *tally,
                         struct trouble *trouble)
{
    struct plan used = *plan;
    struct spec spec = {0};
    struct session session = {0};
    used.cells = 0;
    used.cell = calloc(plan->cells, sizeof *used.cell);
    if (!used.cell)
        abort();
    for (size_t i = 0; i < plan->cells; i++)
        if (cell_used(table, plan, &plan->cell[i]))
            used.cell[used.cells++] = plan->cell[i];
    const char *id = tables[table].about(0)->id;
    bool passes = !used.cells || !judge(&session, &used, &spec, build, table, id, "", trouble);
    for (size_t i = 0; passes && i < used.cells; i++) {
        const struct cell_result *result = &session.cell[i];
        if (result->state != CELL_RAN)
            printf("clean %s: %s/%s NOT RUN: %s\n", id, plan->name, result->cell->name, result->why);
        passes &= result->state == CELL_RAN;
        for (size_t s = 0; s < result->evidence.count; s++)
            if (result->evidence.statistic[s].confirmed) {
                printf("clean %s: %s/%s REJECTED by %s\n", id, plan->name, result->cell->name,
                       result->evidence.statistic[s].check->key);
                passes = false;
            }
    }
    if (used.cells && passes)
        printf("%-24s %-22s plan %s, the %zu cells used: passes %25.1f s\n", "(all checks)", id, plan->name,
               used.cells, session.seconds);
    fflush(stdout);
    tally->seconds += session.seconds;
    session_free(&session);
    spec_free(&spec);
    free(used.cell);
    return passes;
}

/* Every plan that a table's mutants name is loaded, and its clean one passes there. */
static bool tables_clean(const char *build, struct tally *tally, struct trouble *trouble)
{
    const struct mutant_about *about;
    size_t cell;
    bool passes = true;
    for (size_t t = 0; t < TABLES; t++)
        for (size_t i = 0; (about = tables[t].about(i)); i++) {
            if (about->check && check_named(about->check) == check_registry_count) {
                trouble_set(trouble, EXIT_USAGE, "mutant %s is for check %s, which there is not", about->id,
                            about->check);
                return false;
            }
            if (about->check && !meeting_plan(about->cell, &cell, trouble))
                return false;
        }
    for (size_t t = 0; t < TABLES; t++)
        for (size_t p = 0; p < PLANS_MAX && plans[p].cells; p++)
            passes &= clean_passes(t, &plans[p], build, tally, trouble);
    return passes;
}

/* Killed mutants by family and by kind; false if a check has none, or one of these too few. */
static bool print_counts(const struct tally *tally)
{
    bool enough = true;
    putchar('\n');
    for (size_t i = 0, last = 0; i < check_registry_count; i = last) {
        const char *key = check_registry[i].key;
        const size_t length = strcspn(key, ".") + 1;
        size_t killed = 0;
        for (last = i; last < check_registry_count && !strncmp(check_registry[last].key, key, length); last++)
            killed += tally->check[last];
        printf("family %-12.*s %3zu killed by %zu checks%s\n", (int)length - 1, key, killed, last - i,
               killed < FAMILY_LEAST ? ": too few" : "");
        enough &= killed >= FAMILY_LEAST;
    }
    for (int kind = 0; kind < MUTANT_KINDS; kind++) {
        printf("kind   %-12s %3zu killed%s\n", kind_name[kind], tally->kind[kind],
               tally->kind[kind] < KIND_LEAST ? ": too few" : "");
        enough &= tally->kind[kind] >= KIND_LEAST;
    }
    for (size_t i = 0; i < check_registry_count; i++)
        if (!tally->check[i]) {
            printf("%s has no mutant that it kills\n", check_registry[i].key);
            enough = false;
        }
    printf("%zu of %zu mutants killed, each by its own check, in %.0f s\n", tally->killed, tally->mutants,
           tally->seconds);
    return enough;
}

int main(int argc, char **argv)
{
    struct trouble trouble = {0};
    const bool others = argc == 3 && !strcmp(argv[2], "--others");
    if (argc != 2 && !others) {
        fprintf(stderr, "usage: kill_table BUILD [--others]\n");
        return EXIT_USAGE;
    }
    struct tally tally = {.check = calloc(check_registry_count, sizeof *tally.check)};
    if (!tally.check)
        abort();
    const bool clean = tables_clean(argv[1], &tally, &trouble);
    if (clean)
        printf("\n%-24s %-22s %-12s %-24s %-30s %s\n", "check", "mutant", "kind", "cell",
               "draws in stage one + two, time", "evidence");
    const struct mutant_about *about;
    for (size_t t = 0; t < TABLES && clean; t++)
        for (size_t i = 0; (about = tables[t].about(i)) && !trouble.exit; i++)
            if (about->check)
                mutant_run(about, argv[1], t, others, &tally, &trouble);
    const bool enough = clean && !trouble.exit && print_counts(&tally) && tally.killed == tally.mutants;
    for (size_t p = 0; p < PLANS_MAX; p++)
        plan_free(&plans[p]);
    free(tally.check);
    if (trouble.exit) {
        fprintf(stderr, "kill_table: %s\n", trouble.text);
        return trouble.exit;
    }
    return enough ? EXIT_PASS : EXIT_FAIL;
}
