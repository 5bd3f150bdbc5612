/* test_spec.c: a SUT's specification becomes the right command, or one clear message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "suite/judge/spec.h"

static void expect(const char *text, const char *const *last_words)
{
    struct spec spec;
    struct trouble trouble = {0};
    assert_int_equal(spec_parse(&spec, text, &trouble), 0);
    size_t words = 0, wanted = 0;
    while (spec.argv[words])
        words++;
    while (last_words[wanted])
        wanted++;
    assert_true(words >= wanted);
    for (size_t i = 0; i < wanted; i++)
        assert_string_equal(spec.argv[words - wanted + i], last_words[i]);
    spec_free(&spec);
}

static void refuse(const char *text, const char *words)
{
    struct spec spec;
    struct trouble trouble = {0};
    assert_int_equal(spec_parse(&spec, text, &trouble), -1);
    assert_int_equal(trouble.exit, EXIT_USAGE);
    if (!strstr(trouble.text, words))
        fail_msg("'%s' says '%s', without '%s'", text, trouble.text, words);
    spec_free(&spec);
}

#define WORDS(...)                                                                                           \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        __VA_ARGS__, NULL                                                                                    \
    }

static void commands(void **state)
{
    (void)state;
    expect("python:torch", WORDS("python3", SAMPLEGATE_SOURCE_DIR "/suite/sut/workers/host.py", "torch"));
    expect("python:torch@/usr,rule=multinomial,dtype=bf16",
           WORDS("/usr/bin/python3", SAMPLEGATE_SOURCE_DIR "/suite/sut/workers/host.py", "torch",
                 "rule=multinomial", "dtype=bf16"));
    expect("exec:ssh host 'run, this=that'", WORDS("/bin/sh", "-c", "ssh host 'run, this=that'"));
}

static void environment(void **state)
{
    (void)state;
    struct spec spec;
    struct trouble trouble = {0};
    assert_int_equal(spec_parse(&spec, "python:torch,env.A=1,rule=race,env.B=x=y", &trouble), 0);
    assert_string_equal(spec.environment[0], "A=1");
    assert_string_equal(spec.environment[1], "B=x=y");
    assert_null(spec.environment[2]);
    spec_free(&spec);
}

static void refusals(void **state)
{
    (void)state;
    refuse("torch", "accepted: reference[:RULE], cuda[:RULE], engine[:NAME], python:NAME");
    refuse("engine:./no-such-engine.so,id=X", "./no-such-engine.so: No such file");
    refuse("", "accepted: reference[:RULE]");
    refuse("./no-such-plugin.so", "No such file");
    refuse("python:", "needs an engine's name");
    refuse("python:./no-such-worker.py", "No such file");
    refuse("python:torch@/no/such/venv", "@VENV");
    refuse("python:torch,rule", "is not key=value");
    refuse("python:torch,=x", "is not key=value");
    refuse("python:torch,env.=x", "is not env.NAME=VALUE");
    refuse("exec: ", "needs a command");
    refuse("recording:/no/such/file", "No such file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(commands), cmocka_unit_test(environment),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests_name("spec", tests, NULL, NULL);
}
