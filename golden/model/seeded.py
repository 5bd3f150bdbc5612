"""seeded.py: the tokens of SGLang's hash-keyed Gumbel-max, from the description of its two forms, in 60 digits.

seeded       a hash of 128 bits (seed, position cut to 32, column) by MurmurHash3 x86_32 from 0; u = hash / (2^32 - 1) as a
             double; l = log u, kept between -DBL_MAX and -2^-32; the token is the argmax of log p - log(-l).
seeded-2025  u = the low 24 bits of (step (2^33 - 1)) ^ (column 479001599), over 2^24, where step = seed 19349663 ^ position
             73856093; e = 1e-9 in fp32; the argmax of -log(-log(u + e) + e) + log(p + e). u + e is rounded to fp32, since
             near u = 1 that decides the second digit of the noise. An id of probability 0 competes with log e.
A column is an id, or (seeded only) a rank: SGLang's filtered path sorts the row first.
"""
import math
import struct
from decimal import Decimal
from functools import lru_cache

from tokens import CANDIDATE_NATS, to_fp32

WORD, LONG = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
DBL_MAX = Decimal(struct.unpack("<d", b"\xff\xff\xff\xff\xff\xff\xef\x7f")[0])
EPSILON = to_fp32(1e-9)


def rotate(word, bits):
    return (word << bits | word >> (32 - bits)) & WORD


def murmur3(words):
    """MurmurHash3 x86_32, initial value 0, of little-endian 32-bit words: A. Appleby, https://github.com/aappleby/smhasher."""
    h = 0
    for k in words:
        h ^= rotate(k * 0xCC9E2D51 & WORD, 15) * 0x1B873593 & WORD
        h = (rotate(h, 13) * 5 + 0xE6546B64) & WORD
    h ^= 4 * len(words)
    h = (h ^ h >> 16) * 0x85EBCA6B & WORD
    h = (h ^ h >> 13) * 0xC2B2AE35 & WORD
    return h ^ h >> 16


def seeded_hash(seed, position, column):
    """seed and position are unsigned 64-bit."""
    return murmur3((seed & WORD, seed >> 32, position & WORD, column))


class Seeded:
    noise_word = staticmethod(seeded_hash)

    @staticmethod
    def rough(h):
        u = h / WORD
        return -math.log(min(max(-math.log(u), 2.0**-32), float(DBL_MAX))) if h else -math.log(float(DBL_MAX))

    @staticmethod
    @lru_cache(1 << 16)
    def exact(h):
        if h == 0:
            return -DBL_MAX.ln()
        return -max(-Decimal(h / WORD).ln(), Decimal(2) ** -32).ln()  # the quotient of two ints is the nearest double

    @staticmethod
    def log_weight(p):
        return None if p == 0 else p.ln()


class Seeded2025:
    @staticmethod
    def noise_word(seed, position, column):
        step = (seed * 19349663 ^ position * 73856093) & LONG
        return (step * 8589934591 ^ column * 479001599) & 0xFFFFFF

    @staticmethod
    def rough(h):
        return -math.log(EPSILON - math.log(to_fp32(h * 2.0**-24 + EPSILON)))

    @staticmethod
    @lru_cache(1 << 16)
    def exact(h):
        return -(Decimal(EPSILON) - Decimal(to_fp32(h * 2.0**-24 + EPSILON)).ln()).ln()

    @staticmethod
    def log_weight(p):
        return (p + Decimal(EPSILON)).ln()


class Columns:
    """weights[column]: the exact probabilities, 0 where a filter or a mask took the column."""

    def __init__(self, rule, weights):
        distinct = sorted(set(weights))
        place = {p: k for k, p in enumerate(distinct)}
        logs = [rule.log_weight(p) for p in distinct]
        self.rule, self.weight = rule, [place[p] for p in weights]
        self.log = [logs[k] for k in self.weight]
        self.rough = [-math.inf if log is None else float(log) for log in self.log]

    def argmax(self, seed, position):
        """(column, gap in nats). Equal weights with equal noise tie exactly, and the lowest column has it. Infinite gap: one
        column is left."""
        noise = [self.rule.noise_word(seed, position, column) for column in range(len(self.log))]
        rough = [log + self.rule.rough(h) for log, h in zip(self.rough, noise)]
        near = max(rough) - CANDIDATE_NATS
        scores = {}  # (weight, noise) -> (exact score, lowest column)
        for column, score in enumerate(rough):
            pair = (self.weight[column], noise[column])
            if score >= near and pair not in scores:
                scores[pair] = (self.log[column] + self.rule.exact(noise[column]), column)
        best = sorted(scores.values(), key=lambda entry: (-entry[0], entry[1]))
        return best[0][1], best[0][0] - best[1][0] if len(best) > 1 else Decimal("Infinity")
