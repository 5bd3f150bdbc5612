/* test_scan.c: what the strict scanner accepts, and where and why it refuses the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suite/json/scan.h"

static const char *const accepted[] = {
    "{}",
    "[]",
    " \t\r\n [ ] \n",
    "null",
    "true",
    "\"\"",
    "0",
    "-0",
    "-0.0e-0",
    "0e-999",
    "0.000e+99",
    "9007199254740992",
    "-9007199254740992",
    "1.7976931348623157e308",
    "4.9e-324",
    "[1, 2.5, -3E+2, 4e-2]",
    "{\"a\":{\"a\":1},\"A\":[{\"a\":2},{\"a\":3}],\"\":0}",
    "\"\\\" \\\\ \\/ \\b\\f\\n\\r\\t \\u0041 \\uD834\\uDD1E\"",
    "\"\x7f \xc2\x80 \xe2\x82\xac \xf0\x9d\x84\x9e \xf4\x8f\xbf\xbf\"",
};

struct refused {
    const char *text;
    size_t line, column;
    const char *what; /* part of the message */
};
static const struct refused refused[] = {
    /* nothing, or more than one thing */
    {"", 1, 1, "empty; expected a JSON value"},
    {" \n ", 1, 1, "only white space; expected a JSON value"},
    {"\xef\xbb\xbf{}", 1, 1, "byte order mark"},
    {"{} {}", 1, 4, "expected nothing after the value, found '{'"},
    {"1 2", 1, 3, "expected nothing after the value, found '2'"},
    {"{}\n\n]", 3, 1, "found ']'"},
    /* structure */
    {"{", 1, 2, "expected a key in double quotes, found the end of the text"},
    {"[", 1, 2, "expected a JSON value"},
    {"[1,]", 1, 4, "found ']'"},
    {"[1 2]", 1, 4, "expected ',' or ']' after an element, found '2'"},
    {"{\"a\":1,}", 1, 8, "expected a key in double quotes, found '}'"},
    {"{\"a\" 1}", 1, 6, "expected ':' after a key, found '1'"},
    {"{\"a\":1 \"b\":2}", 1, 8, "expected ',' or '}' after a member, found '\"'"},
    {"{a:1}", 1, 2, "expected a key in double quotes, found 'a'"},
    {"{'a':1}", 1, 2, "expected a key in double quotes, found '''"},
    {"[1] // note", 1, 5, "found '/'"},
    {"[\n  1,\n  }", 3, 3, "found '}'"},
    {"True", 1, 1, "expected a JSON value"},
    {"nul", 1, 1, "expected a JSON value"},
    {"nullx", 1, 5, "found 'x'"},
    {"[\x01]", 1, 2, "found byte 0x01"},
    {"[\xc3\xa9]", 1, 2, "found byte 0xc3"},
    /* numbers */
    {"NaN", 1, 1, "not NaN or Infinity"},
    {"[Infinity]", 1, 2, "not NaN or Infinity"},
    {"-Infinity", 1, 2, "expected a digit after '-', found 'I'"},
    {"01", 1, 1, "drop the leading 0"},
    {"[1, -01]", 1, 5, "drop the leading 0"},
    {"+1", 1, 1, "found '+'"},
    {"1.", 1, 3, "expected a digit after '.', found the end of the text"},
    {".5", 1, 1, "found '.'"},
    {"1.e5", 1, 3, "expected a digit after '.', found 'e'"},
    {"1e", 1, 3, "expected a digit in the exponent"},
    {"1e+", 1, 4, "expected a digit in the exponent"},
    {"[1e5.5]", 1, 5, "expected ',' or ']' after an element, found '.'"},
    {"0x10", 1, 2, "found 'x'"},
    {"1_000", 1, 2, "found '_'"},
    {"-", 1, 2, "expected a digit after '-'"},
    {"--1", 1, 2, "expected a digit after '-', found '-'"},
    {"1e999", 1, 1, "1e999 is larger than a double can hold"},
    {"-1e309", 1, 1, "larger than a double can hold"},
    {"1e-999", 1, 1, "1e-999 is not 0 but smaller than a double can hold"},
    {"-0.0001e-400", 1, 1, "not 0 but smaller"},
    {"9007199254740993", 1, 1, "beyond 2^53"},
    {"-9007199254740993", 1, 1, "beyond 2^53"},
    {"[0,18446744073709551615]", 1, 4, "64-bit integers are written as strings"},
    {"99999999999999999999999999", 1, 1, "beyond 2^53"},
    {"0.1000000000000000000000000000000000000000000000000000000000000000000000001", 1, 1, "at most 60"},
    /* strings */
    {"\"abc", 1, 1, "no closing '\"'"},
    {"[\"a\n\"]", 1, 4, "control character 0x0a in a string; write it as \\u000a"},
    {"\"a\tb\"", 1, 3, "control character 0x09"},
    {"\"\\x41\"", 1, 3, "after a backslash, found 'x'"},
    {"\"\\", 1, 3, "after a backslash, found the end of the text"},
    {"\"\\u12g4\"", 1, 6, "four hexadecimal digits after \\u, found 'g'"},
    {"\"\\u12", 1, 6, "four hexadecimal digits after \\u, found the end"},
    {"\"a\\u0000\"", 1, 3, "cannot hold a NUL"},
    {"\"\\ud834\"", 1, 2, "a high surrogate without a low one"},
    {"\"\\ud834\\u0041\"", 1, 2, "a high surrogate without a low one"},
    {"\"\\ud834\\n\"", 1, 2, "a high surrogate without a low one"},
    {"\"\\udd1e\"", 1, 2, "a low surrogate without the high one"},
    {"\"\x80\"", 1, 2, "byte 0x80 is not valid UTF-8"},
    {"\"\xc3\"", 1, 2, "byte 0xc3 is not valid UTF-8"},
    {"\"\xc0\xaf\"", 1, 2, "byte 0xc0 is not valid UTF-8"},     /* overlong */
    {"\"\xe0\x80\xaf\"", 1, 2, "byte 0xe0 is not valid UTF-8"}, /* overlong */
    {"\"\xed\xa0\x80\"", 1, 2, "byte 0xed is not valid UTF-8"}, /* surrogate */
    {"\"\xf4\x90\x80\x80\"", 1, 2, "byte 0xf4 is not valid UTF-8"},
    {"\"\xff\"", 1, 2, "byte 0xff is not valid UTF-8"},
    {"[\"\xe2\x82\xac\xe2\x82\xac\", 01]", 1, 8, "drop the leading 0"}, /* a column is a character */
    /* keys */
    {"{\"a\":1,\"b\":2,\"a\":3}", 1, 14, "key \"a\" is already in this object"},
    {"{\"a\":1,\n \"\\u0061\":2}", 2, 2, "key \"\\u0061\" is already in this object"},
    {"[{\"x\":{\"k\":[{\"y\":1,\n\"z\":2,\n\"y\":{}}]}}]", 3, 1, "key \"y\" is already"},
    {"{\"\":1,\"\":2}", 1, 7, "key \"\" is already"},
    {"{\"\\ud834\\udd1e\":1,\"\xf0\x9d\x84\x9e\":2}", 1, 19, "is already in this object"},
};

