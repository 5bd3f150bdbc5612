/* events.c: sessions and verdicts as JSON events; results.h documents the fields. */
#include <gsl/gsl_version.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "suite/report/results.h"
#include "suite/version.h"

static const char *const certify_names[] = {"none", "ids", "bins", "ids-asymptotic"};

static cJSON *object(const char *event)
{
    cJSON *json = cJSON_CreateObject();
    if (!json)
        abort();
    cJSON_AddStringToObject(json, "event", event);
    return json;
}

static void add_u64(cJSON *json, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    cJSON_AddStringToObject(json, key, text);
}

static cJSON *sut_object(const struct session *session, const char *role)
{
    static const char *const keys[] = {"name", "version", "device", "takes", "dtype", "capabilities"};
    const struct frame *hello = &session->sut.hello;
    cJSON *json = cJSON_CreateObject(), *files, *versions;
    if (*role)
        cJSON_AddStringToObject(json, "role", role);
    cJSON_AddStringToObject(json, "spec", session->spec ? session->spec->text : "recording");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (frame_get(hello, keys[i]))
            cJSON_AddStringToObject(json, keys[i], frame_get(hello, keys[i]));
    files = cJSON_AddObjectToObject(json, "files");
    versions = cJSON_AddObjectToObject(json, "versions");
    for (size_t i = 0; i < hello->entries; i++) {
        if (!strncmp(hello->entry[i].key, "file:", 5))
            cJSON_AddStringToObject(files, hello->entry[i].key + 5, hello->entry[i].value);
        if (!strncmp(hello->entry[i].key, "version:", 8))
            cJSON_AddStringToObject(versions, hello->entry[i].key + 8, hello->entry[i].value);
    }
    const char *contract = frame_get(hello, "contract");
    cJSON *claims = contract && *contract ? cJSON_Parse(contract) : NULL;
    cJSON_AddItemToObject(json, "contract", claims ? claims : cJSON_CreateObject());
    return json;
}

