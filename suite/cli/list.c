/* list.c: `samplegate list`: the registry as text; the README's table is its output. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "suite/cli/cli.h"
#include "suite/golden/golden.h"

struct arguments {
    const char *golden;
    bool markdown, json;
};

static const struct argp_option options[] = {
    {"golden", 'g', "DIR", 0, "Goldens and plans", 0},
    {"markdown", 'm', 0, 0, "The checks as a Markdown table (as in the README)", 0},
    {"json", 'j', 0, 0, "One object a line", 0},
    {0}};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'g':
        arguments->golden = text;
        break;
    case 'm':
        arguments->markdown = true;
        break;
    case 'j':
        arguments->json = true;
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", text);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void print_json(const struct check *check)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "check", check->key);
    cJSON_AddStringToObject(json, "golden", check->golden);
    cJSON_AddStringToObject(json, "mutant", check->mutant);
    cJSON_AddStringToObject(json, "mutant_cell", check->mutant_cell);
    cJSON_AddStringToObject(json, "sentence", check->sentence);
    char *line = cJSON_PrintUnformatted(json);
    puts(line);
    free(line);
    cJSON_Delete(json);
}

static int is_plan(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && !strcmp(dot, ".json");
}

static void print_plans(const char *golden)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/plans", golden);
    struct dirent **entry;
    int count = scandir(path, &entry, is_plan, alphasort);
    printf("\nPlans in %s:", path);
    for (int i = 0; i < count; i++) {
        printf(" %.*s", (int)(strrchr(entry[i]->d_name, '.') - entry[i]->d_name), entry[i]->d_name);
        free(entry[i]);
    }
    if (count >= 0)
        free(entry);
    putchar('\n');
}

int cli_list(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse,
        NULL,    "The checks: what each asks, a mutant it must catch, and on which plan and cell.",
        NULL,    NULL,
        NULL};
    struct arguments arguments = {0};
    struct trouble trouble = {0};
    char golden[4096];
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (golden_directory(arguments.golden, golden, sizeof golden, &trouble))
        return cli_trouble(&trouble);
    if (arguments.markdown)
        puts("| check | asks | its mutant, on cell |\n|---|---|---|");
    for (size_t i = 0; i < check_registry_count; i++) {
        const struct check *check = &check_registry[i];
        if (arguments.json)
            print_json(check);
        else if (arguments.markdown)
            printf("| `%s` | %s | `%s`, `%s` |\n", check->key, check->sentence, check->mutant,
                   check->mutant_cell);
        else
            printf("%s\n    %s\n    catches mutant %s on cell %s; expectation golden/%s\n", check->key,
                   check->sentence, check->mutant, check->mutant_cell, check->golden);
    }
    if (!arguments.markdown && !arguments.json)
        print_plans(golden);
    return cli_finish(EXIT_PASS, &trouble);
}
