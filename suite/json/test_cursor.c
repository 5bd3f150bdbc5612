/* test_cursor.c: the typed getters: values, and messages that name file, path of keys and what is accepted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "suite/json/json.h"

static const char text[] =
    "{\"s\": \"caf\xc3\xa9 \\ud834\\udd1e\", \"n\": 2.5, \"i\": 42, \"big\": 1e300, \"max\": "
    "9007199254740992,\n"
    " \"u\": \"18446744073709551615\", \"over\": \"18446744073709551616\", \"zero\": \"007\", \"minus\": "
    "\"-1\",\n"
    " \"d\": \"-1.25e-3\", \"x\": \"0x1.8p-3\", \"inf\": \"inf\", \"huge\": \"1e999\", \"tiny\": \"1e-999\", "
    "\"nought\": \"0.0e5\",\n"
    " \"xtiny\": \"0x1p-2000\", \"space\": \" 1\", \"junk\": \"1.5x\", \"empty\": \"\",\n"
    " \"least\": \"-9223372036854775808\", \"under\": \"-9223372036854775809\", \"most\": "
    "\"9223372036854775807\", \"nothing\": \"0\", \"no\": \"-0\", \"dash\": \"-\",\n"
    " \"a\": [10, 20, 30, \"x\"], \"o\": {\"deep\": [{\"k\": 1}]}, \"b\": true, \"esc\": \"\\u001b[31m\"}";

struct fixture {
    struct json_file file;
    struct json_cursor root;
};

static int open_text(void **state)
{
    static struct fixture fixture;
    struct trouble trouble = {0};
    if (json_parse(&fixture.file, "f.json", text, sizeof text - 1, 2, &trouble))
        return -1;
    fixture.root = json_root(&fixture.file);
    *state = &fixture;
    return 0;
}

static int close_text(void **state)
{
    json_close(&((struct fixture *)*state)->file);
    return 0;
}

static void values_read(void **state)
{
    const struct json_cursor *root = &((struct fixture *)*state)->root;
    struct trouble trouble = {0};
    const char *string;
    double number;
    int64_t integer;
    uint64_t wide;
    int index;
    assert_int_equal(json_string(root, "s", &string, &trouble), 0);
    assert_string_equal(string, "caf\xc3\xa9 \xf0\x9d\x84\x9e");
    assert_int_equal(json_number(root, "n", 2.5, 2.5, &number, &trouble), 0);
    assert_true(number == 2.5);
    assert_int_equal(json_integer(root, "i", 42, 42, &integer, &trouble), 0);
    assert_int_equal(integer, 42);
    assert_int_equal(json_u64_string(root, "u", &wide, &trouble), 0);
    assert_true(wide == UINT64_MAX);
    assert_int_equal(json_i64_string(root, "least", &integer, &trouble), 0);
    assert_true(integer == INT64_MIN);
    assert_int_equal(json_i64_string(root, "most", &integer, &trouble), 0);
    assert_true(integer == INT64_MAX);
    assert_int_equal(json_i64_string(root, "nothing", &integer, &trouble), 0);
    assert_true(integer == 0);
    assert_int_equal(json_double_string(root, "d", &number, &trouble), 0);
    assert_true(number == -1.25e-3);
    assert_int_equal(json_double_string(root, "x", &number, &trouble), 0);
    assert_true(number == 0.1875);
    assert_int_equal(json_double_string(root, "nought", &number, &trouble), 0);
    assert_true(number == 0);
    assert_int_equal(
        json_one_of(root, "u", (const char *const[]){"1", "18446744073709551615", NULL}, &index, &trouble),
        0);
    assert_int_equal(index, 1);
    assert_true(json_has(root, "b"));
    assert_false(json_has(root, "B"));
    assert_int_equal(trouble.exit, 0);
}

static void arrays_walked(void **state)
{
    const struct json_cursor *root = &((struct fixture *)*state)->root;
    struct trouble trouble = {0};
    struct json_cursor array, object, deep;
    size_t length;
    int64_t integer;
    const char *string;
    assert_int_equal(json_array(root, "a", &array, &length, &trouble), 0);
    assert_int_equal(length, 4);
    assert_int_equal(json_integer_at(&array, 2, 0, 100, &integer, &trouble), 0);
    assert_int_equal(integer, 30);
    assert_int_equal(json_string_at(&array, 3, &string, &trouble), 0);
    assert_string_equal(string, "x");
    struct json_cursor at = json_at(&array, 0);
    for (int64_t i = 1; i <= 3; i++, at = json_next(&at)) {
        assert_int_equal(json_integer_here(&at, 0, 100, &integer, &trouble), 0);
        assert_int_equal(integer, 10 * i);
    }
    assert_string_equal(at.where, "a[3]");
    assert_int_equal(json_integer_here(&at, 0, 100, &integer, &trouble), -1);
    assert_string_equal(trouble.text, "f.json: a[3]: must be an integer, is a string");
    trouble = (struct trouble){0};
    assert_int_equal(json_object(root, "o", &object, &trouble), 0);
    assert_int_equal(json_array(&object, "deep", &deep, &length, &trouble), 0);
    at = json_at(&deep, 0);
    assert_int_equal(json_integer(&at, "k", 2, 3, &integer, &trouble), -1);
    assert_string_equal(trouble.text, "f.json: o.deep[0].k: must be an integer from 2 to 3, is 1");
    assert_int_equal(json_integer_at(&deep, 7, 0, 1, &integer, &trouble), -1);
}

#define REFUSES(call, message)                                                                               \
    do {                                                                                                     \
        struct trouble trouble = {0};                                                                        \
        assert_int_equal(call, -1);                                                                          \
        assert_int_equal(trouble.exit, 2);                                                                   \
        assert_string_equal(trouble.text, "f.json: " message);                                               \
    } while (0)

static void wrong_values_refused(void **state)
{
    const struct json_cursor *root = &((struct fixture *)*state)->root;
    static const char *const some[] = {"i", "n", NULL};
    const char *string;
    double number;
    int64_t integer;
    uint64_t wide;
    int index;
    struct json_cursor at;
    size_t length;
    REFUSES(json_string(root, "none", &string, &trouble), "\"none\" is missing");
    REFUSES(json_string(root, "i", &string, &trouble), "i: must be a string, is a number");
    REFUSES(json_number(root, "s", 0, 1, &number, &trouble), "s: must be a number, is a string");
    REFUSES(json_number(root, "n", 0, 1, &number, &trouble), "n: must be from 0 to 1, is 2.5");
    REFUSES(json_integer(root, "n", 0, 9, &integer, &trouble), "n: must be an integer from 0 to 9, is 2.5");
    REFUSES(json_integer(root, "i", 43, 99, &integer, &trouble),
            "i: must be an integer from 43 to 99, is 42");
    REFUSES(json_integer(root, "big", 0, INT64_MAX, &integer, &trouble),
            "big: must be an integer from 0 to 9223372036854775807, is 1.0000000000000001e+300");
    REFUSES(json_integer(root, "b", 0, 9, &integer, &trouble), "b: must be an integer, is true or false");
    REFUSES(json_array(root, "o", &at, &length, &trouble), "o: must be an array, is an object");
    REFUSES(json_object(root, "a", &at, &trouble), "a: must be an object, is an array");
    REFUSES(json_one_of(root, "s", some, &index, &trouble),
            "s: \"caf\xc3\xa9 \xf0\x9d\x84\x9e\" is unknown; accepted: i, n");
    REFUSES(json_one_of(root, "esc", some, &index, &trouble), "esc: \"?[31m\" is unknown; accepted: i, n");
    REFUSES(json_known_keys(root, some, &trouble), "unknown key \"s\"; accepted: i, n");
    struct json_cursor array;
    struct trouble none = {0};
    assert_int_equal(json_array(root, "a", &array, &length, &none), 0);
    REFUSES(json_known_keys(&array, some, &trouble), "a: must be an object, is an array");
    REFUSES(json_string(&array, "k", &string, &trouble), "a: must be an object, is an array");
    static const char *const not_u64[] = {"over", "zero", "minus", "space", "empty", "d", "junk"};
    for (size_t i = 0; i < sizeof not_u64 / sizeof *not_u64; i++) {
        struct trouble trouble = {0};
        assert_int_equal(json_u64_string(root, not_u64[i], &wide, &trouble), -1);
        assert_non_null(strstr(
            trouble.text, "must be a decimal integer from \"0\" to \"18446744073709551615\" in a string"));
    }
    static const char *const not_i64[] = {"u", "under", "zero", "no", "dash", "space", "empty", "d", "junk"};
    for (size_t i = 0; i < sizeof not_i64 / sizeof *not_i64; i++) {
        struct trouble trouble = {0};
        assert_int_equal(json_i64_string(root, not_i64[i], &integer, &trouble), -1);
        assert_non_null(strstr(trouble.text, "must be a decimal integer from \"-9223372036854775808\" to "));
    }
    static const char *const not_double[] = {"inf", "huge", "tiny", "xtiny", "space", "empty", "junk", "s"};
    for (size_t i = 0; i < sizeof not_double / sizeof *not_double; i++) {
        struct trouble trouble = {0};
        assert_int_equal(json_double_string(root, not_double[i], &number, &trouble), -1);
        assert_non_null(strstr(trouble.text, "must be a finite number in a string"));
    }
}

static void files_opened(void **state)
{
    (void)state;
    struct json_file file;
    struct trouble trouble = {0};
    assert_int_equal(json_open(&file, "/nonexistent/x.json", 99, &trouble), -1);
    assert_int_equal(trouble.exit, 99);
    assert_string_equal(trouble.text, "/nonexistent/x.json: cannot be read: No such file or directory");
    trouble = (struct trouble){0};
    assert_int_equal(json_open(&file, "/", 2, &trouble), -1);
    assert_non_null(strstr(trouble.text, "Is a directory"));
    trouble = (struct trouble){0};
    assert_int_equal(json_open(&file, "/dev/null", 2, &trouble), -1);
    assert_string_equal(trouble.text, "/dev/null: cannot be read: it is no regular file");

    char path[] = "/tmp/samplegate-cursor-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, sizeof text - 1), sizeof text - 1);
    close(descriptor);
    trouble = (struct trouble){0};
    assert_int_equal(json_open(&file, path, 2, &trouble), 0);
    assert_int_equal(file.bytes, sizeof text - 1);
    assert_memory_equal(file.text, text, sizeof text);
    json_close(&file);
    json_close(&file); /* a closed file is an empty one */
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_read),
        cmocka_unit_test(arrays_walked),
        cmocka_unit_test(wrong_values_refused),
        cmocka_unit_test(files_opened),
    };
    return cmocka_run_group_tests_name("json cursor", tests, open_text, close_text);
}
