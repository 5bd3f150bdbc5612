/* products.c: recompute the full products of golden/predicate/products.json and
 * golden/defaults/products.json.
 *
 * A case holds the axes of a product and the SHA-256 of its lines, "INDEX INDEX ...: RESULT\n", the last axis
 * running fastest; the model that wrote it walked the same axes. The lives of batches are in histories.c. */
#include "suite/golden/products.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "suite/json/text.h"

#define AXES_MAX 8
#define CHOICES_MAX 16
#define SERVERS_MAX 16

/* Choice i of axis a says some parameters; a request is one choice of each axis, laid over each other. */
struct axes {
    size_t count, choices[AXES_MAX];
    struct engine_values at[AXES_MAX][CHOICES_MAX];
};

static int read_requests(const struct json_cursor *array, size_t length, const struct golden_group *group,
                         struct engine_values *requests, struct trouble *damaged)
{
    if (length > CHOICES_MAX)
        return json_trouble(array, damaged, "has %zu entries; at most %d are read", length, CHOICES_MAX);
    struct json_cursor at = json_at(array, 0);
    struct engine_why why;
    for (size_t i = 0; i < length; i++, at = json_next(&at))
        if (engine_read_values(at.node, "", group->engine, group->endpoint, &requests[i], &why))
            return json_trouble(&at, damaged, "%s", why.text);
    return 0;
}

static int read_axes(const struct golden_case *this, const struct golden_group *group, struct axes *axes)
{
    struct trouble *damaged = &this->outcome->damaged;
    struct json_cursor array;
    if (json_array(&this->at, "choices", &array, &axes->count, damaged))
        return -1;
    if (axes->count < 1 || axes->count > AXES_MAX)
        return json_trouble(&array, damaged, "has %zu axes; 1 to %d are read", axes->count, AXES_MAX);
    struct json_cursor axis = json_at(&array, 0);
    for (size_t a = 0; a < axes->count; a++, axis = json_next(&axis)) {
        axes->choices[a] = cJSON_IsArray(axis.node) ? (size_t)cJSON_GetArraySize(axis.node) : 0;
        if (axes->choices[a] == 0)
            return json_trouble(&axis, damaged, "must be an array with an entry");
        if (read_requests(&axis, axes->choices[a], group, axes->at[a], damaged))
            return -1;
    }
    return 0;
}

static int read_servers(const struct golden_case *this, const struct golden_group *group,
                        struct engine_server *servers, size_t *count)
{
    struct trouble *damaged = &this->outcome->damaged;
    struct json_cursor array;
    if (json_array(&this->at, "servers", &array, count, damaged))
        return -1;
    if (*count > SERVERS_MAX)
        return json_trouble(&array, damaged, "has %zu entries; at most %d are read", *count, SERVERS_MAX);
    struct json_cursor at = json_at(&array, 0);
    struct engine_why why;
    for (size_t i = 0; i < *count; i++, at = json_next(&at))
        if (engine_read_server(at.node, "", group->engine, &servers[i], &why))
            return json_trouble(&at, damaged, "%s", why.text);
    return 0;
}

static struct engine_values request_of(const struct axes *axes, const size_t *index)
{
    struct engine_values request = {0};
    for (size_t a = 0; a < axes->count; a++)
        for (int p = 0; p < ENGINE_PARAMETERS; p++)
            if (axes->at[a][index[a]].at[p].kind != ENGINE_ABSENT)
                request.at[p] = axes->at[a][index[a]].at[p];
    return request;
}

/* The next index of the product; false after the last. */
static bool advance(const struct axes *axes, size_t *index)
{
    for (size_t a = axes->count; a-- > 0; index[a] = 0)
        if (++index[a] < axes->choices[a])
            return true;
    return false;
}

static void print_index(FILE *lines, const struct axes *axes, const size_t *index)
{
    for (size_t a = 0; a < axes->count; a++)
        fprintf(lines, " %zu", index[a]);
}