cJSON *event_run(const char *command, const struct plan *plan, int jobs,
                 const struct session *const *sessions, const char *const *roles, size_t count)
{
    char started[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    cJSON *json = object("run"), *suts;
    cJSON_AddStringToObject(json, "samplegate", SAMPLEGATE_VERSION);
    cJSON_AddStringToObject(json, "command", command);
    cJSON_AddStringToObject(json, "plan", plan->name);
    cJSON_AddStringToObject(json, "plan_sha256", plan->sha256);
    add_u64(json, "seed", plan->seed);
    cJSON_AddNumberToObject(json, "jobs", jobs);
    cJSON_AddStringToObject(json, "gsl", GSL_VERSION);
    cJSON_AddStringToObject(json, "started", started);
    suts = cJSON_AddArrayToObject(json, "suts");
    for (size_t i = 0; i < count; i++)
        cJSON_AddItemToArray(suts, sut_object(sessions[i], roles[i]));
    return json;
}

static bool over_ids(enum cell_certify certify)
{
    return certify == CERTIFY_IDS || certify == CERTIFY_IDS_ASYMPTOTIC;
}

static void add_equivalence(cJSON *json, const struct cell_result *result)
{
    const struct plan_cell *cell = result->cell;
    add_u64(json, "draws", result->counts[0].draws);
    cJSON_AddNumberToObject(json, "total_variation", result->bound.observed);
    cJSON_AddNumberToObject(json, "expected_total_variation", result->tv_expected);
    cJSON_AddNumberToObject(json, "deviation", result->tv_deviation);
    cJSON_AddNumberToObject(json, "upper_bound", result->bound.upper);
    cJSON_AddStringToObject(json, "over", over_ids(cell->certify) ? "ids" : "bins");
    cJSON_AddBoolToObject(json, "asymptotic", cell->certify == CERTIFY_IDS_ASYMPTOTIC);
    cJSON_AddNumberToObject(json, "resolution", (double)result->bound_cells);
    cJSON_AddNumberToObject(json, "epsilon", cell->epsilon);
    cJSON_AddStringToObject(json, "certify", certify_names[cell->certify]);
    cJSON_AddBoolToObject(json, "certified",
                          cell->certify != CERTIFY_NONE && result->bound.upper <= cell->epsilon);
    cJSON_AddNumberToObject(json, "draws_needed", result->draws_needed);
}

static void add_agreement(cJSON *json, const struct cell_result *result)
{
    add_u64(json, "rows", result->agreement.rows);
    add_u64(json, "mismatches", result->agreement.mismatches);
    add_u64(json, "near_ties", result->agreement.near_ties);
    cJSON_AddNumberToObject(json, "near_ties_expected", 1e-12 * (double)result->agreement.expected_e12);
    add_u64(json, "unexplained", result->agreement.unexplained);
    cJSON_AddNumberToObject(json, "mismatch_bound", result->mismatch_bound);
}

static cJSON *event_cell(const struct cell_result *result, const char *role)
{
    const struct plan_cell *cell = result->cell;
    cJSON *json = object("cell");
    if (*role)
        cJSON_AddStringToObject(json, "sut", role);
    cJSON_AddStringToObject(json, "cell", cell->name);
    cJSON_AddStringToObject(json, "family", cell_family_names[cell->family]);
    if (cell->table)
        cJSON_AddStringToObject(json, "table", cell->table->name);
    cJSON_AddStringToObject(json, "state", cell_state_names[result->state]);
    if (*result->why)
        cJSON_AddStringToObject(json, "why", result->why);
    if (result->state == CELL_RAN && cell->family == FAMILY_EQUIVALENCE)
        add_equivalence(json, result);
    if (result->state == CELL_RAN && cell->family == FAMILY_AGREEMENT)
        add_agreement(json, result);
    if (result->state == CELL_RAN && result->script[0].lines) {
        cJSON_AddNumberToObject(json, "messages", (double)result->script[0].lines);
        add_u64(json, "draws", script_draws(&result->script[0]));
        cJSON_AddNumberToObject(json, "unsupported", (double)script_unsupported(&result->script[0]));
    }
    if (*cell->published)
        cJSON_AddStringToObject(json, "published", cell->published);
    return json;
}

static cJSON *event_statistic(const struct cell_result *result, const struct statistic *statistic,
                              const char *role)
{
    static const char *const kinds[] = {"plain", "fine"};
    cJSON *json = object("statistic");
    if (*role)
        cJSON_AddStringToObject(json, "sut", role);
    cJSON_AddStringToObject(json, "cell", result->cell->name);
    cJSON_AddStringToObject(json, "check", statistic->check->key);
    cJSON_AddStringToObject(json, "statistic", statistic->name);
    cJSON_AddStringToObject(json, "kind", statistic->violation ? "violation" : kinds[statistic->kind]);
    cJSON_AddNumberToObject(json, "p", statistic->tail.p);
    cJSON_AddNumberToObject(json, "p_beyond", statistic->tail.p_beyond);
    cJSON_AddNumberToObject(json, "value", statistic->value);
    cJSON_AddNumberToObject(json, "expected", statistic->expected);
    cJSON_AddNumberToObject(json, "level", statistic->level);
    cJSON_AddBoolToObject(json, "flagged", statistic->flagged);
    cJSON_AddBoolToObject(json, "rejected", statistic->confirmed);
    if (statistic->looked_twice && !statistic->violation)
        cJSON_AddNumberToObject(json, "p_second", statistic->tail2.p);
    if (*statistic->smallest_effect)
        cJSON_AddStringToObject(json, "smallest_effect", statistic->smallest_effect);
    if (statistic->flagged)
        cJSON_AddStringToObject(json, "text", statistic->text);
    if (statistic->standing)
        cJSON_AddStringToObject(json, "standing",
                                statistic->standing == STANDING_FIXED ? "fixed" : "pre-existing");
    return json;
}

/* One check over all its cells: fail before error before pass; skipped or not claimed only if nothing else
 * happened. */
static cJSON *event_check(const struct session *session, const struct check *check, const char *role)
{
    size_t ran = 0, rejected = 0, errors = 0, stopped = 0, skipped = 0;
    for (size_t i = 0; i < session->plan->cells; i++) {
        const struct cell_result *result = &session->cell[i];
        if (!result->selected || !check_looks_at(check, result->cell))
            continue;
        bool asked = false;
        errors += result->state == CELL_ERROR;
        stopped += result->state == CELL_STOPPED;
        skipped += result->state == CELL_SKIPPED;
        for (size_t s = 0; s < result->evidence.count; s++) {
            const struct statistic *statistic = &result->evidence.statistic[s];
            asked |= statistic->check == check;
            rejected += statistic->check == check && statistic->confirmed &&
                        statistic->standing != STANDING_PREEXISTING;
        }
        ran += result->state == CELL_RAN && asked;
        skipped += result->state == CELL_RAN && !asked; /* its lines were not for this sampler */
    }
    if (ran + errors + stopped + skipped == 0)
        return NULL;
    const char *status = rejected                              ? "fail"
                         : errors                              ? "error"
                         : stopped                             ? "inconclusive"
                         : ran                                 ? "pass"
                         : check->family != FAMILY_EQUIVALENCE ? "not-claimed"
                                                               : "skipped";
    cJSON *json = object("check");
    if (*role)
        cJSON_AddStringToObject(json, "sut", role);
    cJSON_AddStringToObject(json, "check", check->key);
    cJSON_AddStringToObject(json, "status", status);
    cJSON_AddNumberToObject(json, "cells", (double)ran);
    cJSON_AddNumberToObject(json, "rejected", (double)rejected);
    return json;
}

void events_session(struct results *results, const struct session *session, const char *role)
{
    for (size_t i = 0; i < session->plan->cells; i++) {
        const struct cell_result *result = &session->cell[i];
        if (!result->selected)
            continue;
        results_event(results, event_cell(result, role));
        for (size_t s = 0; s < result->evidence.count; s++)
            results_event(results, event_statistic(result, &result->evidence.statistic[s], role));
    }
    for (size_t i = 0; i < check_registry_count; i++) {
        cJSON *json = check_selected(&check_registry[i], session->options.checks)
                          ? event_check(session, &check_registry[i], role)
                          : NULL;
        if (json)
            results_event(results, json);
    }
}

cJSON *event_change(const struct cell_result *old, const struct cell_change *change)
{
    cJSON *json = object("change");
    cJSON_AddStringToObject(json, "cell", old->cell->name);
    add_u64(json, "rows", change->rows);
    add_u64(json, "same", change->same);
    cJSON_AddNumberToObject(json, "introduced", (double)change->introduced);
    cJSON_AddNumberToObject(json, "preexisting", (double)change->preexisting);
    cJSON_AddNumberToObject(json, "fixed", (double)change->fixed);
    cJSON_AddStringToObject(json, "old_state", cell_state_names[old->state]);
    if (*old->why)
        cJSON_AddStringToObject(json, "old_why", old->why);
    return json;
}

cJSON *event_verdict(const struct verdict *verdict, const struct session *session, double seconds)
{
    struct tally tally = tally_session(session);
    cJSON *json = object("verdict");
    cJSON_AddStringToObject(json, "verdict", verdict->word);
    cJSON_AddNumberToObject(json, "exit", verdict->exit);
    cJSON_AddStringToObject(json, "sentence", verdict->sentence);
    cJSON_AddBoolToObject(json, "within_epsilon", verdict->within_epsilon);
    cJSON_AddNumberToObject(json, "seconds", seconds);
    cJSON_AddNumberToObject(json, "statistics", (double)tally.statistics);
    cJSON_AddNumberToObject(json, "rejected", (double)tally.rejected);
    cJSON_AddNumberToObject(json, "preexisting", (double)verdict->preexisting);
    cJSON_AddNumberToObject(json, "fixed", (double)verdict->fixed);
    cJSON_AddNumberToObject(json, "skipped", (double)tally.skipped);
    cJSON_AddNumberToObject(json, "false_alarm_probability", budget_total(session->plain, session->fine));
    return json;
}
