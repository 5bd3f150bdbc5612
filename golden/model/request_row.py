"""request_row.py: one row as one request asks for it: penalties, temperature, filters; and the token each rule draws from it.

The order is SGLang's, which is the reference's default: l - frequency * count in the output, - presence if it is there; then
l / r where l > 0, else l r, for ids of prompt or output; then the temperature; then top_k and top_p on the same softmax (the
first k in descending order, lowest id first among equals; and an id stays while the mass before it is at most p); then min_p
(at least min_p times the largest). A request whose cut is within CUT of falling otherwise is refused: fp32 might not follow.
"""
from decimal import Decimal

from law import Law
from seeded import LONG, Columns, Seeded, Seeded2025
from tokens import RaceNoise, TorchNoise, categorical_token, race_token

CUT = Decimal("1e-5")
OFF = {"temperature": 1, "top_k": -1, "top_p": 1, "min_p": 0, "repetition_penalty": 1, "frequency_penalty": 0, "presence_penalty": 0,
       "prompt": (), "output": ()}


def penalised(units, request):
    """Logits in units of 2^-10 after the penalties; ints stay ints where nothing touches them."""
    frequency, presence = (Decimal(request[f"{kind}_penalty"]) * 1024 for kind in ("frequency", "presence"))
    repetition = Decimal(request["repetition_penalty"])
    out = list(units)
    for i in set(request["prompt"]) | set(request["output"]):
        if out[i] is None:
            continue
        count = request["output"].count(i)
        unit = out[i] - frequency * count - (presence if count else 0)
        out[i] = unit / repetition if unit > 0 else unit * repetition
    return out


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
        top_p, least = Decimal(request["top_p"]), Decimal(request["min_p"]) * self.law.of_id(self.order[0])
        kept, before = set(), Decimal(0)
        for rank, i in enumerate(self.order):
            p = self.law.of_id(i)
            if top_p < 1 and abs(before - top_p) < CUT or least > 0 and abs(p - least) < CUT * least:
                raise ValueError(f"id {i} lies on a cut of {request}")
            in_k = request["top_k"] == -1 or rank < request["top_k"]
            if in_k and (top_p >= 1 or before <= top_p) and p >= least:
                kept.add(i)
            before += p
        return kept

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
