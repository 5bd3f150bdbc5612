"""boundary_cases.py: golden/boundary/*.json: small rows with the ids that each engine's rule keeps, and their masses.

A case's value i is values[i] / denominator, exactly what fp32 holds. "expect" has one entry for all rules that agree: "kept" and
"mass" (fractions, or 15 digits where they would be long), "exact" where a mass or a weight lies exactly on its threshold, or
"refused": the parameter that no sampler may accept. penalties.json: the rules are those of penalties, "logits" what they make of
the row (15 digits).
"""
import math
from decimal import Decimal
from fractions import Fraction

import filters
import penalties
from boundary_notes import NOTES
from digits import fifteen
from files import family_text, write_text

VERSION = "1"
NEAREST = Fraction(1, 2**15)  # a cut that is nearer than this, and not exact, fp32 need not decide rightly
LONGEST = 2**53
SOURCE = "exact rationals, each engine's rule in its own words"


def is_probabilities(case):
    return case["kind"] == "probabilities"


def fractions_of(case):
    """None for what can never be drawn: a NaN, a weight that is not positive and finite, a logit of minus infinity."""
    values = [None if isinstance(v, str) else Fraction(v, case["denominator"]) for v in case["values"]]
    return [v if v is not None and (v > 0 or not is_probabilities(case)) else None for v in values]


def shown(mass):
    if isinstance(mass, Decimal):
        return fifteen(mass)
    if mass.denominator > LONGEST:
        return fifteen(penalties.decimal_of(mass))
    return str(mass)


def refused(case):
    parameters, temperature = case["parameters"], case.get("temperature", 1)
    if not 0 < temperature < float("inf"):
        return "temperature"
    return filters.refused(parameters) or penalties.refused(parameters, len(case["values"]))


def law_of_logits(logits, temperature):
    return {i: Fraction(mass) for i, mass in enumerate(penalties.law(logits, temperature)) if mass > 0}


def filtered(case, rule):
    """What one filter rule leaves of a row."""
    values = fractions_of(case)
    if is_probabilities(case):
        weights, last = {i: v for i, v in enumerate(values) if v is not None}, False
    else:
        temperature = Fraction(case.get("temperature", 1))
        last = filters.ENGINES[rule][1]
        weights = {} if "inf" in case["values"] else law_of_logits(values, Fraction(1) if last else temperature)
    if not weights:
        return {"kept": [], "mass": []}
    left, seen = filters.filtered(rule, weights, case["parameters"])
    if (seen.nearest() or 1) < NEAREST or (seen.exact() and not is_probabilities(case)):
        raise ValueError(f"{case['id']}: {rule} cuts too near a mass or a weight for fp32 to tell")
    if last:
        left = law_of_logits([v if i in left else None for i, v in enumerate(values)], temperature)
    kept = sorted(left)
    masses = [shown(left[i] if is_probabilities(case) else penalties.decimal_of(left[i])) for i in kept]
    return {"kept": kept, "mass": masses} | ({"exact": True} if seen.exact() else {})


def penalised(case, rule):
    logits = penalties.edited(rule, fractions_of(case), case["parameters"], Fraction(case.get("temperature", 1)))
    law = penalties.law(logits)
    kept = [i for i, mass in enumerate(law) if mass > 0]
    return {"logits": [fifteen(penalties.decimal_of(logits[i])) for i in kept], "kept": kept, "mass": [shown(law[i]) for i in kept]}


def expectations(case, rules, answer):
    """One entry for all rules that give the same answer, in the order of the first."""
    found = []
    why = refused(case)
    for rule in rules:
        mine = {"refused": why} if why else answer(case, rule)
        same = [entry for rules_of, entry in found if entry == mine and rules_of.append(rule) is None]
        if not same:
            found.append(([rule], mine))
    return [{"rules": names} | entry for names, entry in found]


def encoded(value):
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def check(cases, rules, answer):
    done = []
    for case in cases:
        whole = case | {"expect": expectations(case, rules, answer)}
        whole["parameters"] = {key: encoded(value) for key, value in case["parameters"].items()}
        if case["denominator"] > LONGEST:
            whole["denominator"] = float(case["denominator"]).hex()
        if "temperature" in case:
            whole["temperature"] = encoded(case["temperature"])
        done.append(whole)
    return done


