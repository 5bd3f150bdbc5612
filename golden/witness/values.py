"""values.py: parameters as the goldens write them, read and written again here (the model has its own).

A bare number is a float, and an integer for top_k, seeds and counts; {"float": "0x1p-3"} and {"integer": "9223372036854775807"} say it
exactly; null, booleans, strings, arrays and the empty object are themselves.
"""
INTEGERS = ("top_k", "seed", "sampling_seed", "n", "best_of", "max_tokens", "min_tokens", "logprobs", "prompt_logprobs", "truncate_prompt_tokens")
PARAMETERS = INTEGERS + ("temperature", "top_p", "min_p", "repetition_penalty", "frequency_penalty", "presence_penalty", "use_beam_search",
                         "early_stopping", "length_penalty", "stop", "detokenize")
WORDS = {type(None): "null", bool: "true or false", int: "a number", float: "a number", str: "a string", list: "an array", dict: "an object"}


def read(key, value):
    if isinstance(value, dict) and len(value) == 1:
        (kind, text), = value.items()
        if kind == "integer":
            return int(text)
        return float.fromhex(text) if "0x" in text else float(text)
    if key in PARAMETERS and isinstance(value, (int, float)) and not isinstance(value, bool):
        return int(value) if key in INTEGERS and float(value).is_integer() else float(value)
    return value


def read_all(values):
    """Parameters are read; other members of a body stand as they are."""
    return {key: read(key, value) if key in PARAMETERS else value for key, value in values.items()}


def written(key, value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if isinstance(value, int):
        return value if key in INTEGERS and abs(value) < 2**53 else {"integer": str(value)}
    if value != value or value in (float("inf"), float("-inf")):
        return {"float": str(value)}
    short = value == 0 or (abs(value) >= 1e-300 and float("%.6g" % value) == value)
    return value if short and not (key in INTEGERS and value.is_integer()) else {"float": value.hex()}
