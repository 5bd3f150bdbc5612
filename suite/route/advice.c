/* advice.c: the published advice, computed for this traffic: what each piece gains, and what it gives up.
 *
 * The article says: send top_p 1.0 and top_k -1, or start with --sampling-defaults openai; then serve greedy and
 * filtered traffic from another instance. Each is what the same traffic would do under it, walked like the traffic
 * itself. */
#include <stdio.h>
#include <string.h>

#include "suite/plural.h"
#include "suite/route/report.h"

static const struct advice {
    enum route_role role;
    const char *name, *sentence;
    bool splits;
    const char *cost;
} advices[] = {
    {ROLE_EXPLICIT, "explicit", "clients send top_p 1.0, top_k -1 and min_p 0 where they are silent", false,
     "clients as they are, and of the server's settings"},
    {ROLE_OPENAI, "openai", "--sampling-defaults openai", false, "the model author's settings"},
    {ROLE_SPLIT_PLAIN, "second-instance", "a second instance for greedy and filtered requests", true, ""},
    {ROLE_BOTH_PLAIN, "explicit+second-instance", "the first and the third together", true, ""},
};
#define ADVICES (sizeof advices / sizeof *advices)

/* Only where a plain request has a path of its own to be kept off. */
static bool applies(const struct traffic *traffic)
{
    const struct route_state *plain = &traffic_view(traffic, ROLE_NOW)->plain;
    return !plain->why && plain->path.kind >= ENGINE_GUMBEL && plain->path.kind <= ENGINE_DETERMINISTIC &&
           traffic->total[0].taken;
}

static enum route_role second_of(const struct advice *advice)
{
    return advice->role == ROLE_SPLIT_PLAIN ? ROLE_SPLIT_OTHERS : ROLE_BOTH_OTHERS;
}

static double mean_sequences(const struct walk *walk)
{
    return walk->busy > 0 ? walk->sequence_seconds / walk->busy : 0;
}

static void print_split(struct traffic *traffic, const struct advice *advice)
{
    const struct route_total *first = traffic_total(traffic, advice->role),
                             *second = traffic_total(traffic, second_of(advice));
    const struct walk *plain = traffic_walk(traffic, advice->role),
                      *others = traffic_walk(traffic, second_of(advice)),
                      *now = traffic_walk(traffic, ROLE_NOW);
    if (!first->taken) {
        printf("      no request is left for the first instance\n");
        return;
    }
    printf("      %zu of %zu request%s go%s to the second instance", second->taken,
           first->taken + second->taken, PLURAL(first->taken + second->taken),
           second->taken == 1 ? "es" : "");
    if (traffic->order.timed && now->sequence_seconds > 0)
        printf(", %.2f %% of the tokens", 100 * others->sequence_seconds / now->sequence_seconds);
    printf("\n      gives up: memory for a second copy of the model");
    if (traffic->order.timed)
        printf("; batches of %.2f: %.2f and %.2f rows at a time on average", mean_sequences(now),
               mean_sequences(plain), mean_sequences(others));
    putchar('\n');
}

static void print_lost(struct traffic *traffic, const struct advice *advice)
{
    printf("      gives up: %s\n", advice->cost);
    report_tally(&traffic->total[traffic->role[advice->role]].difference, 4);
}

static void print_gain(struct traffic *traffic, const struct advice *advice, const char *plain)
{
    const struct route_total *now = traffic_total(traffic, ROLE_NOW),
                             *then = traffic_total(traffic, advice->role);
    char before[ROUTE_TEXT], after[ROUTE_TEXT], second[ROUTE_TEXT];
    if (traffic->order.timed) {
        printf("      %s %.2f %% -> %.2f %% of the tokens\n", plain,
               100 * traffic_plain_share(traffic, ROLE_NOW),
               100 * traffic_plain_share(traffic, advice->role));
        return;
    }
    if (!advice->splits)
        printf("      %s alone: %zu -> %zu requests; ", plain, now->plain, then->plain);
    else
        printf("      ");
    if (then->taken)
        printf("as one batch: %s -> %s", route_state_text(&now->batch, before),
               route_state_text(&then->batch, after));
    if (advice->splits && traffic_total(traffic, second_of(advice))->taken)
        printf("%s%s on the second", then->taken ? ", and " : "",
               route_state_text(&traffic_total(traffic, second_of(advice))->batch, second));
    putchar('\n');
}

static bool changes_nothing(const struct traffic *traffic, enum route_role role)
{
    return !tally_total(&traffic_total(traffic, role)->difference);
}

static void print_one(struct traffic *traffic, const struct advice *advice, const char *plain)
{
    if (advice->role == ROLE_BOTH_PLAIN && changes_nothing(traffic, ROLE_EXPLICIT))
        return;
    printf("  %s\n", advice->sentence);
    if (!advice->splits && changes_nothing(traffic, advice->role)) {
        printf(
            "      changes nothing: no request has settings of the model's file or preferred parameters\n");
        return;
    }
    print_gain(traffic, advice, plain);
    (advice->splits ? print_split : print_lost)(traffic, advice);
}

void report_advice(struct traffic *traffic)
{
    char plain[ROUTE_TEXT];
    const struct route_state *state = &traffic_view(traffic, ROLE_NOW)->plain;
    if (!applies(traffic))
        return;
    route_state_text(state, plain);
    printf("\nthe article's advice, for this traffic\n");
    if (state->path.kind != ENGINE_GUMBEL)
        printf("  gumbel is out of reach here: %s\n",
               state->path.kind == ENGINE_DETERMINISTIC
                   ? "deterministic inference seeds every draw; without it, runs no longer repeat"
                   : "this release draws plain batches otherwise, or its switch is off");
    if (!tally_total(&traffic->noise)) {
        printf("  nothing to change: every request is plain\n");
        return;
    }
    printf("  the cause of the noise: what requests that are not plain ask for, or get from the server\n");
    report_tally(&traffic->noise, 8);
    for (size_t i = 0; i < ADVICES; i++)
        print_one(traffic, &advices[i], plain);
}

cJSON *report_advice_json(struct traffic *traffic)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; applies(traffic) && i < ADVICES; i++) {
        const struct advice *advice = &advices[i];
        cJSON *json = cJSON_CreateObject();
        cJSON_AddItemToArray(array, json);
        cJSON_AddStringToObject(json, "advice", advice->name);
        cJSON_AddNumberToObject(json, "plain_share_now", traffic_plain_share(traffic, ROLE_NOW));
        cJSON_AddNumberToObject(json, "plain_share_then", traffic_plain_share(traffic, advice->role));
        if (advice->splits)
            cJSON_AddNumberToObject(json, "second_instance_requests",
                                    (double)traffic_total(traffic, second_of(advice))->taken);
        else
            cJSON_AddNumberToObject(json, "requests_that_lose_settings",
                                    (double)tally_total(&traffic_total(traffic, advice->role)->difference));
    }
    return array;
}
