/* fields.c: the members of a body on which no path depends, and which can refuse it all the same.
 *
 * Bodies are long and these members short, so they alone become a tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/route/body.h"
#include "suite/sut/engines/ask.h"

static bool is(const struct request_field *field, const char *key, size_t bytes)
{
    return field->key_bytes == bytes && memcmp(field->key, key, bytes) == 0;
}

void fields_keep(struct request *request, const struct scan_member *member, bool nested)
{
    const bool looked_at = body_is_field(member);
    size_t i = 0;
    if (!looked_at && !nested)
        return;
    while (i < request->fields &&
           !(request->field[i].nested == nested && is(&request->field[i], member->key, member->key_bytes)))
        i++;
    if (i == REQUEST_FIELDS)
        return;
    request->field[i] = (struct request_field){member->key, member->value, member->key_bytes,
                                               looked_at ? member->value_bytes : 0, nested};
    request->fields += i == request->fields;
}

/* Parameters have checks of their own. */
static bool is_parameter(const struct engine *engine, enum engine_endpoint endpoint,
                         const struct request_field *field)
{
    for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++) {
        const char *key = engine->key(endpoint, p);
        if (key && is(field, key, strlen(key)))
            return true;
    }
    return false;
}

char *request_fields(const struct request *request, const struct engine *engine)
{
    const bool nested = request->endpoint == ENGINE_GENERATE && engine->nest;
    char *text = NULL;
    size_t bytes;
    FILE *to = NULL;
    for (size_t i = 0; engine->check_fields && i < request->fields; i++) {
        const struct request_field *field = &request->field[i];
        if (field->nested != nested ||
            (!field->value_bytes && is_parameter(engine, request->endpoint, field)))
            continue;
        if (!to)
            to = engine_memory(open_memstream(&text, &bytes));
        fprintf(to, "%s\"%.*s\":%.*s", ftell(to) ? "," : "{", (int)field->key_bytes, field->key,
                field->value_bytes ? (int)field->value_bytes : 4, field->value_bytes ? field->value : "null");
    }
    if (to) {
        putc('}', to);
        fclose(to);
    }
    return text;
}
