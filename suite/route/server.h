/* server.h: how the server was started: its flags, the model's generation_config, or what its log says it merged. */
#ifndef SAMPLEGATE_ROUTE_SERVER_H
#define SAMPLEGATE_ROUTE_SERVER_H
#include "suite/json/json.h"
#include "suite/sut/engines/engine.h"

/* route_server_open, route_server_close. `at` borrows from the files. */
struct route_server {
    struct engine_server at;
    struct json_file flags, config, merged;
    const char *source;  /* of generation_config: a path; NULL: no file */
    bool from_log;       /* `source` is a log that says what was merged */
    bool nothing_merged; /* it is a log without the line */
};

/* Each path may be NULL. `flags`: a JSON object, the server of ask.h. `config`: the model's generation_config.json, of
 * which the parameters count. `log`: start-up output with the line "Using default chat sampling params from model
 * generation config"; without it nothing was merged. config and log exclude each other, and a generation_config among
 * the flags. Errors exit 2. */
int route_server_open(struct route_server *server, const struct engine *engine, const char *flags,
                      const char *config, const char *log, struct trouble *trouble);
void route_server_close(struct route_server *server);

/* The dictionary of that line, of the last such line if there are several (a log may hold several starts), as strict
 * JSON, whether the engine wrote it as Python or as JSON. 1: found, 0: no such line, -1: trouble. `json` is owned: free. */
int route_log_find(const char *path, char **json, struct trouble *trouble);
#endif
