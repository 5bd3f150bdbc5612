"""tables.py: a table's logits as integers in units of 2^-10 (None where masked), from the formulas of suite/oracle/table.h."""
import hashlib
import struct
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import digits  # noqa: F401  (sets the decimal context)
from philox import TABLE_STREAM, philox4x32

KEYS = {"list": {"logits"}, "flat": {"vocab"}, "zipf": {"vocab"}, "head": {"vocab", "head", "gap"}, "normal": {"vocab", "sigma"}}


def units_of(table):
    """List of the table's logits in units of 2^-10; None is minus infinity."""
    kind = table["kind"]
    if set(table) - {"masked"} != {"name", "kind"} | KEYS[kind]:
        raise ValueError(f"table {table['name']}: kind {kind} takes {sorted(KEYS[kind])} and masked")
    units = BUILD[kind](table)
    if "masked" in table:
        every, first = table["masked"]["every"], table["masked"]["first"]
        units = [None if i % every == first else unit for i, unit in enumerate(units)]
    return units


@lru_cache(None)
def zipf_unit(rank):
    """-1024 ln(rank) to nearest; refuses a value within 1e-9 of a half, which double arithmetic might round the other way."""
    exact = -1024 * Decimal(rank).ln()
    nearest = int(exact.to_integral_value())
    if abs(abs(exact - nearest) - Decimal("0.5")) < Decimal("1e-9"):
        raise ValueError(f"-1024 ln({rank}) is too near a half to be the same integer everywhere")
    return nearest


@lru_cache(None)
def normal_sum(i):
    """Twelve 16-bit halves: an integer of mean 393,210 and standard deviation 65,536 (Irwin-Hall)."""
    six = philox4x32((i, TABLE_STREAM, 0, 0), (0, 0)) + philox4x32((i, TABLE_STREAM, 1, 0), (0, 0))[:2]
    return sum((word >> 16) + (word & 0xFFFF) for word in six)


def normal(table):
    sigma = Fraction(table["sigma"])  # a JSON number: exactly the double that C reads
    return [(sigma * (normal_sum(i) - 393210) / 64).__floor__() for i in range(table["vocab"])]


BUILD = {
    "list": lambda table: list(table["logits"]),
    "flat": lambda table: [0] * table["vocab"],
    "zipf": lambda table: [zipf_unit(i + 1) for i in range(table["vocab"])],
    "head": lambda table: [table["gap"] if i == table["head"] else 0 for i in range(table["vocab"])],
    "normal": normal,
}


def logits_sha256(units):
    """SHA-256 of the logits as little-endian fp32; refuses a unit that fp32 cannot hold exactly."""
    if any(unit is not None and abs(unit) > 1 << 24 for unit in units):
        raise ValueError("a logit is not exact in fp32")
    values = [float("-inf") if unit is None else unit / 1024 for unit in units]
    return hashlib.sha256(struct.pack(f"<{len(values)}f", *values)).hexdigest()
