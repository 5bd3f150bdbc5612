/* kinds.c: what is found about a request, remembered for those like it. */
#include "suite/route/kinds.h"

#include <stdlib.h>
#include <string.h>

/* All that it depends on. No padding, which would differ between equals. */
struct key {
    struct key_value {
        uint64_t kind;
        double number;
    } at[2][ENGINE_PARAMETERS];
    uint64_t endpoint, fields; /* of the fields' text a hash */
};

struct kind {
    bool used;
    struct key key;
    struct kind_found found;
};

/* False for what is not remembered: a text among the values. */
static bool key_of(const struct engine_values *request, struct key_value key[ENGINE_PARAMETERS])
{
    for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++) {
        const struct engine_value *value = &request->at[p];
        const bool any_seed = p == ENGINE_SEED && value->kind == ENGINE_INTEGER;
        if (value->kind == ENGINE_TEXT)
            return false;
        key[p].kind = value->kind;
        key[p].number = engine_is_number(value) && !any_seed ? value->number : 0;
    }
    return true;
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

static size_t place_of(const struct key *key)
{
    const unsigned char *byte = (const unsigned char *)key;
    uint64_t hash = UINT64_C(14695981039346656037), word; /* the same, by words */
    for (size_t i = 0; i + sizeof word <= sizeof *key; i += sizeof word) {
        memcpy(&word, byte + i, sizeof word);
        hash = (hash ^ word) * UINT64_C(1099511628211);
        hash ^= hash >> 32;
    }
    return (size_t)(hash % KINDS);
}

struct kind_found *kinds_find(struct kinds *kinds, enum engine_endpoint endpoint,
                              const struct engine_values *request, const struct engine_values *other,
                              const char *fields, bool *fresh)
{
    struct key key = {.endpoint = endpoint, .fields = fields ? hash_of(fields) : 0};
    const bool remembered = key_of(request, key.at[0]) && (!other || key_of(other, key.at[1]));
    if (!kinds->kind && !(kinds->kind = calloc(KINDS + 1, sizeof *kinds->kind)))
        abort();
    struct kind *kind = &kinds->kind[remembered ? place_of(&key) : KINDS];
    *fresh = !remembered || !kind->used || memcmp(&kind->key, &key, sizeof key) != 0;
    kind->used = remembered;
    if (remembered)
        kind->key = key;
    if (*fresh) {
        free(kind->found.line);
        kind->found.line = NULL;
    }
    return &kind->found;
}

void kinds_free(struct kinds *kinds)
{
    for (size_t i = 0; kinds->kind && i <= KINDS; i++)
        free(kinds->kind[i].found.line);
    free(kinds->kind);
    kinds->kind = NULL;
}
