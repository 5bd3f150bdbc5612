/* claims.c: a sampler's contract, checked: a claim that nobody understands would be a promise that nobody tests. */
#include <string.h>

#include "kernels/sampler.h"
#include "suite/judge/worker.h"
#include "suite/json/json.h"
#include "suite/json/keys.h"
#include "suite/oracle/edited.h"
#include "suite/oracle/filtered.h"

static const char *filter_at(size_t index)
{
    const struct law_filter *filter = law_filter_at(index);
    return filter ? law_filter_name(filter) : NULL;
}

static const char *editor_at(size_t index)
{
    const struct law_editor *editor = law_editor_at(index);
    return editor ? law_editor_name(editor) : NULL;
}

static const char *rule_at(size_t index)
{
    return sampler_rule_name((enum sampler_rule)index);
}

static const char *bitwise_at(size_t index)
{
    static const char *const words[] = {"any device", "same device", "none", NULL};
    return words[index];
}

/* The claims of samplegate.h, and engines'; `at`: the index-th accepted value, NULL past the last. */
static const struct claim {
    const char *key, *(*at)(size_t index);
} claims[] = {
    {"filters", filter_at},
    {"penalties", editor_at},
    {"rule", rule_at},
    {"bitwise", bitwise_at},
};

static int check_value(const struct json_cursor *root, const struct claim *claim, const char *value,
                       struct trouble *trouble)
{
    char known[512] = "";
    for (size_t i = 0; claim->at(i); i++) {
        if (!strcmp(claim->at(i), value))
            return 0;
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", claim->at(i));
    }
    return json_trouble(root, trouble, "\"%s\" is '%.64s'; accepted: %s", claim->key, value, known);
}

int claims_check(const char *contract, const char *spec, struct trouble *trouble)
{
    static const char *const keys[] = {"rng_keying", "bitwise",    "rule",    "filters",
                                       "penalties",  "nan_policy", "weights", "tie_rule",
                                       "engine",     "readings",   NULL};
    struct json_file file;
    char name[256];
    const char *value;
    snprintf(name, sizeof name, "%.200s: the contract", spec);
    if (json_parse(&file, name, contract, strlen(contract), EXIT_USAGE, trouble))
        return -1;
    struct json_cursor root = json_root(&file);
    int failed = json_known_keys(&root, keys, trouble);
    for (size_t i = 0; keys[i] && !failed; i++)
        failed = json_has(&root, keys[i]) && json_string(&root, keys[i], &value, trouble);
    for (size_t i = 0; i < sizeof claims / sizeof *claims && !failed; i++)
        failed = json_has(&root, claims[i].key) && (json_string(&root, claims[i].key, &value, trouble) ||
                                                    check_value(&root, &claims[i], value, trouble));
    json_close(&file);
    return failed ? -1 : 0;
}