def row(id_, flags, denominator, values, **parameters):
    return {"id": id_, "flags": flags.split(), "kind": "probabilities", "denominator": denominator, "values": values, "parameters": parameters}


def logits(id_, flags, values, temperature=1, denominator=1, **parameters):
    case = {"id": id_, "flags": flags.split(), "kind": "logits", "denominator": denominator, "values": values, "parameters": parameters}
    return case | ({"temperature": temperature} if temperature != 1 else {})


NAN, INF = float("nan"), float("inf")
ALMOST_ONE, TINY = 1 - 2**-53, 1e-300
HALVES = [8, 4, 2, 2]  # of 16
TWO_FIFTHS = [6710886, 5033165, 5033165]  # of 2^24: 2/5, 3/10, 3/10 as near as fp32 has them with sum 1


def nucleus():
    yield row("half/1-2", "equal-mass short-nucleus", 16, [8, 4, 4], top_p=0.5)
    for name, p in (("tiny", TINY), ("1-100", 0.01), ("1-4", 0.25), ("1-2", 0.5), ("almost-1", ALMOST_ONE), ("1", 1)):
        yield row(f"four-ties/{name}", "ties equal-mass empty-nucleus", 16, [4, 4, 4, 4], top_p=p)
    for name, p in (("tiny", TINY), ("1-100", 0.01), ("1-2", 0.5), ("5-8", 0.625), ("3-4", 0.75), ("7-8", 0.875), ("almost-1", ALMOST_ONE),
                    ("1", 1)):
        yield row(f"halves/{name}", "equal-mass short-nucleus empty-nucleus", 16, HALVES, top_p=p)
    yield row("two-fifths/1-2", "ties", 2**24, TWO_FIFTHS, top_p=0.5)
    yield row("two-fifths-8-bits/1-2", "ties", 256, [102, 77, 77], top_p=0.5)
    yield row("crossing/9-10", "short-nucleus", 256, [128, 90, 25, 13], top_p=0.9)
    yield row("crossing/exact", "equal-mass", 256, [128, 90, 25, 13], top_p=218 / 256)
    yield row("crossing/below", "short-nucleus", 256, [128, 90, 25, 13], top_p=217 / 256)
    yield row("crossing/above", "short-nucleus", 256, [128, 90, 25, 13], top_p=219 / 256)
    yield row("rising/3-5", "unsorted", 16, [1, 1, 2, 4, 8], top_p=0.6)
    yield row("rising/1-2", "unsorted equal-mass", 16, [1, 1, 2, 4, 8], top_p=0.5)
    yield row("rising/tiny", "unsorted empty-nucleus", 16, [1, 1, 2, 4, 8], top_p=TINY)
    yield row("shuffled/4-5", "unsorted short-nucleus", 64, [6, 1, 24, 2, 12, 3, 16], top_p=0.8)
    yield row("middle-ties/1-2", "ties equal-mass", 32, [8, 4, 4, 4, 4, 4, 2, 2], top_p=0.5)
    yield row("middle-ties/3-5", "ties", 32, [8, 4, 4, 4, 4, 4, 2, 2], top_p=0.6)
    yield row("tied-heads/1-8", "ties tied-maximum", 16, [4, 4, 4, 2, 2], top_p=0.125)
    yield row("tied-heads/1-2", "ties equal-mass", 16, [4, 4, 4, 2, 2], top_p=0.5)
    yield row("nine/7-10", "ties", 64, [16, 8, 8, 8, 8, 4, 4, 4, 4], top_p=0.7)
    yield row("zeros-between/3-4", "equal-mass", 16, [8, 0, 4, 0, 4], top_p=0.75)
    yield row("zeros-between/1", "bad-row", 16, [8, 0, 4, 0, 4], top_p=1)
    yield row("alone/1-2", "empty-nucleus", 16, [16], top_p=0.5)
    yield row("alone/tiny", "empty-nucleus", 16, [16], top_p=TINY)
    yield row("pair/1-2", "ties equal-mass", 16, [8, 8], top_p=0.5)
    yield row("long-tail/95-100", "approximate", 256, [64, 48, 36, 27, 20, 15, 11, 8, 6, 5, 4, 3, 3, 2, 2, 2], top_p=0.95)


