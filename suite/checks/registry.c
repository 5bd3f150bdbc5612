/* registry.c: the one list of checks; `list`, the README's table, `make mutants` and the tests are made from
 * it. */
#include "suite/checks/check.h"
#include "suite/golden/draws.h"

#include <stdlib.h>
#include <string.h>

#define TABLES "equivalence/tables.json"
#define TOKENS "agreement/tokens.json"
#define MATCH "dependence/match.json"

const struct check check_registry[] = {
    {.key = "equivalence.support",
     .family = FAMILY_EQUIVALENCE,
     .golden = TABLES,
     .mutant = "leak-masked",
     .mutant_cell = "quick/masked-1000",
     .sentence = "No id of probability zero is ever drawn.",
     .effect = "Users see tokens that cannot occur: a stray character, a banned word, JSON that breaks its "
               "grammar.",
     .sees =
         "endpoints of the noise (0, 1, infinity), masks applied too late, a miss that falls on a fixed id",
     .blind = "anything that stays within the support",
     .evaluate = check_support},
    {.key = "equivalence.rank",
     .family = FAMILY_EQUIVALENCE,
     .golden = TABLES,
     .mutant = "short-noise",
     .mutant_cell = "quick/zipf-257",
     .sentence = "Heavy and light tokens come as often as they should (chi-square over ranks).",
     .effect = "Completions are bolder or duller than asked for, and rare words vanish.",
     .sees = "temperature, leaks to the uniform law, truncated tails",
     .blind = "single tokens, index order, dependence",
     .evaluate = check_rank},
    {.key = "equivalence.id",
     .family = FAMILY_EQUIVALENCE,
     .golden = TABLES,
     .mutant = "id-drift",
     .mutant_cell = "gate/flat-151936",
     .sentence = "No region of the vocabulary is favoured by its index (chi-square over id blocks).",
     .effect =
         "Some languages or symbols, which lie together in the vocabulary, come more often than they should.",
     .sees = "ties broken by index, drifting cumulative sums, block boundaries",
     .blind = "what happens within a block of ids",
     .evaluate = check_id},
    {.key = "equivalence.fine",
     .family = FAMILY_EQUIVALENCE,
     .golden = TABLES,
     .mutant = "ripple",
     .mutant_cell = "gate/zipf-1000",
     .sentence = "Every token that can be judged alone has its own probability (chi-square over single ids).",
     .effect = "Every answer is a little off, and no average shows it; RL ratios are noisy.",
     .sees = "independent errors of many tokens",
     .blind = "one rare token, dependence",
     .evaluate = check_fine},
    {.key = "equivalence.batch",
     .family = FAMILY_EQUIVALENCE,
     .golden = TABLES,
     .mutant = "stale-position",
     .mutant_cell = "quick/zipf-257",
     .sentence =
         "The rows of a batch are drawn independently, at every batch size (chi-square per batch size).",
     .effect =
         "Requests served together repeat one another; rollouts of one batch explore less than they claim.",
     .sees = "noise shared by the rows of a batch, kernels wrong at one batch size",
     .blind = "defects of the same size at every batch",
     .evaluate = check_batch},
    {.key = "equivalence.regularity",
     .family = FAMILY_EQUIVALENCE,
     .golden = TABLES,
     .mutant = "weyl",
     .mutant_cell = "quick/uniform-20",
     .sentence = "Draws scatter as much as chance does: counts closer to expectation than luck allows are a "
                 "defect too.",
     .effect = "Samples are not independent: averages over them look better than they are, and searches miss "
               "cases.",
     .sees = "lattices, counters without a hash, quasi-random noise",
     .blind = "noise that is merely too coarse",
     .evaluate = check_regularity},
    {.key = "equivalence.token",
     .family = FAMILY_EQUIVALENCE,
     .golden = TABLES,
     .mutant = "last-id",
     .mutant_cell = "quick/zipf-257",
     .sentence = "No single token is lost, gained or swapped (exact tails of every id).",
     .effect = "One token never comes, or far too often: an end of text, the opening of a tool call.",
     .sees = "one token lost, gained or swapped, the last id unreachable",
     .blind = "small errors spread over many ids",
     .evaluate = check_token},
    {.key = "equivalence.contrast",
     .family = FAMILY_EQUIVALENCE,
     .golden = TABLES,
     .mutant = "warm",
     .mutant_cell = "gate/zipf-1000",
     .sentence =
         "The temperature is what was asked for, and nothing leaks to the uniform law (directed contrasts).",
     .effect = "The temperature users set is not the one they get.",
     .sees = "temperature off by a fraction of a per cent, a uniform leak",
     .blind = "anything not along these two directions",
     .evaluate = check_contrast},
    {.key = "equivalence.tail",
     .family = FAMILY_EQUIVALENCE,
     .golden = TABLES,
     .mutant = "grid24",
     .mutant_cell = "gate/gap-18.5",
     .sentence = "Rare tokens keep their share, however far below the head they are (exact binomial tails).",
     .effect = "Rare tokens disappear: names, code identifiers, minority languages.",
     .sees = "noise whose grid or range cuts the tail off",
     .blind = "the bulk",
     .evaluate = check_tail},
    {.key = "equivalence.edge",
     .family = FAMILY_EQUIVALENCE,
     .golden = TABLES,
     .mutant = "cdf32",
     .mutant_cell = "gate/flat-128256",
     .sentence = "The first and the last ids of the vocabulary are reachable (exact binomial tails).",
     .effect = "The newest tokens, which have the highest ids, cannot be produced.",
     .sees = "a cumulative sum that ends above one, padding, off-by-one at either end",
     .blind = "the inside of the vocabulary",
     .evaluate = check_edge},
    {.key = "agreement.near-tie",
     .family = FAMILY_AGREEMENT,
     .golden = TOKENS,
     .mutant = "bf16-weights",
     .mutant_cell = "gate/shared-noise-257",
     .sentence = "On shared noise the token is the exact one, except where the two best are closer than fp32 "
                 "can tell.",
     .effect = "Two builds give different text from the same noise; a rollout cannot be replayed.",
     .sees = "scores rounded to bf16, a wrong map from noise to token",
     .blind = "whether the noise itself is sound; fp32 rounding as such",
     .evaluate = check_near_tie},
    {.key = "boundary.kept",
     .family = FAMILY_BOUNDARY,
     .golden = "boundary/nucleus.json",
     .mutant = "boundary-dropped",
     .mutant_cell = "card/nucleus",
     .sentence =
         "The filters keep just the ids that the engine's rule keeps, at every edge (kept sets, id by id).",
     .effect =
         "An upgrade makes every filtered answer duller or wilder, and two backends of one engine disagree.",
     .sees = "one id too many or too few at a cut, ties, the order of filters, > for >=",
     .blind = "what is drawn from the set; samplers that do not report it",
     .evaluate = check_boundary_kept},
    {.key = "boundary.support",
     .family = FAMILY_BOUNDARY,
     .golden = "boundary/top-k.json",
     .mutant = "rank-answered",
     .mutant_cell = "card/top-k",
     .sentence = "No token comes that the filters drop, whatever else is in the batch.",
     .effect = "Users see tokens that their top_k, top_p, min_p or ban should have excluded.",
     .sees = "ids kept beyond the cut, ranks for ids, a neighbour's parameters, ignored bans",
     .blind = "ids that should come and do not",
     .evaluate = check_boundary_support},
    {.key = "boundary.mass",
     .family = FAMILY_BOUNDARY,
     .golden = "boundary/penalties.json",
     .mutant = "penalty-squared",
     .mutant_cell = "card/penalties",
     .sentence = "Each kept token has its share, under filters, penalties, biases and temperatures (exact "
                 "binomial tails).",
     .effect = "A penalty does nothing, or twice what it should; a token that should come never does.",
     .sees = "kept ids that never come, shares not renormalised, wrong penalties, wrong order of temperature",
     .blind = "kept ids lighter than about a hundredth",
     .evaluate = check_boundary_mass},
    {.key = "boundary.refused",
     .family = FAMILY_BOUNDARY,
     .golden = "boundary/degenerate.json",
     .mutant = "nan-accepted",
     .mutant_cell = "card/degenerate",
     .sentence = "Meaningless parameters are refused, and those at the edge of their range are not.",
     .effect = "One request with a NaN draws noise or takes the batch down; a valid one gets an error.",
     .sees = "NaN, 0 or negative values let through; k above the vocabulary refused",
     .blind = "what an accepted value does",
     .evaluate = check_boundary_refused},
    {.key = "determinism.batch",
     .family = FAMILY_DETERMINISM,
     .golden = DRAWS_TOKENS,
     .mutant = "seed-first",
     .mutant_cell = "card/again-257",
     .sentence = "A seeded draw gives the same token at every batch size and in every place of a batch.",
     .effect = "A seeded request gives another text when the server is busier, and nobody can tell why.",
     .sees = "seeds looked up by slot or from the first row, noise keyed by place, seeds captured at the "
             "first call",
     .blind = "tokens that are wrong in the same way everywhere",
     .evaluate = check_determinism_batch},
    {.key = "determinism.process",
     .family = FAMILY_DETERMINISM,
     .golden = DRAWS_TOKENS,
     .mutant = "seed-process",
     .mutant_cell = "card/again-257",
     .sentence = "The same seeded call gives the same tokens again, in this process and in another.",
     .effect = "A bug report cannot be replayed, and two replicas answer one seed differently.",
     .sees = "seeds that are ignored, or mixed with the state or the number of the process",
     .blind = "what depends on the batch, which is the same here",
     .evaluate = check_determinism_process},
    {.key = "determinism.neighbour",
     .family = FAMILY_DETERMINISM,
     .golden = DRAWS_TOKENS,
     .mutant = "filtered-neighbour",
     .mutant_cell = "card/again-257",
     .sentence = "A seeded draw gives the same token whatever its neighbours ask for.",
     .effect = "One user's top_k changes another user's seeded text.",
     .sees =
         "a filtered neighbour that sends the whole batch another way, rows or temperatures of a neighbour",
     .blind = "who claims noise by rank is not asked about filtered neighbours",
     .evaluate = check_determinism_neighbour},
    {.key = "determinism.seed",
     .family = FAMILY_DETERMINISM,
     .golden = DRAWS_TOKENS,
     .mutant = "seed-short",
     .mutant_cell = "card/again-257",
     .sentence =
         "Every seed is a seed: another one, 2^32 further too, gives other tokens, and so do -1 and 0.",
     .effect = "Users who vary the seed get one text; users who ask for seed 0 get a random one.",
     .sees = "seeds ignored, constant, cut to 32 bits or taken for none, positions ignored",
     .blind = "seeds further apart than one that are alike, which family dependence sees",
     .evaluate = check_determinism_seed},
    {.key = "determinism.tokens",
     .family = FAMILY_DETERMINISM,
     .golden = DRAWS_TOKENS,
     .mutant = "seed-magnitude",
     .mutant_cell = "card/again-20",
     .sentence = "A sampler that claims a rule by name draws the tokens of exact arithmetic under that rule.",
     .effect = "An upgrade that promised the same seeded text gives another.",
     .sees = "another hash or key, widths of seeds and positions, the order of ties, another filter",
     .blind = "samplers that claim no rule, tokens nearer to a tie than fp32 can tell",
     .evaluate = check_determinism_tokens},
    {.key = "dependence.row",
     .family = FAMILY_DEPENDENCE,
     .golden = MATCH,
     .mutant = "seed-default",
     .mutant_cell = "card/lags-20",
     .sentence = "Unseeded draws have nothing in common at any distance: in a batch, between calls, between "
                 "requests.",
     .effect =
         "Requests served together copy one another; two servers that start together give the same text.",
     .sees = "rows that share noise, calls that repeat, a stream that begins anew in each process, lattices",
     .blind = "repetition further apart than 1,024 draws, the law of a single draw",
     .evaluate = check_row},
    {.key = "dependence.position",
     .family = FAMILY_DEPENDENCE,
     .golden = MATCH,
     .mutant = "position-window",
     .mutant_cell = "card/lags-20",
     .sentence = "The tokens of one seed at different positions have nothing in common.",
     .effect =
         "A seeded text falls into a rhythm: the same choices come again and again, or never twice in a row.",
     .sees = "noise that ignores the position, comes back after a while, or walks over a lattice",
     .blind = "repetition further apart than 1,024 positions, whether the seed matters",
     .evaluate = check_position},
    {.key = "dependence.seed",
     .family = FAMILY_DEPENDENCE,
     .golden = MATCH,
     .mutant = "linear-hash",
     .mutant_cell = "card/seeds-20",
     .sentence = "Different seeds give tokens that have nothing in common, neighbouring seeds too.",
     .effect = "Rollouts numbered 0, 1, 2 explore the same paths, and best-of-n is the best of fewer.",
     .sees = "seeds that do not matter, neighbours that share tokens, a seed and a position that are merely "
             "added",
     .blind = "seeds further apart than 1,024 that are alike",
     .evaluate = check_seed},
    {.key = "replay.batch",
     .family = FAMILY_REPLAY,
     .golden = DRAWS_BATCHES,
     .mutant = "parameters-last",
     .mutant_cell = "card/mixed-257",
     .sentence = "Every row of a mixed, permuted, joined or thinned batch gives the token it gives alone.",
     .effect = "One user's settings, or another user's leaving, change what a third one reads.",
     .sees = "parameters, histories, masks and seeds of another row, paths that only a batch takes",
     .blind = "what is wrong alone, too",
     .evaluate = check_replay_batch},
    {.key = "replay.kept",
     .family = FAMILY_REPLAY,
     .golden = DRAWS_BATCHES,
     .mutant = "unset-top-k",
     .mutant_cell = "card/mixed-257",
     .sentence = "The filters of a row keep in a batch what they keep alone (kept sets, id by id).",
     .effect = "Tokens that a user's filter excludes appear when the server is busy.",
     .sees = "filters of another row, filters that a batch ignores, ties kept by batch size",
     .blind = "which of the kept ids is drawn, samplers that do not tell what they keep",
     .evaluate = check_replay_kept},
    {.key = "replay.tokens",
     .family = FAMILY_REPLAY,
     .golden = DRAWS_BATCHES,
     .mutant = "history-shifted",
     .mutant_cell = "card/mixed-257",
     .sentence =
         "A sampler that claims a rule by name gives the golden's token in every row of mixed batches.",
     .effect = "An upgrade that promised the same seeded text gives another as soon as requests are mixed.",
     .sees = "penalties, filters, temperatures and seeds that are mixed up, or wrong together",
     .blind = "samplers that claim no rule, or lack one of the parameters",
     .evaluate = check_replay_tokens},
    {.key = "predicate.path",
     .family = FAMILY_PREDICATE,
     .golden = "predicate/path.json",
     .mutant = "one-side",
     .mutant_cell = "card/path",
     .sentence = "A batch takes the path that the engine's version takes, on either side of every condition.",
     .effect =
         "A benchmark measures another sampler than the one that serves, or one request slows or changes "
         "all its neighbours.",
     .sees = "conditions on rounded values, < for <=, joins that forget or invent a need, misread switches",
     .blind = "what the path then draws",
     .evaluate = check_questions},
    {.key = "predicate.history",
     .family = FAMILY_PREDICATE,
     .golden = "predicate/history.json",
     .mutant = "recomputed",
     .mutant_cell = "card/history",
     .sentence = "A running batch remembers and forgets its requests' filters as the engine does.",
     .effect = "The path of a request depends on requests that came and went, and nobody can tell which.",
     .sees = "flags merged wrongly, kept too long or dropped too early",
     .blind = "what the path then draws",
     .evaluate = check_questions},
    {.key = "predicate.forks",
     .family = FAMILY_PREDICATE,
     .golden = "predicate/forks.json",
     .mutant = "vllm-best-of",
     .mutant_cell = "card/forks",
     .sentence =
         "A request becomes as many sequences as the engine makes of it, drawn and preempted as it does.",
     .effect = "Capacity is planned for the wrong number of sequences, or candidates that were paid for are "
               "missing.",
     .sees = "best_of or n ignored, widths that neighbours share or do not, swapping for recomputation",
     .blind = "which of the sequences is returned",
     .evaluate = check_questions},
    {.key = "predicate.draw",
     .family = FAMILY_PREDICATE,
     .golden = "predicate/draw.json",
     .mutant = "vllm-not-cached",
     .mutant_cell = "card/draw",
     .sentence = "The way a token is chosen follows from the request as the engine derives and remembers it.",
     .effect = "A request that is changed after its first use is drawn in another way than the engine would.",
     .sees =
         "another order of beam search, temperature and seed; a type that is not remembered, or not cloned",
     .blind = "what the draw then gives",
     .evaluate = check_questions},
    {.key = "predicate.rows",
     .family = FAMILY_PREDICATE,
     .golden = "predicate/rows.json",
     .mutant = "vllm-rows-fixed",
     .mutant_cell = "card/rows",
     .sentence =
         "Each row's penalties count the tokens that the engine's version counts there, misaligned ones too.",
     .effect = "A request is penalised with its neighbour's tokens, or not at all, depending on the order of "
               "the batch.",
     .sees = "lists that start too early, rows of prompts that are not counted, a release's defect that is "
             "not modelled",
     .blind = "what the penalties then do to the logits",
     .evaluate = check_questions},
    {.key = "predicate.candidates",
     .family = FAMILY_PREDICATE,
     .golden = "predicate/candidates.json",
     .mutant = "vllm-first-parent",
     .mutant_cell = "card/candidates",
     .sentence =
         "Beam search goes on with the best candidates of all its sequences, twice as many as it keeps.",
     .effect = "Beam search loses the best continuation and nothing shows it.",
     .sees = "candidates of one sequence alone, sums left out, ties in another order, too few",
     .blind = "how finished candidates are ranked",
     .evaluate = check_questions},
    {.key = "defaults.effective",
     .family = FAMILY_DEFAULTS,
     .golden = "defaults/effective.json",
     .mutant = "falsy-zero",
     .mutant_cell = "card/effective",
     .sentence = "Each parameter of a request comes from the layer that the engine's version takes it from.",
     .effect =
         "Users get another temperature, filter or penalty than they, the operator or the model's file set.",
     .sees = "zero, null or a default taken for silence, files read on the wrong endpoint, values that leak",
     .blind = "what the sampler does with the parameters",
     .evaluate = check_questions},
    {.key = "defaults.normalize",
     .family = FAMILY_DEFAULTS,
     .golden = "defaults/normalize.json",
     .mutant = "top-k-below-one",
     .mutant_cell = "card/normalize",
     .sentence = "Parameters are rewritten and refused at exactly the engine's thresholds.",
     .effect = "A request just beside a threshold becomes greedy, or is refused with another build.",
     .sees = "thresholds moved or rounded, sentinels misread, checks in another order",
     .blind = "what the sampler does with the parameters",
     .evaluate = check_questions},
    {.key = "defaults.tensors",
     .family = FAMILY_DEFAULTS,
     .golden = "defaults/tensors.json",
     .mutant = "vllm-exact-tensors",
     .mutant_cell = "card/tensors",
     .sentence = "A step holds each parameter in the type and with the rounding that the engine gives it.",
     .effect = "On a half-precision model another nucleus or temperature is used than was asked for, or than "
               "the engine used.",
     .sees = "parameters that are not rounded to the logits' type, rounded once too often or cut off; "
             "sentinels that reach the tensors",
     .blind = "what the sampler does with the tensors",
     .evaluate = check_questions},
};
const size_t check_registry_count = sizeof check_registry / sizeof *check_registry;