static void texts_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        struct trouble trouble = {0};
        if (scan_json("t", accepted[i], strlen(accepted[i]), 2, &trouble))
            fail_msg("%s was refused: %s", accepted[i], trouble.text);
        assert_int_equal(trouble.exit, 0);
    }
}

static void texts_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct refused *this = &refused[i];
        struct trouble trouble = {0};
        char place[64];
        snprintf(place, sizeof place, "some/file.json:%zu:%zu: ", this->line, this->column);
        if (scan_json("some/file.json", this->text, strlen(this->text), 99, &trouble) != -1)
            fail_msg("%s was accepted", this->text);
        assert_int_equal(trouble.exit, 99);
        if (strncmp(trouble.text, place, strlen(place)) != 0 || !strstr(trouble.text, this->what))
            fail_msg("%s: expected %s... %s, got %s", this->text, place, this->what, trouble.text);
    }
}

static void nul_refused(void **state)
{
    (void)state;
    static const struct {
        char text[8];
        size_t bytes;
        const char *place;
    } nul[] = {
        {"[1]\0", 4, "t:1:4: "}, {"\"a\0b\"", 5, "t:1:3: "}, {"[\0]", 3, "t:1:2: "}, {"\0", 1, "t:1:1: "}};
    for (size_t i = 0; i < sizeof nul / sizeof *nul; i++) {
        struct trouble trouble = {0};
        assert_int_equal(scan_json("t", nul[i].text, nul[i].bytes, 2, &trouble), -1);
        assert_true(strncmp(trouble.text, nul[i].place, strlen(nul[i].place)) == 0);
    }
}

/* Every way to cut a text short is refused, without a read beyond its end (the sanitizers watch the
 * exact-size copy). */
