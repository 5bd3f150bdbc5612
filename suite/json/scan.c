/* scan.c: the strict JSON scanner that runs before cJSON.
 *
 * cJSON takes more than JSON allows and keeps less than a file says: of two equal keys the first wins, 2^53 +
 * 1 loses its last bit, 1e999 becomes infinity, a \u0000 ends the string, a number of 64 characters is cut.
 * Each of these is refused here, so that what cJSON holds afterwards is what the file says. Values are not
 * kept: this pass only judges. */
#include "suite/json/scan.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/json/keys.h"
#include "suite/json/utf8.h"

struct scanner {
    const char *name;
    const char *text;
    size_t bytes, at;
    int depth, exit;
    struct trouble *trouble;
    size_t line;  /* of the text's beginning */
    bool as_sent; /* scan_sent */
    scan_visit visit;
    void *context;
    const struct scan_member *inside; /* the member whose value is being read */
};

__attribute__((format(printf, 3, 4))) static int scan_trouble(const struct scanner *scanner, size_t at,
                                                              const char *format, ...)
{
    size_t line = scanner->line, column = 1;
    for (size_t i = 0; i < at && i < scanner->bytes; i++) {
        if (scanner->text[i] == '\n') {
            line++;
            column = 1;
        } else if (!utf8_is_continuation(scanner->text[i])) {
            column++;
        }
    }
    char what[512];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return trouble_set(scanner->trouble, scanner->exit, "%s:%zu:%zu: %s", scanner->name, line, column, what);
}

/* The byte at `at`, or -1 at the end of the text. */
static int scan_byte(const struct scanner *scanner, size_t at)
{
    return at < scanner->bytes ? (unsigned char)scanner->text[at] : -1;
}

static bool scan_is_digit(const struct scanner *scanner, size_t at)
{
    int byte = scan_byte(scanner, at);
    return byte >= '0' && byte <= '9';
}

/* What stands at `at`, for "found ...". */
static const char *scan_found(const struct scanner *scanner, char *text, size_t bytes)
{
    int byte = scan_byte(scanner, scanner->at);
    if (byte < 0)
        snprintf(text, bytes, "the end of the text");
    else if (byte > 0x20 && byte < 0x7f)
        snprintf(text, bytes, "'%c'", byte);
    else
        snprintf(text, bytes, "byte 0x%02x", (unsigned)byte);
    return text;
}

static int scan_expected(const struct scanner *scanner, const char *expected)
{
    char found[32];
    return scan_trouble(scanner, scanner->at, "expected %s, found %s", expected,
                        scan_found(scanner, found, sizeof found));
}

static void scan_space(struct scanner *scanner)
{
    for (;;) {
        int byte = scan_byte(scanner, scanner->at);
        if (byte != ' ' && byte != '\t' && byte != '\n' && byte != '\r')
            return;
        scanner->at++;
    }
}

static int scan_hex4(struct scanner *scanner, uint32_t *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++) {
        int byte = scan_byte(scanner, scanner->at);
        int digit = byte >= '0' && byte <= '9'   ? byte - '0'
                    : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
                    : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10
                                                 : -1;
        if (digit < 0)
            return scan_expected(scanner, "four hexadecimal digits after \\u");
        *value = *value * 16 + (uint32_t)digit;
        scanner->at++;
    }
    return 0;
}

/* The code point of an escape; scanner->at is behind its backslash. */
static int scan_escape(struct scanner *scanner, uint32_t *value)
{
    size_t start = scanner->at - 1;
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    int byte = scan_byte(scanner, scanner->at);
    const char *letter = byte > 0 ? strchr(letters, byte) : NULL;
    if (letter) {
        scanner->at++;
        *value = (uint32_t)(unsigned char)meanings[letter - letters];
        return 0;
    }
    if (byte != 'u')
        return scan_expected(scanner, "one of \" \\ / b f n r t u after a backslash");
    scanner->at++;
    if (scan_hex4(scanner, value))
        return -1;
    if (scanner->as_sent)
        return 0;
    if (*value == 0)
        return scan_trouble(scanner, start, "\\u0000 is refused: a string here cannot hold a NUL");
    if (*value >= 0xdc00 && *value <= 0xdfff)
        return scan_trouble(scanner, start,
                            "a low surrogate without the high one before it; write \\ud800..\\udbff first");
    if (*value < 0xd800 || *value > 0xdbff)
        return 0;
    uint32_t low = 0;
    if (scan_byte(scanner, scanner->at) == '\\' && scan_byte(scanner, scanner->at + 1) == 'u') {
        scanner->at += 2;
        if (scan_hex4(scanner, &low))
            return -1;
    }
    if (low < 0xdc00 || low > 0xdfff)
        return scan_trouble(scanner, start,
                            "a high surrogate without a low one after it; write \\udc00..\\udfff behind it");
    *value = 0x10000 + ((*value - 0xd800) << 10) + (low - 0xdc00);
    return 0;
}

