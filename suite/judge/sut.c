/* sut.c: what a worker says of itself, checked. */
#include <cjson/cJSON.h>
#include <string.h>

#include "suite/judge/worker.h"

const char *const sut_capability_words[] = {
    "temperature", "noise",        "seeded",     "top_k",    "top_p", "min_p",   "penalties",
    "logit_bias",  "allowed_mask", "min_tokens", "kept_out", "route", "resolve", NULL};

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += length)
        if ((at == text || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

int sut_read(struct sut *sut, struct frame *hello, const char *spec, struct trouble *trouble)
{
    static const char *const dtypes[] = {"f32", "f16", "bf16"};
    *sut = (struct sut){.hello = *hello};
    for (size_t k = 0; k < hello->entries; k++) /* reports print some of it; JSON means the same without */
        trouble_flatten(hello->entry[k].value);
    const char *message = frame_get(hello, "message"), *text = frame_get(hello, "text");
    const char *protocol = frame_get(hello, "protocol"), *takes = frame_get(hello, "takes"),
               *dtype = frame_get(hello, "dtype");
    const char *capabilities = frame_get(hello, "capabilities");
    if (message && !strcmp(message, "error"))
        return trouble_set(trouble, EXIT_USAGE, "%s: the worker reports: %s", spec,
                           text ? text : "(no text)");
    if (!message || strcmp(message, "hello"))
        return trouble_set(trouble, EXIT_USAGE, "%s: the worker's first message is '%s', not 'hello'", spec,
                           message ? message : "");
    if (!protocol || strcmp(protocol, FRAME_PROTOCOL))
        return trouble_set(trouble, EXIT_USAGE,
                           "%s: the worker speaks protocol '%s'; accepted: " FRAME_PROTOCOL, spec,
                           protocol ? protocol : "");
    sut->name = frame_get(hello, "name");
    sut->version = frame_get(hello, "version");
    sut->device = frame_get(hello, "device");
    if (!sut->name || !sut->version || !sut->device || !takes || !dtype)
        return trouble_set(trouble, EXIT_USAGE, "%s: hello lacks one of name, version, device, takes, dtype",
                           spec);
    sut->takes[VALUE_LOGITS] = has_word(takes, "logits");
    sut->takes[VALUE_PROBABILITIES] = has_word(takes, "probabilities");
    bool answers = sut_can(sut, "route") || sut_can(sut, "resolve"); /* then it may do nothing else */
    if (!sut->takes[VALUE_LOGITS] && !sut->takes[VALUE_PROBABILITIES] && !(answers && !*takes))
        return trouble_set(trouble, EXIT_USAGE,
                           "%s: hello: takes is '%s'; accepted: logits, probabilities, or both", spec, takes);
    sut->kind = strncmp(takes, "probabilities", 13) && (sut->takes[VALUE_LOGITS] || !*takes)
                    ? VALUE_LOGITS
                    : VALUE_PROBABILITIES;
    size_t i = 0;
    while (i < 3 && strcmp(dtype, dtypes[i]))
        i++;
    if (i == 3)
        return trouble_set(trouble, EXIT_USAGE, "%s: hello: dtype is '%s'; accepted: f32, f16, bf16", spec,
                           dtype);
    sut->dtype = (enum value_dtype)i;
    sut->noise = capabilities && has_word(capabilities, "noise");
    sut->temperature = capabilities && has_word(capabilities, "temperature");
    const char *contract = frame_get(hello, "contract");
    return contract && *contract ? claims_check(contract, spec, trouble) : 0;
}

bool sut_draws(const struct sut *sut)
{
    const char *takes = frame_get(&sut->hello, "takes");
    return !takes || *takes;
}

bool sut_can(const struct sut *sut, const char *word)
{
    const char *capabilities = frame_get(&sut->hello, "capabilities");
    return capabilities && has_word(capabilities, word);
}

bool sut_claim(const struct sut *sut, const char *key, char *text, size_t bytes)
{
    const char *contract = frame_get(&sut->hello, "contract");
    cJSON *claims = contract ? cJSON_Parse(contract) : NULL;
    const cJSON *claim = cJSON_GetObjectItemCaseSensitive(claims, key);
    bool claimed = cJSON_IsString(claim) && strlen(claim->valuestring) < bytes;
    if (claimed)
        memcpy(text, claim->valuestring, strlen(claim->valuestring) + 1);
    cJSON_Delete(claims);
    return claimed;
}

void sut_free(struct sut *sut)
{
    frame_free(&sut->hello);
    *sut = (struct sut){0};
}
