/* keying.c: read the claims on seeds from a sampler's contract. */
#include "suite/checks/keying.h"

#include <string.h>

#define CLAIM_BYTES 256

/* Does the list "seed, position, column" have this word? */
static bool lists(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (size_t item; *text; text += item + (text[item] == ',')) {
        text += strspn(text, " ");
        item = strcspn(text, ",");
        size_t bytes = item;
        while (bytes && text[bytes - 1] == ' ')
            bytes--;
        if (bytes == length && strncmp(text, word, length) == 0)
            return true;
    }
    return false;
}

/* Every word of the list is one of what a draw brings along itself. */
static bool lists_nothing_else(const char *text)
{
    static const char *const own[] = {"seed", "position", "column", "rank"};
    size_t items = *text != '\0', known = 0;
    for (const char *c = text; *c; c++)
        items += *c == ',';
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        known += lists(text, own[i]);
    return items == known;
}

struct keying keying_of(const struct sut *sut)
{
    char key[CLAIM_BYTES] = "", bitwise[CLAIM_BYTES] = "", rule[CLAIM_BYTES] = "";
    sut_claim(sut, "rng_keying", key, sizeof key);
    sut_claim(sut, "bitwise", bitwise, sizeof bitwise);
    sut_claim(sut, "rule", rule, sizeof rule);
    const bool same_bits = strcmp(bitwise, "same device") == 0 || strcmp(bitwise, "any device") == 0;
    return (struct keying){
        .seeded = sut_can(sut, "seeded"),
        .reproducible = strcmp(bitwise, "none") != 0,
        .alone = same_bits && lists(key, "seed") && lists(key, "position") && lists_nothing_else(key),
        .by_rank = lists(key, "rank"),
        .greedy = strcmp(rule, "greedy") == 0,
    };
}

bool keying_rule(const struct sut *sut, struct draws_rule *rule)
{
    char name[CLAIM_BYTES];
    if (!sut_can(sut, "seeded") || !sut_claim(sut, "rule", name, sizeof name) || sampler_rule_of(name) < 0)
        return false;
    *rule = (struct draws_rule){(enum sampler_rule)sampler_rule_of(name), keying_of(sut).by_rank};
    return true;
}

static bool claims(const struct sut *sut, const char *key, const char *value)
{
    char text[CLAIM_BYTES];
    return sut_claim(sut, key, text, sizeof text) && strcmp(text, value) == 0;
}

bool keying_filters(const struct sut *sut)
{
    return claims(sut, "filters", filter_rule_at(0)->name);
}

bool keying_penalties(const struct sut *sut)
{
    return claims(sut, "penalties", penalty_rule_at(0)->name);
}
