/* terminal.c: a session and its verdict as text for people. */
#include "suite/report/terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite/version.h"
#include "suite/plural.h"

static const char *colour(const char *code)
{
    return isatty(STDOUT_FILENO) && !getenv("NO_COLOR") ? code : "";
}

#define COLUMNS 120

/* Words up to the last column, further lines indented. At column `indent` nothing stands before the cursor. */
static void wrapped(int column, int indent, const char *text)
{
    bool space = column != indent;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (space && column + 1 + length > COLUMNS) {
            printf("\n%*s", indent, "");
            column = indent;
            space = false;
        }
        column += printf("%s%.*s", space ? " " : "", length, text);
        space = true;
        text += length;
        text += strspn(text, " ");
    }
}

#define RED colour("\033[31m")
#define GREEN colour("\033[32m")
#define YELLOW colour("\033[33m")
#define PLAIN colour("\033[0m")

void terminal_header(const struct plan *plan, int jobs)
{
    printf("samplegate " SAMPLEGATE_VERSION ", plan %s (sha256 %.12s), %d worker%s\n", plan->name,
           plan->sha256, jobs, PLURAL(jobs));
}

static const char *cell_word(const struct cell_result *result)
{
    static const char *const words[] = {"pending", "pass", "skipped", "error", "stopped"};
    bool known = false;
    if (result->state != CELL_RAN)
        return words[result->state];
    for (size_t s = 0; s < result->evidence.count; s++)
        if (result->evidence.statistic[s].standing == STANDING_PREEXISTING)
            known = true;
        else if (result->evidence.statistic[s].confirmed)
            return "FAIL";
    if (known)
        return "pre-existing";
    if (result->cell->family == FAMILY_EQUIVALENCE && result->cell->certify != CERTIFY_NONE)
        return result->bound.upper <= result->cell->epsilon ? "certified" : "inconclusive";
    return "pass";
}

static const char *word_colour(const char *word)
{
    if (!strcmp(word, "FAIL") || !strcmp(word, "error"))
        return RED;
    return !strcmp(word, "pass") || !strcmp(word, "certified") ? GREEN : YELLOW;
}

static void equivalence_line(const struct cell_result *result, const char *word)
{
    const struct plan_cell *cell = result->cell;
    double draws = (double)result->counts[0].draws;
    char over[24] = "all ids", *end;
    if (cell->certify == CERTIFY_IDS_ASYMPTOTIC)
        snprintf(over, sizeof over, "all ids~");
    else if (cell->certify != CERTIFY_IDS)
        snprintf(over, sizeof over, "%zu bin%s", result->bound_cells, PLURAL(result->bound_cells));
    printf("  %-19s %7zu %9.0f   %.4f   %.4f +-%.4f   %.4f %-8s %5g   %s%s%s\n", cell->name,
           cell->table->vocab, draws, result->bound.observed, result->tv_expected, result->tv_deviation,
           result->bound.upper, over, cell->epsilon, word_colour(word), word, PLAIN);
    double figure = strtod(cell->published, &end);
    if (end != cell->published && !*end)
        printf("  %-19s article: TV %s, as an exact sampler shows on %.1f equally likely tokens\n", "",
               cell->published, tv_live_tokens(figure, draws));
}

/* The width of the cell's table; "-" where its golden holds rows of several. */
static const char *vocab_words(const struct cell_result *result)
{
    static char text[24];
    snprintf(text, sizeof text, "%zu", result->cell->table ? result->cell->table->vocab : 0);
    return result->cell->table ? text : "-";
}

static void agreement_line(const struct cell_result *result, const char *word)
{
    const struct agreement_counts *counts = &result->agreement;
    printf(
        "  %-19s %7zu %9llu   %.4g %% agree, at most %.4f differ; %llu near ties, %.1e expected   %s%s%s\n",
        result->cell->name, result->cell->table->vocab, (unsigned long long)counts->rows,
        100 * (double)(counts->rows - counts->mismatches) / (double)counts->rows, result->mismatch_bound,
        (unsigned long long)counts->near_ties, 1e-12 * (double)counts->expected_e12, word_colour(word), word,
        PLAIN);
    if (*result->cell->published)
        printf("  %-19s article: %s\n", "", result->cell->published);
}

static void script_line_show(const struct cell_result *result, const char *word)
{
    const struct script *script = &result->script[0];
    size_t questions = 0;
    const size_t unsupported = script_unsupported(script);
    char asked[48] = "", not_done[48] = "";
    for (size_t i = 0; i < script->lines; i++)
        questions += script->line[i].questions;
    if (questions)
        snprintf(asked, sizeof asked, "%zu question%s in ", questions, PLURAL(questions));
    if (unsupported) /* not a failure, and not passed either */
        snprintf(not_done, sizeof not_done, " (%zu unsupported)", unsupported);
    printf("  %-19s %7s %9llu   %s%zu message%s%s, %zu statistic%s   %s%s%s\n", result->cell->name,
           vocab_words(result), (unsigned long long)script_draws(script), asked, script->lines,
           PLURAL(script->lines), not_done, result->evidence.count, PLURAL(result->evidence.count),
           word_colour(word), word, PLAIN);
}