def top_k():
    steps, ties = [16, 8, 4, 2, 1, 1], [4, 4, 4, 4]
    for name, k in (("off", -1), ("1", 1), ("2", 2), ("v-1", 5), ("v", 6), ("v+1", 7), ("2^31", 2**31)):
        flags = "top-k-above-vocabulary" if k > 6 else "top-k-sentinel tied-maximum" if k in (-1, 1) else "ties"
        yield row(f"steps/{name}", flags, 32, steps, top_k=k)
    for name, k in (("off", -1), ("1", 1), ("2", 2), ("v-1", 3), ("v", 4), ("v+1", 5), ("2^31", 2**31)):
        flags = "top-k-above-vocabulary" if k > 4 else "top-k-sentinel ties" if k == -1 else "ties tied-maximum"
        yield row(f"four-ties/{name}", flags, 16, ties, top_k=k)
    yield row("tie-at-the-end/2", "ties", 256, [102, 77, 77, 0], top_k=2)
    yield row("tie-at-the-end/3", "ties", 16, [2, 8, 2, 2, 2], top_k=3)
    yield row("two-maxima/1", "tied-maximum", 16, [4, 6, 6], top_k=1)
    yield row("far-maxima/1", "tied-maximum", 64, [1] * 5 + [16] + [1] * 27 + [16], top_k=1)
    yield row("far-maxima/2", "ties approximate", 64, [1] * 5 + [16] + [1] * 27 + [16], top_k=2)
    yield row("peak/5", "approximate ties", 256, [4] * 17 + [116] + [4] * 18, top_k=5)
    yield row("nearly-flat/12", "retries approximate", 1024, [60, 59, 63, 79, 56, 70, 61, 57, 65, 69, 58, 62, 67, 64, 66, 68], top_k=12)
    yield row("one-live/2", "bad-row", 16, [0, 16, 0], top_k=2)
    yield row("two-live/3", "bad-row", 16, [8, 0, 8, 0], top_k=3)
    yield row("alone/1", "tied-maximum", 16, [16], top_k=1)
    yield row("alone/2^31", "top-k-above-vocabulary", 16, [16], top_k=2**31)


def min_p():
    for name, m in (("0", 0), ("tiny", TINY), ("1-8", 0.125), ("3-16", 0.1875), ("1-4", 0.25), ("1-2", 0.5), ("3-4", 0.75), ("1", 1)):
        yield row(f"steps/{name}", "equal-mass" if name in ("1-8", "1-4", "1-2", "1") else "order", 32, [16, 8, 4, 2, 2], min_p=m)
    yield row("ties/1", "tied-maximum ties", 16, [4, 4, 2, 2, 4], min_p=1)
    yield row("ties/1-2", "ties equal-mass", 16, [4, 4, 2, 2, 4], min_p=0.5)
    yield row("rising/3-10", "unsorted", 32, [2, 2, 4, 8, 16], min_p=0.3)
    yield row("zeros/tiny", "bad-row", 16, [8, 0, 8], min_p=TINY)
    yield row("alone/1", "tied-maximum", 16, [16], min_p=1)


def combined():
    small = [3] * 12 + [2] * 8
    yield row("min-p-order", "order", 256, [102, 51, 31, 20] + small, top_p=0.89, min_p=0.1)
    yield row("joint-or-not", "order", 256, [90, 64, 51, 13, 8, 8, 8, 7, 7], top_k=4, top_p=0.82)
    yield row("k-1-p-4-5", "unnormalised order", 16, [6, 4, 3, 2, 1], top_k=1, top_p=0.8)
    yield row("k-2-p-3-10", "unnormalised order", 16, [6, 4, 3, 2, 1], top_k=2, top_p=0.3)
    yield row("k-2-p-1-2", "equal-mass order", 16, HALVES, top_k=2, top_p=0.5)
    yield row("k-3-p-7-10", "unnormalised order", 16, [1, 2, 3, 4, 6], top_k=3, top_p=0.7)
    yield row("k-in-a-tie", "ties order", 16, [6, 2, 2, 2, 2, 2], top_k=3, top_p=0.7)
    yield row("all-three", "order", 64, [24, 16, 10, 6, 4, 2, 2], top_k=5, top_p=0.85, min_p=0.2)
    yield row("min-p-and-k", "order", 16, [8, 4, 2, 1, 1], top_k=3, min_p=0.3)
    yield row("min-p-shrinks-the-mass", "order", 16, [8, 4, 2, 1, 1], top_p=0.8, min_p=0.25)
    yield row("off-by-vocabulary", "top-k-sentinel", 16, [6, 4, 3, 2, 1], top_k=5, top_p=0.6)
    yield logits("temperature-2", "temperature-order", [3, 2, 1, 0, -1], 2, top_p=0.9)
    yield logits("temperature-half", "temperature-order", [3, 2, 1], 0.5, top_p=0.8)
    yield logits("temperature-min-p", "temperature-order", [4, 3, 2, 1, 0], 1.5, min_p=0.1)
    yield logits("temperature-swapped", "temperature-order", [2, 1, 0, -1], 0.375, top_p=0.875)
    yield logits("temperature-swapped-back", "temperature-order", [2, 1, 0, -1], 0.875, top_p=0.375)
    yield logits("temperature-all", "temperature-order order", [2, 0, 3, 1, -1, -2], 1.25, top_k=4, top_p=0.8, min_p=0.15)
    yield logits("cold", "temperature-order", [1, 2, 4, 3], 0.03125, top_p=0.9)
    yield logits("masked-logits", "bad-row temperature-order", ["-inf", 2, 1, "-inf", 0], 2, top_k=2)


