/* keys.h: the unescaped keys of one object, to find one given twice in n log n time. */
#ifndef SAMPLEGATE_KEYS_H
#define SAMPLEGATE_KEYS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key {
    size_t place;         /* offset in the file, for messages */
    size_t start, length; /* in key_list.text */
};

/* Zero-initialise; key_list_free. */
struct key_list {
    struct key *key;
    size_t keys, keys_room;
    char *text;
    size_t bytes, bytes_room;
};

/* Start a key, then add its characters. Returns -1 when out of memory. */
int key_list_begin(struct key_list *list, size_t place);
int key_list_add(struct key_list *list, uint32_t character);
/* The place of the first key in the file that repeats an earlier one. Sorts the list. */
bool key_list_duplicate(struct key_list *list, size_t *place);
void key_list_free(struct key_list *list);
#endif
