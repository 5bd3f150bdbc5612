/* witness.c: hold the recorded answers of an engine's released wheel against the goldens.
 *
 * The goldens are computed by a model and again by this build's code; a slip that both share, or a golden edited together
 * with its hash, is told here by what the real engine said. A case that a record does not speak of is an error: it would
 * be believed on two words instead of three. */
#include "suite/golden/witness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/golden/boundary_case.h"
#include "suite/golden/questions.h"

static const struct golden_check *const asked[] = {
    &golden_predicate_path,     &golden_predicate_history,  &golden_predicate_forks,
    &golden_predicate_draw,     &golden_predicate_rows,     &golden_predicate_candidates,
    &golden_predicate_products, &golden_defaults_effective, &golden_defaults_normalize,
    &golden_defaults_tensors,   &golden_defaults_products};
/* Of the rules in golden/boundary/, an engine's own. */
static const struct own_rule {
    const char *engine, *rule;
} own_rules[] = {{"vllm-0.5.0", "vllm-0.5.0"}};
static const struct golden_check *const rows[] = {&golden_boundary_nucleus,   &golden_boundary_top_k,
                                                  &golden_boundary_min_p,     &golden_boundary_combined,
                                                  &golden_boundary_penalties, &golden_boundary_degenerate};
#define ASKED (sizeof asked / sizeof *asked)
#define ROWS (sizeof rows / sizeof *rows)

struct hearing {
    const char *engine, *rule; /* rule: NULL, its rows are not asked about */
    struct json_cursor cases;  /* of the record: {FILE: {ID: answer}} */
    const char *wheel;
    size_t answers, not_asked, heard; /* heard: of the file in hand */
    struct golden_outcome *outcome;
};

static int disagrees(const struct golden_case *this, const char *member, const char *golden, const char *said)
{
    const struct hearing *hearing = this->context;
    struct trouble *trouble = &this->outcome->disagrees;
    return trouble->exit ? -1 /* the first difference is told */
                         : trouble_set(trouble, EXIT_DAMAGED,
                                       "%s#%s: %s: the golden has %s, the wheel %s answered %s (%s)",
                                       this->at.file->path, this->id, member, golden, hearing->wheel, said,
                                       hearing->cases.file->path);
}

static void differs(const struct golden_case *this, const char *member, const char *golden, const char *said)
{
    disagrees(this, member, golden, said);
}

/* A product: the number of its lines and their hash. */
static int same_product(const struct golden_case *this, const struct json_cursor *answer)
{
    static const char *const keys[] = {"lines", "sha256", NULL};
    struct trouble *damaged = &this->outcome->damaged;
    const char *golden, *said;
    int64_t lines, told;
    char expected[24], counted[24];
    if (json_known_keys(answer, keys, damaged) ||
        json_integer(answer, "lines", 1, INT32_MAX, &told, damaged) ||
        json_string(answer, "sha256", &said, damaged) ||
        json_integer(&this->at, "lines", 1, INT32_MAX, &lines, damaged) ||
        json_string(&this->at, "sha256", &golden, damaged))
        return -1;
    snprintf(expected, sizeof expected, "%d", (int)lines);
    snprintf(counted, sizeof counted, "%d", (int)told);
    return lines != told               ? disagrees(this, "lines", expected, counted)
           : strcmp(golden, said) != 0 ? disagrees(this, "sha256", golden, said)
                                       : 0;
}

/* A row under the engine's rule. */
static int same_row(const struct golden_case *this, const struct json_cursor *at)
{
    const struct hearing *hearing = this->context;
    struct trouble *damaged = &this->outcome->damaged;
    struct boundary_case of;
    struct boundary_answer golden, told;
    struct boundary_difference difference;
    bool found = true;
    int failed =
        boundary_case_read(&of, &this->at, damaged) ||
                boundary_expectation(&this->at, &of, hearing->rule, &found, &golden, damaged) ||
                (found ? boundary_told(at, &of, &told, damaged)
                       : json_trouble(&this->at, damaged, "\"expect\" lacks the rule %s", hearing->rule))
            ? -1
            : 0;
    if (!failed && boundary_differs(&golden, &told, BOUNDARY_FP32_TOLERANCE, &difference))
        failed = disagrees(this, difference.field, difference.golden, difference.ours);
    boundary_case_free(&of);
    return failed;
}

static int not_asked(const struct golden_case *this, const struct json_cursor *answer)
{
    static const char *const keys[] = {"not_asked", NULL};
    struct hearing *hearing = this->context;
    struct trouble *damaged = &this->outcome->damaged;
    const char *why;
    if (json_known_keys(answer, keys, damaged) || json_string(answer, "not_asked", &why, damaged))
        return -1;
    if (!*why)
        return json_trouble(answer, damaged, "\"not_asked\": must say why");
    hearing->not_asked++;
    return 0;
}

