/* test_boundary.h: the smallest sound files of golden/boundary/, by hand, for test_verify.c. */
#ifndef SAMPLEGATE_TEST_BOUNDARY_H
#define SAMPLEGATE_TEST_BOUNDARY_H

#define NUCLEUS "boundary/nucleus.json"
#define TOP_K "boundary/top-k.json"
#define MIN_P "boundary/min-p.json"
#define COMBINED "boundary/combined.json"
#define PENALTIES "boundary/penalties.json"
#define DEGENERATE "boundary/degenerate.json"

#define BOUNDARY_HEAD(check)                                                                                 \
    "{\"schema\":\"samplegate-golden-1\",\"family\":\"boundary\",\"check\":\"" check                         \
    "\",\"notes\":{},\n\"groups\":[{\"source\":\"by hand\",\"version\":\"1\",\"cases\":[\n"
#define BOUNDARY_HALVES(id, parameters)                                                                      \
    "{\"id\":\"" id                                                                                          \
    "\",\"kind\":\"probabilities\",\"denominator\":4,\"values\":[2,1,1],\"parameters\":{" parameters         \
    "},\"expect\":[\n"
#define UP_TO "\"sglang-pytorch\",\"tensorrt-llm-torch\""
#define BELOW                                                                                                \
    "\"flashinfer-joint\",\"flashinfer-top-k-first\",\"vllm-0.5.0\",\"vllm-v1\",\"hf-transformers\","        \
    "\"llama.cpp\",\"tensorrt-llm-cpp\""
#define EVERY UP_TO "," BELOW
#define BOUNDARY_TAIL "]}]}]}\n"

static const struct {
    const char *file, *text;
} boundary_goldens[] = {
    /* 1/2, 1/4, 1/4 at p = 1/2: the mass above the second id is p exactly. */
    {NUCLEUS, BOUNDARY_HEAD("nucleus") BOUNDARY_HALVES(
                  "half", "\"top_p\":0.5") "{\"rules\":[" UP_TO
                                           "],\"kept\":[0,1],\"mass\":[\"2/3\",\"1/3\"],\"exact\":true},\n"
                                           "{\"rules\":[" BELOW
                                           "],\"kept\":[0],\"mass\":[\"1\"],\"exact\":true}" BOUNDARY_TAIL},
    {TOP_K, BOUNDARY_HEAD("top-k") BOUNDARY_HALVES(
                "one", "\"top_k\":1") "{\"rules\":[" EVERY "],\"kept\":[0],\"mass\":[\"1\"]}" BOUNDARY_TAIL},
    {MIN_P, BOUNDARY_HEAD("min-p") BOUNDARY_HALVES(
                "above", "\"min_p\":\"0x1.8p-1\"") "{\"rules\":[" EVERY
                                                   "],\"kept\":[0],\"mass\":[\"1\"]}" BOUNDARY_TAIL},
    {COMBINED, BOUNDARY_HEAD("combined") BOUNDARY_HALVES(
                   "k-and-p", "\"top_k\":1,\"top_p\":0.25") "{\"rules\":[" EVERY
                                                            "],\"kept\":[0],\"mass\":[\"1\"]}" BOUNDARY_TAIL},
    /* Two equal logits, one of them lowered by a presence penalty of 1: logistic(1). */
    {PENALTIES,
     BOUNDARY_HEAD(
         "penalties") "{\"id\":\"presence\",\"kind\":\"logits\",\"denominator\":2,\"values\":[3,3],"
                      "\"parameters\":{\"presence_penalty\":1,\"output\":[1,1]},\"expect\":[\n"
                      "{\"rules\":[\"sglang\",\"vllm-0.5.0\",\"vllm-v1\",\"tensorrt-llm-cpp\"],\"kept\":[0,"
                      "1],"
                      "\"mass\":[\"7.31058578630005e-01\",\"2.68941421369995e-01\"],\"logits\":[\"1.5\",\"0."
                      "5\"]}" BOUNDARY_TAIL},
    {DEGENERATE, BOUNDARY_HEAD("degenerate") BOUNDARY_HALVES(
                     "k-0", "\"top_k\":0") "{\"rules\":[" EVERY "],\"refused\":\"top_k\"}" BOUNDARY_TAIL},
};
#endif
