/* test_frame.c: frames come back as they were written, through files and pipes, within the time given.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/protocol/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static char why[256];

/* A file of these bytes, at its start. */
static int file_of(const void *bytes, size_t count)
{
    int fd = memfd_create("frame", 0);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, count), (ssize_t)count);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void round_trip(void **state)
{
    (void)state;
    const uint8_t kept[5] = {1, 0, 1, 1, 0};
    const int32_t token[3] = {5, -1, 151935};
    const double temperature[1] = {0.7};
    const float values[2 * 3] = {0, 1, 2, -1e30f, 4, 5};
    const uint64_t five[] = {5}, three[] = {3}, one[] = {1}, two_three[] = {2, 3}, none[] = {0, 7};
    struct frame out = {0}, in = {0};
    frame_set(&out, "message", "replaced below");
    frame_set(&out, "message", "tokens");
    frame_set(&out, "text", "a \"quoted\" line\nwith \\ and \xc3\xa9");
    frame_set_u64(&out, "seed", UINT64_MAX);
    frame_add(&out, "kept", FRAME_U8, 1, five,
              kept); /* five bytes first, to misalign what follows if order did not matter */
    frame_add(&out, "token", FRAME_I32, 1, three, token);
    frame_add(&out, "temperature", FRAME_F64, 1, one, temperature);
    frame_add(&out, "values", FRAME_F32, 2, two_three, values);
    frame_add(&out, "empty", FRAME_I64, 2, none, NULL);
    int fd = file_of("", 0);
    assert_int_equal(frame_write(fd, &out, -1, why, sizeof why), FRAME_OK);
    assert_int_equal(frame_write(fd, &out, 1000, why, sizeof why), FRAME_OK);
    lseek(fd, 0, SEEK_SET);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(frame_read(fd, &in, -1, why, sizeof why), FRAME_OK);
        assert_int_equal(in.entries, 3);
        assert_int_equal(in.arrays, 5);
        assert_string_equal(frame_get(&in, "message"), "tokens");
        assert_string_equal(frame_get(&in, "text"), frame_get(&out, "text"));
        assert_null(frame_get(&in, "absent"));
        assert_null(frame_find(&in, "absent"));
        for (size_t a = 0; a < out.arrays; a++) {
            const struct frame_array *was = &out.array[a], *is = frame_find(&in, was->name);
            assert_non_null(is);
            assert_int_equal(is->dtype, was->dtype);
            assert_int_equal(is->rank, was->rank);
            assert_memory_equal(is->shape, was->shape, sizeof was->shape);
            assert_int_equal(is->bytes, was->bytes);
            assert_int_equal((uintptr_t)is->data % frame_dtype_bytes(is->dtype), 0);
            if (was->bytes)
                assert_memory_equal(is->data, was->data, was->bytes);
        }
        frame_free(&in);
    }
    assert_int_equal(frame_read(fd, &in, -1, why, sizeof why), FRAME_END);
    frame_free(&out);
    close(fd);
}

