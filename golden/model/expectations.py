"""expectations.py: what is stored of a law: sixteen named ids, octaves, norms, and the distance an exact sampler shows."""
from decimal import Decimal
from functools import lru_cache
from math import comb

from digits import fifteen
from law import LN2

DRAWS = 200_000  # at which the expected total variation is given


def named_ids(law):
    """At most 16 ids: both ends, heaviest and lightest live id, ids spread over the vocabulary, and one masked id."""
    vocab = len(law.units)
    live = [i for i in range(vocab) if law.units[i] is not None]
    wanted = [0, vocab - 1, max(live, key=lambda i: (law.units[i], -i)), min(live, key=lambda i: (law.units[i], i))]
    wanted += [i for i in range(vocab) if law.units[i] is None][:1]
    wanted += [1, 2, vocab // 2, vocab - 2] + [vocab * k // 8 for k in (1, 2, 3, 5, 6, 7)]
    return sorted({i for i in wanted if 0 <= i < vocab})


def named(law):
    return [{"id": i, "probability": fifteen(law.of_id(i))} for i in named_ids(law)]


def octaves(law):
    """Octave k holds the ids with 2^-(k+1) < exp((l - lmax) / T) <= 2^-k: their number and their mass."""
    ids, mass = {}, {}
    for unit, count in law.count.items():
        depth = -law.nats_from_top(unit) / LN2
        k = int(depth)
        # ln 2 is irrational, so only the top itself lies on an edge; double arithmetic must not be near one either.
        if unit != law.top and min(depth - k, k + 1 - depth) < Decimal("1e-9"):
            raise ValueError(f"logit {unit}/1024 lies on the edge of octave {k}")
        ids[k] = ids.get(k, 0) + count
        mass[k] = mass.get(k, 0) + count * law.probability[unit]
    return [{"octave": k, "ids": ids[k], "mass": fifteen(mass[k])} for k in sorted(ids)]


def sum_of_squares(law):
    return sum(count * law.probability[unit] ** 2 for unit, count in law.count.items())


def two_thirds_norm(law):
    """(sum of p^(2/3))^(3/2): the scale of the sample size that certifies a total variation."""
    third = Decimal(2) / 3
    total = sum(count * (third * law.nats_from_top(unit)).exp() for unit, count in law.count.items())
    return total ** (Decimal(3) / 2) / law.total


exact_comb = lru_cache(None)(lambda draws, successes: Decimal(comb(draws, successes)))


def mean_absolute_deviation(draws, p):
    """E|X - np| of a binomial: De Moivre's 2 k C(n, k) p^k (1 - p)^(n - k + 1) with k = floor(np) + 1.

    P. Diaconis and S. Zabell, "Closed form summation for classical distributions", Statistical Science 6 (1991)."""
    if p == 0 or p == 1:
        return Decimal(0)
    k = int(draws * p) + 1
    return 2 * k * exact_comb(draws, k) * p**k * (1 - p) ** (draws - k + 1)


def expected_total_variation(law, draws):
    """Mean of sum |X_i / n - p_i| / 2 over all ids when the sampler is exact."""
    deviations = sum(count * mean_absolute_deviation(draws, law.probability[unit]) for unit, count in law.count.items())
    return deviations / (2 * draws)
