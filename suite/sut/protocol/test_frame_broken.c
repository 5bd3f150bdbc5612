/* test_frame_broken.c: every kind of malformed frame is refused with its reason, and random damage never
 * crashes.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/protocol/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char why[256];

static enum frame_result read_bytes(const void *bytes, size_t count, struct frame *in)
{
    int fd = memfd_create("frame", 0);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, count), (ssize_t)count);
    lseek(fd, 0, SEEK_SET);
    enum frame_result result = frame_read(fd, in, -1, why, sizeof why);
    close(fd);
    return result;
}

/* A frame of this header and `data` bytes of data; the lengths are right unless they are given. */
static size_t frame_bytes(char *bytes, const char *json, size_t data)
{
    const uint64_t header = strlen(json), total = 8 + header + data;
    memcpy(bytes, &total, 8);
    memcpy(bytes + 8, &header, 8);
    memcpy(bytes + 16, json, header);
    memset(bytes + 16 + header, 0, data);
    return 8 + (size_t)total;
}

#define ARRAY(text) "{\"a\":{" text "}}"
#define LONG_NAME "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* Each header with 8 bytes of data, and a word of the reason given. */
static const struct {
    const char *json, *reason;
} broken_header[] = {
    {"", "does not start"},
    {"[]", "does not start"},
    {"\xef\xbb\xbf{}", "does not start"},
    {" {}", "does not start"},
    {"{", "not JSON"},
    {"{\"a\"}", "not JSON"},
    {"{\"a\":01e}", "not JSON"},
    {"{} x", "text after"},
    {"{}{}", "text after"},
    {"{\"__metadata__\":[]}", "not an object"},
    {"{\"__metadata__\":{\"seed\":1}}", "'seed' is not a string"},
    {"{\"__metadata__\":{\"seed\":null}}", "'seed' is not a string"},
    {"{\"__metadata__\":{\"a\":\"1\",\"b\":\"1\",\"a\":\"2\"}}", "'a' stands twice"},
    {"{\"__metadata__\":{\"a\":\"1\"},\"__metadata__\":{\"b\":\"1\"}}", "two __metadata__"},
    {"{\"__metadata__\":{\"a\":\"x\\u0000y\"}}", "NUL"},
    {"{\"a\":1}", "not an object of"},
    {ARRAY("\"dtype\":\"I32\",\"shape\":[2]"), "not an object of"},
    {ARRAY("\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1"), "not an object of"},
    {ARRAY("\"dtype\":\"I32\",\"shape\":[2],\"offsets\":[0,8]"), "data_offsets"},
    {ARRAY("\"dtype\":\"F8_E4M3\",\"shape\":[8],\"data_offsets\":[0,8]"), "'F8_E4M3'"},
    {ARRAY("\"dtype\":\"i32\",\"shape\":[2],\"data_offsets\":[0,8]"), "'i32'"},
    {ARRAY("\"dtype\":4,\"shape\":[2],\"data_offsets\":[0,8]"), "dtype is not"},
    {ARRAY("\"dtype\":\"I32\",\"shape\":2,\"data_offsets\":[0,8]"), "shape is not"},
    {ARRAY("\"dtype\":\"I32\",\"shape\":[-2],\"data_offsets\":[0,8]"), "whole number"},
    {ARRAY("\"dtype\":\"I32\",\"shape\":[1.5],\"data_offsets\":[0,6]"), "whole number"},
    {ARRAY("\"dtype\":\"I32\",\"shape\":[\"2\"],\"data_offsets\":[0,8]"), "whole number"},
    {ARRAY("\"dtype\":\"I32\",\"shape\":[1e999],\"data_offsets\":[0,8]"), "whole number"},
    {ARRAY("\"dtype\":\"I32\",\"shape\":[1,1,1,2],\"data_offsets\":[0,8]"), "3 dimensions"},
    {ARRAY("\"dtype\":\"I64\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,8]"), "2^64"},
    {ARRAY("\"dtype\":\"I64\",\"shape\":[2305843009213693952],\"data_offsets\":[0,8]"), "whole number"},
    {ARRAY("\"dtype\":\"I32\",\"shape\":[3],\"data_offsets\":[0,8]"), "12 bytes"},
    {ARRAY("\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[1,9]"), "not within"},
    {ARRAY("\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[8,0]"), "not within"},
    {ARRAY("\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[0]"), "two whole"},
    {ARRAY("\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[0,8,8]"), "two whole"},
    {ARRAY("\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[-8,0]"), "two whole"},
    {ARRAY("\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":{\"a\":0,\"b\":\"8\"}"), "two whole"},
    {"{\"\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", "name of 0"},
    {"{\"" LONG_NAME "\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", "name of 32"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
     "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
     "two arrays named 'a'"},
};

static void headers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken_header / sizeof *broken_header; i++) {
        char bytes[1024];
        struct frame in = {0};
        size_t count = frame_bytes(bytes, broken_header[i].json, 8);
        assert_int_equal(read_bytes(bytes, count, &in), FRAME_BROKEN);
        if (!strstr(why, broken_header[i].reason))
            fail_msg("%s: the reason given is \"%s\"", broken_header[i].json, why);
        assert_true(!in.buffer && !in.entry && !in.entries && !in.arrays);
    }
    /* An escaped backslash before u0000 is text, not a NUL. */
    char bytes[1024];
    struct frame in = {0};
    size_t count = frame_bytes(bytes, "{\"__metadata__\":{\"a\":\"\\\\u0000\"}}", 0);
    assert_int_equal(read_bytes(bytes, count, &in), FRAME_OK);
    assert_string_equal(frame_get(&in, "a"), "\\u0000");
    frame_free(&in);
}