static void numbers(void **state)
{
    (void)state;
    const struct {
        const char *text;
        bool good;
        uint64_t value;
    } cases[] = {{"0", true, 0},   {"38117", true, 38117}, {"18446744073709551615", true, UINT64_MAX},
                 {"", false, 0},   {"-1", false, 0},       {"18446744073709551616", false, 0},
                 {"01", false, 0}, {" 1", false, 0},       {"184467440737095516150", false, 0},
                 {"1 ", false, 0}, {"+1", false, 0},       {"1e3", false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct frame frame = {0};
        uint64_t value = 7;
        frame_set(&frame, "n", cases[i].text);
        assert_int_equal(frame_get_u64(&frame, "n", &value), cases[i].good);
        if (cases[i].good)
            assert_true(value == cases[i].value);
        assert_false(frame_get_u64(&frame, "m", &value));
        frame_free(&frame);
    }
}

/* Bytes written by the safetensors library 0.8 from Python (numpy arrays, metadata given): its order and
 * padding. */
static void python_file(void **state)
{
    (void)state;
    static const char json[] = "{\"__metadata__\":{\"message\":\"tokens\",\"chunk\":\"3\"},"
                               "\"temperature\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]},"
                               "\"token\":{\"dtype\":\"I32\",\"shape\":[3],\"data_offsets\":[8,20]},"
                               "\"half\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[20,26]}}    ";
    static const char data[] = "ffffff\xe6?\x05\0\0\0\xff\xff\xff\xff\x07\0\0\0\0<\0@\0B";
    const uint64_t header = sizeof json - 1, total = 8 + header + sizeof data - 1;
    char bytes[512];
    memcpy(bytes, &total, 8);
    memcpy(bytes + 8, &header, 8);
    memcpy(bytes + 16, json, header);
    memcpy(bytes + 16 + header, data, sizeof data - 1);
    int fd = file_of(bytes, 8 + total);
    struct frame in = {0};
    assert_int_equal(frame_read(fd, &in, -1, why, sizeof why), FRAME_OK);
    assert_string_equal(frame_get(&in, "message"), "tokens");
    assert_true(*(const double *)frame_find(&in, "temperature")->data == 0.7);
    const int32_t *token = frame_find(&in, "token")->data;
    assert_int_equal(token[0], 5);
    assert_int_equal(token[1], -1);
    assert_int_equal(token[2], 7);
    const uint16_t *half = frame_find(&in, "half")->data;
    assert_int_equal(half[0], 0x3c00);
    assert_int_equal(half[2], 0x4200);
    frame_free(&in);
    close(fd);
}

/* A header whose length is no multiple of 4, as old writers left it: the arrays arrive as aligned copies. */
static void misaligned_file(void **state)
{
    (void)state;
    static const char json[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                               "\"b\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[1,9]},"
                               "\"c\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[9,17]}}";
    const uint8_t data[17] = {9, 1, 0, 0, 0, 2, 0, 0, 0, 3};
    for (size_t pad = 0; pad < 8; pad++) {
        const uint64_t header = sizeof json - 1 + pad, total = 8 + header + sizeof data;
        char bytes[512];
        memset(bytes, ' ', sizeof bytes);
        memcpy(bytes, &total, 8);
        memcpy(bytes + 8, &header, 8);
        memcpy(bytes + 16, json, sizeof json - 1);
        memcpy(bytes + 16 + header, data, sizeof data);
        int fd = file_of(bytes, 8 + total);
        struct frame in = {0};
        assert_int_equal(frame_read(fd, &in, -1, why, sizeof why), FRAME_OK);
        assert_int_equal(in.entries, 0);
        for (size_t a = 0; a < 3; a++)
            assert_int_equal((uintptr_t)in.array[a].data % frame_dtype_bytes(in.array[a].dtype), 0);
        assert_int_equal(*(const uint8_t *)frame_find(&in, "a")->data, 9);
        assert_int_equal(((const int32_t *)frame_find(&in, "b")->data)[1], 2);
        assert_int_equal(*(const int64_t *)frame_find(&in, "c")->data, 3);
        frame_free(&in);
        close(fd);
    }
}

struct drip {
    int from, to;
};

/* Passes a frame on a few bytes at a time: every read of the other side is short. */
static void *drip_run(void *context)
{
    const struct drip *drip = context;
    char bytes[7];
    ssize_t got;
    while ((got = read(drip->from, bytes, sizeof bytes)) > 0 && write(drip->to, bytes, (size_t)got) == got)
        ;
    close(drip->to);
    return NULL;
}

static void short_reads(void **state)
{
    (void)state;
    int64_t positions[4000];
    for (size_t i = 0; i < 4000; i++)
        positions[i] = (int64_t)(i * i);
    const uint64_t shape[] = {4000};
    struct frame out = {0}, in = {0};
    frame_add(&out, "positions", FRAME_I64, 1, shape, positions);
    int file = file_of("", 0), ends[2];
    assert_int_equal(frame_write(file, &out, -1, why, sizeof why), FRAME_OK);
    lseek(file, 0, SEEK_SET);
    assert_int_equal(pipe(ends), 0);
    struct drip drip = {file, ends[1]};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, drip_run, &drip), 0);
    assert_int_equal(frame_read(ends[0], &in, 10000, why, sizeof why), FRAME_OK);
    assert_memory_equal(frame_find(&in, "positions")->data, positions, sizeof positions);
    frame_free(&in);
    assert_int_equal(frame_read(ends[0], &in, 10000, why, sizeof why), FRAME_END);
    pthread_join(thread, NULL);
    frame_free(&out);
    close(file);
    close(ends[0]);
}

static void read_times_out(void **state)
{
    (void)state;
    int ends[2];
    struct frame in = {0};
    assert_int_equal(pipe(ends), 0);
    double start = seconds();
    assert_int_equal(frame_read(ends[0], &in, 50, why, sizeof why), FRAME_TIMEOUT);
    assert_int_equal(write(ends[1], "\x40\0\0\0\0\0\0\0half", 12), 12);
    assert_int_equal(frame_read(ends[0], &in, 50, why, sizeof why), FRAME_TIMEOUT);
    assert_true(seconds() - start > 0.09 && seconds() - start < 5);
    assert_non_null(strstr(why, "time"));
    assert_int_equal(in.entries + in.arrays, 0);
    close(ends[0]);
    close(ends[1]);
}

/* More than a pipe holds, and nobody reads: the writer gives up in time, and the descriptor blocks again
 * afterwards. */
static void write_times_out(void **state)
{
    (void)state;
    const uint64_t shape[] = {1 << 20};
    uint8_t *data = calloc(1, 1 << 20);
    struct frame out = {0};
    int ends[2];
    frame_add(&out, "kept", FRAME_U8, 1, shape, data);
    assert_int_equal(pipe(ends), 0);
    double start = seconds();
    assert_int_equal(frame_write(ends[1], &out, 50, why, sizeof why), FRAME_TIMEOUT);
    assert_true(seconds() - start > 0.04 && seconds() - start < 5);
    close(ends[0]);
    assert_int_equal(frame_write(ends[1], &out, -1, why, sizeof why), FRAME_IO);
    assert_non_null(strstr(why, strerror(EPIPE)));
    assert_int_equal(frame_write(ends[1], &out, 50, why, sizeof why), FRAME_IO);
    close(ends[1]);
    assert_int_equal(frame_write(ends[1], &out, -1, why, sizeof why), FRAME_IO);
    frame_free(&out);
    free(data);
}

/* A frame too long to be read is not written either: nothing reaches the descriptor. */
static void write_too_long(void **state)
{
    (void)state;
    const uint64_t shape[] = {FRAME_BYTES_MAX};
    struct frame out = {0};
    int fd = file_of("", 0);
    frame_add(&out, "kept", FRAME_U8, 1, shape, "");
    assert_int_equal(frame_write(fd, &out, -1, why, sizeof why), FRAME_BROKEN);
    assert_int_equal(lseek(fd, 0, SEEK_END), 0);
    frame_free(&out);
    close(fd);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),      cmocka_unit_test(numbers),        cmocka_unit_test(python_file),
        cmocka_unit_test(misaligned_file), cmocka_unit_test(short_reads),    cmocka_unit_test(read_times_out),
        cmocka_unit_test(write_times_out), cmocka_unit_test(write_too_long),
    };
    return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
