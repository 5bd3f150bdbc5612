/* route_child.h: what the tests of `samplegate route` share: traffic as text, and a model's file. */
#ifndef SAMPLEGATE_CLI_ROUTE_CHILD_H
#define SAMPLEGATE_CLI_ROUTE_CHILD_H
#include "suite/cli/child.h"

#define CHAT(id, fields)                                                                                     \
    "{\"id\": \"" id "\", \"endpoint\": \"chat\", \"body\": {\"messages\": []" fields "}}\n"
#define QWEN3 " --generation-config qwen3.json"

static inline void route(const char *engine, const char *options, const char *requests)
{
    write_text("r.jsonl", requests);
    child_start("exec \"$B\"/samplegate route --engine %s --requests r.jsonl %s", engine, options);
}

static inline void answered(int exit)
{
    child_wait();
    child_expect(exit);
    if (*child.err)
        fail_msg("%s\nprinted on stderr: %s", child.command, child.err);
}

#define AT(id, arrival, finish, fields)                                                                      \
    "{\"id\": \"" id "\", \"endpoint\": \"chat\", \"arrival\": " #arrival ", \"finish\": " #finish           \
    ", \"body\": {\"messages\": []" fields "}}\n"

static inline int route_setup(void **state)
{
    if (child_scratch(state))
        return -1;
    write_text("qwen3.json",
               "{\"bos_token_id\": 151643, \"do_sample\": true, \"eos_token_id\": [151645, 151643], "
               "\"temperature\": 0.6, \"top_k\": 20, \"top_p\": 0.95, \"min_p\": 0}");
    return 0;
}
#endif