static void too_many_arrays(void **state)
{
    (void)state;
    char json[4096] = "{", bytes[8192];
    for (int i = 0; i <= FRAME_ARRAYS_MAX; i++) {
        size_t used = strlen(json);
        snprintf(json + used, sizeof json - used,
                 "%s\"a%d\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}", i ? "," : "", i);
    }
    strcat(json, "}");
    struct frame in = {0};
    assert_int_equal(read_bytes(bytes, frame_bytes(bytes, json, 0), &in), FRAME_BROKEN);
    assert_non_null(strstr(why, "more than 32 arrays"));
}

/* Lengths: of the frame, and of the header within it. */
static void lengths(void **state)
{
    (void)state;
    char bytes[256];
    size_t count = frame_bytes(bytes, "{}", 8);
    struct frame in = {0};
    for (size_t cut = 1; cut < count; cut++) {
        assert_int_equal(read_bytes(bytes, cut, &in), FRAME_BROKEN);
        assert_non_null(strstr(why, "the input ended after"));
    }
    assert_int_equal(read_bytes(bytes, 0, &in), FRAME_END);
    const uint64_t frame_length[] = {0, 7, FRAME_BYTES_MAX + 1, (uint64_t)1 << 60, UINT64_MAX};
    for (size_t i = 0; i < sizeof frame_length / sizeof *frame_length; i++) {
        memcpy(bytes, &frame_length[i], 8);
        assert_int_equal(read_bytes(bytes, count, &in), FRAME_BROKEN);
        assert_non_null(strstr(why, i < 2 ? "no header length" : "are accepted"));
    }
    const uint64_t header_length[] = {11, 1 << 20, (uint64_t)1 << 63, UINT64_MAX, UINT64_MAX - 7};
    for (size_t i = 0; i < sizeof header_length / sizeof *header_length; i++) {
        count = frame_bytes(bytes, "{}", 8);
        memcpy(bytes + 8, &header_length[i], 8);
        assert_int_equal(read_bytes(bytes, count, &in), FRAME_BROKEN);
        assert_non_null(strstr(why, "a header of"));
    }
    /* A plausible length and nothing behind it: no memory is spent on the promise. */
    const uint64_t largest = FRAME_BYTES_MAX;
    memcpy(bytes, &largest, 8);
    assert_int_equal(read_bytes(bytes, count, &in), FRAME_BROKEN);
}

static uint32_t fuzz_state;

static uint32_t fuzz_number(uint32_t below)
{
    fuzz_state = fuzz_state * 1664525u + 1013904223u;
    return (fuzz_state >> 8) % below;
}

static void mutate(char *bytes, size_t *count, size_t room)
{
    static const char spice[] = "{}[]\":,0123456789-.eE\\u \xff";
    for (uint32_t edits = 1 + fuzz_number(4); edits > 0; edits--) {
        size_t at = fuzz_number((uint32_t)*count);
        switch (fuzz_number(5)) {
        case 0:
            bytes[at] = (char)fuzz_number(256);
            break;
        case 1:
            bytes[at] = spice[fuzz_number(sizeof spice - 1)];
            break;
        case 2: /* drop a byte */
            memmove(bytes + at, bytes + at + 1, *count - at - 1);
            *count -= *count > 1;
            break;
        case 3: /* double a piece */
            if (*count + 40 < room) {
                size_t piece = 1 + fuzz_number(40);
                piece = piece < *count - at ? piece : *count - at;
                memmove(bytes + at + piece, bytes + at, *count - at);
                *count += piece;
            }
            break;
        default: /* bit flip within the JSON */
            bytes[16 + fuzz_number((uint32_t)(*count > 16 ? *count - 16 : 1))] ^= (char)(1 << fuzz_number(8));
        }
    }
    /* Mostly keep the lengths true, so that the damage reaches the parser. */
    if (fuzz_number(4) && *count > 16) {
        uint64_t total = *count - 8;
        memcpy(bytes, &total, 8);
    }
}

/* Under ASan this also proves that accepted arrays lie within their buffer: every byte of them is read. */
static void random_damage(void **state)
{
    (void)state;
    static const char json[] =
        "{\"__metadata__\":{\"message\":\"sample\",\"seed\":\"38117\",\"kind\":\"logits\"},"
        "\"temperature\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]},"
        "\"values\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[8,32]},"
        "\"row_index\":{\"dtype\":\"I32\",\"shape\":[4],\"data_offsets\":[32,48]}}  ";
    size_t accepted = 0, refused = 0;
    uint32_t sum = 0;
    for (uint32_t round = 0; round < 20000; round++) {
        char bytes[2048] = {0};
        size_t count = frame_bytes(bytes, json, 48);
        fuzz_state = round;
        mutate(bytes, &count, sizeof bytes);
        struct frame in = {0};
        enum frame_result result = read_bytes(bytes, count, &in);
        assert_true(result == FRAME_OK || result == FRAME_BROKEN);
        if (result == FRAME_OK)
            accepted++;
        else {
            refused++;
            assert_true(why[0] != '\0' && !in.buffer);
        }
        for (size_t a = 0; a < in.arrays; a++)
            for (uint64_t b = 0; b < in.array[a].bytes; b++)
                sum += ((const uint8_t *)in.array[a].data)[b];
        frame_free(&in);
    }
    print_message("%zu of 20,000 damaged frames refused, %zu still whole (byte sum %u)\n", refused, accepted,
                  sum);
    assert_true(refused > 5000 && accepted > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers),
        cmocka_unit_test(too_many_arrays),
        cmocka_unit_test(lengths),
        cmocka_unit_test(random_damage),
    };
    return cmocka_run_group_tests_name("frame, broken", tests, NULL, NULL);
}
