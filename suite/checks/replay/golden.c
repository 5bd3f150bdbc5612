/* golden.c: the batches of golden/replay/batches.json that a sampler can be asked. */
#include <stdio.h>
#include <stdlib.h>

#include "suite/checks/replay/lines.h"

/* The rows are fp32 logits, and some request has each of these. */
static bool can_be_asked(const struct sut *sut)
{
    static const char *const needed[] = {"temperature", "top_k", "top_p", "min_p", "penalties"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!sut_can(sut, needed[i]))
            return false;
    return sut->takes[VALUE_LOGITS] && sut->dtype == VALUE_F32 && keying_filters(sut) &&
           keying_penalties(sut);
}

static int read_batches(const struct json_cursor *group, struct replay_golden *golden,
                        struct trouble *trouble)
{
    struct json_cursor cases;
    size_t count;
    if (draws_read_requests(group, &golden->requests, trouble) ||
        json_array(group, "cases", &cases, &count, trouble))
        return -1;
    golden->batch = calloc(count + 1, sizeof *golden->batch);
    if (!golden->batch)
        return json_trouble(group, trouble, "out of memory");
    struct json_cursor at = json_at(&cases, 0);
    for (; golden->batches < count; at = json_next(&at))
        if (draws_read_batch(&at, &golden->requests, &golden->batch[golden->batches++], trouble))
            return -1;
    return 0;
}

static int read_group(const struct draws_rule *rule, struct replay_golden *golden, struct trouble *trouble)
{
    const struct json_cursor root = json_root(&golden->file);
    struct json_cursor groups;
    size_t count;
    if (json_array(&root, "groups", &groups, &count, trouble))
        return -1;
    struct json_cursor at = json_at(&groups, 0);
    for (size_t i = 0; i < count; i++, at = json_next(&at)) {
        struct draws_rule of_group;
        if (draws_read_rule(&at, &of_group, trouble))
            return -1;
        if (of_group.rule == rule->rule && of_group.by_rank == rule->by_rank)
            return read_batches(&at, golden, trouble);
    }
    return 0;
}

int replay_golden_read(const struct plan *plan, const struct plan_cell *cell, const struct sut *sut,
                       struct replay_golden *golden, char *why, size_t why_bytes)
{
    *golden = (struct replay_golden){0};
    struct draws_rule rule;
    if (!keying_rule(sut, &rule) || !can_be_asked(sut))
        return 0;
    char path[sizeof plan->golden_dir + sizeof DRAWS_BATCHES + 1];
    snprintf(path, sizeof path, "%s/" DRAWS_BATCHES, plan->golden_dir);
    struct trouble trouble = {0};
    if (json_open(&golden->file, path, EXIT_DAMAGED, &trouble) || read_group(&rule, golden, &trouble)) {
        snprintf(why, why_bytes, "%s", trouble.text);
        return -1;
    }
    /* One of a plan's cells asks for them: that whose rows are as long as theirs. */
    if (golden->batches && golden->requests.table[0].vocab != cell->table->vocab)
        replay_golden_free(golden);
    return 0;
}

void replay_golden_free(struct replay_golden *golden)
{
    for (size_t b = 0; b < golden->batches; b++)
        draws_batch_free(&golden->batch[b]);
    free(golden->batch);
    draws_requests_free(&golden->requests);
    json_close(&golden->file);
    *golden = (struct replay_golden){0};
}
