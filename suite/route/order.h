/* order.h: requests in the order of arrival, so that a trace of any length is read once. */
#ifndef SAMPLEGATE_ROUTE_ORDER_H
#define SAMPLEGATE_ROUTE_ORDER_H
#include "suite/route/lines.h"
#include "suite/route/request.h"

/* Zero-initialise. */
struct order {
    bool begun, timed;
    double first, last; /* arrivals */
};

/* All lines have times or none, and times rise. -1: this one does not, with trouble and `reason` as request_read gives
 * them. */
int order_take(struct order *order, const struct request *request, const struct lines *lines,
               const char **reason, struct trouble *trouble);
#endif
