/* verify.c: find the goldens and verify them: hashes, provenance, every family recomputed, then the witnesses heard.
 *
 * Hashes come first, so that a damaged file is called damaged and not blamed on this build; values come later,
 * so that an edited golden with a corrected hash is caught by what it says. Witnesses come last: where model and build agree
 * on what the engine did not do, they are the ones to tell. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "suite/golden/files.h"
#include "suite/golden/golden.h"
#include "suite/golden/outcome.h"
#include "suite/golden/witness.h"
#include "suite/installed.h"

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int golden_directory(const char *given, char *path, size_t bytes, struct trouble *trouble)
{
    char installed[4096];
    installed_path(installed, sizeof installed, "golden");
    const char *const places[] = {given ? given : installed, given ? given : SAMPLEGATE_SOURCE_DIR "/golden"};
    for (size_t i = 0; i < 2; i++)
        if (is_directory(places[i])) {
            int length = snprintf(path, bytes, "%s", places[i]);
            if (length < 0 || (size_t)length >= bytes)
                return trouble_set(trouble, EXIT_USAGE, "the golden folder's path is longer than %zu bytes",
                                   bytes - 1);
            return 0;
        }
    if (given)
        return trouble_set(trouble, EXIT_USAGE, "%s: no such folder; --golden takes the folder of goldens",
                           given);
    return trouble_set(trouble, EXIT_USAGE, "no goldens in %s or %s; name their folder with --golden",
                       places[0], places[1]);
}

static int damaged(const struct trouble *what, struct trouble *trouble)
{
    return trouble_set(trouble, EXIT_DAMAGED, "golden damaged: %s", what->text);
}

/* The records that are there, in order of name. */
static int hear_witnesses(const char *directory, golden_report report, void *context, struct trouble *trouble)
{
    struct golden_files found;
    struct trouble unreadable = {0};
    int failed = golden_files_find(&found, directory, &unreadable) ? damaged(&unreadable, trouble) : 0;
    for (size_t i = 0; i < found.files && !failed; i++) {
        struct golden_outcome outcome;
        char engine[64], what[96];
        int read = 0;
        if (sscanf(found.path[i], "witness/%63[^/]%n", engine, &read) != 1 || found.path[i][read] ||
            (read = (int)strlen(engine) - (int)strlen(".json")) <= 0 || strcmp(engine + read, ".json") != 0)
            continue;
        engine[read] = 0;
        if (golden_witness(directory, engine, &outcome)) {
            failed = outcome.disagrees.exit
                         ? trouble_set(trouble, EXIT_DAMAGED, "witness disagrees: %s", outcome.disagrees.text)
                         : damaged(&outcome.damaged, trouble);
            continue;
        }
        snprintf(what, sizeof what, "answers of the released wheel, %zu not asked", outcome.left_out);
        report(context, found.path[i], what, outcome.cases, 0);
    }
    golden_files_free(&found);
    return failed;
}

int golden_verify(const char *directory, golden_report report, void *context, struct trouble *trouble)
{
    static const struct golden_check *const checks[] = {
        &golden_tables,
        &golden_tokens,
        &golden_predicate_path,
        &golden_predicate_history,
        &golden_predicate_products,
        &golden_predicate_forks,
        &golden_predicate_draw,
        &golden_predicate_rows,
        &golden_predicate_candidates,
        &golden_defaults_effective,
        &golden_defaults_normalize,
        &golden_defaults_tensors,
        &golden_defaults_products,
        &golden_boundary_nucleus,
        &golden_boundary_top_k,
        &golden_boundary_min_p,
        &golden_boundary_combined,
        &golden_boundary_penalties,
        &golden_boundary_degenerate,
        &golden_dependence,
        &golden_determinism,
        &golden_replay,
    };
    struct trouble found = {0};
    size_t files;
    if (golden_check_sums(directory, &files, &found))
        return damaged(&found, trouble);
    report(context, "SHA256SUMS", "hashes", files, 0);
    if (golden_check_provenance(directory, &files, &found))
        return damaged(&found, trouble);
    report(context, "PROVENANCE.json", "sources", files, 0);
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        struct golden_outcome outcome;
        char name[128];
        if (golden_recompute(directory, checks[i], &outcome)) {
            if (outcome.disagrees.exit)
                return trouble_set(trouble, EXIT_DAMAGED, "golden disagrees: %s", outcome.disagrees.text);
            return damaged(&outcome.damaged, trouble);
        }
        snprintf(name, sizeof name, "%s/%s.json", checks[i]->family, checks[i]->check);
        report(context, name, checks[i]->what, outcome.cases, outcome.left_out);
    }
    return hear_witnesses(directory, report, context, trouble);
}
