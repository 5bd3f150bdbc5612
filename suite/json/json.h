/* json.h: the strict reader in front of cJSON that every plan and golden goes through.
 *
 * A scanner of our own runs first and refuses, with file, line and column: bytes that are not UTF-8 JSON, duplicate keys,
 * numbers JSON forbids (01, +1, NaN, 1.) or a double cannot hold exactly as an integer or at all (2^53+1, 1e999),
 * trailing text, nesting deeper than 64. Then the typed getters below refuse, naming file and path of keys: unknown key,
 * wrong type, missing field, and say what is accepted. Bad plan: exit 2. Bad golden: exit 99 (the caller says which). */
#ifndef SAMPLEGATE_JSON_H
#define SAMPLEGATE_JSON_H
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "suite/trouble.h"

struct json_file {
    char *path; /* as the user would name it, for messages */
    char *text;
    size_t bytes;
    cJSON *root;
    int exit; /* the code its errors deserve */
};

/* Read and parse a whole file; the struct is zeroed first. Owned: json_close. */
int json_open(struct json_file *file, const char *path, int exit, struct trouble *trouble);
/* The same from memory (`name` for messages); text is copied. */
int json_parse(struct json_file *file, const char *name, const char *text, size_t bytes, int exit, struct trouble *trouble);
void json_close(struct json_file *file);

/* Where an object is, for messages: "cells[3]". A cursor borrows its file. */
struct json_cursor {
    const struct json_file *file;
    const cJSON *node;
    char where[256];
};
struct json_cursor json_root(const struct json_file *file);

/* Refuse any key of an object not in the NULL-terminated list; the message lists the accepted ones. */
int json_known_keys(const struct json_cursor *at, const char *const *keys, struct trouble *trouble);
/* Required members. Optional ones: test json_has first. */
bool json_has(const struct json_cursor *at, const char *key);
int json_string(const struct json_cursor *at, const char *key, const char **value, struct trouble *trouble);
int json_number(const struct json_cursor *at, const char *key, double low, double high, double *value, struct trouble *trouble);
int json_integer(const struct json_cursor *at, const char *key, int64_t low, int64_t high, int64_t *value, struct trouble *trouble);
int json_u64_string(const struct json_cursor *at, const char *key, uint64_t *value, struct trouble *trouble); /* "38117" */
int json_i64_string(const struct json_cursor *at, const char *key, int64_t *value, struct trouble *trouble); /* "-38117" */
int json_double_string(const struct json_cursor *at, const char *key, double *value, struct trouble *trouble); /* decimal or C hexfloat */
int json_one_of(const struct json_cursor *at, const char *key, const char *const *names, int *index, struct trouble *trouble);
int json_array(const struct json_cursor *at, const char *key, struct json_cursor *array, size_t *length, struct trouble *trouble);
int json_object(const struct json_cursor *at, const char *key, struct json_cursor *object, struct trouble *trouble);
/* Element i of an array cursor, whatever its type. */
struct json_cursor json_at(const struct json_cursor *array, size_t i);
/* The element after `element`: cJSON's arrays are lists, so a long one is walked from json_at(array, 0) with this. */
struct json_cursor json_next(const struct json_cursor *element);
int json_integer_here(const struct json_cursor *element, int64_t low, int64_t high, int64_t *value, struct trouble *trouble);
int json_integer_at(const struct json_cursor *array, size_t i, int64_t low, int64_t high, int64_t *value, struct trouble *trouble);
int json_string_at(const struct json_cursor *array, size_t i, const char **value, struct trouble *trouble);
/* Names of tables, cells and plans: what a file name and a command line can hold without quoting. `bytes`: room, with the NUL. */
#define JSON_NAME_RULE "1 to 63 letters, digits, '-', '.' or '_'"
bool json_is_name(const char *text, size_t bytes);
/* An error about this place, in the house's form: "FILE: WHERE: what". */
__attribute__((format(printf, 3, 4))) int json_trouble(const struct json_cursor *at, struct trouble *trouble, const char *format, ...);
#endif