/* What to type to see one cell again, as a shell reads it. */
static void again(const struct session *session, const struct cell_result *result)
{
    if (!session->spec) {
        printf("     again: samplegate judge RECORDING --plan %s --cell %s\n", session->plan->given,
               result->cell->name);
        return;
    }
    printf("     again: samplegate repro %s/%s --sut '", session->plan->given, result->cell->name);
    for (const char *c = session->spec->text; *c; c++)
        if (*c == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*c);
    putchar('\'');
    if (session->options.reseeded)
        printf(" --seed %llu", (unsigned long long)session->plan->seed);
    putchar('\n');
}

static const char *p_value(char *text, size_t bytes, double p)
{
    snprintf(text, bytes, p < 1e-300 ? "below 1e-300" : "%.1e", p);
    return text;
}

/* What broke and who is hurt; expected against observed; how to see it again; where the expectation comes
 * from. */
static void failures(const struct session *session, const struct cell_result *result)
{
    const struct check *said = NULL;
    enum standing standing = STANDING_NONE;
    for (size_t s = 0; s < result->evidence.count; s++) {
        const struct statistic *statistic = &result->evidence.statistic[s];
        if (!statistic->confirmed)
            continue;
        char p[24], p2[24];
        int indent = 7 + (int)strlen(statistic->name);
        if (statistic->check != said || statistic->standing != standing) {
            const char *word = statistic->standing == STANDING_PREEXISTING ? "PRE-EXISTING" : "FAIL";
            printf("\n%s%s%s", statistic->standing == STANDING_PREEXISTING ? YELLOW : RED, word, PLAIN);
            wrapped((int)strlen(word) +
                        printf(" %s on %s. Promised:", statistic->check->key, result->cell->name),
                    5, statistic->check->sentence);
            printf("\n    ");
            wrapped(4, 5, statistic->check->effect);
            putchar('\n');
        }
        said = statistic->check;
        standing = statistic->standing;
        wrapped(printf("     %s:", statistic->name), indent, statistic->text);
        if (statistic->violation)
            printf("\n%*scannot happen in a correct sampler\n", indent, "");
        else
            printf("\n%*sp %s, then %s on fresh draws (rejected at %.0e, then %.1e)\n", indent, "",
                   p_value(p, sizeof p, statistic->tail.p), p_value(p2, sizeof p2, statistic->tail2.p),
                   BUDGET_STAGE_ONE, statistic->level);
    }
    if (!said)
        return;
    again(session, result);
    if (result->script[0].lines) {
        printf("     expectation: golden/%s\n", said->golden);
        return;
    }
    const bool parametered = result->cell->parametered;
    bool own = strchr(session->plan->given, '/') || strstr(session->plan->given, ".json") || parametered;
    printf("     expectation: the exact law of table %s at temperature %g%s, %s%s\n",
           result->cell->table->name, result->cell->temperature,
           parametered ? " under the cell's parameters" : "",
           own ? "computed by this build" : "pinned by golden/", own ? "" : said->golden);
}

/* The others are likely to have the same cause. */
static void first_error(const struct session *session)
{
    const struct cell_result *result = tally_session(session).first_error;
    if (!result)
        return;
    printf("\n%sERROR%s on %s\n", RED, PLAIN, result->cell->name);
    again(session, result);
}

static void every_statistic(const struct cell_result *result)
{
    for (size_t s = 0; s < result->evidence.count; s++) {
        const struct statistic *statistic = &result->evidence.statistic[s];
        char text[sizeof statistic->text + 80], p[24];
        int column = printf("    %-23s %-17s p %s", statistic->check->key, statistic->name,
                            p_value(p, sizeof p, statistic->tail.p));
        if (statistic->flagged && !statistic->violation)
            column += printf(", then %s", p_value(p, sizeof p, statistic->tail2.p));
        column += printf("%*s", column < 60 ? 60 - column : 0, "");
        snprintf(text, sizeof text, "%s%s%s", statistic->text,
                 *statistic->smallest_effect ? "; could see " : "", statistic->smallest_effect);
        wrapped(column, 60, text);
        putchar('\n');
    }
}

/* What "~" in the table means. */
static void asymptotic_note(const struct session *session)
{
    for (size_t i = 0; i < session->plan->cells; i++)
        if (session->cell[i].selected && session->cell[i].state == CELL_RAN &&
            session->cell[i].cell->certify == CERTIFY_IDS_ASYMPTOTIC) {
            puts("  ~: asymptotic, its rate of error checked by simulation "
                 "(golden/calibration/certificate.json)");
            return;
        }
}