/* A string, scanner->at on its opening quote. `keys`, if not NULL, takes its unescaped text. */
static int scan_string(struct scanner *scanner, struct key_list *keys)
{
    size_t start = scanner->at++;
    if (keys && key_list_begin(keys, start))
        return scan_trouble(scanner, start, "out of memory");
    for (;;) {
        int byte = scan_byte(scanner, scanner->at);
        if (byte < 0)
            return scan_trouble(scanner, start, "this string has no closing '\"'");
        if (byte == '"')
            break;
        if (byte < 0x20)
            return scan_trouble(scanner, scanner->at,
                                "control character 0x%02x in a string; write it as \\u%04x", (unsigned)byte,
                                (unsigned)byte);
        uint32_t value = (uint32_t)byte;
        if (byte == '\\') {
            scanner->at++;
            if (scan_escape(scanner, &value))
                return -1;
        } else if (byte < 0x80) {
            scanner->at++;
        } else {
            size_t length = utf8_read(scanner->text + scanner->at, scanner->bytes - scanner->at, &value);
            if (length == 0)
                return scan_trouble(scanner, scanner->at,
                                    "byte 0x%02x is not valid UTF-8 here; save the file as UTF-8",
                                    (unsigned)byte);
            scanner->at += length;
        }
        if (keys && key_list_add(keys, value))
            return scan_trouble(scanner, start, "out of memory");
    }
    scanner->at++;
    return 0;
}

/* Refuse an integer that a double rounds, a decimal that overflows, and one that vanishes though it is not 0. */
static int scan_number_value(const struct scanner *scanner, size_t start, bool decimal)
{
    char text[SCAN_NUMBER_MAX + 1];
    size_t length = scanner->at - start;
    if (length > SCAN_NUMBER_MAX)
        return scan_trouble(scanner, start, "a number of %zu characters; at most %d are accepted", length,
                            SCAN_NUMBER_MAX);
    memcpy(text, scanner->text + start, length);
    text[length] = 0;
    if (!decimal) {
        const char *digits = text + (text[0] == '-');
        if (strlen(digits) > 16 || strtoull(digits, NULL, 10) > (UINT64_C(1) << 53))
            return scan_trouble(
                scanner, start,
                "integer %s is beyond 2^53, which a double cannot hold exactly; 64-bit integers are "
                "written as strings",
                text);
        return 0;
    }
    double value = strtod(text, NULL);
    if (value - value != 0)
        return scan_trouble(scanner, start, "%s is larger than a double can hold (1.8e308)", text);
    size_t mantissa = strcspn(text, "eE");
    if (value == 0 && strcspn(text, "123456789") < mantissa)
        return scan_trouble(scanner, start, "%s is not 0 but smaller than a double can hold (4.9e-324)",
                            text);
    return 0;
}

static int scan_digits(struct scanner *scanner, const char *expected)
{
    if (!scan_is_digit(scanner, scanner->at))
        return scan_expected(scanner, expected);
    while (scan_is_digit(scanner, scanner->at))
        scanner->at++;
    return 0;
}

static int scan_number(struct scanner *scanner)
{
    size_t start = scanner->at;
    bool decimal = false;
    if (scan_byte(scanner, scanner->at) == '-')
        scanner->at++;
    if (scan_byte(scanner, scanner->at) == '0' && scan_is_digit(scanner, scanner->at + 1))
        return scan_trouble(scanner, start,
                            "a number may not begin with 0 and another digit; drop the leading 0");
    if (scan_digits(scanner, "a digit after '-'"))
        return -1;
    if (scan_byte(scanner, scanner->at) == '.') {
        decimal = true;
        scanner->at++;
        if (scan_digits(scanner, "a digit after '.'"))
            return -1;
    }
    int byte = scan_byte(scanner, scanner->at);
    if (byte == 'e' || byte == 'E') {
        decimal = true;
        byte = scan_byte(scanner, ++scanner->at);
        if (byte == '+' || byte == '-')
            scanner->at++;
        if (scan_digits(scanner, "a digit in the exponent"))
            return -1;
    }
    return scanner->as_sent ? 0 : scan_number_value(scanner, start, decimal);
}

static int scan_value(struct scanner *scanner);

static int scan_array(struct scanner *scanner)
{
    scanner->at++;
    scan_space(scanner);
    if (scan_byte(scanner, scanner->at) == ']') {
        scanner->at++;
        return 0;
    }
    for (;;) {
        if (scan_value(scanner))
            return -1;
        scan_space(scanner);
        int byte = scan_byte(scanner, scanner->at);
        if (byte != ',' && byte != ']')
            return scan_expected(scanner, "',' or ']' after an element");
        scanner->at++;
        if (byte == ']')
            return 0;
        scan_space(scanner);
    }
}

