/* test_replay.c: samplers that mix up the rows of a batch, and which check sees each; who is asked what; the golden's batches
 * drawn with our own kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "suite/checks/replay/lines.h"

#define VOCAB 24
#define ALL "temperature seeded top_k top_p min_p penalties logit_bias allowed_mask min_tokens kept_out"
#define CLAIMS "\"rng_keying\": \"seed, position, column\", \"bitwise\": \"any device\""

enum defect {
    NONE,
    PARAMETERS_OF_LAST, /* row of the call */
    PARAMETERS_OF_SLOT, /* of the draw that stood there in the first call */
    TOP_P_ALONE_ONLY,
    TOP_K_OF_NEIGHBOUR, /* where a row has none */
    SEED_OF_FIRST,
    HISTORY_OF_NEIGHBOUR,
    MASK_OF_ROW_0,
    BIAS_OF_ROW_0,
    VALUES_OF_ROW_0,
    MANY_OTHERWISE,  /* calls of eight and more keep other ids */
    KEPT_UNTOLD_TRUE /* the token is right, what it says it kept is not */
};

static uint64_t mixed(uint64_t hash, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) /* FNV-1a */
        hash = (hash ^ ((const unsigned char *)data)[i]) * UINT64_C(1099511628211);
    return hash ^ hash >> 29;
}

/* A message, and the call of one draw in it. */
struct message {
    const struct script_line *line;
    uint64_t first, end;
};

static const void *item(const struct script_line *line, const char *name, uint64_t index, size_t *bytes)
{
    const struct frame_array *array = frame_find(&line->request, name);
    *bytes = 0;
    if (!array)
        return NULL;
    const uint64_t items = array->shape[0];
    *bytes = (size_t)(array->bytes / items);
    return (const char *)array->data + *bytes * (items == 1 ? 0 : index);
}

static void mix_item(uint64_t *hash, const struct script_line *line, const char *name, uint64_t index)
{
    size_t bytes;
    const void *data = item(line, name, index, &bytes);
    if (data)
        *hash = mixed(*hash, data, bytes);
}

static void mix_list(uint64_t *hash, const struct script_line *line, const char *ids, const char *offsets,
                     uint64_t draw)
{
    const struct frame_array *id = frame_find(&line->request, ids),
                             *offset = frame_find(&line->request, offsets);
    if (!id)
        return;
    const int64_t *from = (const int64_t *)offset->data + draw;
    *hash = mixed(*hash, (const int64_t *)id->data + from[0], (size_t)(from[1] - from[0]) * sizeof(int64_t));
}

static uint64_t number_at(const struct script_line *line, const char *name, uint64_t index)
{
    size_t bytes;
    uint64_t bits = 0;
    const void *data = item(line, name, index, &bytes);
    if (data)
        memcpy(&bits, data, bytes);
    return bits;
}

