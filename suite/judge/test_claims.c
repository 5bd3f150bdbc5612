/* test_claims.c: a contract that holds what nobody understands is refused with the accepted words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "suite/judge/worker.h"

static void test_accepted(void **state)
{
    (void)state;
    static const char *const contracts[] = {
        "{}",
        "{\"filters\": \"vllm-v1\", \"penalties\": \"sglang\", \"rule\": \"race\", \"bitwise\": \"any "
        "device\"}",
        "{\"rng_keying\": \"seed, position, row\", \"nan_policy\": \"never drawn\", \"weights\": \"any "
        "scale\"}",
        "{\"tie_rule\": \"lowest id\", \"engine\": \"sglang-0.5.20\", \"readings\": \"upstream\"}",
    };
    for (size_t i = 0; i < sizeof contracts / sizeof *contracts; i++) {
        struct trouble trouble = {0};
        assert_int_equal(claims_check(contracts[i], "sut", &trouble), 0);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *contract, *words;
    } wrong[] = {
        {"{\"filters\": \"sglang\"}",
         "sut: the contract: \"filters\" is 'sglang'; accepted: sglang-pytorch, "},
        {"{\"penalties\": \"\"}", "\"penalties\" is ''; accepted: sglang, vllm-0.5.0"},
        {"{\"rule\": \"torch\"}", "accepted: greedy, categorical, race"},
        {"{\"bitwise\": \"yes\"}", "accepted: any device, same device, none"},
        {"{\"filter\": \"vllm-v1\"}", "unknown key \"filter\"; accepted: rng_keying, bitwise"},
        {"{\"rule\": 1}", "rule: must be a string, is a number"},
        {"[]", "must be an object, is an array"},
        {"{\"rule\": \"race\"", "sut: the contract:1:"},
        {"{\"rule\": \"race\", \"rule\": \"race\"}", "is already in this object"},
        {"rule=race", "sut: the contract:1:1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct trouble trouble = {0};
        assert_int_equal(claims_check(wrong[i].contract, "sut", &trouble), -1);
        assert_int_equal(trouble.exit, EXIT_USAGE);
        if (!strstr(trouble.text, wrong[i].words))
            fail_msg("%s: %s", wrong[i].contract, trouble.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_accepted), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests_name("claims", tests, NULL, NULL);
}
