/* values.h: the values that requests give one parameter, in bounded memory. */
#ifndef SAMPLEGATE_COST_VALUES_H
#define SAMPLEGATE_COST_VALUES_H
#include <cjson/cJSON.h>
#include "suite/sut/engines/engine.h"

#define VALUES_KEPT 16 /* the first that differ */

/* Zero-initialise. */
struct values {
    struct values_row {
        struct engine_value value; /* null, boolean or number */
        size_t requests;
    } row[VALUES_KEPT];
    size_t rows;
    size_t others; /* requests with yet other values */
};

/* Texts, arrays and objects count as what Python's truth makes of them. */
void values_add(struct values *values, const struct engine_value *value, size_t requests);
/* One value: that. Several: a list of {"value", "requests"}, most requests first, and the rest as {"others"}. None: null. */
cJSON *values_json(struct values *values);
#endif
