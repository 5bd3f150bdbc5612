/* values.c: the values that requests give one parameter, in bounded memory. */
#include "suite/cost/values.h"

#include <math.h>
#include <stdlib.h>

void values_add(struct values *values, const struct engine_value *value, size_t requests)
{
    struct engine_value kept = *value;
    size_t i = 0;
    if (engine_is_set(value) && !engine_is_number(value)) {
        kept = engine_integer(engine_is_true(value));
        kept.kind = ENGINE_BOOLEAN;
    }
    while (i < values->rows && !(values->row[i].value.kind == kept.kind &&
                                 (values->row[i].value.number == kept.number ||
                                  (isnan(values->row[i].value.number) && isnan(kept.number))) &&
                                 values->row[i].value.integer == kept.integer))
        i++;
    if (i == VALUES_KEPT) {
        values->others += requests;
        return;
    }
    if (i == values->rows)
        values->row[values->rows++] = (struct values_row){.value = kept};
    values->row[i].requests += requests;
}

static cJSON *json_of(const struct engine_value *value)
{
    char text[40];
    switch (value->kind) {
    case ENGINE_BOOLEAN:
        return cJSON_CreateBool(value->integer != 0);
    case ENGINE_INTEGER: /* all digits: a seed has up to 19 */
        return cJSON_CreateRaw(engine_python_text(value, text, sizeof text));
    case ENGINE_FLOAT:
        return isfinite(value->number) ? cJSON_CreateNumber(value->number)
                                       : cJSON_CreateString(engine_python_text(value, text, sizeof text));
    default:
        return cJSON_CreateNull();
    }
}

static int by_requests(const void *a, const void *b)
{
    const struct values_row *x = a, *y = b;
    return (x->requests < y->requests) - (x->requests > y->requests);
}

cJSON *values_json(struct values *values)
{
    if (values->rows == 0)
        return cJSON_CreateNull();
    if (values->rows == 1)
        return json_of(&values->row[0].value);
    cJSON *list = cJSON_CreateArray();
    qsort(values->row, values->rows, sizeof *values->row, by_requests);
    for (size_t i = 0; i < values->rows; i++) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddItemToObject(row, "value", json_of(&values->row[i].value));
        cJSON_AddNumberToObject(row, "requests", (double)values->row[i].requests);
        cJSON_AddItemToArray(list, row);
    }
    if (values->others) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddNumberToObject(row, "others", (double)values->others);
        cJSON_AddItemToArray(list, row);
    }
    return list;
}
