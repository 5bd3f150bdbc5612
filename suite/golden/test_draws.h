/* test_draws.h: small goldens of families determinism and replay whose every value was found by hand. */
#ifndef SAMPLEGATE_TEST_DRAWS_H
#define SAMPLEGATE_TEST_DRAWS_H

#define DETERMINISM "determinism/tokens.json"
#define REPLAY "replay/batches.json"

/* The only live id wins every race; the lines of its tokens, whose hash the case holds. */
#define DETERMINISM_LINES "-1 2147483647 1\n-1 2147483649 1\n-9223372036854775808 0 1\n"
static const char determinism[] =
    "{\"schema\":\"samplegate-golden-1\",\"family\":\"determinism\",\"check\":\"tokens\",\"notes\":{},\n"
    "\"groups\":[{\"source\":\"by "
    "hand\",\"version\":\"1\",\"rule\":\"seeded\",\"noise\":\"rank\",\"cases\":[\n"
    "{\"id\":\"one\",\"table\":{\"name\":\"t\",\"kind\":\"flat\",\"vocab\":2,\"masked\":{\"every\":2,"
    "\"first\":0}},"
    "\"temperature\":0.5,\"top_k\":-1,\"top_p\":0.9,\"min_p\":0,\"bound\":\"1e-05\",\"left_out\":1,\"runs\":["
    "\n"
    "{\"seed\":\"-1\",\"position\":\"2147483647\",\"tokens\":[1,null,1]},"
    "{\"seed\":\"-9223372036854775808\",\"position\":\"0\",\"tokens\":[1]}],\n\"sha256\":\"HASH\"}]}]}\n";

/* The argmax of 0 7 3 (in units of 2^-10) is id 1, unless it came out before: its logit less 1 is below id 2's. */
static const char replay[] =
    "{\"schema\":\"samplegate-golden-1\",\"family\":\"replay\",\"check\":\"batches\",\"notes\":{},\n"
    "\"groups\":[{\"source\":\"by "
    "hand\",\"version\":\"1\",\"rule\":\"greedy\",\"noise\":\"id\",\"bound\":\"0\","
    "\"left_out\":0,\n\"tables\":[{\"name\":\"t\",\"kind\":\"list\",\"logits\":[0,7,3]}],\n\"requests\":[\n"
    "{\"table\":0,\"temperature\":1,\"top_k\":-1,\"top_p\":1,\"min_p\":0,\"repetition_penalty\":1,"
    "\"frequency_penalty\":0,\"presence_penalty\":0,\"prompt\":[],\"output\":[],\"seed\":\"3\",\"position\":"
    "\"4\"},\n"
    "{\"table\":0,\"temperature\":1,\"top_k\":-1,\"top_p\":1,\"min_p\":0,\"repetition_penalty\":1,"
    "\"frequency_penalty\":0,\"presence_penalty\":1,\"prompt\":[0],\"output\":[1],\"seed\":\"3\","
    "\"position\":\"4\"}],\n"
    "\"cases\":[{\"id\":\"turned\",\"requests\":[1,0,1],\"tokens\":[2,1,2]}]}]}\n";

/* What an edit with a corrected hash must be called, and how it is said: rows of test_verify.c's table. */
#define DRAWS_EDITS                                                                                          \
    {DETERMINISM, "[1,null,1]", "[1,null,0]", "disagrees",                                                   \
     DETERMINISM "#one: token of seed -1, position 2147483649: the golden has 0, this build computes 1"},    \
        {DETERMINISM, "\"sha256\":\"", "\"sha256\":\"0", "disagrees",                                        \
         DETERMINISM "#one: sha256: the golden has 0"},                                                      \
        {DETERMINISM, "[1,null,1]", "[1,1,1]", "damaged", "\"left_out\" is 1, and 0 tokens are null"},       \
        {DETERMINISM, "[1,null,1]", "[1,null,2]", "damaged", "tokens[2]: must be an integer from 0 to 1"},   \
        {DETERMINISM, "[1,null,1]", "[1,null,-2]", "damaged", "tokens[2]: must be an integer from 0 to 1"},  \
        {DETERMINISM, "\"seeded\"", "\"race\"", "damaged", "noise \"rank\" is for the rule seeded only"},    \
        {DETERMINISM, "\"2147483647\"", "\"9223372036854775807\"", "damaged", "end above 2^63 - 1"},         \
        {DETERMINISM, "\"seed\":\"-1\"", "\"seed\":-1", "damaged", "runs[0].seed: must be a string"},        \
        {REPLAY, "[2,1,2]", "[2,2,2]", "disagrees",                                                          \
         REPLAY "#turned: token of row 1, request 0: the golden has 2, this build computes 1"},              \
        {REPLAY, "\"output\":[1]", "\"output\":[2]", "disagrees",                                            \
         "token of row 0, request 1: the golden has 2"},                                                     \
        {REPLAY, "\"output\":[1]", "\"output\":[3]", "damaged",                                              \
         "output[0]: must be an integer from 0 to 2"},                                                       \
        {REPLAY, "[2,1,2]", "[2,1]", "damaged", "has 3 requests and 2 tokens"},                              \
        {REPLAY, "[1,0,1]", "[1,0,2]", "damaged", "requests[2]: must be an integer from 0 to 1"},            \
    {                                                                                                        \
        REPLAY, "\"table\":0,", "\"table\":1,", "damaged",                                                   \
            "requests[0].table: must be an integer from 0 to 0"                                              \
    }
#endif
