/* report_text.c: what given traffic costs, for a reader. */
#include <inttypes.h>
#include <stdio.h>

#include "suite/cost/remedies.h"
#include "suite/cost/report.h"
#include "suite/cost/status.h"
#include "suite/plural.h"

#define NUMBER 32
/* 65,536,000 */
static const char *grouped(double number, char text[NUMBER])
{
    char plain[NUMBER];
    const int digits = snprintf(plain, sizeof plain, "%.0f", number);
    char *to = text;
    for (int i = 0; i < digits && i < 20; i++) {
        if (i && (digits - i) % 3 == 0)
            *to++ = ',';
        *to++ = plain[i];
    }
    *to = 0;
    return text;
}

static void print_tally(const char *what, const struct tally *tally)
{
    char number[NUMBER], ids[TALLY_IDS * (REQUEST_ID + 2) + 32];
    for (size_t i = 0; i < tally->rows; i++)
        printf("%-10s %s %s (%s)\n", i ? "" : what, grouped((double)tally->row[i].count, number),
               tally->row[i].text, tally_ids(&tally->row[i], ids));
    if (tally->others)
        printf("%-10s %s for other reasons\n", "", grouped((double)tally->others, number));
}

static void print_head(const struct cost_traffic *traffic, const struct cost_options *options,
                       const struct cost_step *step)
{
    char vocab[NUMBER], requests[NUMBER], sequences[NUMBER], rows[NUMBER], lines[NUMBER];
    printf("%s%s%s, vocabulary %s, %s logits\n", options->engine->name,
           traffic->reading == ENGINE_UPSTREAM ? "" : " as ",
           traffic->reading == ENGINE_UPSTREAM ? "" : engine_reading_names[traffic->reading],
           grouped((double)options->vocab, vocab), cost_dtype_names[options->dtype]);
    printf("%-10s %s%s, %s sequence%s", "requests", grouped((double)traffic->requests, requests),
           options->requests ? "" : " of defaults", grouped((double)cost_sequences(traffic), sequences),
           PLURAL(cost_sequences(traffic)));
    if (traffic->requests != traffic->lines)
        printf(" (sent as %s: each prompt of a list is one)", grouped((double)traffic->lines, lines));
    putchar('\n');
    print_tally("refused", &traffic->refused);
    print_tally("skipped", &traffic->skipped);
    printf("%-10s N = %s row%s of logits", "step", grouped((double)cost_rows(step), rows),
           PLURAL(cost_rows(step)));
    if (options->batch)
        puts(", as given");
    else if (traffic->order.timed && traffic->running.busy > 0)
        printf(", of up to %s at once in the trace (%.3g on average)\n",
               grouped((double)traffic->running.peak, sequences),
               traffic->running.sequence_seconds / traffic->running.busy);
    else
        puts(cost_rows(step) == cost_sequences(traffic)
                 ? ", all requests at once"
                 : ", as many as the engine runs at once by default (--max-num-seqs)");
}

static void print_stages(const struct cost_traffic *traffic, const struct cost_step *step)
{
    double tensors = 0, reads = 0, writes = 0;
    char a[NUMBER], b[NUMBER], c[NUMBER];
    printf("\nA step, bytes at least:\n%-12s %9s %16s %16s %16s\n", "stage", "of steps", "tensors made",
           "read", "written");
    for (enum engine_stage s = 0; s < ENGINE_STAGES; s++) {
        const struct cost_bytes bytes = cost_stage(step, s);
        const double share = cost_stage_share(traffic, step, s);
        printf("%-12s %8.3g%% %16s %16s %16s%s\n", engine_stage_names[s], 100 * share,
               grouped((double)bytes.tensors, a), grouped((double)bytes.reads, b),
               grouped((double)bytes.writes, c), share > 0 ? "" : "  if it ran");
        tensors += share * (double)bytes.tensors;
        reads += share * (double)bytes.reads;
        writes += share * (double)bytes.writes;
    }
    printf("%-12s %9s %16s %16s %16s\n", "on average", "", grouped(tensors, a), grouped(reads, b),
           grouped(writes, c));
    printf("8 N V = %s bytes, the two fp32 tensors of the softmax. That leaves out that they are read, the "
           "copies,\n"
           "noise and ranks of the stages after them, every pass that a flag opens, and, in the step of a "
           "prompt whose\n"
           "log-probabilities are asked for (prompt_logprobs, or echo beside logprobs), a row of logits for "
           "each of its "
           "tokens.\n",
           grouped((double)cost_two_tensors(step), a));
}

