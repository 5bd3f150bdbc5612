/* order.c: requests in the order of arrival, so that a trace of any length is read once. */
#include "suite/route/order.h"

int order_take(struct order *order, const struct request *request, const struct lines *lines,
               const char **reason, struct trouble *trouble)
{
    if (order->begun && request->timed != order->timed) {
        *reason = "times on some lines only";
        return trouble_set(trouble, EXIT_USAGE, "%s:%zu: arrival: %s; accepted: on every line or on none",
                           lines->name, lines->line,
                           request->timed ? "given here and not before" : "is missing");
    }
    if (order->begun && request->timed && request->arrival < order->last) {
        *reason = "an arrival before the one above";
        return trouble_set(
            trouble, EXIT_USAGE,
            "%s:%zu: arrival: %.9g is before the line above's, %.9g; accepted: lines in the order "
            "of arrival",
            lines->name, lines->line, request->arrival, order->last);
    }
    order->first = order->begun ? order->first : request->arrival;
    order->last = request->arrival;
    order->timed = request->timed;
    order->begun = true;
    return 0;
}
