"""penalties.py: what each engine makes of a row of logits: temperature, penalties, biases and bans, in exact rationals.

A logit is a Fraction, or None where the id can never be drawn.
"""
import digits  # noqa: F401  (sets the decimal context)
from decimal import Decimal
from fractions import Fraction


def decimal_of(value):
    return Decimal(value.numerator) / Decimal(value.denominator)


def law(logits, temperature=Fraction(1)):
    """[Decimal]: softmax of the logits over the temperature."""
    top = max((l for l in logits if l is not None), default=None)
    weights = [Decimal(0) if l is None else decimal_of((l - top) / temperature).exp() for l in logits]
    total = sum(weights)
    return [w / total for w in weights] if total else weights


class Request:
    def __init__(self, parameters, temperature):
        self.r, self.f, self.a = (Fraction(parameters.get(key, off)) for key, off in
                                  (("repetition_penalty", 1), ("frequency_penalty", 0), ("presence_penalty", 0)))
        self.prompt, self.output = parameters.get("prompt", []), parameters.get("output", [])
        self.bias = parameters.get("logit_bias", [])
        self.banned = set(parameters.get("banned", []))
        if len(self.output) < parameters.get("min_tokens", 0):
            self.banned |= set(parameters.get("stop", []))
        self.temperature = temperature

    def bias_of(self, i):
        return sum((Fraction(value) for id_, value in self.bias if id_ == i), Fraction(0))

    def scaled(self, i, l):
        """The sign decides, so that a penalty above 1 always makes the id rarer."""
        if i not in self.prompt and i not in self.output:
            return l
        return l / self.r if l > 0 else l * self.r

    def lowered(self, i, l, tokens):
        count = tokens.count(i)
        return l - self.f * count - (self.a if count else 0)


def sglang(request, i, l):
    """Additive penalties, then the scaling one; the bias comes after both."""
    return (request.scaled(i, request.lowered(i, l, request.output)) + request.bias_of(i)) / request.temperature


def vllm(request, i, l):
    """Biases are the caller's edits of the logits; then repetition, frequency, presence, temperature."""
    return request.lowered(i, request.scaled(i, l + request.bias_of(i)), request.output) / request.temperature


def tensorrt_cpp(request, i, l):
    """Divides by the temperature before it penalises, and counts the prompt's tokens too."""
    return request.lowered(i, request.scaled(i, (l + request.bias_of(i)) / request.temperature), request.prompt + request.output)


ENGINES = {"sglang": sglang, "vllm-0.5.0": vllm, "vllm-v1": vllm, "tensorrt-llm-cpp": tensorrt_cpp}


def refused(parameters, vocab):
    """The first parameter that no engine may accept; a NaN or an infinity is never accepted."""
    r, f, a = (parameters.get(key, off) for key, off in (("repetition_penalty", 1), ("frequency_penalty", 0), ("presence_penalty", 0)))
    if not 0 < r < float("inf"):
        return "repetition_penalty"
    for key, value in (("frequency_penalty", f), ("presence_penalty", a)):
        if not abs(value) < float("inf"):
            return key
    if parameters.get("min_tokens", 0) < 0:
        return "min_tokens"
    for key in ("prompt", "output", "stop"):
        if any(not 0 <= i < vocab for i in parameters.get(key, [])):
            return key
    return None


def edited(engine, logits, parameters, temperature=Fraction(1)):
    request = Request(parameters, temperature)
    return [None if l is None or i in request.banned else ENGINES[engine](request, i, l) for i, l in enumerate(logits)]
