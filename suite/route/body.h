/* body.h: a request body while its line is read; what is found in it afterwards is in request.h. */
#ifndef SAMPLEGATE_ROUTE_BODY_H
#define SAMPLEGATE_ROUTE_BODY_H
#include "suite/json/scan.h"
#include "suite/route/request.h"

/* Some engine's parameters are members of this one. */
bool body_is_nest(const struct scan_member *member);
/* Some engine's check_fields looks at members of this name. */
bool body_is_field(const struct scan_member *member);
/* Remember the member if some engine reads one of its name; in a place of its own if it is `nested`. The last counts. */
void body_keep(struct request *request, const struct scan_member *member, bool nested);
/* Remember the member if some engine's check_fields looks at it, or would at one that it does not know. */
void fields_keep(struct request *request, const struct scan_member *member, bool nested);
/* The text of a JSON string, in its place; also of one that cJSON does not take (a lone surrogate): as it stands. */
char *body_unquoted(char *value, size_t bytes);
#endif
