"""filters.py: top_k, top_p and min_p as nine engines do them, each in its own words, in exact rationals.

Read from the engines' sources, not from kernels/ or suite/oracle/. Each function is given the weights of the ids that can be drawn
at all, {id: Fraction}, and answers {id: mass left}, not normalised. `seen` gathers how far every comparison was from an equality.
"""
from fractions import Fraction


class Seen:
    """The distances |a - b| of what an engine compares; a comparison that no rule of ties or masses can turn is not told here."""

    def __init__(self):
        self.distances = []

    def less(self, a, b):
        self.distances.append(abs(a - b))
        return a < b

    def at_most(self, a, b):
        self.distances.append(abs(a - b))
        return a <= b

    def exact(self):
        return 0 in self.distances

    def nearest(self):
        """Of those that are not equalities."""
        return min((d for d in self.distances if d), default=None)


def normalised(weights):
    total = sum(weights.values())
    return {i: w / total for i, w in weights.items()}


def without_small(weights, min_p, largest, seen):
    """P < min_p max(P) goes; the heaviest cannot."""
    return {i: w for i, w in weights.items() if w == largest or not seen.less(w / largest, min_p)} if min_p > 0 else weights


def at_least_kth(weights, k):
    """What is not below the k-th largest value: its ties stay."""
    if k == -1 or k >= len(weights):
        return weights
    threshold = sorted(weights.values())[len(weights) - k]
    return {i: w for i, w in weights.items() if w >= threshold}


def first_k(weights, k):
    """The first k of a stable descending sort."""
    ranked = sorted(weights, key=lambda i: -weights[i])
    return {i: weights[i] for i in (ranked if k == -1 else ranked[:k])}


def ascending_nucleus(weights, p, seen):
    """vLLM and HF: a stable ascending sort; what lies in the lower mass of 1 - p goes, the last never."""
    if p >= 1:
        return weights
    share, ranked, below = normalised(weights), sorted(weights, key=lambda i: (weights[i], i)), Fraction(0)
    kept = {}
    for i in ranked:
        below += share[i]
        if i == ranked[-1] or not seen.at_most(below, 1 - p):
            kept[i] = weights[i]
    return kept


def sglang_pytorch(weights, k, p, min_p, seen):
    """One descending sort; the mass is cumulated over the whole row; rank, mass above, min_p in turn."""
    ranked = sorted(weights, key=lambda i: -weights[i])
    share, cumulative, kept = normalised(weights), Fraction(0), {}
    for rank, i in enumerate(ranked):
        cumulative += share[i]
        if k != -1 and rank >= k:
            continue
        if p < 1 and rank > 0 and not seen.at_most(cumulative - share[i], p):
            continue
        kept[i] = weights[i]
    return without_small(kept, min_p, max(weights.values()), seen)


def flashinfer_joint(weights, k, p, min_p, seen):
    """A token is accepted if fewer than k are heavier, and they hold less than p."""
    share, kept = normalised(weights), {}
    for i, w in weights.items():
        heavier = [j for j in weights if weights[j] > w]
        if k != -1 and len(heavier) >= k:
            continue
        if p >= 1 or not heavier or seen.less(sum(share[j] for j in heavier), p):
            kept[i] = w
    return without_small(kept, min_p, max(weights.values()), seen)


def flashinfer_top_k_first(weights, k, p, min_p, seen):
    """The renormalising kernels: top_k, then top_p on what it leaves, then min_p."""
    return flashinfer_joint(flashinfer_joint(weights, k, Fraction(1), Fraction(0), seen), -1, p, min_p, seen)


def vllm_0(weights, k, p, min_p, seen):
    return without_small(ascending_nucleus(at_least_kth(weights, k), p, seen), min_p, max(weights.values()), seen)


def vllm_1(weights, k, p, min_p, seen):
    return ascending_nucleus(at_least_kth(without_small(weights, min_p, max(weights.values()), seen), k), p, seen)


def llama_cpp(weights, k, p, min_p, seen):
    """Candidates sorted down to k; top_p stops as soon as the mass so far reaches p."""
    chosen = first_k(weights, k)
    share, cumulative, kept = normalised(chosen), Fraction(0), {}
    for i in chosen:
        kept[i] = chosen[i]
        cumulative += share[i]
        if p < 1 and len(kept) < len(chosen) and not seen.less(cumulative, p):
            break
    return without_small(kept, min_p, max(weights.values()), seen)


def tensorrt_torch(weights, k, p, min_p, seen):
    """Descending sort of what top_k leaves; the mask cumulative > p is shifted by one, so that the id that passes p stays."""
    chosen = at_least_kth(weights, k)
    share, cumulative, gone, kept = normalised(chosen), Fraction(0), False, {}
    for i in sorted(chosen, key=lambda j: -chosen[j]):
        if not gone:
            kept[i] = chosen[i]
        cumulative += share[i]
        if p < 1 and len(kept) < len(chosen):
            gone = gone or not seen.at_most(cumulative, p)
    return without_small(kept, min_p, max(weights.values()), seen)


def tensorrt_cpp(weights, k, p, min_p, seen):
    """The k largest, one at a time; u p S walks down them, u below 1, so the last id gets what is left of p S."""
    chosen = first_k(weights, k)
    if p < 1:
        left, given = p * sum(chosen.values()), {}
        for i, w in chosen.items():
            if given and not seen.less(0, left / sum(chosen.values())):
                break
            given[i] = min(w, left)
            left -= given[i]
            if left == 0 and given[i] < w:
                break
        chosen = given
    kept = without_small({i: weights[i] for i in chosen}, min_p, max(weights.values()), seen)
    return {i: chosen[i] for i in kept}


# name: (filter, the temperature divides only what the filters leave)
ENGINES = {
    "sglang-pytorch": (sglang_pytorch, False),
    "flashinfer-joint": (flashinfer_joint, False),
    "flashinfer-top-k-first": (flashinfer_top_k_first, False),
    "vllm-0.5.0": (vllm_0, False),
    "vllm-v1": (vllm_1, False),
    "hf-transformers": (vllm_0, False),
    "llama.cpp": (llama_cpp, True),
    "tensorrt-llm-torch": (tensorrt_torch, False),
    "tensorrt-llm-cpp": (tensorrt_cpp, False),
}


def refused(parameters):
    """The first parameter outside its range, as all engines' documents have it; a NaN is outside every range."""
    k, p, min_p = (parameters.get(name, off) for name, off in (("top_k", -1), ("top_p", 1), ("min_p", 0)))
    if not (k == -1 or k >= 1):
        return "top_k"
    if not p > 0:
        return "top_p"
    if not 0 <= min_p <= 1:
        return "min_p"
    return None


def filtered(engine, weights, parameters):
    """({id: mass}, normalised; what was seen on the way)."""
    k, p, min_p = parameters.get("top_k", -1), Fraction(parameters.get("top_p", 1)), Fraction(parameters.get("min_p", 0))
    seen = Seen()
    left = ENGINES[engine][0](weights, k, p, min_p, seen)
    return normalised(left), seen
