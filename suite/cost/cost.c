/* cost.c: `samplegate cost`: read the traffic, then report. */
#include "suite/cost/cost.h"

#include <stdio.h>
#include <stdlib.h>

#include "suite/cost/report.h"
#include "suite/cost/status.h"
#include "suite/plural.h"

int cost_run(const struct cost_options *options, struct trouble *trouble)
{
    struct cost_traffic traffic;
    int exit = cost_traffic_read(&traffic, options, trouble) ? trouble->exit
               : traffic.interrupted                         ? EXIT_INTERRUPTED
                                                             : EXIT_PASS;
    if (!trouble->exit && traffic.requests) {
        if (options->record) {
            cJSON *record = cJSON_CreateObject();
            char *text;
            cost_record(&traffic, options, record);
            text = cost_record_text(record);
            puts(text);
            free(text);
            cJSON_Delete(record);
            const size_t skipped = tally_total(&traffic.skipped); /* the record has no member for them */
            if (skipped)
                fprintf(stderr, "samplegate: %zu line%s skipped, which the record leaves out\n", skipped,
                        PLURAL(skipped));
        } else {
            (options->json ? cost_report_json : cost_report_text)(&traffic, options);
        }
    }
    cost_traffic_free(&traffic);
    return exit;
}
