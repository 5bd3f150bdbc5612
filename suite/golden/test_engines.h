/* test_engines.h: small goldens of engines whose every value was found by hand, and the lines behind their
 * hashes. */
#ifndef SAMPLEGATE_TEST_ENGINES_H
#define SAMPLEGATE_TEST_ENGINES_H
#include <stdio.h>
#include <string.h>

#include "suite/json/text.h"

#define PATH "predicate/path.json"
#define HISTORY "predicate/history.json"
#define PREDICATE_PRODUCTS "predicate/products.json"
#define EFFECTIVE "defaults/effective.json"
#define NORMALIZE "defaults/normalize.json"
#define DEFAULTS_PRODUCTS "defaults/products.json"

#define FORKS "predicate/forks.json"
#define TENSORS "defaults/tensors.json"
#define DRAW "predicate/draw.json"
#define ROWS "predicate/rows.json"
#define CANDIDATES "predicate/candidates.json"

#define HEAD(family, check)                                                                                  \
    "{\"schema\":\"samplegate-golden-1\",\"family\":\"" family "\",\"check\":\"" check "\",\"notes\":{},\n"  \
    "\"groups\":[{\"source\":\"by hand\",\"version\":\"1\",\"engine\":\"sglang-0.5.20\","

#define VLLM(check)                                                                                          \
    "{\"schema\":\"samplegate-golden-1\",\"family\":\"predicate\",\"check\":\"" check "\",\"notes\":{},\n"   \
    "\"groups\":[{\"source\":\"by "                                                                          \
    "hand\",\"version\":\"1\",\"engine\":\"vllm-0.5.0\",\"as\":\"upstream\",\"cases\":["

/* One request has six places in its tree: it joins, finishes and is filtered; or finishes first and never
 * joins. */
static const char one_life[] = "0 admit 0 ----: ---- none\n"
                               "1 join: none ----\n"
                               "2 finish 0: none ----\n"
                               "3 filter: none none\n"
                               "1 finish 0: ---- none\n"
                               "2 join: none none\n";
static const char two_requests[] =
    "0 0 0: temperature=1.0/default top_k=-1/default top_p=1.0/default min_p=0.0/default gumbel\n"
    "0 0 1: temperature=1.0/default top_k=20/request top_p=1.0/default min_p=0.0/default filtered\n";

