"""engine_values.py: sampling parameters as a golden writes them.

A bare number is what clients send: a float, but an integer for top_k, seed and counts. Anything else is tagged: {"float": "0x1p-3"},
{"integer": "9223372036854775807"}. Null, booleans, strings, arrays and the empty object stand for themselves (wrong types).
"""
INTEGERS = ("top_k", "seed", "sampling_seed", "n", "best_of", "max_tokens", "min_tokens", "logprobs", "prompt_logprobs",
            "truncate_prompt_tokens")
PARAMETERS = INTEGERS + ("temperature", "top_p", "min_p", "repetition_penalty", "frequency_penalty", "presence_penalty", "use_beam_search",
                         "early_stopping", "length_penalty", "stop", "detokenize")


def encode(key, value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if isinstance(value, int):
        return value if key in INTEGERS and abs(value) < 2**53 else {"integer": str(value)}
    if value - value != 0:
        return {"float": str(value)}
    plain = float(f"{value:.6g}") == value and abs(value) >= 1e-300 or value == 0
    if plain and not (key in INTEGERS and value.is_integer()):
        return value
    return {"float": value.hex()}


def encoded(values):
    """Parameters as above; other members of a body as they are."""
    return {key: encode(key, value) if key in PARAMETERS else value for key, value in values.items()}


def encoded_server(server):
    return {key: encoded(value) if key in ("generation_config", "preferred") else value for key, value in server.items()}


def outcome(compute):
    """What `compute` returns, or {"error", "status"} if it is refused."""
    from defaults import Refused
    try:
        return compute()
    except Refused as refused:
        return {"error": refused.text, "status": refused.status}