static void print_parameters(const struct cost_traffic *traffic, const struct cost_step *step)
{
    char requests[NUMBER], bytes[NUMBER], value[40];
    printf("\n%-19s %8s  %-14s %20s %20s\n", "parameter", "default", "opens", "requests off default",
           "bytes of what opens");
    for (size_t i = 0; i < COST_TABLED; i++) {
        const enum engine_parameter p = cost_tabled[i];
        const enum cost_pass pass = cost_pass_of(traffic, p);
        printf("%-19s %8s  %-14s %13s %5.3g%% %20s\n", engine_parameter_names[p],
               engine_python_text(&traffic->defaults[ENGINE_GENERATE].at[p], value, sizeof value),
               pass < COST_PASSES ? cost_pass_flag[pass] : "nothing",
               grouped((double)traffic->off[p], requests),
               100 * (double)traffic->off[p] / (double)traffic->requests,
               grouped(pass < COST_PASSES ? cost_pass_bytes(traffic, step, pass) : 0, bytes));
    }
    for (enum engine_endpoint e = 0; e < ENGINE_ENDPOINTS; e++) {
        const struct engine_value *own = &traffic->defaults[e].at[ENGINE_TEMPERATURE];
        if (own->number != 0 &&
            own->number != traffic->defaults[ENGINE_GENERATE].at[ENGINE_TEMPERATURE].number)
            printf("%-19s %8s  on %s, whose requests are held against that\n",
                   engine_parameter_names[ENGINE_TEMPERATURE], engine_python_text(own, value, sizeof value),
                   engine_endpoint_names[e]);
    }
    printf("%-19s", "drawn");
    for (int d = 0; d < ENGINE_DRAWS; d++)
        if (traffic->draws[d])
            printf("  %s %.3g%%", engine_draw_names[d],
                   100 * (double)traffic->draws[d] / (double)traffic->requests);
    putchar('\n');
}

static void print_mixed(const struct cost_traffic *traffic, const struct cost_options *options,
                        const struct cost_step *step)
{
    bool mixed = false;
    for (enum cost_pass pass = 0; pass < COST_PASSES; pass++) {
        if (!cost_is_mixed(traffic, pass))
            continue;
        printf("%-10s %s: opened by %.3g%% of requests, it runs over every row in %.3g%% of steps\n",
               mixed ? "" : "mixed", cost_pass_flag[pass],
               100 * (double)traffic->pass[pass] / (double)traffic->requests,
               100 * cost_share(traffic, step, pass));
        mixed = true;
    }
    if (!mixed)
        printf("%-10s no: all requests open the same passes\n", "mixed");
    if (cost_is_mixed(traffic, COST_PENALTIES))
        printf(
            "%-10s values, too: here a row's penalties count another row's tokens if a plain request stands\n"
            "%-10s before it in the step (fixed in 0.5.1)\n",
            "", "");
    if (cost_is_mixed(traffic, COST_TOP_P_TOP_K) && options->dtype == COST_FLOAT16)
        printf("%-10s rows that ask for no filter lose what is some 17 nats below their best: float16 sums "
               "round it off\n",
               "");
}

static void print_forks(const struct cost_traffic *traffic, const struct cost_options *options,
                        const struct cost_step *step)
{
    const double factor = (double)cost_sequences(traffic) / (double)traffic->requests;
    char a[NUMBER], b[NUMBER], c[NUMBER];
    if (traffic->forked == 0) {
        printf("%-10s none: every request is one sequence\n", "forks");
        return;
    }
    printf("%-10s requests of several sequences: %s, of %s in all, the widest of %s\n"
           "%-10s over all traffic %.4g times the rows to sample and the forward passes\n",
           "forks", grouped((double)traffic->forked, a), grouped((double)traffic->forked_sequences, b),
           grouped((double)traffic->widest, c), "", factor);
    printf("%-10s KV: a prompt's blocks are shared, what follows is kept once a sequence: %s %s more\n", "",
           grouped((double)(traffic->forked_sequences - (int64_t)traffic->forked), a),
           traffic->forked_sequences - (int64_t)traffic->forked == 1 ? "copy" : "copies");
    if (options->concurrency)
        printf("%-10s concurrency: %s requests are %.4g sequences\n", "",
               grouped((double)options->concurrency, a), factor * (double)options->concurrency);
    struct cost_step prompt = {.vocab = step->vocab, .dtype = step->dtype};
    prompt.rows[ENGINE_DRAW_RANDOM] = prompt.columns[ENGINE_DRAW_RANDOM] = 1;
    const struct cost_bytes one = cost_stage(&prompt, ENGINE_STAGE_SAMPLE);
    prompt.columns[ENGINE_DRAW_RANDOM] = traffic->widest;
    const struct cost_bytes many = cost_stage(&prompt, ENGINE_STAGE_SAMPLE);
    if (traffic->draws[ENGINE_DRAW_RANDOM] + traffic->draws[ENGINE_DRAW_RANDOM_SEED])
        printf("%-10s prompts: in the step of the widest's, every row of its kind is drawn %s times: the "
               "sample stage\n"
               "%-10s moves %s bytes a row, not %s\n",
               "", grouped((double)traffic->widest, c), "", grouped((double)(many.reads + many.writes), a),
               grouped((double)(one.reads + one.writes), b));
    printf("%-10s out of memory: %s while several sequences run%s%s\n", "",
           engine_preemption_names[traffic->preempted],
           traffic->last_preempted != traffic->preempted ? ", then with one left: " : "",
           traffic->last_preempted != traffic->preempted ? engine_preemption_names[traffic->last_preempted]
                                                         : "");
}

