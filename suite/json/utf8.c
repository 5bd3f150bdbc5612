/* utf8.c: read one UTF-8 character, strictly, write one, and mend text that is none. */
#include "suite/json/utf8.h"

#include <string.h>

size_t utf8_read(const char *text, size_t bytes, uint32_t *value)
{
    if (bytes == 0)
        return 0;
    unsigned char head = (unsigned char)text[0];
    size_t length = head < 0x80             ? 1
                    : (head & 0xe0) == 0xc0 ? 2
                    : (head & 0xf0) == 0xe0 ? 3
                    : (head & 0xf8) == 0xf0 ? 4
                                            : 0;
    if (length == 0 || length > bytes)
        return 0;
    *value = length == 1 ? head : head & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (!utf8_is_continuation(text[i]))
            return 0;
        *value = *value << 6 | ((unsigned char)text[i] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (*value < least[length] || *value > 0x10ffff || (*value >= 0xd800 && *value <= 0xdfff))
        return 0;
    return length;
}

size_t utf8_write(uint32_t value, char text[4])
{
    size_t length = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
    static const uint32_t mark[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--) {
        text[i] = (char)(0x80 | (value & 0x3f));
        value >>= 6;
    }
    text[0] = (char)(mark[length] | value);
    return length;
}

void utf8_force(char *text)
{
    uint32_t value;
    for (size_t left = strlen(text), length; left; text += length, left -= length)
        if (!(length = utf8_read(text, left, &value))) {
            *text = '?';
            length = 1;
        }
}
