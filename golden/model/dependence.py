"""dependence.py: golden/dependence/match.json: how many equal pairs of draws are too many, and how many too few.

Independent draws make two draws equal with probability c = sum p^2, and `pairs` such pairs, each independent of the others, make the
number of equal ones binomial. Over equal probabilities c is the fraction 1/K and the tails are whole numbers over K^pairs; elsewhere
c has 60 digits.
"""
from decimal import Decimal
from fractions import Fraction
from math import comb

from digits import fifteen
from equivalence import GITHUB
from expectations import sum_of_squares
from files import family_text, write_text
from law import Law
from tables import units_of

VERSION = "1"
NOTES = {
    "repeated-draws": {
        "bug": "Draws share their noise: the rows of a batch, two calls, two seeds, or two positions of one seed.",
        "effect": "Requests served together copy one another, rollouts of one prompt explore less than they claim, a text repeats itself.",
        "links": [GITHUB + "sgl-project/sglang/issues/10938", GITHUB + "vllm-project/vllm/issues/50440"]},
    "too-regular": {
        "bug": "The noise moves on a lattice: a hash without mixing, a counter, a quasi-random sequence. Neighbours are equal too rarely.",
        "effect": "Averages over samples look better than they are, and combinations that chance would bring never come.",
        "links": [GITHUB + "sgl-project/sglang/issues/10938"]},
    "no-limit": {
        "bug": "So few pairs, or so rare a match, that no count of equal pairs would be rejected on this side.",
        "effect": "A check that prints a pass here has seen nothing; only more draws or a flatter row can tell.",
        "links": []},
}
TABLES = [
    {"name": "tie-2", "kind": "list", "logits": [0, 0]},
    {"name": "peaked-3", "kind": "list", "logits": [1993, 710, 0]},
    {"name": "uniform-20", "kind": "flat", "vocab": 20},
    {"name": "zipf-257", "kind": "zipf", "vocab": 257},
    {"name": "masked-1000", "kind": "zipf", "vocab": 1000, "masked": {"every": 3, "first": 1}},
    {"name": "flat-32768", "kind": "flat", "vocab": 32768},
]
PAIRS = [(20, 1), (127, 64), (496, 496), (2047, 1024), (4095, 1024)]  # (pairs, places looked at)
LEVELS = ["1e-4", "1e-6"]  # of the whole statistic; each place has its share


def probability(law):
    """c, exact where all live ids are equally likely."""
    if len(law.count) == 1:
        return Fraction(1, sum(law.count.values()))
    return sum_of_squares(law)


def tails(pairs, c):
    """The probability of every count of equal pairs, and a function that adds some of them up."""
    if isinstance(c, Fraction):
        hit, all_ = c.numerator, c.denominator
        whole = [comb(pairs, k) * hit**k * (all_ - hit) ** (pairs - k) for k in range(pairs + 1)]
        return whole, lambda part: Fraction(part, all_**pairs)
    return [comb(pairs, k) * c**k * (1 - c) ** (pairs - k) for k in range(pairs + 1)], lambda part: part


def far(tail, level):
    """Refuses a tail so near the level that double arithmetic might see it on the other side."""
    if abs(tail - level) < level * Fraction(1, 10**9):
        raise ValueError(f"a tail within 1e-9 of its level {float(level)}")
    return tail <= level


def critical(mass, scale, level):
    """(hits, tail): the most hits, counted in the order of `mass`, whose sum is at most the level; (-1, 0) if none."""
    total, best = 0, (-1, Fraction(0))
    for hits, one in enumerate(mass):
        total += one
        tail = Fraction(scale(total))
        if not far(tail, level):
            return best
        best = (hits, tail)
    return best


def figure(tail):
    return fifteen(Decimal(tail.numerator) / Decimal(tail.denominator))


def case(table, pairs, looks, level_text):
    c = probability(Law(units_of(table), 1))
    level = Fraction(level_text) / looks
    mass, scale = tails(pairs, c)
    least, lower = critical(mass, scale, level)
    from_most, upper = critical(mass[::-1], scale, level)
    flags = ["repeated-draws"] if from_most >= 0 else []
    flags += ["too-regular"] if least >= 0 else []
    flags += ["no-limit"] if from_most < 0 or least < 0 else []
    c_text = figure(c) if isinstance(c, Fraction) else fifteen(c)
    return {"id": f"{table['name']}/{pairs}/{looks}/{level_text}", "flags": flags, "table": table, "pairs": pairs, "looks": looks,
            "level": level_text, "probability": c_text, "most": pairs - from_most, "upper": figure(upper), "least": least,
            "lower": figure(lower)}


def write():
    cases = [case(table, pairs, looks, level) for table in TABLES for pairs, looks in PAIRS for level in LEVELS]
    group = {"source": "golden/model/dependence.py", "version": VERSION, "cases": cases}
    write_text("dependence/match.json", family_text("dependence", "match", NOTES, [group]))
    return {"cases": len(cases)}