/* Rows that are not drawn from, in steps of prompts. */
static void print_prompts(const struct cost_traffic *traffic, const struct cost_options *options)
{
    char a[NUMBER], b[NUMBER], c[NUMBER];
    if (traffic->prompt_logprobs == 0)
        return;
    printf(
        "%-10s %s whose prompts' log-probabilities are wanted: a row of logits for each token but the last, "
        "%s bytes in\n%-10s the two tensors",
        "prompts", grouped((double)traffic->prompt_logprobs, a), grouped(8 * (double)options->vocab, b), "");
    if (traffic->widest_prompt)
        printf("; known are %s rows, of the longest %s: its step is N = %s, 8 N V = %s bytes",
               grouped((double)traffic->prompt_rows, a), grouped((double)traffic->widest_prompt, b),
               grouped((double)traffic->widest_prompt + 1, c),
               grouped(8 * ((double)traffic->widest_prompt + 1) * (double)options->vocab, (char[NUMBER]){0}));
    putchar('\n');
    if (traffic->unknown_prompts)
        printf("%-10s %s of unknown length: a line's \"prompt_tokens\" says it, or a prompt in tokens\n", "",
               grouped((double)traffic->unknown_prompts, a));
}

/* What the published article's code, or its sentences, make of the same traffic. */
static void print_readings(const struct cost_traffic *traffic, const struct cost_step *step)
{
    char bytes[NUMBER];
    puts("");
    for (enum engine_reading reading = 0; reading < ENGINE_READINGS; reading++) {
        const struct tally *difference = &traffic->difference[reading];
        bool any = tally_total(difference) > 0;
        if (reading == traffic->reading)
            continue;
        printf("as %s", engine_reading_names[reading]);
        if (any)
            printf(", of %zu line%s %zu cost%s otherwise", traffic->lines + tally_total(&traffic->refused),
                   PLURAL(traffic->lines + tally_total(&traffic->refused)), tally_total(difference),
                   tally_total(difference) == 1 ? "s" : "");
        for (enum engine_stage s = 0; s < ENGINE_STAGES; s++) {
            const bool here = cost_runs(traffic, traffic->reading, 0, s),
                       there = cost_runs(traffic, reading, 0, s);
            if (here != there)
                printf("%s a step has %s %s stage: %s bytes %s", any ? ";" : ":", there ? "a" : "no",
                       engine_stage_names[s], grouped(cost_moved(cost_stage(step, s)), bytes),
                       there ? "more" : "less");
            any |= here != there;
        }
        puts(any ? "" : ": nothing changes");
        print_tally("", difference);
    }
}

static void print_remedies(const struct cost_traffic *traffic, const struct cost_options *options)
{
    struct remedy remedy[REMEDIES_MAX];
    const size_t remedies = cost_remedies(traffic, options, remedy);
    char saves[NUMBER];
    if (remedies)
        puts("\nWhat to do, in this order. Each saves so much by itself, of the traffic as it is; they do "
             "not add up.");
    for (size_t i = 0; i < remedies; i++)
        printf("%zu. %s\n   because  %s\n   saves    %s bytes a step\n   costs    %s\n", i + 1,
               remedy[i].action, remedy[i].why, grouped(remedy[i].saves, saves), remedy[i].costs);
}

void cost_report_text(struct cost_traffic *traffic, const struct cost_options *options)
{
    const struct cost_step step = cost_traffic_step(traffic, options);
    char reason[STATUS_REASON];
    print_head(traffic, options, &step);
    print_stages(traffic, &step);
    print_parameters(traffic, &step);
    print_mixed(traffic, options, &step);
    print_forks(traffic, options, &step);
    print_prompts(traffic, options);
    const enum cost_status status = cost_status(traffic, options, reason);
    printf("%-10s %s: %s\n", "status", cost_status_names[status], reason);
    print_remedies(traffic, options);
    print_readings(traffic, &step);
}