def penalised_cases():
    yield logits("temperature-first-or-last", "temperature-order", [2, 1, 0], 0.5, presence_penalty=1, repetition_penalty=1.2, output=[0])
    yield logits("sign", "sign", [-2, 2, 0, 1], repetition_penalty=1.5, prompt=[0, 1, 2])
    yield logits("negative-all", "sign twice", [-1, -2, -3, -1], repetition_penalty=1.3, output=[1, 0])
    yield logits("prompt-or-output", "window", [1, 1, 1, 1], frequency_penalty=1, presence_penalty=0.5, prompt=[0, 0, 1], output=[1, 2])
    yield logits("repetition-in-prompt", "window ignored", [2, 2, 2, 2], repetition_penalty=1.5, prompt=[3], output=[0])
    yield logits("repeats", "twice", [3, 3, 3, 3, 3], repetition_penalty=1.25, output=[0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3])
    yield logits("frequency-counts", "twice ignored", [2, 2, 2, 2], frequency_penalty=0.5, output=[0, 1, 1, 2, 2, 2])
    yield logits("presence-once", "twice ignored", [2, 2, 2, 2], presence_penalty=0.75, output=[0, 1, 1, 2, 2, 2])
    yield logits("negative-penalties", "sign", [1, 1, 1, 1], frequency_penalty=-0.5, presence_penalty=-0.25, output=[3, 3, 1])
    yield logits("repetition-below-1", "sign", [1, -1, 2, 0], repetition_penalty=0.5, prompt=[0, 1])
    yield logits("long-history", "window", [1] * 8, frequency_penalty=0.25, output=[0] * 6 + [7] * 2 + [1, 2, 3, 4, 5, 6] * 4)
    yield logits("one-token", "window rows-mixed", [1, 1, 1, 1, 1, 1, 1, 1], frequency_penalty=1.5, output=[5])
    yield logits("no-history", "window rows-mixed", [1, 0, 1, 0], frequency_penalty=2, presence_penalty=2, repetition_penalty=2)
    yield logits("bias", "ignored", [1, 1, 1, 1], logit_bias=[[0, 1.5], [3, -2]])
    yield logits("bias-then-penalty", "order", [1, 2, -1, 0], repetition_penalty=2, logit_bias=[[0, 3], [2, 0.5]], prompt=[0, 2])
    yield logits("bias-bans", "ignored", [3, 1, 1, 0], logit_bias=[[0, -50]])
    yield logits("banned", "ignored", [5, 1, 0, 2, 1], banned=[0, 3])
    yield logits("banned-with-bias", "order ignored", [1, 0, 2], banned=[2], logit_bias=[[2, 50]])
    yield logits("min-tokens-short", "ignored", [1, 2, 0, 1], stop=[1, 3], min_tokens=3, output=[0, 2])
    yield logits("min-tokens-reached", "ignored", [1, 2, 0, 1], stop=[1, 3], min_tokens=2, output=[0, 2])
    yield logits("min-tokens-none-yet", "ignored", [1, 2, 0, 1], stop=[1], min_tokens=1)
    yield logits("everything", "order twice", [2, -1, 1, 0, 3, -2], 0.75, repetition_penalty=1.25, frequency_penalty=0.25,
                 presence_penalty=0.5, prompt=[0, 1], output=[1, 2, 2, 4], logit_bias=[[5, 2], [0, -0.5]], banned=[3])
    yield logits("all-banned", "bad-row", [1, 1], banned=[0, 1])
    for name, value in (("0", 0), ("negative", -1), ("nan", NAN), ("inf", INF)):
        yield logits(f"repetition-{name}", "bad-value", [1, 1, 1], repetition_penalty=value, output=[0])
    yield logits("frequency-nan", "bad-value", [1, 1, 1], frequency_penalty=NAN, output=[0])
    yield logits("presence-inf", "bad-value", [1, 1, 1], presence_penalty=INF, output=[0])
    yield logits("output-outside", "bad-value", [1, 1, 1], presence_penalty=1, output=[3])
    yield logits("prompt-negative", "bad-value", [1, 1, 1], repetition_penalty=2, prompt=[-1])
    yield logits("stop-outside", "bad-value", [1, 1, 1], min_tokens=1, stop=[3])


