/* report.h: what was found, for people and for programs. */
#ifndef SAMPLEGATE_ROUTE_REPORT_H
#define SAMPLEGATE_ROUTE_REPORT_H
#include <stdio.h>
#include "suite/route/traffic.h"

/* text.c: the first requests and changes in full, then what all of them come to. */
struct report_text {
    FILE *requests, *changes; /* kept until the end: a bad line leaves nothing printed */
    char *requests_text, *changes_text;
    size_t requests_bytes, changes_bytes;
};
extern const struct traffic_listener report_text_listener; /* its context is a struct report_text */
void report_text_begin(struct report_text *report);
/* To stdout, unless `drop`. */
void report_text_end(struct report_text *report, struct traffic *traffic, bool drop);

/* advice.c: on stdout, and as JSON (an array, owned). */
void report_advice(struct traffic *traffic);
cJSON *report_advice_json(struct traffic *traffic);
/* "HTTP 400 ..." rows of a tally, the most frequent first, `most` of them: "    12  text: a, b, c and 9 more". */
void report_tally(struct tally *tally, size_t most);

/* json.c: one object a line: of each request {"id", "rows", "path", "backend", "seeded", "noise" ("token" or "rank", where
 * it is seeded), "top_k_bound" (where not more is sorted; true: to the batch's largest top_k), "stages" and "draws" (of a
 * staged engine), "params", "vs_rows" and "vs"}, or instead of the path {"error", "status"}; of each change {"time", "from",
 * "to" (as the text has them), "cause", "by"}; and the summary, whose "shares" have the path's details, too. */
extern const struct traffic_listener report_json_listener;
void report_json_end(struct traffic *traffic);
#endif
