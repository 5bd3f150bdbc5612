"""law.py: the exact pmf of softmax(logits / temperature) in 60 digits.

Logits are integers in units of 2^-10, so equal logits are one group and only distinct exponentials are computed: a table
of 151,936 ids has about 20,000 of them.
"""
from collections import Counter
from decimal import Decimal

import digits  # noqa: F401  (sets the decimal context)

LN2 = Decimal(2).ln()


class Law:
    """units: the logits (None: masked, probability 0). count[u] ids share logit u; probability[u] is that of each of them."""

    def __init__(self, units, temperature):
        # A JSON number is a double: 0.7 means the double nearest 0.7, and Decimal(float) holds it exactly.
        self.temperature = Decimal(temperature)
        self.units = units
        self.count = Counter(unit for unit in units if unit is not None)
        self.top = max(self.count)
        weight = {unit: self.nats_from_top(unit).exp() for unit in self.count}
        self.total = sum(weight[unit] * ids for unit, ids in self.count.items())
        self.probability = {unit: w / self.total for unit, w in weight.items()}

    def nats_from_top(self, unit):
        """(logit - largest logit) / temperature, at most 0."""
        return Decimal(unit - self.top) / 1024 / self.temperature

    def of_id(self, i):
        unit = self.units[i]
        return Decimal(0) if unit is None else self.probability[unit]

    def cdf(self):
        """Inclusive sums in id order."""
        sums, total = [], Decimal(0)
        for i in range(len(self.units)):
            total += self.of_id(i)
            sums.append(total)
        return sums