static int hear(const struct golden_case *this, const void *shared)
{
    struct hearing *hearing = this->context;
    const struct golden_group *group = shared; /* NULL of rows */
    struct trouble *damaged = &this->outcome->damaged;
    struct json_cursor file, answer;
    char name[64];
    if (group && (group->reading != ENGINE_UPSTREAM || strcmp(group->engine->name, hearing->engine) != 0))
        return 0;
    snprintf(name, sizeof name, "%s/%s.json", this->check->family, this->check->check);
    if (!json_has(&hearing->cases, name) ||
        !cJSON_HasObjectItem(cJSON_GetObjectItemCaseSensitive(hearing->cases.node, name), this->id))
        return trouble_set(damaged, EXIT_DAMAGED,
                           "%s: does not say what the wheel answered to %s#%s, nor why it was not asked",
                           hearing->cases.file->path, name, this->id);
    if (json_object(&hearing->cases, name, &file, damaged) || json_object(&file, this->id, &answer, damaged))
        return -1;
    hearing->heard++;
    if (json_has(&answer, "not_asked"))
        return not_asked(this, &answer);
    hearing->answers++;
    if (!group)
        return same_row(this, &answer);
    if (strcmp(this->check->check, "products") == 0)
        return same_product(this, &answer);
    return golden_compare(this, group, answer.node, differs) ? -1 : 0;
}

/* Every case of one golden file. */
static int hear_file(struct hearing *hearing, const char *directory, const struct golden_check *golden)
{
    struct golden_check check = *golden;
    struct golden_outcome *outcome = hearing->outcome;
    char name[64];
    check.recompute = hear;
    hearing->heard = 0;
    if (golden_walk(directory, &check, hearing, outcome))
        return -1;
    snprintf(name, sizeof name, "%s/%s.json", check.family, check.check);
    const cJSON *told = cJSON_GetObjectItemCaseSensitive(hearing->cases.node, name);
    size_t entries = told ? (size_t)cJSON_GetArraySize(told) : 0;
    if (entries != hearing->heard)
        return json_trouble(&hearing->cases, &outcome->damaged,
                            "\"%s\": has %zu cases, and the golden has %zu of %s", name, entries,
                            hearing->heard, hearing->engine);
    return 0;
}

static bool is_sha256(const char *text)
{
    size_t digits = strspn(text, "0123456789abcdef");
    return digits == 64 && text[digits] == '\0';
}

/* What a record says of itself. The wheel's name is borrowed from the file. */
static int read_head(struct hearing *hearing, const struct json_cursor *root, struct trouble *damaged)
{
    static const char *const
        keys[] = {"schema", "engine", "wheel", "python", "packages", "stand_ins", "found", "cases", NULL},
        *const schemas[] = {"samplegate-witness-1", NULL}, *const of_wheel[] = {"file", "sha256", NULL};
    const char *files[ASKED + ROWS + 1], *const engines[] = {hearing->engine, NULL}, *text, *sha256;
    char names[ASKED + ROWS][64];
    struct json_cursor wheel, array, object;
    size_t count;
    int only;
    const size_t known = hearing->rule ? ASKED + ROWS : ASKED;
    for (size_t i = 0; i < known; i++) {
        const struct golden_check *check = i < ASKED ? asked[i] : rows[i - ASKED];
        snprintf(names[i], sizeof names[i], "%s/%s.json", check->family, check->check);
        files[i] = names[i];
    }
    files[known] = NULL;
    if (json_known_keys(root, keys, damaged) || json_one_of(root, "schema", schemas, &only, damaged) ||
        json_one_of(root, "engine", engines, &only, damaged) || json_object(root, "wheel", &wheel, damaged) ||
        json_known_keys(&wheel, of_wheel, damaged) || json_string(&wheel, "file", &hearing->wheel, damaged) ||
        json_string(&wheel, "sha256", &sha256, damaged) || json_string(root, "python", &text, damaged) ||
        json_object(root, "packages", &object, damaged) ||
        json_array(root, "stand_ins", &array, &count, damaged) ||
        json_object(root, "found", &object, damaged) ||
        json_object(root, "cases", &hearing->cases, damaged) ||
        json_known_keys(&hearing->cases, files, damaged))
        return -1;
    return is_sha256(sha256)
               ? 0
               : json_trouble(&wheel, damaged, "\"sha256\": must be 64 lower-case hexadecimal digits");
}

int golden_witness(const char *directory, const char *engine, struct golden_outcome *outcome)
{
    struct hearing hearing = {.engine = engine, .outcome = outcome};
    struct json_file file;
    char path[4096];
    *outcome = (struct golden_outcome){0};
    for (size_t i = 0; i < sizeof own_rules / sizeof *own_rules; i++)
        if (strcmp(own_rules[i].engine, engine) == 0)
            hearing.rule = own_rules[i].rule;
    snprintf(path, sizeof path, "%s/witness/%s.json", directory, engine);
    if (!engine_find(engine))
        return trouble_set(&outcome->damaged, EXIT_DAMAGED, "%s: there is no engine \"%s\" here", path,
                           engine);
    if (json_open(&file, path, EXIT_DAMAGED, &outcome->damaged))
        return -1;
    struct json_cursor root = json_root(&file);
    int failed = read_head(&hearing, &root, &outcome->damaged);
    for (size_t i = 0; i < ASKED && !failed; i++)
        failed = hear_file(&hearing, directory, asked[i]);
    for (size_t i = 0; i < ROWS && !failed && hearing.rule; i++)
        failed = hear_file(&hearing, directory, rows[i]);
    if (!failed && hearing.answers == 0)
        failed = json_trouble(&hearing.cases, &outcome->damaged, "has no answer: nothing would be compared");
    outcome->cases = hearing.answers;
    outcome->left_out = hearing.not_asked;
    json_close(&file);
    return failed ? -1 : 0;
}
