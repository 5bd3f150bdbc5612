/* test_remedies.c: the remedies that apply, in order, with savings worked by hand; the status; the record. */
#include <math.h>

#include "suite/cost/remedies.h"
#include "suite/cost/status.h"
#include "suite/cost/test_traffic.h"

static struct remedy remedy[REMEDIES_MAX];
static size_t remedies;

/* "unify min_p ..." */
static const char *names(void)
{
    static char text[200];
    *text = 0;
    remedies = cost_remedies(&traffic, &options, remedy);
    for (size_t i = 0; i < remedies; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", remedy[i].name);
    return text;
}

static double saves(const char *name)
{
    for (size_t i = 0; i < remedies; i++)
        if (!strcmp(remedy[i].name, name))
            return remedy[i].saves;
    fail_msg("no remedy %s", name);
    return 0;
}

static enum cost_status status(void)
{
    char reason[STATUS_REASON];
    return cost_status(&traffic, &options, reason);
}

static void all_in_the_published_order(void **state)
{
    (void)state;
    assert_int_equal(
        read_traffic(LINE("") LINE("\"top_k\": 5, \"seed\": 1") LINE("\"presence_penalty\": 1, \"n\": 2")),
        0);
    assert_string_equal(names(), "unify seed min_p top_k penalties greedy best_of rows");
    /* 4 rows of 1,000 ids at once. In pools the sort has 1 row of them, the penalties 2. */
    assert_true(fabs(saves("unify") - (3 * 1000 * 64.0 + 2 * 1000 * 93.0)) < 1e-6);
    assert_true(saves("min_p") == 4 * 1000 * (64 - 14));
    assert_true(saves("top_k") == 0 && saves("seed") == 0);
    assert_true(saves("penalties") == 4 * 1000 * 93);
    assert_true(saves("greedy") == 4 * 1000 * (28 - 12));
    /* A plain random step moves 62 bytes a logit: 4 temperature, 12 softmax, 28 sample, 18 ranks. */
    assert_true(fabs(saves("best_of") - 0.25 * 4 * 1000 * (62 + 64 + 93)) < 1e-6);
    assert_true(fabs(saves("rows") - 0.5 * 4 * 1000 * (62 + 64 + 93)) < 1e-6);
}

static void only_what_applies(void **state)
{
    (void)state;
    assert_int_equal(read_traffic(LINE("\"temperature\": 0") LINE("\"temperature\": 0")), 0);
    assert_string_equal(names(), "");
    assert_int_equal(read_traffic(LINE("\"min_p\": 0.5") LINE("\"min_p\": 0.5")), 0);
    assert_string_equal(names(), "greedy rows"); /* not mixed, and cheap already */
    assert_int_equal(read_traffic(LINE("\"min_p\": 0.5, \"top_p\": 0.5")), 0);
    assert_string_equal(names(), "min_p greedy");
    assert_true(saves("min_p") == 1000 * 64); /* the threshold runs as it is */
}

static void the_status_is_the_first_that_holds(void **state)
{
    (void)state;
    assert_int_equal(read_traffic(LINE("")), 0);
    assert_int_equal(status(), STATUS_NEGLIGIBLE);
    options.vocab = 128000;
    options.batch = 62; /* 63,488,000 bytes */
    assert_int_equal(status(), STATUS_NEGLIGIBLE);
    options.batch = 63; /* 64,512,000 */
    assert_int_equal(status(), STATUS_VISIBLE);
    /* 63 rows of 62 bytes a logit are 499,968,000 bytes: at 100 GB/s 5.0 ms. */
    options.bandwidth = 100;
    options.tpot[TPOT_DEFAULT] = 99.9;
    assert_int_equal(status(), STATUS_VISIBLE);
    options.tpot[TPOT_DEFAULT] = 100.1;
    assert_int_equal(status(), STATUS_NEGLIGIBLE);
    /* A measurement of a pass that this traffic does not run says nothing; of one that it does, all. */
    options.tpot[TPOT_MIN_P] = 200;
    assert_int_equal(status(), STATUS_NEGLIGIBLE);
    assert_int_equal(read_traffic(LINE("\"min_p\": 0.5")), 0);
    assert_int_equal(status(), STATUS_VISIBLE);
    options.tpot[TPOT_MIN_P] = 104;
    assert_int_equal(status(), STATUS_NEGLIGIBLE);
}

static void forks_come_first(void **state)
{
    (void)state;
    char text[40 * 60] = LINE("\"n\": 2");
    for (int i = 0; i < 19; i++)
        strcat(text, LINE(""));
    assert_int_equal(read_traffic(text), 0); /* 21 sequences of 20 requests */
    assert_int_equal(status(), STATUS_FORKS);
    strcat(text, LINE(""));
    assert_int_equal(read_traffic(text), 0); /* 22 of 21: 4.8% */
    assert_int_equal(status(), STATUS_NEGLIGIBLE);
    assert_string_equal(cost_status_names[STATUS_FORKS], "amplified by forks");
}

static void keys_are(const cJSON *object, const char *expected)
{
    char keys[300] = "";
    for (const cJSON *member = object->child; member; member = member->next)
        snprintf(keys + strlen(keys), sizeof keys - strlen(keys), "%s%s", *keys ? " " : "", member->string);
    assert_string_equal(keys, expected);
}

static const cJSON *at(const cJSON *record, const char *group, const char *key)
{
    return cJSON_GetObjectItem(cJSON_GetObjectItem(record, group), key);
}

static void the_record_has_every_published_field(void **state)
{
    (void)state;
    cJSON *record = cJSON_CreateObject();
    options.model_name = "m\tn";
    options.batch = 64;
    options.vocab = 128000;
    options.tpot[TPOT_MIN_P] = 20.5;
    assert_int_equal(read_traffic(LINE("\"top_p\": 0.9") LINE("\"seed\": 9223372036854775807") LINE("")), 0);
    cost_record(&traffic, &options, record);
    keys_are(record, "sampling_params batch workload perf status");
    keys_are(
        cJSON_GetObjectItem(record, "sampling_params"),
        "temperature top_p top_k min_p presence_penalty frequency_penalty repetition_penalty seed best_of n "
        "use_beam_search");
    keys_are(cJSON_GetObjectItem(record, "batch"),
             "num_seqs vocab_size do_top_p_top_k do_min_p do_penalties param_mixed");
    keys_are(cJSON_GetObjectItem(record, "workload"), "model_name concurrency");
    keys_are(cJSON_GetObjectItem(record, "perf"), "tpot_default_params tpot_top_p_top_k_on tpot_min_p_on "
                                                  "tpot_penalties_on sampling_tensor_bytes");
    assert_true(at(record, "perf", "sampling_tensor_bytes")->valuedouble == 65536000);
    assert_true(at(record, "perf", "tpot_min_p_on")->valuedouble == 20.5);
    assert_true(cJSON_IsNull(at(record, "perf", "tpot_default_params")));
    assert_true(cJSON_IsNull(at(record, "workload", "concurrency")));
    assert_true(cJSON_IsTrue(at(record, "batch", "param_mixed")));
    /* Most requests first. */
    const cJSON *top_p = at(record, "sampling_params", "top_p");
    assert_int_equal(cJSON_GetArraySize(top_p), 2);
    assert_true(cJSON_GetObjectItem(cJSON_GetArrayItem(top_p, 0), "value")->valuedouble == 1);
    assert_true(cJSON_GetObjectItem(cJSON_GetArrayItem(top_p, 0), "requests")->valuedouble == 2);
    char *text = cost_record_text(record);
    assert_null(strchr(text, '\t')); /* YAML forbids it */
    assert_non_null(strstr(text, "\n    \"model_name\": \"m\\tn\","));
    assert_non_null(strstr(text, "\"value\": 9223372036854775807,"));
    cJSON *again = cJSON_Parse(text);
    assert_true(at(again, "sampling_params", "best_of")->valuedouble == 1);
    cJSON_Delete(again);
    free(text);
    cJSON_Delete(record);
}

static void many_values_are_counted_in_bounded_memory(void **state)
{
    (void)state;
    struct values values = {0};
    for (int i = 0; i < 100; i++) {
        const struct engine_value value = engine_float(i < 50 ? 3 : i);
        values_add(&values, &value, 1);
    }
    values_add(&values, &(struct engine_value){.kind = ENGINE_TEXT, .text = "x"}, 1);
    cJSON *list = values_json(&values);
    assert_int_equal(cJSON_GetArraySize(list), VALUES_KEPT + 1);
    assert_true(cJSON_GetObjectItem(cJSON_GetArrayItem(list, 0), "requests")->valuedouble == 50);
    assert_true(cJSON_GetObjectItem(cJSON_GetArrayItem(list, VALUES_KEPT), "others")->valuedouble == 36);
    cJSON_Delete(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(all_in_the_published_order, forget),
        cmocka_unit_test_teardown(only_what_applies, forget),
        cmocka_unit_test_teardown(the_status_is_the_first_that_holds, forget),
        cmocka_unit_test_teardown(forks_come_first, forget),
        cmocka_unit_test_teardown(the_record_has_every_published_field, forget),
        cmocka_unit_test(many_values_are_counted_in_bounded_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
