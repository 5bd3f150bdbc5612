/* rows.h: the rows of family agreement in the registry, which includes them in its table; they have no guard. */
#define TOKENS "agreement/tokens.json"
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
