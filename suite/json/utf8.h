/* utf8.h: read one UTF-8 character, strictly. */
#ifndef SAMPLEGATE_UTF8_H
#define SAMPLEGATE_UTF8_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool utf8_is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* The length (1 to 4) and code point of the character that text[bytes] begins with. 0 if it is none: a stray or missing
 * continuation byte, an overlong form, a surrogate, or beyond U+10FFFF (RFC 3629). */
size_t utf8_read(const char *text, size_t bytes, uint32_t *value);
/* Write one code point as UTF-8; returns its length. */
size_t utf8_write(uint32_t value, char text[4]);
/* Whatever is no character becomes '?'. */
void utf8_force(char *text);
#endif
