/* status.h: the published record of a sampling cost, and its verdict in one of three words. */
#ifndef SAMPLEGATE_COST_STATUS_H
#define SAMPLEGATE_COST_STATUS_H
#include "suite/cost/traffic.h"

enum cost_status { STATUS_VISIBLE, STATUS_NEGLIGIBLE, STATUS_FORKS, STATUSES };
extern const char *const cost_status_names[STATUSES + 1];
#define STATUS_REASON 200
#define STATUS_SHARE 0.05          /* of a time, or of sequences: what is called visible */
#define STATUS_TENSORS 64000000ull /* bytes of 8 N V: the published example's order, V = 128,000 and N = 64 */
/* The rule, the first that holds:
 * "amplified by forks": best_of and n make at least 5% more sequences than there are requests;
 * "sampling visible": of the measured TPOTs one with a pass that this traffic runs is at least 5% above the default's; or,
 *   without such a pair, the step's bytes at the given bandwidth take at least 5% of the default's; or, without that,
 *   the traffic opens a pass or 8 N V of its largest step is 64 MB or more;
 * "sampling negligible" else. */
enum cost_status cost_status(const struct cost_traffic *traffic, const struct cost_options *options,
                             char reason[STATUS_REASON]);

/* The record, with every field that was published and no other, into an object. Sorts traffic->values. */
void cost_record(struct cost_traffic *traffic, const struct cost_options *options, cJSON *record);
/* As text that is JSON and YAML: indented by spaces. Owned: free. */
char *cost_record_text(const cJSON *record);
#endif