static void print_path(FILE *lines, const struct golden_group *group, const struct engine_path *path)
{
    char stages[ENGINE_PATH_TEXT], draws[ENGINE_PATH_TEXT];
    fputs(engine_path_names[path->kind], lines);
    if (group->engine->staged)
        fprintf(lines, " %s %s", engine_stage_text(path, stages), engine_draw_text(path, draws));
    else if (group->reading == ENGINE_UPSTREAM)
        fprintf(lines, " %s %s", path->seeded ? "true" : "false", engine_backend_names[path->backend]);
    if (path->noise != ENGINE_NOISE_UNSEEDED)
        fprintf(lines, " %s", engine_noise_names[path->noise]);
    if (path->top_k_bound)
        fprintf(lines, " %d", (int)path->top_k_bound);
    putc('\n', lines);
}

static void print_refusal(FILE *lines, const struct engine_refusal *refusal)
{
    fprintf(lines, "%d %s\n", refusal->status, refusal->text);
}

/* One request prepared once, for all its batches on a server. */
struct prepared {
    bool refused;
    struct engine_flags flags;
    struct engine_refusal refusal;
};

static struct prepared prepare(const struct golden_group *group, const struct engine_server *server,
                               const struct engine_values *request)
{
    struct prepared made = {0};
    made.refused = engine_prepare(group->engine, group->reading, server, group->endpoint, request,
                                  &made.flags, &made.refusal) != 0;
    return made;
}

static void print_batch(FILE *lines, const struct golden_group *group, const struct engine_server *server,
                        const struct prepared *one, const struct prepared *mate)
{
    struct engine_path path;
    struct engine_refusal refusal;
    if (one->refused || (mate && mate->refused)) {
        print_refusal(lines, one->refused ? &one->refusal : &mate->refusal);
        return;
    }
    struct engine_flags flags = mate ? group->engine->together(one->flags, mate->flags) : one->flags;
    if (group->engine->path(group->reading, server, &flags, mate ? 2 : 1, &path, &refusal))
        print_refusal(lines, &refusal);
    else
        print_path(lines, group, &path);
}

/* Every request alone and beside each mate, on every server. */
static int paths(const struct golden_case *this, const struct golden_group *group, FILE *lines)
{
    struct engine_server servers[SERVERS_MAX];
    struct engine_values mate[CHOICES_MAX];
    struct prepared mates[CHOICES_MAX];
    struct json_cursor array;
    struct axes *axes = calloc(1, sizeof *axes);
    size_t server_count, mate_count;
    if (!axes)
        return json_trouble(&this->at, &this->outcome->damaged, "out of memory");
    int failed = read_axes(this, group, axes) || read_servers(this, group, servers, &server_count) ||
                 json_array(&this->at, "mates", &array, &mate_count, &this->outcome->damaged) ||
                 read_requests(&array, mate_count, group, mate, &this->outcome->damaged);
    for (size_t s = 0; !failed && s < server_count; s++) {
        for (size_t m = 0; m < mate_count; m++)
            mates[m] = prepare(group, &servers[s], &mate[m]);
        size_t index[AXES_MAX] = {0};
        do {
            struct engine_values request = request_of(axes, index);
            struct prepared one = prepare(group, &servers[s], &request);
            for (size_t m = 0; m <= mate_count; m++) {
                fprintf(lines, "%zu", s);
                print_index(lines, axes, index);
                fprintf(lines, " %zu: ", m);
                print_batch(lines, group, &servers[s], &one, m ? &mates[m - 1] : NULL);
            }
        } while (advance(axes, index));
    }
    free(axes);
    return failed ? -1 : 0;
}

static void print_request(FILE *lines, const struct golden_group *group, const struct engine_server *server,
                          const struct engine_values *request)
{
    struct engine_resolved resolved;
    struct engine_flags flags;
    struct engine_refusal refusal;
    struct engine_path path;
    char text[40];
    if (!group->engine->resolve(group->reading, server, group->endpoint, request, &resolved, &refusal))
        for (int p = 0; p < ENGINE_PARAMETERS; p++)
            if (resolved.layer[p] != ENGINE_LAYER_NONE)
                fprintf(lines, "%s=%s/%s ", engine_parameter_names[p],
                        engine_python_text(&resolved.values.at[p], text, sizeof text),
                        engine_layer_names[resolved.layer[p]]);
    if (engine_prepare(group->engine, group->reading, server, group->endpoint, request, &flags, &refusal) ||
        group->engine->path(group->reading, server, &flags, 1, &path, &refusal))
        print_refusal(lines, &refusal);
    else
        print_path(lines, group, &path);
}

