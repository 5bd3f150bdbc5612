/* trouble.c: fill in a struct trouble, in one line. */
#include "suite/trouble.h"

#include <stdarg.h>
#include <stdio.h>

int trouble_set(struct trouble *trouble, int exit, const char *format, ...)
{
    if (trouble->exit)
        return -1;
    va_list list;
    va_start(list, format);
    vsnprintf(trouble->text, sizeof trouble->text, format, list);
    va_end(list);
    trouble_flatten(trouble->text);
    trouble->exit = exit;
    return -1;
}

void trouble_flatten(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == '\x7f')
            *text = ' ';
        else if (*text == '\xc2' && (unsigned char)text[1] >= 0x80 && (unsigned char)text[1] < 0xa0)
            text[0] = text[1] = ' '; /* U+0080 to U+009F are controls, too */
}
