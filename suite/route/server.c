/* server.c: how the server was started: its flags, the model's generation_config, or what its log says it merged. */
#include "suite/route/server.h"

#include <stdlib.h>
#include <string.h>

#include "suite/sut/engines/ask.h"

static int read_flags(struct route_server *server, const struct engine *engine, const char *path,
                      struct trouble *trouble)
{
    struct engine_why why;
    if (json_open(&server->flags, path, EXIT_USAGE, trouble))
        return -1;
    if (engine_read_server(server->flags.root, "", engine, &server->at, &why))
        return trouble_set(trouble, EXIT_USAGE, "%s: %s", path, why.text);
    return 0;
}

/* Of all that a generation_config may hold, the parameters, under the names that the file has for them. */
static int read_config(const struct json_file *file, struct engine_values *values, struct trouble *trouble)
{
    struct engine_why why;
    if (!cJSON_IsObject(file->root))
        return trouble_set(trouble, EXIT_USAGE,
                           "%s: must be an object, as a model's generation_config.json is", file->path);
    *values = (struct engine_values){0};
    for (enum engine_parameter p = 0; p < ENGINE_SEED; p++) {
        const char *name = engine_parameter_names[p];
        const cJSON *at = cJSON_GetObjectItemCaseSensitive(file->root, name);
        if (cJSON_IsObject(at))
            values->at[p].kind = ENGINE_OBJECT; /* whatever is in it: the file has no tagged numbers */
        else if (at && engine_read_value(at, name, engine_takes_integers(p), &values->at[p], &why))
            return trouble_set(trouble, EXIT_USAGE, "%s: %s", file->path, why.text);
    }
    return 0;
}

static int read_log(struct route_server *server, const char *path, struct trouble *trouble)
{
    char *json = NULL;
    int found = route_log_find(path, &json, trouble);
    if (found < 0)
        return -1;
    server->from_log = true;
    server->nothing_merged = found == 0;
    int failed = found && (json_parse(&server->merged, path, json, strlen(json), EXIT_USAGE, trouble) ||
                           read_config(&server->merged, &server->at.generation_config, trouble));
    free(json);
    if (found && !failed)
        server->at.neutral_defaults = false; /* it did read the file */
    return failed ? -1 : 0;
}

int route_server_open(struct route_server *server, const struct engine *engine, const char *flags,
                      const char *config, const char *log, struct trouble *trouble)
{
    *server = (struct route_server){0};
    if (flags && read_flags(server, engine, flags, trouble))
        return -1;
    bool told = flags && cJSON_HasObjectItem(server->flags.root, "generation_config");
    if ((told != false) + (config != NULL) + (log != NULL) > 1)
        return trouble_set(trouble, EXIT_USAGE,
                           "the model's defaults are given twice: give one of --generation-config, --log and "
                           "\"generation_config\" in --server");
    server->source = config ? config : log ? log : told ? flags : NULL;
    if (log)
        return read_log(server, log, trouble);
    return config && (json_open(&server->config, config, EXIT_USAGE, trouble) ||
                      read_config(&server->config, &server->at.generation_config, trouble))
               ? -1
               : 0;
}

void route_server_close(struct route_server *server)
{
    json_close(&server->flags);
    json_close(&server->config);
    json_close(&server->merged);
}
