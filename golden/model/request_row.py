"""request_row.py: one row as one request asks for it: penalties, temperature, filters; and the token each rule draws from it.

SGLang's order and backend pytorch, which are the reference's defaults: penalties.py, then the temperature, then filters.py. A
request whose filters compare two figures that are nearer than CUT is refused: fp32 might see them the other way round.
"""
from decimal import Decimal
from fractions import Fraction

import filters
import penalties
from law import Law
from seeded import LONG, Columns, Seeded, Seeded2025
from tokens import RaceNoise, TorchNoise, categorical_token, race_token

CUT = Fraction(1, 10**5)
OFF = {"temperature": 1, "top_k": -1, "top_p": 1, "min_p": 0, "repetition_penalty": 1, "frequency_penalty": 0, "presence_penalty": 0,
       "prompt": (), "output": ()}


def penalised(units, request):
    """Logits in units of 2^-10 after the penalties."""
    logits = penalties.edited("sglang", [None if unit is None else Fraction(unit, 1024) for unit in units], request)
    return [None if logit is None else penalties.decimal_of(logit * 1024) for logit in logits]


class Row:
    """law: of the row before filters; order: its live ids, heaviest first; kept: ids that the filters leave."""

    def __init__(self, units, request):
        request = OFF | request
        self.law = Law(penalised(units, request), request["temperature"])
        self.units = self.law.units
        self.order = sorted((i for i, unit in enumerate(self.units) if unit is not None), key=lambda i: (-self.units[i], i))
        self.kept = self.filtered(request)
        self.left = Law([unit if i in self.kept else None for i, unit in enumerate(self.units)], request["temperature"])
        self.left_cdf = self.left.cdf()
        weights = [self.law.of_id(i) if i in self.kept else Decimal(0) for i in range(len(self.units))]
        ranked = self.order + [i for i in range(len(self.units)) if self.units[i] is None]
        self.ranked = ranked
        self.columns = {("seeded", "id"): Columns(Seeded, weights), ("seeded", "rank"): Columns(Seeded, [weights[i] for i in ranked]),
                        ("seeded-2025", "id"): Columns(Seeded2025, weights)}

    def filtered(self, request):
        left, seen = filters.filtered("sglang-pytorch", {i: Fraction(self.law.of_id(i)) for i in self.order}, request)
        if min(seen.distances, default=CUT) < CUT:
            raise ValueError(f"two figures that {request} compares are too near")
        return set(left)

    def draw(self, rule, noise, seed, position):
        """(token, gap): nats, for categorical a distance in u. Seed and position are signed 64-bit; noise: "id" or "rank"."""
        seed, position = seed & LONG, position & LONG
        if rule == "greedy":
            return self.order[0], Decimal("Infinity")  # before the filters, which leave it in any case
        if rule == "categorical":
            return categorical_token(self.left, self.left_cdf, seed, position)
        if rule in ("race", "gumbel"):
            return race_token(self.left, RaceNoise, seed, position)
        if rule == "torch-race":
            return race_token(self.left, TorchNoise, seed, position)
        column, gap = self.columns[rule, noise].argmax(seed, position)
        return self.ranked[column] if noise == "rank" else column, gap