struct engine_golden {
    const char *file, *text, *lines; /* HASH in the text is the SHA-256 of the lines */
    size_t cases;
};
static const struct engine_golden engine_goldens[] = {
    {PATH,
     HEAD("predicate", "path") "\"as\":\"upstream\",\"cases\":[\n"
                               "{\"id\":\"plain\",\"server\":{},\"batch\":[{}],\"path\":\"gumbel\","
                               "\"seeded\":false,\"backend\":\"flashinfer\"},\n"
                               "{\"id\":\"mixed\",\"server\":{\"deterministic\":true},\"batch\":[{"
                               "\"temperature\":0},{\"top_k\":-1}],"
                               "\"path\":\"filtered\",\"seeded\":true,\"backend\":\"pytorch\",\"noise\":\"rank\"},\n"
                               "{\"id\":\"empty\",\"server\":{},\"batch\":[],\"error\":\"a batch needs at "
                               "least one request\",\"status\":0}]}]}\n",
     NULL, 3},
    {HISTORY,
     HEAD("predicate",
          "history") "\"as\":\"article-prose\",\"cases\":[\n"
                     "{\"id\":\"one\",\"server\":{},\"events\":[\n"
                     "{\"do\":\"admit\",\"id\":\"a\",\"request\":{\"min_p\":0.1},\"prefill\":{\"flags\":\"---"
                     "m\",\"path\":\"filtered\"},\"running\":null},\n"
                     "{\"do\":\"join\",\"prefill\":null,\"running\":{\"flags\":\"---m\",\"path\":"
                     "\"filtered\"}},\n"
                     "{\"do\":\"finish\",\"id\":\"a\",\"prefill\":null,\"running\":null}]}]}]}\n",
     NULL, 1},
    {PREDICATE_PRODUCTS,
     HEAD("predicate",
          "products") "\"as\":\"upstream\",\"cases\":[\n"
                      "{\"id\":\"lives\",\"kinds\":[[\"----\"]],\"lines\":6,\"sha256\":\"HASH\"}]}]}\n",
     one_life, 1},
    {EFFECTIVE,
     HEAD("defaults", "effective") "\"as\":\"article-port\",\"endpoint\":\"chat\",\"cases\":[\n"
                                   "{\"id\":\"file\",\"server\":{\"generation_config\":{\"top_k\":20}},"
                                   "\"request\":{\"temperature\":0.5,\"top_p\":null},"
                                   "\"effective\":{\"temperature\":[0.5,\"request\"],\"top_k\":[20,\"model\"]"
                                   ",\"top_p\":[1,\"default\"],\"min_p\":[0,\"default\"]},"
                                   "\"path\":\"filtered\"}]}]}\n",
     NULL, 1},
    {NORMALIZE,
     HEAD(
         "defaults",
         "normalize") "\"as\":\"article-port\",\"cases\":[\n"
                      "{\"id\":\"greedy\",\"params\":{\"temperature\":0,\"top_k\":5,\"top_p\":1,\"min_p\":0},"
                      "\"normalized\":{\"temperature\":1,\"top_k\":1,\"top_p\":1,\"min_p\":0}},\n"
                      "{\"id\":\"text\",\"params\":{\"temperature\":\"0\",\"top_k\":{\"integer\":\"-1\"},"
                      "\"top_p\":{\"float\":\"0x1p+0\"},\"min_p\":0},"
                      "\"error\":\"'<=' not supported between instances of 'int' and "
                      "'str'\",\"status\":0}]}]}\n",
     NULL, 2},
    {DEFAULTS_PRODUCTS,
     HEAD("defaults", "products") "\"as\":\"article-port\",\"cases\":[\n"
                                  "{\"id\":\"pair\",\"endpoints\":[\"chat\"],\"servers\":[{}],\"choices\":[[{"
                                  "},{\"top_k\":20}]],\"lines\":2,\"sha256\":\"HASH\"}]}]}\n",
     two_requests, 1},
    {FORKS,
     VLLM("forks") "{\"id\":\"two\",\"server\":{},\"batch\":[{\"best_of\":3},{}],\"forks\":["
                   "{\"sequences\":3,\"drawn\":3,\"kept\":3,\"preempted\":\"swap\",\"last_preempted\":"
                   "\"recompute\"},"
                   "{\"sequences\":1,\"drawn\":3,\"kept\":1,\"preempted\":\"recompute\",\"last_preempted\":"
                   "\"recompute\"}"
                   "]}]}]}\n",
     NULL, 1},
    {DRAW,
     VLLM("draw") "{\"id\":\"seeded\",\"request\":{\"seed\":5},\"steps\":[\"read\",{\"seed\":null},\"clone\","
                  "\"read\"],"
                  "\"draws\":[\"random_seed\",\"random_seed\"]},"
                  "{\"id\":\"cold\",\"request\":{\"temperature\":-1},\"steps\":[\"read\"],"
                  "\"error\":\"temperature must be non-negative, got -1.0.\",\"status\":500}]}]}\n",
     NULL, 2},
    {ROWS,
     VLLM("rows") "{\"id\":\"shifted\",\"server\":{\"vocab\":9},\"fixed\":false,\"groups\":["
                  "{\"request\":{},\"sequences\":[{\"prompt\":[1],\"output\":[2]}]},"
                  "{\"request\":{\"presence_penalty\":1},\"sequences\":[{\"prompt\":[3],\"output\":[4,4]}]}],"
                  "\"rows\":[{\"prompt\":[3],\"output\":[4,4]},{\"prompt\":[],\"output\":[]}]}]}]}\n",
     NULL, 1},
    {CANDIDATES,
     VLLM("candidates") "{\"id\":\"second\",\"logprobs\":[[-3,-4],[-2,-1]],\"cumulative\":[0,-1.5],\"best_"
                        "of\":1,"
                        "\"parents\":[1,0],\"tokens\":[1,0]}]}]}\n",
     NULL, 1},
    {TENSORS,
     "{\"schema\":\"samplegate-golden-1\",\"family\":\"defaults\",\"check\":\"tensors\",\"notes\":{},\n"
     "\"groups\":[{\"source\":\"by "
     "hand\",\"version\":\"1\",\"engine\":\"vllm-0.5.0\",\"as\":\"upstream\",\"cases\":["
     "{\"id\":\"vanishes\",\"server\":{\"vocab\":9,\"logits\":\"bf16\"},\"request\":{\"top_p\":0.999,"
     "\"temperature\":0.9},"
     "\"tensors\":{\"temperature\":0.8984375,\"top_k\":9,\"top_p\":1,\"min_p\":0,\"repetition_penalty\":1,"
     "\"frequency_penalty\":0,\"presence_penalty\":0}}]}]}\n",
     NULL, 1},
};

/* The text with its hash filled in, in a static buffer. */
static const char *engine_golden_text(const struct engine_golden *golden)
{
    static char text[2048];
    const char *place = strstr(golden->text, "HASH");
    char hex[65] = "";
    if (golden->lines)
        text_sha256(golden->lines, strlen(golden->lines), hex);
    snprintf(text, sizeof text, "%.*s%s%s", place ? (int)(place - golden->text) : 0, golden->text, hex,
             place ? place + 4 : golden->text);
    return text;
}
#endif