void terminal_session(const struct session *session, const char *role, bool every)
{
    const struct sut *sut = &session->sut;
    const char *spec = session->spec ? session->spec->text : "recording";
    const char *dtype = sut->dtype == VALUE_F32 ? "f32" : sut->dtype == VALUE_F16 ? "f16" : "bf16";
    printf("\n%s%s%s = %s %s on %s, ", role, *role ? ": " : "", spec, sut->name, sut->version, sut->device);
    if (sut_draws(sut))
        printf("handed %s in %s", sut->kind == VALUE_LOGITS ? "logits" : "probabilities", dtype);
    else
        printf("asked, not drawn from");
    printf("; %.1f s\n", session->seconds);
    printf("  %-19s %7s %9s   %-6s   %-15s   %-15s %5s   %s\n", "cell", "vocab", "draws", "TV",
           "exact sampler", "TV at most", "eps", "result");
    for (size_t i = 0; i < session->plan->cells; i++) {
        const struct cell_result *result = &session->cell[i];
        if (!result->selected)
            continue;
        const char *word = cell_word(result);
        if (result->state != CELL_RAN)
            printf("  %-19s %7s %9llu   %s%s%s: %s\n", result->cell->name, vocab_words(result),
                   (unsigned long long)result->cell->draws, word_colour(word), word, PLAIN, result->why);
        else if (result->cell->family == FAMILY_EQUIVALENCE)
            equivalence_line(result, word);
        else if (result->cell->family == FAMILY_AGREEMENT)
            agreement_line(result, word);
        else
            script_line_show(result, word);
        if (every)
            every_statistic(result);
    }
    asymptotic_note(session);
    for (size_t i = 0; i < session->plan->cells; i++)
        failures(session, &session->cell[i]);
    first_error(session);
}

void terminal_changes(const struct plan *plan, const struct cell_change *change)
{
    for (size_t i = 0; i < plan->cells; i++) {
        if (change[i].introduced + change[i].preexisting + change[i].fixed == 0)
            continue;
        printf("%s%s%s: %zu statistic%s newly rejected%s, %zu pre-existing, %zu fixed\n",
               change[i].introduced ? RED : YELLOW, plan->cell[i].name, PLAIN, change[i].introduced,
               PLURAL(change[i].introduced),
               change[i].introduced && change[i].within_epsilon ? " (within epsilon)" : "",
               change[i].preexisting, change[i].fixed);
    }
}

void terminal_baseline(const struct session *baseline, const struct session *session,
                       const struct cell_change *change)
{
    for (size_t i = 0; i < session->plan->cells; i++) {
        const struct cell_result *before = &baseline->cell[i], *after = &session->cell[i];
        for (size_t s = 0; s < after->evidence.count; s++)
            if (after->evidence.statistic[s].standing == STANDING_FIXED)
                printf("%sfixed%s: %s %s on %s\n", GREEN, PLAIN, after->evidence.statistic[s].check->key,
                       after->evidence.statistic[s].name, after->cell->name);
        if (change[i].unjudged)
            printf("%s%s%s: nothing there is pre-existing, for the baseline has no verdict on it: %s\n",
                   YELLOW, after->cell->name, PLAIN, *before->why ? before->why : "not selected");
    }
}

void terminal_differences(const struct session *old, const struct session *new)
{
    const struct frame *a = &old->sut.hello, *b = &new->sut.hello;
    for (size_t i = 0; i < b->entries; i++) {
        const char *key = b->entry[i].key, *before = frame_get(a, key);
        bool tells = !strcmp(key, "version") || !strncmp(key, "version:", 8) || !strncmp(key, "file:", 5) ||
                     !strcmp(key, "device") || !strcmp(key, "dtype");
        if (tells && before && strcmp(before, b->entry[i].value))
            printf("more than the rule changed: %s is '%.30s', was '%.30s'\n", key, b->entry[i].value,
                   before);
    }
}

void terminal_verdict(const struct verdict *verdict, double seconds)
{
    const char *paint = verdict->exit == EXIT_PASS           ? GREEN
                        : verdict->exit == EXIT_INCONCLUSIVE ? YELLOW
                                                             : RED;
    char text[sizeof verdict->sentence + 64];
    snprintf(text, sizeof text, "%s (%.1f s, exit %d)", verdict->sentence, seconds, verdict->exit);
    printf("\nverdict: %s%s%s:", paint, verdict->word, PLAIN);
    wrapped((int)(strlen("verdict: :") + strlen(verdict->word)), 9, text);
    putchar('\n');
    fflush(stdout);
}
