/* keys.c: the unescaped keys of one object, to find one given twice in n log n time. */
#include "suite/json/keys.h"

#include <stdlib.h>
#include <string.h>

#include "suite/json/utf8.h"

/* Room for one more element of `size` bytes. */
static int grow(void **data, size_t used, size_t *room, size_t more, size_t size)
{
    if (used + more <= *room)
        return 0;
    size_t wanted = *room ? *room * 2 : 64;
    void *larger = realloc(*data, wanted * size);
    if (!larger)
        return -1;
    *data = larger;
    *room = wanted;
    return 0;
}

int key_list_begin(struct key_list *list, size_t place)
{
    void *data = list->key;
    if (grow(&data, list->keys, &list->keys_room, 1, sizeof *list->key))
        return -1;
    list->key = data;
    list->key[list->keys++] = (struct key){place, list->bytes, 0};
    return 0;
}

int key_list_add(struct key_list *list, uint32_t character)
{
    void *data = list->text;
    if (grow(&data, list->bytes, &list->bytes_room, 4, 1))
        return -1;
    list->text = data;
    size_t length = utf8_write(character, list->text + list->bytes);
    list->bytes += length;
    list->key[list->keys - 1].length += length;
    return 0;
}

static int same_text(const struct key *a, const struct key *b, const char *text)
{
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return a->length ? memcmp(text + a->start, text + b->start, a->length) : 0;
}

/* By text, then by place in the file. */
static int key_order(const void *left, const void *right, void *text)
{
    const struct key *a = left, *b = right;
    int order = same_text(a, b, text);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

bool key_list_duplicate(struct key_list *list, size_t *place)
{
    bool found = false;
    qsort_r(list->key, list->keys, sizeof *list->key, key_order, list->text);
    for (size_t i = 1; i < list->keys; i++) {
        const struct key *a = &list->key[i - 1], *b = &list->key[i];
        if (same_text(a, b, list->text) == 0 && (!found || b->place < *place)) {
            found = true;
            *place = b->place;
        }
    }
    return found;
}

void key_list_free(struct key_list *list)
{
    free(list->key);
    free(list->text);
    *list = (struct key_list){0};
}