bool check_looks_at(const struct check *check, const struct plan_cell *cell)
{
    const bool own = check->family == FAMILY_PREDICATE || check->family == FAMILY_DEFAULTS;
    return check->family == cell->family && (!own || strcmp(strchr(check->key, '.') + 1, cell->name) == 0);
}

bool check_selected(const struct check *check, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(check->key, prefix, length))
        return false;
    return length == 0 || prefix[length - 1] == '.' || check->key[length] == '\0' ||
           check->key[length] == '.';
}

struct statistic *evidence_add(struct evidence *evidence, const struct check *check, const char *name)
{
    struct statistic *grown = realloc(evidence->statistic, (evidence->count + 1) * sizeof *grown);
    if (!grown)
        abort();
    evidence->statistic = grown;
    struct statistic *statistic = &grown[evidence->count++];
    *statistic = (struct statistic){.check = check};
    strncpy(statistic->name, name, sizeof statistic->name - 1);
    return statistic;
}

struct statistic *evidence_find(const struct evidence *evidence, const struct statistic *like)
{
    for (size_t s = 0; s < evidence->count; s++)
        if (evidence->statistic[s].check == like->check && !strcmp(evidence->statistic[s].name, like->name))
            return &evidence->statistic[s];
    return NULL;
}

void evidence_free(struct evidence *evidence)
{
    free(evidence->statistic);
    *evidence = (struct evidence){0};
}