/* The value of a member; scanner->at is on it, its key from `start` to `end`, quotes included. */
static int scan_member(struct scanner *scanner, size_t start, size_t end)
{
    struct scan_member member = {.inside = scanner->inside,
                                 .key = scanner->text + start + 1,
                                 .key_bytes = end - start - 2,
                                 .value = scanner->text + scanner->at};
    scanner->inside = &member;
    if (scan_value(scanner))
        return -1;
    scanner->inside = member.inside;
    member.value_bytes = (size_t)(scanner->text + scanner->at - member.value);
    if (scanner->visit)
        scanner->visit(scanner->context, &member);
    return 0;
}

static int scan_members(struct scanner *scanner, struct key_list *keys)
{
    for (;;) {
        size_t start = scanner->at;
        if (scan_byte(scanner, start) != '"')
            return scan_expected(scanner, "a key in double quotes");
        if (scan_string(scanner, keys))
            return -1;
        size_t end = scanner->at;
        scan_space(scanner);
        if (scan_byte(scanner, scanner->at) != ':')
            return scan_expected(scanner, "':' after a key");
        scanner->at++;
        scan_space(scanner);
        if (scan_member(scanner, start, end))
            return -1;
        scan_space(scanner);
        int byte = scan_byte(scanner, scanner->at);
        if (byte != ',' && byte != '}')
            return scan_expected(scanner, "',' or '}' after a member");
        scanner->at++;
        if (byte == '}')
            return 0;
        scan_space(scanner);
    }
}

static int scan_object(struct scanner *scanner)
{
    scanner->at++;
    scan_space(scanner);
    if (scan_byte(scanner, scanner->at) == '}') {
        scanner->at++;
        return 0;
    }
    struct key_list keys = {0};
    int failed = scan_members(scanner, scanner->as_sent ? NULL : &keys);
    size_t place;
    if (!failed && !scanner->as_sent && key_list_duplicate(&keys, &place)) {
        size_t length = strcspn(scanner->text + place + 1, "\"");
        failed =
            scan_trouble(scanner, place, "key \"%.*s\" is already in this object; a key may be given once",
                         (int)(length < 64 ? length : 64), scanner->text + place + 1);
    }
    key_list_free(&keys);
    return failed;
}

static int scan_nested(struct scanner *scanner, bool object)
{
    if (scanner->depth == SCAN_DEPTH_MAX)
        return scan_trouble(scanner, scanner->at, "nested deeper than %d", SCAN_DEPTH_MAX);
    scanner->depth++;
    int failed = object ? scan_object(scanner) : scan_array(scanner);
    scanner->depth--;
    return failed;
}

static int scan_value(struct scanner *scanner)
{
    static const char *const words[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};
    int byte = scan_byte(scanner, scanner->at);
    if (byte == '{' || byte == '[')
        return scan_nested(scanner, byte == '{');
    if (byte == '"')
        return scan_string(scanner, NULL);
    for (size_t i = 0; i < (scanner->as_sent ? 6 : 3); i++)
        if (byte == *words[i] && strncmp(scanner->text + scanner->at, words[i], strlen(words[i])) == 0) {
            scanner->at += strlen(words[i]);
            return 0;
        }
    if (byte == '-' || scan_is_digit(scanner, scanner->at))
        return scan_number(scanner);
    return scan_expected(
        scanner, "a JSON value (object, array, \"string\", number such as 0.5 or -1e3, true, false or "
                 "null; not NaN or Infinity)");
}

static int scan_whole(struct scanner *scanner)
{
    const size_t bytes = scanner->bytes;
    if (bytes >= 3 && memcmp(scanner->text, "\xef\xbb\xbf", 3) == 0)
        return scan_trouble(scanner, 0, "begins with a byte order mark; save as UTF-8 without one");
    scan_space(scanner);
    if (scanner->at == bytes)
        return scan_trouble(scanner, 0, "%s; expected a JSON value", bytes ? "only white space" : "empty");
    if (scan_value(scanner))
        return -1;
    scan_space(scanner);
    return scanner->at == bytes ? 0 : scan_expected(scanner, "nothing after the value");
}

int scan_json(const char *name, const char *text, size_t bytes, int exit, struct trouble *trouble)
{
    struct scanner scanner = {name, text, bytes, 0, 0, exit, trouble, 1, false, NULL, NULL, NULL};
    return scan_whole(&scanner);
}

int scan_sent(const char *name, size_t line, const char *text, size_t bytes, scan_visit visit, void *context,
              struct trouble *trouble)
{
    struct scanner scanner = {name, text, bytes, 0, 0, EXIT_USAGE, trouble, line, true, visit, context, NULL};
    return scan_whole(&scanner);
}
