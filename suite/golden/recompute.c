/* recompute.c: walk one golden file strictly, hand each case to its check, and word a disagreement. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/golden/outcome.h"

#define GOLDEN_SCHEMA "samplegate-golden-1"
#define KEYS_MAX 16

/* " boundary null " */
static void keep_flags(struct golden_outcome *outcome, const cJSON *flags)
{
    size_t used = 0;
    for (const cJSON *flag = flags ? flags->child : NULL; flag && used < sizeof outcome->flags;
         flag = flag->next)
        used += (size_t)snprintf(outcome->flags + used, sizeof outcome->flags - used, "%s%s ",
                                 used ? "" : " ", flag->valuestring);
}

int golden_disagrees(const struct golden_case *this, const char *field, const char *golden, const char *ours)
{
    if (!this->outcome->disagrees.exit)
        keep_flags(this->outcome, cJSON_GetObjectItemCaseSensitive(this->at.node, "flags"));
    return trouble_set(&this->outcome->disagrees, EXIT_DAMAGED,
                       "%s#%s: %s: the golden has %s, this build computes %s", this->at.file->path, this->id,
                       field, golden, ours);
}

int golden_same_figure(const struct golden_case *this, const struct json_cursor *at, const char *key,
                       const char *field, double tolerance, double ours)
{
    double golden;
    const char *text;
    char computed[40];
    if (json_double_string(at, key, &golden, &this->outcome->damaged) ||
        json_string(at, key, &text, &this->outcome->damaged))
        return -1;
    if (fabs(golden - ours) <= tolerance * fabs(golden))
        return 0;
    snprintf(computed, sizeof computed, "%.14e", ours);
    return golden_disagrees(this, field, text, computed);
}

int golden_same_integer(const struct golden_case *this, const struct json_cursor *at, const char *key,
                        const char *field, int64_t ours)
{
    int64_t golden;
    char expected[24], computed[24];
    if (json_integer(at, key, INT32_MIN, INT32_MAX, &golden, &this->outcome->damaged))
        return -1;
    if (golden == ours)
        return 0;
    snprintf(expected, sizeof expected, "%" PRId64, golden);
    snprintf(computed, sizeof computed, "%" PRId64, ours);
    return golden_disagrees(this, field, expected, computed);
}

/* json_known_keys over two lists. */
static int known_keys(const struct json_cursor *at, const char *const *common, const char *const *own,
                      struct trouble *damaged)
{
    const char *keys[KEYS_MAX + 1];
    size_t count = 0;
    for (; *common && count < KEYS_MAX; common++)
        keys[count++] = *common;
    for (; *own && count < KEYS_MAX; own++)
        keys[count++] = *own;
    keys[count] = NULL;
    return json_known_keys(at, keys, damaged);
}

/* Each note says what the bug is, what it does to users, and where it was reported. */
static int check_notes(const struct json_cursor *notes, struct trouble *damaged)
{
    static const char *const keys[] = {"bug", "effect", "links", NULL};
    for (const cJSON *note = notes->node->child; note; note = note->next) {
        struct json_cursor at, links;
        const char *text;
        size_t count;
        if (json_object(notes, note->string, &at, damaged) || json_known_keys(&at, keys, damaged) ||
            json_string(&at, "bug", &text, damaged) || json_string(&at, "effect", &text, damaged) ||
            json_array(&at, "links", &links, &count, damaged))
            return -1;
        for (size_t i = 0; i < count; i++)
            if (json_string_at(&links, i, &text, damaged))
                return -1;
    }
    return 0;
}

/* The optional flags of a case, each explained in the notes. */
static int check_flags(const struct golden_case *this, const struct json_cursor *notes)
{
    struct trouble *damaged = &this->outcome->damaged;
    struct json_cursor flags;
    size_t count;
    if (!json_has(&this->at, "flags"))
        return 0;
    if (json_array(&this->at, "flags", &flags, &count, damaged))
        return -1;
    for (size_t i = 0; i < count; i++) {
        const char *flag;
        if (json_string_at(&flags, i, &flag, damaged))
            return -1;
        if (!json_has(notes, flag))
            return json_trouble(&flags, damaged, "flag \"%.60s\" is not explained in \"notes\"", flag);
    }
    return 0;
}

