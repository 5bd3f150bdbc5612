/* route.c: `samplegate route`: read, route, report. */
#include "suite/route/route.h"

#include <stdlib.h>

#include "suite/route/report.h"

int route_run(const struct route_options *options, struct trouble *trouble)
{
    struct traffic *traffic = malloc(sizeof *traffic); /* tallies make it large */
    struct report_text text = {0};
    int exit = EXIT_USAGE;
    if (!traffic)
        return trouble_set(trouble, EXIT_USAGE, "out of memory"), EXIT_USAGE;
    if (!options->json)
        report_text_begin(&text);
    int failed = traffic_open(traffic, options, trouble);
    traffic->context = &text;
    failed = failed ||
             traffic_route(traffic, options->json ? &report_json_listener : &report_text_listener, trouble);
    if (!failed && options->json)
        report_json_end(traffic);
    if (!options->json)
        report_text_end(&text, traffic, failed);
    if (!failed)
        exit = traffic->interrupted ? EXIT_INTERRUPTED : EXIT_PASS;
    traffic_free(traffic);
    free(traffic);
    return exit;
}