def degenerate():
    for name, value in (("0", 0), ("-2", -2), ("-5", -5)):
        yield row(f"top-k/{name}", "top-k-sentinel bad-value", 16, [8, 4, 4], top_k=value)
    for name, value in (("0", 0), ("negative", -0.5), ("nan", NAN), ("-inf", -INF)):
        yield row(f"top-p/{name}", "bad-value empty-nucleus", 16, [4, 8, 4], top_p=value)
    for name, value in (("negative", -0.125), ("above-1", 1.5), ("nan", NAN)):
        yield row(f"min-p/{name}", "bad-value", 16, [4, 8, 4], min_p=value)
    for name, value in (("nan", NAN), ("negative", -1)):
        yield logits(f"temperature/{name}", "bad-value", [1, 2, 0], value)
    yield row("all-zero", "bad-row", 16, [0, 0, 0], top_p=0.5)
    yield row("all-zero/k", "bad-row", 16, [0, 0, 0], top_k=1)
    yield logits("all-masked", "bad-row", ["-inf", "-inf", "-inf"], top_k=2)
    yield row("nan-weight", "bad-row", 16, [4, "nan", 8, 4], top_k=3)
    yield row("nan-weight/p", "bad-row", 16, ["nan", 4, 8, 4], top_p=0.6)
    yield row("infinite-weight", "bad-row", 16, [4, 8, "inf", 4], top_p=0.6)
    yield row("negative-weight", "bad-row", 16, [4, -8, 8, 4], min_p=0.3)
    yield logits("nan-logit", "bad-row", [1, "nan", 2, 0], top_k=2)
    yield logits("infinite-logit", "bad-row", [1, "inf", 2, 0], top_k=2)
    yield row("half-sum", "unnormalised", 16, [4, 2, 1, 1], top_p=0.75)
    yield row("sum-four", "unnormalised", 16, [32, 16, 8, 8], top_p=0.75)
    yield row("sum-three-eighths", "unnormalised", 16, [3, 2, 1], top_p=0.6, min_p=0.25)
    yield row("denormal", "unnormalised", 2**140, [8, 4, 2, 2], top_p=0.75)


FILES = {
    "nucleus": ("top_p", nucleus, filters.ENGINES, filtered),
    "top-k": ("top_k", top_k, filters.ENGINES, filtered),
    "min-p": ("min_p", min_p, filters.ENGINES, filtered),
    "combined": ("filters together, and with the temperature", combined, filters.ENGINES, filtered),
    "penalties": ("penalties, biases, bans, min_tokens", penalised_cases, penalties.ENGINES, penalised),
    "degenerate": ("values that must be refused, and rows that are hardly rows", degenerate, filters.ENGINES, filtered),
}


def write():
    written = {}
    for name, (about, generate, rules, answer) in FILES.items():
        cases = check(list(generate()), rules, answer)
        used = {flag for case in cases for flag in case["flags"]}
        notes = {flag: note for flag, note in NOTES.items() if flag in used}
        if used - notes.keys():
            raise ValueError(f"boundary/{name}: no note for {sorted(used - notes.keys())}")
        group = {"source": f"{SOURCE}: {about}", "version": VERSION, "cases": cases}
        write_text(f"boundary/{name}.json", family_text("boundary", name, notes, [group]))
        written[f"boundary/{name}.json"] = len(cases)
    return written