/* `this` says what all cases of a walk, or of a group, share. */
static int walk_case(struct golden_case this, const struct json_cursor *at, const void *shared)
{
    static const char *const common[] = {"id", "flags", NULL};
    this.at = *at;
    if (known_keys(at, common, this.check->case_keys, &this.outcome->damaged) ||
        json_string(at, "id", &this.id, &this.outcome->damaged) || check_flags(&this, &this.notes))
        return -1;
    this.outcome->cases++;
    return this.check->recompute(&this, shared);
}

static int walk_group(struct golden_case this, const struct json_cursor *group)
{
    static const char *const common[] = {"source", "version", "cases", NULL};
    struct trouble *damaged = &this.outcome->damaged;
    struct json_cursor cases;
    const char *text;
    size_t count;
    if (known_keys(group, common, this.check->group_keys, damaged) ||
        json_string(group, "source", &this.source, damaged) ||
        json_string(group, "version", &text, damaged) || json_array(group, "cases", &cases, &count, damaged))
        return -1;
    void *shared = NULL;
    if (this.check->begin && this.check->begin(group, &shared, this.outcome))
        return -1;
    int failed = 0;
    struct json_cursor at = json_at(&cases, 0);
    for (size_t i = 0; i < count && !failed; i++, at = json_next(&at))
        failed = walk_case(this, &at, shared);
    if (this.check->end)
        this.check->end(shared);
    return failed;
}

static int text_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* FILE#ID must name one case. Called after the walk: every case has an id. */
static int check_ids(const struct json_cursor *groups, struct golden_outcome *outcome)
{
    const char **id = malloc((outcome->cases + 1) * sizeof *id);
    size_t ids = 0;
    if (!id)
        return json_trouble(groups, &outcome->damaged, "out of memory");
    for (const cJSON *group = groups->node->child; group; group = group->next)
        for (const cJSON *at = cJSON_GetObjectItemCaseSensitive(group, "cases")->child; at; at = at->next)
            id[ids++] = cJSON_GetObjectItemCaseSensitive(at, "id")->valuestring;
    qsort(id, ids, sizeof *id, text_order);
    int failed = 0;
    for (size_t i = 1; i < ids && !failed; i++)
        if (strcmp(id[i - 1], id[i]) == 0)
            failed = json_trouble(groups, &outcome->damaged, "two cases have the id \"%.60s\"", id[i]);
    free(id);
    return failed;
}

static int walk_file(struct golden_case this, const struct json_cursor *root)
{
    const struct golden_check *check = this.check;
    struct golden_outcome *outcome = this.outcome;
    static const char *const keys[] = {"schema", "family", "check", "notes", "groups", NULL};
    const char *const schemas[] = {GOLDEN_SCHEMA, NULL}, *const families[] = {check->family, NULL},
                      *const checks[] = {check->check, NULL};
    struct trouble *damaged = &outcome->damaged;
    struct json_cursor groups;
    size_t count;
    int only;
    if (json_known_keys(root, keys, damaged) || json_one_of(root, "schema", schemas, &only, damaged) ||
        json_one_of(root, "family", families, &only, damaged) ||
        json_one_of(root, "check", checks, &only, damaged) ||
        json_object(root, "notes", &this.notes, damaged) || check_notes(&this.notes, damaged) ||
        json_array(root, "groups", &groups, &count, damaged))
        return -1;
    struct json_cursor group = json_at(&groups, 0);
    for (size_t i = 0; i < count; i++, group = json_next(&group))
        if (walk_group(this, &group))
            return -1;
    if (outcome->cases == 0)
        return json_trouble(&groups, damaged, "has no case: nothing would be compared");
    return check_ids(&groups, outcome);
}

int golden_walk(const char *directory, const struct golden_check *check, void *context,
                struct golden_outcome *outcome)
{
    *outcome = (struct golden_outcome){0};
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/%s.json", directory, check->family, check->check);
    struct json_file file;
    if (json_open(&file, path, EXIT_DAMAGED, &outcome->damaged))
        return -1;
    struct json_cursor root = json_root(&file);
    int failed =
        walk_file((struct golden_case){.check = check, .outcome = outcome, .context = context}, &root);
    json_close(&file);
    return failed;
}

int golden_recompute(const char *directory, const struct golden_check *check, struct golden_outcome *outcome)
{
    int failed = golden_walk(directory, check, NULL, outcome);
    if (failed && check->has_third && outcome->disagrees.exit)
        golden_suspect(directory, check, outcome);
    return failed;
}
