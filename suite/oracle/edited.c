/* edited.c: what a request's penalties, biases and bans make of its logits, id by id. */
#include "suite/oracle/edited.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The order as letters: b bias, x bans, m min_tokens, t temperature, r repetition, f frequency, p presence. */
struct law_editor {
    const char *name, *order;
    bool counts_prompt; /* frequency and presence see the prompt as well */
};

static const struct law_editor editors[] = {
    {"sglang", "fpmrxbt", false},
    {"vllm-0.5.0", "bxmrfpt", false},
    {"vllm-v1", "xmbrfpt", false},
    {"tensorrt-llm-cpp", "btrpfmx", true},
};

const struct law_editor *law_editor_at(size_t index)
{
    return index < sizeof editors / sizeof *editors ? &editors[index] : NULL;
}

const struct law_editor *law_editor_of(const char *name)
{
    for (size_t i = 0; i < sizeof editors / sizeof *editors; i++)
        if (strcmp(editors[i].name, name) == 0)
            return &editors[i];
    return NULL;
}

const char *law_editor_name(const struct law_editor *editor)
{
    return editor->name;
}

struct law_edits law_edits_none(void)
{
    return (struct law_edits){.repetition = 1};
}

bool law_edits_any(const struct law_edits *edits)
{
    return edits->repetition != 1 || edits->frequency != 0 || edits->presence != 0 ||
           edits->banned.count > 0 || edits->min_tokens != 0 || edits->biases > 0;
}

static bool ids_inside(const struct law_ids *ids, size_t vocab)
{
    for (size_t i = 0; i < ids->count; i++)
        if (ids->id[i] < 0 || ids->id[i] >= (int64_t)vocab)
            return false;
    return true;
}

const char *law_edits_refused(const struct law_edits *edits, size_t vocab)
{
    if (!(edits->repetition > 0 && edits->repetition < INFINITY))
        return "repetition_penalty";
    if (!isfinite(edits->frequency))
        return "frequency_penalty";
    if (!isfinite(edits->presence))
        return "presence_penalty";
    if (edits->min_tokens < 0)
        return "min_tokens";
    return !ids_inside(&edits->prompt, vocab)   ? "prompt"
           : !ids_inside(&edits->output, vocab) ? "output"
           : !ids_inside(&edits->stop, vocab)   ? "stop"
                                                : NULL;
}

/* What an engine knows of one id. */
struct history {
    double bias;
    unsigned in_prompt, in_output;
    bool banned, stops;
};

static struct history *histories_of(const struct law_edits *edits, size_t vocab)
{
    struct history *history = calloc(vocab, sizeof *history);
    if (!history)
        abort();
    for (size_t i = 0; i < edits->prompt.count; i++)
        history[edits->prompt.id[i]].in_prompt++;
    for (size_t i = 0; i < edits->output.count; i++)
        history[edits->output.id[i]].in_output++;
    for (size_t i = 0; i < edits->banned.count; i++)
        history[edits->banned.id[i]].banned = true;
    for (size_t i = 0; i < edits->stop.count; i++)
        history[edits->stop.id[i]].stops = (int64_t)edits->output.count < edits->min_tokens;
    for (size_t i = 0; i < edits->biases; i++)
        history[edits->bias[i].id].bias += edits->bias[i].value;
    return history;
}

static double edit(const struct law_editor *editor, const struct law_edits *edits, double temperature,
                   const struct history *history, double l)
{
    unsigned count = history->in_output + (editor->counts_prompt ? history->in_prompt : 0);
    for (const char *step = editor->order; *step; step++)
        switch (*step) {
        case 'b':
            l += history->bias;
            break;
        case 'x':
            l = history->banned ? -INFINITY : l;
            break;
        case 'm':
            l = history->stops ? -INFINITY : l;
            break;
        case 't':
            l /= temperature;
            break;
        case 'r':
            if (history->in_prompt + history->in_output > 0)
                l = l > 0 ? l / edits->repetition : l * edits->repetition;
            break;
        case 'f':
            l -= count > 0 ? edits->frequency * count : 0;
            break;
        default:
            l -= count > 0 ? edits->presence : 0;
            break;
        }
    return l;
}

void law_edited(const struct law_editor *editor, const struct law_edits *edits, double temperature,
                const float *logits, size_t vocab, double *edited)
{
    struct history *history = histories_of(edits, vocab);
    for (size_t i = 0; i < vocab; i++)
        edited[i] = edit(editor, edits, temperature, &history[i], (double)logits[i]);
    free(history);
}
