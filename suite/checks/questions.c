/* questions.c: ask the sampler what the goldens of engines hold, and hear its answers.
 *
 * Sees: every member of an answer that differs from the golden. Cannot see: what no case asks.
 * False alarms: none, an answer is right or wrong. */
#include "suite/checks/questions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/checks/check.h"
#include "suite/golden/questions.h"
#include "suite/judge/worker.h"
#include "suite/plural.h"

#define QUESTIONS_A_MESSAGE 64
#define DIFFERENCES_SHOWN 20

static const struct golden_check *const goldens[] = {
    &golden_predicate_path,     &golden_predicate_history,  &golden_predicate_forks,
    &golden_predicate_draw,     &golden_predicate_rows,     &golden_predicate_candidates,
    &golden_defaults_effective, &golden_defaults_normalize, &golden_defaults_tensors};

/* What the sampler claims to be. */
struct claims {
    char engine[64], readings[128];
};

static bool claims_case(const struct claims *claims, const struct golden_group *group)
{
    const char *reading = engine_reading_names[group->reading];
    size_t length = strlen(reading);
    if (strcmp(claims->engine, group->engine->name) != 0)
        return false;
    for (const char *at = claims->readings; (at = strstr(at, reading)); at += length)
        if ((at == claims->readings || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static bool claims_read(struct claims *claims, const struct sut *sut)
{
    return sut_claim(sut, "engine", claims->engine, sizeof claims->engine) &&
           sut_claim(sut, "readings", claims->readings, sizeof claims->readings);
}

/* The golden of a cell, with this visit instead of a recomputation. False: there is no such golden. */
static bool golden_of(const struct plan_cell *cell, int (*visit)(const struct golden_case *, const void *),
                      struct golden_check *check)
{
    const char *family = cell_family_names[cell->family];
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++)
        if (!strcmp(goldens[i]->family, family) && !strcmp(goldens[i]->check, cell->name)) {
            *check = *goldens[i];
            check->recompute = visit;
            return true;
        }
    return false;
}

/* Cases become questions, and questions messages. */
struct asking {
    struct claims claims;
    struct script *script;
    cJSON *questions; /* of the next message */
    size_t messages, cases;
};

static void send(struct asking *asking)
{
    char name[48];
    char *text = engine_memory(cJSON_PrintUnformatted(asking->questions));
    snprintf(name, sizeof name, "questions-%zu", asking->messages++);
    struct script_line *line = script_ask(asking->script, name, text);
    line->questions = (size_t)cJSON_GetArraySize(asking->questions);
    free(text);
    cJSON_Delete(asking->questions);
    asking->questions = engine_memory(cJSON_CreateArray());
}

static int ask(const struct golden_case *this, const void *shared)
{
    struct asking *asking = this->context;
    if (!claims_case(&asking->claims, shared))
        return 0;
    cJSON_AddItemToArray(asking->questions, golden_question(this, shared));
    if (++asking->cases % QUESTIONS_A_MESSAGE == 0)
        send(asking);
    return 0;
}

enum script_start questions_script(const struct script_input *input, struct script *script, char *why,
                                   size_t why_bytes)
{
    const char *word = input->cell->family == FAMILY_PREDICATE ? "route" : "resolve";
    struct asking asking = {.script = script};
    struct golden_check check;
    struct golden_outcome outcome;
    if (!sut_can(input->sut, word)) {
        snprintf(why, why_bytes, "the sampler does not announce %s", word);
        return SCRIPT_SKIP;
    }
    if (!claims_read(&asking.claims, input->sut)) {
        snprintf(why, why_bytes, "the sampler's contract does not claim an engine and readings");
        return SCRIPT_SKIP;
    }
    if (!golden_of(input->cell, ask, &check)) {
        snprintf(why, why_bytes, "there is no golden %s/%s.json", cell_family_names[input->cell->family],
                 input->cell->name);
        return SCRIPT_TROUBLE;
    }
    asking.questions = engine_memory(cJSON_CreateArray());
    int failed = golden_walk(input->plan->golden_dir, &check, &asking, &outcome);
    if (!failed && asking.cases % QUESTIONS_A_MESSAGE)
        send(&asking);
    cJSON_Delete(asking.questions);
    if (failed) {
        snprintf(why, why_bytes, "%s", outcome.damaged.text);
        return SCRIPT_TROUBLE;
    }
    if (asking.cases == 0) {
        snprintf(why, why_bytes, "%s/%s.json has no case of %s as %s", check.family, check.check,
                 asking.claims.engine, asking.claims.readings);
        return SCRIPT_SKIP;
    }
    return SCRIPT_READY;
}

/* The same walk again, now with the answers. */
struct hearing {
    struct claims claims;
    const struct check *check;
    const struct script *script;
    struct evidence *evidence;
    struct json_file answers; /* of the message in hand */
    const cJSON *answer;      /* to the case in hand; NULL: there is none */
    size_t cases, unsupported, wrong, differences;
};

static struct statistic *violation(struct hearing *hearing, const char *name)
{
    struct statistic *statistic = evidence_add(hearing->evidence, hearing->check, name);
    statistic->tail = (struct tail){1, 1};
    statistic->violation = true;
    return statistic;
}

/* What it does to users: of the case's first flag. */
static const char *effect_of(const struct golden_case *this)
{
    const cJSON *flags = cJSON_GetObjectItemCaseSensitive(this->at.node, "flags");
    const cJSON *flag = cJSON_GetArrayItem(flags, 0);
    const cJSON *note = flag ? cJSON_GetObjectItemCaseSensitive(this->notes.node, flag->valuestring) : NULL;
    const cJSON *effect = cJSON_GetObjectItemCaseSensitive(note, "effect");
    return effect ? effect->valuestring : "";
}

static void differs(const struct golden_case *this, const char *member, const char *golden, const char *ours)
{
    struct hearing *hearing = this->context;
    char name[sizeof((struct statistic *)0)->name];
    if (++hearing->differences > DIFFERENCES_SHOWN)
        return;
    snprintf(name, sizeof name, "%zu/%.30s", hearing->cases, member);
    struct statistic *statistic = violation(hearing, name);
    snprintf(statistic->text, sizeof statistic->text, "%s: %s should be %.60s, the answer is %.60s. %.200s",
             this->id, member, golden, ours, effect_of(this));
    trouble_flatten(statistic->text);
}

/* Open the answers of a message; wrong ones are said once. */
static void open_answers(struct hearing *hearing, const struct script_line *line)
{
    struct trouble trouble = {0};
    json_close(&hearing->answers);
    hearing->answers = (struct json_file){0};
    hearing->answer = NULL;
    if (line->state != LINE_ANSWERED)
        return;
    if (json_parse(&hearing->answers, line->name, line->text, strlen(line->text), EXIT_FAIL, &trouble) == 0 &&
        cJSON_IsArray(hearing->answers.root) &&
        (size_t)cJSON_GetArraySize(hearing->answers.root) == line->questions) {
        hearing->answer = hearing->answers.root->child;
        return;
    }
    struct statistic *statistic = violation(hearing, line->name);
    snprintf(statistic->text, sizeof statistic->text,
             "%zu questions want a JSON array of %zu answers. %.250s", line->questions, line->questions,
             trouble.text);
}

static int hear(const struct golden_case *this, const void *shared)
{
    struct hearing *hearing = this->context;
    const struct golden_group *group = shared;
    if (!claims_case(&hearing->claims, group))
        return 0;
    const struct script_line *line = &hearing->script->line[hearing->cases / QUESTIONS_A_MESSAGE];
    if (hearing->cases % QUESTIONS_A_MESSAGE == 0)
        open_answers(hearing, line);
    hearing->cases++;
    if (line->state == LINE_UNSUPPORTED || !hearing->answer) {
        ++*(line->state == LINE_UNSUPPORTED ? &hearing->unsupported : &hearing->wrong);
        return 0;
    }
    int different = golden_compare(this, group, hearing->answer, differs);
    hearing->wrong += different > 0;
    hearing->answer = hearing->answer->next;
    return different < 0 ? -1 : 0;
}

void check_questions(const struct check *check, const struct check_input *in, struct evidence *evidence)
{
    struct hearing hearing = {.check = check, .script = in->script, .evidence = evidence};
    struct golden_check golden;
    struct golden_outcome outcome;
    if (!claims_read(&hearing.claims, in->sut) || !golden_of(in->cell, hear, &golden))
        return; /* the script was built, so this cannot be */
    int failed = golden_walk(in->plan->golden_dir, &golden, &hearing, &outcome);
    json_close(&hearing.answers);
    if (failed) {
        evidence_damaged(evidence, outcome.damaged.text);
        return;
    }
    struct statistic *statistic = evidence_add(evidence, check, "cases");
    statistic->tail = (struct tail){1, 1};
    statistic->value = (double)(hearing.cases - hearing.unsupported - hearing.wrong);
    statistic->expected = (double)hearing.cases;
    statistic->violation = hearing.wrong > 0;
    snprintf(statistic->text, sizeof statistic->text,
             "of %zu case%s of %s, %zu answered as golden/%s has them, %zu unsupported; %zu member%s",
             hearing.cases, PLURAL(hearing.cases), hearing.claims.engine,
             hearing.cases - hearing.unsupported - hearing.wrong, check->golden, hearing.unsupported,
             hearing.differences, hearing.differences == 1 ? " differs" : "s differ");
}
