"""digits.py: the 60-digit decimal arithmetic that every expectation is computed in, and how its numbers are written.

All modules use the default context set here; 60 digits leave more than 40 good ones after the longest sum (151,936 terms).
"""
import decimal
from decimal import Decimal

decimal.setcontext(decimal.Context(prec=60, rounding=decimal.ROUND_HALF_EVEN, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX,
                                   traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow]))


def fifteen(value):
    """15 significant digits, nearest even: '1.23456789012345e-01'."""
    mantissa, exponent = f"{Decimal(value):.14e}".split("e")
    if Decimal(mantissa) == 0:
        return "0.00000000000000e+00"
    return f"{mantissa}e{int(exponent):+03d}"