static void cuts_refused(void **state)
{
    (void)state;
    static const char text[] =
        "{\"k\": [1.5e+3, \"a\\u20ac\xe2\x82\xac\\ud834\\udd1e\", {\"x\": null, \"y\": true}]}";
    for (size_t bytes = 0; bytes < sizeof text - 1; bytes++) {
        char *cut = malloc(bytes + 1);
        assert_non_null(cut);
        memcpy(cut, text, bytes);
        cut[bytes] = 0;
        struct trouble trouble = {0};
        assert_int_equal(scan_json("t", cut, bytes, 2, &trouble), -1);
        free(cut);
    }
    struct trouble trouble = {0};
    assert_int_equal(scan_json("t", text, sizeof text - 1, 2, &trouble), 0);
}

static void nesting_bounded(void **state)
{
    (void)state;
    char text[4 * SCAN_DEPTH_MAX];
    for (int depth = SCAN_DEPTH_MAX; depth <= SCAN_DEPTH_MAX + 1; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        struct trouble trouble = {0};
        int result = scan_json("t", text, 2 * (size_t)depth, 2, &trouble);
        assert_int_equal(result, depth == SCAN_DEPTH_MAX ? 0 : -1);
        if (result)
            assert_string_equal(trouble.text, "t:1:65: nested deeper than 64");
    }
}

/* 200,000 keys take no visible time, and the one duplicate among them is found. */
static void many_keys(void **state)
{
    (void)state;
    const size_t keys = 200000;
    const size_t room = keys * 16 + 64;
    char *text = malloc(room);
    if (!text)
        fail_msg("out of memory");
    size_t bytes = 0;
    for (size_t i = 0; i < keys; i++)
        bytes += (size_t)snprintf(text + bytes, room - bytes, "%c\"%06zu\":0", i ? ',' : '{', i);
    size_t before = bytes;
    bytes += (size_t)snprintf(text + bytes, room - bytes, "}");
    struct trouble trouble = {0};
    assert_int_equal(scan_json("t", text, bytes, 2, &trouble), 0);
    bytes = before + (size_t)snprintf(text + before, room - before, ",\n\"123456\":0}");
    assert_int_equal(scan_json("t", text, bytes, 2, &trouble), -1);
    assert_string_equal(trouble.text,
                        "t:2:1: key \"123456\" is already in this object; a key may be given once");
    free(text);
}

static void show(void *context, const struct scan_member *member)
{
    char *text = context;
    for (const struct scan_member *outer = member->inside; outer; outer = outer->inside)
        sprintf(text + strlen(text), "%.*s>", (int)outer->key_bytes, outer->key);
    sprintf(text + strlen(text), "%.*s=%.*s ", (int)member->key_bytes, member->key, (int)member->value_bytes,
            member->value);
}

/* What Python writes and reads, and the strict scanner refuses. */
static void texts_as_sent(void **state)
{
    (void)state;
    static const struct {
        const char *text, *members;
    } sent[] = {
        {"{\"a\":1,\"a\":2}", "a=1 a=2 "},
        {"[NaN, Infinity, -Infinity, -0, 9223372036854775807, 1e999, 1e-999]", ""},
        {"{\"s\": \"\\u0000 \\ud800 \\udc00\", \"n\": null}", "s=\"\\u0000 \\ud800 \\udc00\" n=null "},
        {"{\"a\": {\"b\" : {\"c\":-1.5}}, \"d\": [{\"e\": true}]}",
         "b>a>c=-1.5 a>b={\"c\":-1.5} a={\"b\" : {\"c\":-1.5}} d>e=true d=[{\"e\": true}] "},
    };
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
        struct trouble trouble = {0};
        char members[400] = "";
        if (scan_sent("t", 7, sent[i].text, strlen(sent[i].text), show, members, &trouble))
            fail_msg("%s was refused: %s", sent[i].text, trouble.text);
        assert_string_equal(members, sent[i].members);
        assert_int_equal(scan_json("t", sent[i].text, strlen(sent[i].text), 2, &trouble), i == 3 ? 0 : -1);
    }
    static const char *const never[] = {"{\"a\":01}",       "{\"a\":nan}", "-Inf",
                                        "{\"a\":\"\x01\"}", "{} {}",       "\"\\ud8\""};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        struct trouble trouble = {0};
        char members[400] = "";
        assert_int_equal(scan_sent("t", 7, never[i], strlen(never[i]), show, members, &trouble), -1);
        assert_true(strncmp(trouble.text, "t:7:", 4) == 0);
        assert_int_equal(trouble.exit, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_accepted), cmocka_unit_test(texts_refused),   cmocka_unit_test(nul_refused),
        cmocka_unit_test(cuts_refused),   cmocka_unit_test(nesting_bounded), cmocka_unit_test(many_keys),
        cmocka_unit_test(texts_as_sent),
    };
    return cmocka_run_group_tests_name("json scanner", tests, NULL, NULL);
}
