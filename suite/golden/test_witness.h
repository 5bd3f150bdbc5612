/* test_witness.h: a record for the small goldens of test_engines.h: four cases are upstream's of sglang-0.5.20. */
#ifndef SAMPLEGATE_TEST_WITNESS_H
#define SAMPLEGATE_TEST_WITNESS_H
#include "suite/golden/test_engines.h"

#define RECORD "witness/sglang-0.5.20.json"
#define RECORD_HEAD                                                                                          \
    "{\"schema\":\"samplegate-witness-1\",\"engine\":\"sglang-0.5.20\",\"wheel\":{\"file\":\"s.whl\","       \
    "\"sha256\":\"af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc\"},\"python\":\"3.11\","  \
    "\"packages\":{\"torch\":\"2.15.0\"},\"stand_ins\":[\"a device\"],\"found\":{\"callers\":1},\"cases\":{"

/* HASH is that of the lines of "lives". */
static const char witness_record[] = RECORD_HEAD
    "\"" PATH "\":{\"plain\":{\"path\":\"gumbel\",\"seeded\":false,\"backend\":\"flashinfer\"},"
    "\"mixed\":{\"path\":\"filtered\",\"seeded\":true,\"backend\":\"pytorch\",\"noise\":\"rank\"},"
    "\"empty\":{\"error\":\"a batch needs at least one request\",\"status\":0,\"said\":\"nothing is "
    "run\"}},\n\"" PREDICATE_PRODUCTS "\":{\"lives\":{\"lines\":6,\"sha256\":\"HASH\"}}}}\n";

static inline const char *witness_text(void)
{
    struct engine_golden record = {.text = witness_record, .lines = one_life};
    return engine_golden_text(&record);
}
#endif