/* Every request at every endpoint of every server. */
static int requests(const struct golden_case *this, const struct golden_group *group, FILE *lines)
{
    struct engine_server servers[SERVERS_MAX];
    struct json_cursor array;
    struct axes *axes = calloc(1, sizeof *axes);
    size_t server_count, endpoint_count;
    if (!axes)
        return json_trouble(&this->at, &this->outcome->damaged, "out of memory");
    int failed = read_axes(this, group, axes) || read_servers(this, group, servers, &server_count) ||
                 json_array(&this->at, "endpoints", &array, &endpoint_count, &this->outcome->damaged);
    for (size_t e = 0; !failed && e < endpoint_count; e++) {
        const char *name;
        failed = json_string_at(&array, e, &name, &this->outcome->damaged) ||
                 (e >= ENGINE_ENDPOINTS || strcmp(name, engine_endpoint_names[e]) != 0
                      ? json_trouble(&array, &this->outcome->damaged,
                                     "must be chat, responses, completions, generate")
                      : 0);
    }
    for (size_t s = 0; !failed && s < server_count; s++)
        for (size_t e = 0; e < endpoint_count; e++) {
            struct golden_group here = *group;
            here.endpoint = (enum engine_endpoint)e;
            size_t index[AXES_MAX] = {0};
            do {
                struct engine_values request = request_of(axes, index);
                fprintf(lines, "%zu %zu", s, e);
                print_index(lines, axes, index);
                fputs(": ", lines);
                print_request(lines, &here, &servers[s], &request);
            } while (advance(axes, index));
        }
    free(axes);
    return failed ? -1 : 0;
}

/* Walk a product, then compare the number of its lines and their hash. */
static int same_product(const struct golden_case *this, const struct golden_group *group,
                        int (*walk)(const struct golden_case *, const struct golden_group *, FILE *))
{
    char *text = NULL, hex[65];
    size_t bytes = 0, count = 0;
    const char *golden;
    FILE *lines = open_memstream(&text, &bytes);
    int failed =
        lines ? walk(this, group, lines) : json_trouble(&this->at, &this->outcome->damaged, "out of memory");
    if (lines && fclose(lines) && !failed)
        failed = json_trouble(&this->at, &this->outcome->damaged, "out of memory");
    if (!failed) {
        text_sha256(text, bytes, hex);
        for (const char *c = text; (c = memchr(c, '\n', (size_t)(text + bytes - c))); c++)
            count++;
        failed = golden_same_integer(this, &this->at, "lines", "lines", (int64_t)count) ||
                 json_string(&this->at, "sha256", &golden, &this->outcome->damaged) ||
                 (strcmp(golden, hex) ? golden_disagrees(this, "sha256", golden, hex) : 0);
    }
    free(text);
    return failed ? -1 : 0;
}

static int recompute_predicate(const struct golden_case *this, const void *shared)
{
    return same_product(this, shared, json_has(&this->at, "kinds") ? product_histories : paths);
}

static int recompute_defaults(const struct golden_case *this, const void *shared)
{
    return same_product(this, shared, requests);
}

static const char *const group_keys[] = {"engine", "as", NULL};
static const char *const predicate_keys[] = {"servers", "choices", "mates",  "kinds",
                                             "mixes",   "lines",   "sha256", NULL};
static const char *const defaults_keys[] = {"servers", "endpoints", "choices", "lines", "sha256", NULL};

const struct golden_check golden_predicate_products = {
    .family = "predicate",
    .check = "products",
    .what = "full products of paths and histories",
    .group_keys = group_keys,
    .case_keys = predicate_keys,
    .begin = golden_group_begin,
    .recompute = recompute_predicate,
    .end = golden_group_end,
};
const struct golden_check golden_defaults_products = {
    .family = "defaults",
    .check = "products",
    .what = "full products of requests",
    .group_keys = group_keys,
    .case_keys = defaults_keys,
    .begin = golden_group_begin,
    .recompute = recompute_defaults,
    .end = golden_group_end,
};