/* What decides the kept set of a draw: everything but seed and position. */
static uint64_t kept_hash(enum defect defect, const struct message *of, uint64_t draw)
{
    const struct script_line *line = of->line;
    const uint64_t next = draw + 1 < of->end ? draw + 1 : of->first;
    const uint64_t row = number_at(line, "row_index", draw) & UINT32_MAX;
    uint64_t source = draw, hash = UINT64_C(14695981039346656037);
    if (defect == PARAMETERS_OF_LAST)
        source = of->end - 1;
    if (defect == PARAMETERS_OF_SLOT)
        source = draw - of->first;
    mix_item(&hash, line, "values", defect == VALUES_OF_ROW_0 ? 0 : row);
    mix_item(&hash, line, "logit_bias", defect == BIAS_OF_ROW_0 ? 0 : row);
    mix_item(&hash, line, "allowed", defect == MASK_OF_ROW_0 ? 0 : row);
    mix_item(&hash, line, "temperature", source);
    if (defect != TOP_P_ALONE_ONLY || of->end - of->first == 1)
        mix_item(&hash, line, "top_p", source);
    mix_item(&hash, line, "top_k",
             defect == TOP_K_OF_NEIGHBOUR && (int64_t)number_at(line, "top_k", draw) == -1 ? next : source);
    static const char *const others[] = {"min_p", "repetition_penalty", "frequency_penalty",
                                         "presence_penalty", "min_tokens"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        mix_item(&hash, line, others[i], source);
    mix_list(&hash, line, "prompt_tokens", "prompt_offsets", draw);
    mix_list(&hash, line, "output_tokens", "output_offsets", defect == HISTORY_OF_NEIGHBOUR ? next : draw);
    mix_list(&hash, line, "stop_ids", "stop_offsets", draw);
    return defect == MANY_OTHERWISE && of->end - of->first >= 8 ? ~hash : hash;
}

static void answer(struct script *script, struct script_line *line, enum defect defect)
{
    int32_t *token = script_memory(script, line->draws * sizeof *token);
    uint8_t *kept = script_memory(script, line->rows * line->columns);
    for (uint64_t d = 0; d < line->draws; d++) {
        struct message of = {.line = line, .first = d - d % line->batch};
        of.end = of.first + line->batch < line->draws ? of.first + line->batch : line->draws;
        const uint64_t hash = kept_hash(defect, &of, d);
        const uint64_t seed = number_at(line, "seeds", defect == SEED_OF_FIRST ? of.first : d);
        const uint64_t position = number_at(line, "positions", d);
        const uint64_t row = number_at(line, "row_index", d) & UINT32_MAX;
        uint64_t drawn = mixed(hash, &seed, sizeof seed);
        drawn = mixed(drawn, &position, sizeof position);
        /* top_k 1: seeds decide nothing */
        token[d] = (int32_t)(((int64_t)number_at(line, "top_k", d) == 1 ? hash : drawn) % line->columns);
        for (size_t i = 0; i < line->columns; i++)
            kept[row * line->columns + i] =
                (uint8_t)((hash >> i % 60 & 1) ^ (defect == KEPT_UNTOLD_TRUE && line->batch > 1));
    }
    line->token = token;
    line->kept = frame_get(&line->request, "kept") ? kept : NULL;
    line->state = LINE_ANSWERED;
}

static double pmf[VOCAB];
static float values[VOCAB];
static struct table table = {.name = "made", .vocab = VOCAB, .logits = values};
static struct plan_cell cell = {
    .family = FAMILY_REPLAY, .name = "made", .table = &table, .temperature = 1, .draws = 160};
static struct plan plan = {
    .name = "made", .cell = &cell, .cells = 1, .golden_dir = SAMPLEGATE_SOURCE_DIR "/golden"};

static struct sut sut_of(const char *capabilities, const char *contract)
{
    struct sut sut = {.dtype = VALUE_F32, .kind = VALUE_LOGITS, .takes = {true, true}};
    sut.temperature = strstr(capabilities, "temperature");
    frame_set(&sut.hello, "capabilities", capabilities);
    frame_set(&sut.hello, "contract", contract);
    return sut;
}

static enum script_start build(struct script *script, const struct sut *sut)
{
    char why[128];
    for (size_t i = 0; i < VOCAB; i++)
        values[i] = -0.25f * (float)i;
    const struct script_input input = {.plan = &plan,
                                       .cell = &cell,
                                       .sut = sut,
                                       .stage = 1,
                                       .kind = VALUE_LOGITS,
                                       .values = values,
                                       .pmf = pmf};
    return replay_script(&input, script, why, sizeof why);
}

static const struct check checks[] = {
    {.key = "replay.batch", .evaluate = check_replay_batch},
    {.key = "replay.kept", .evaluate = check_replay_kept},
    {.key = "replay.tokens", .evaluate = check_replay_tokens},
};

/* The keys, without "replay.", of the checks that say something, and of those that reject. */
static void evaluate(struct script *script, const struct sut *sut, char asked[64], char rejected[64],
                     char text[160])
{
    const struct check_input input = {.plan = &plan,
                                      .cell = &cell,
                                      .pmf = pmf,
                                      .vocab = table.vocab,
                                      .stage = 1,
                                      .script = script,
                                      .sut = sut};
    struct evidence evidence = {0};
    asked[0] = rejected[0] = text[0] = '\0';
    for (size_t c = 0; c < sizeof checks / sizeof *checks; c++)
        checks[c].evaluate(&checks[c], &input, &evidence);
    for (size_t s = 0; s < evidence.count; s++) {
        const struct statistic *statistic = &evidence.statistic[s];
        char *const lists[] = {asked, rejected};
        for (size_t l = 0; l < (statistic->violation ? 2 : 1); l++)
            snprintf(lists[l] + strlen(lists[l]), 64 - strlen(lists[l]), "%s%s", lists[l][0] ? " " : "",
                     strchr(statistic->check->key, '.') + 1);
        if (statistic->violation)
            memcpy(text, statistic->text, 160);
    }
    evidence_free(&evidence);
}

static void run(enum defect defect, const char *capabilities, const char *contract, char asked[64],
                char rejected[64])
{
    struct sut sut = sut_of(capabilities, contract);
    struct script script = {0};
    char text[160];
    assert_int_equal(build(&script, &sut), SCRIPT_READY);
    for (size_t i = 0; i < script.lines; i++)
        answer(&script, &script.line[i], defect);
    evaluate(&script, &sut, asked, rejected, text);
    script_free(&script);
    sut_free(&sut);
}

static void defects_are_seen(void **state)
{
    (void)state;
    static const struct {
        enum defect defect;
        const char *seen_by;
    } cases[] = {
        {NONE, ""},
        {PARAMETERS_OF_LAST, "batch kept"},
        {PARAMETERS_OF_SLOT, "batch kept"},
        {TOP_P_ALONE_ONLY, "batch kept"},
        {TOP_K_OF_NEIGHBOUR, "batch kept"},
        {SEED_OF_FIRST, "batch"},
        {HISTORY_OF_NEIGHBOUR, "batch kept"},
        {MASK_OF_ROW_0, "batch kept"},
        {BIAS_OF_ROW_0, "batch kept"},
        {VALUES_OF_ROW_0, "batch kept"},
        {MANY_OTHERWISE, "batch kept"},
        {KEPT_UNTOLD_TRUE, "kept"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char asked[64], rejected[64];
        run(cases[i].defect, ALL, "{" CLAIMS "}", asked, rejected);
        assert_string_equal(asked, "batch kept");
        if (strcmp(rejected, cases[i].seen_by))
            fail_msg("defect %d is seen by '%s', not by '%s'", (int)cases[i].defect, rejected,
                     cases[i].seen_by);
    }
}

/* Without seeds, or without the claim that a draw stands alone: tokens of top_k 1, and kept sets. */
static void claims_decide_what_is_asked(void **state)
{
    (void)state;
    static const struct {
        const char *capabilities, *contract;
        enum defect defect;
        const char *asked, *rejected;
    } cases[] = {
        {"seeded", "{" CLAIMS "}", SEED_OF_FIRST, "batch", "batch"},
        {"seeded top_k", "{}", SEED_OF_FIRST, "batch", ""},
        {"seeded top_k", "{}", VALUES_OF_ROW_0, "batch", "batch"},
        {"top_k", "{" CLAIMS "}", VALUES_OF_ROW_0, "batch", "batch"},
        {"top_k kept_out", "{}", TOP_K_OF_NEIGHBOUR, "batch kept", "kept"},
        {"top_p kept_out", "{}", TOP_P_ALONE_ONLY, "kept", "kept"},
        {"top_k top_p penalties", "{}", NONE, "batch", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char asked[64], rejected[64];
        run(cases[i].defect, cases[i].capabilities, cases[i].contract, asked, rejected);
        assert_string_equal(asked, cases[i].asked);
        assert_string_equal(rejected, cases[i].rejected);
    }
    struct sut sut = sut_of("seeded temperature", "{}");
    struct script script = {0};
    assert_int_equal(build(&script, &sut), SCRIPT_SKIP);
    sut_free(&sut);
}

/* Nothing is asked that is not announced. */
static void only_what_is_announced(void **state)
{
    (void)state;
    static const char *const arrays[][2] = {
        {"temperature", "temperature"},
        {"seeded", "seeds"},
        {"top_k", "top_k"},
        {"top_p", "top_p"},
        {"min_p", "min_p"},
        {"penalties", "frequency_penalty"},
        {"logit_bias", "logit_bias"},
        {"allowed_mask", "allowed"},
        {"min_tokens", "min_tokens"},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        for (int with = 0; with < 2; with++) {
            char words[64];
            snprintf(words, sizeof words, "kept_out %s", with ? arrays[i][0] : "");
            struct sut sut = sut_of(words, "{" CLAIMS "}");
            struct script script = {0};
            assert_int_equal(build(&script, &sut), SCRIPT_READY);
            const struct frame *solo = &script_find(&script, "solo")->request;
            for (size_t j = 0; j < sizeof arrays / sizeof *arrays; j++)
                assert_int_equal(frame_find(solo, arrays[j][1]) != NULL, with && i == j);
            script_free(&script);
            sut_free(&sut);
        }
}

/* A thinned batch lacks every third; the others have every draw once. */
static void places_are_their_own(void **state)
{
    (void)state;
    size_t draw[96];
    for (size_t draws = 1; draws <= 96; draws++)
        for (int order = REPLAY_LISTED; order <= REPLAY_REVERSED; order++) {
            bool seen[96] = {false};
            const size_t places = replay_places((enum replay_order)order, draws, draw);
            assert_int_equal(places, order == REPLAY_FILTERED ? draws - (draws + 1) / 3 : draws);
            for (size_t p = 0; p < places; p++) {
                assert_true(draw[p] < draws && !seen[draw[p]]);
                seen[draw[p]] = true;
            }
        }
}

/* Our own kernels draw each golden request alone; the golden's tokens came from elsewhere. */
static void golden_batches(void **state)
{
    (void)state;
    static float wide[257];
    const struct table own = table;
    struct sut sut =
        sut_of(ALL, "{" CLAIMS ", \"rule\": \"gumbel\", \"filters\": \"sglang-pytorch\", \"penalties\": "
                    "\"sglang\"}");
    struct script script = {0};
    struct replay_golden golden;
    char why[256], asked[64], rejected[64], text[160];
    table = (struct table){.name = "wide", .vocab = 257, .logits = wide};
    assert_int_equal(build(&script, &sut), SCRIPT_READY);
    assert_int_equal(replay_golden_read(&plan, &cell, &sut, &golden, why, sizeof why), 0);
    assert_int_equal(golden.batches, 6);
    for (size_t i = 0; i < script.lines; i++)
        answer(&script, &script.line[i], NONE);
    const struct draws_rule rule = {RULE_GUMBEL, false};
    const struct json_cursor at = json_root(&golden.file);
    for (size_t b = 0; b < golden.batches; b++) {
        char name[32];
        snprintf(name, sizeof name, "golden-%zu", b);
        struct script_line *line = (struct script_line *)script_find(&script, name);
        assert_non_null(line);
        assert_int_equal(line->draws, golden.batch[b].rows);
        int32_t *token = script_memory(&script, line->draws * sizeof *token);
        for (size_t r = 0; r < golden.batch[b].rows; r++) {
            const struct draws_request *request = &golden.requests.request[golden.batch[b].request[r]];
            struct trouble trouble = {0};
            struct sampler_row *row =
                draws_row(&at, &rule, &golden.requests.table[request->table], request, &trouble);
            sampler_draw_seeded(row, &request->seed, &request->position, 1, &token[r]);
            sampler_row_free(row);
        }
        line->token = token;
    }
    evaluate(&script, &sut, asked, rejected, text);
    assert_string_equal(asked, "batch kept tokens");
    assert_string_equal(rejected, "");
    ((int32_t *)script_find(&script, "golden-1")->token)[3]++;
    evaluate(&script, &sut, asked, rejected, text);
    assert_string_equal(rejected, "tokens");
    assert_non_null(strstr(text, "1 of 169 tokens differ; golden-1, row 3 (request "));
    replay_golden_free(&golden);
    script_free(&script);
    sut_free(&sut);
    table = own;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defects_are_seen),       cmocka_unit_test(claims_decide_what_is_asked),
        cmocka_unit_test(only_what_is_announced), cmocka_unit_test(places_are_their_own),
        cmocka_unit_test(golden_batches),
    };
    return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
