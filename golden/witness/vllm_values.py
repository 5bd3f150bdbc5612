"""vllm_values.py: goldens' values as Python's, an engine's answers as goldens write them, and its errors in the goldens' words.

What the constructor of SamplingParams says is kept as it says it. The schema of the OpenAI endpoints answers with a list; a step dies
in torch's words: both are told as the goldens tell them, from the schema's own location and type and from the request that failed.
"""
PARAMETERS = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "frequency_penalty", "presence_penalty", "seed", "n", "best_of",
              "use_beam_search", "early_stopping", "length_penalty", "max_tokens", "min_tokens", "logprobs", "prompt_logprobs",
              "truncate_prompt_tokens", "stop", "detokenize")
INTEGERS = ("top_k", "seed", "n", "best_of", "max_tokens", "min_tokens", "logprobs", "prompt_logprobs", "truncate_prompt_tokens")
WORDS = {type(None): "null", bool: "true or false", int: "a number", float: "a number", str: "a string", list: "an array", dict: "an object"}
WANTED = {"float": "a number", "int": "an integer", "bool": "true or false", "string": "a string or an array", "list": "a string or an array"}


def decode(key, value):
    """A parameter as the user gave it."""
    if isinstance(value, dict) and value:
        (kind, said), = value.items()
        if kind == "integer":
            return int(said)
        return float.fromhex(said) if "0x" in said else float(said)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return int(value) if key in INTEGERS and value == int(value) else float(value)


def decoded(request):
    return {key: decode(key, value) for key, value in request.items()}


def encode(key, value):
    """A bare number is a float, or an integer for the parameters that are counts, ids and seeds; else it is tagged."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if isinstance(value, int):
        return value if key in INTEGERS and abs(value) < 2**53 else {"integer": str(value)}
    if value - value != 0:
        return {"float": str(value)}
    short = float(f"{value:.6g}") == value and abs(value) >= 1e-300 or value == 0
    return value if short and not (key in INTEGERS and value.is_integer()) else {"float": value.hex()}


def encoded(values):
    return {key: encode(key, value) for key, value in values.items()}


def refusal(text, status, said=None):
    """said: the engine's own words, where the text is the goldens'."""
    return {"error": str(text), "status": status} | ({"said": said} if said else {})


def of_constructor(error, generate):
    """SamplingParams' own sentence. /generate's server catches nothing."""
    return refusal(error, 400 if isinstance(error, ValueError) and not generate else 500)


def of_step(error, made):
    """A step that dies has no HTTP status: 0. Torch's words for an index that is none, in the goldens'."""
    text = str(error).split("\n")[0]
    k, width = made[0].top_k, made[0].best_of
    if "is out of bounds for dimension" in text or "cannot be converted to type int32" in text:
        return refusal(f"top_k {k} is no index into the sorted row", 0, text)
    if type(width) is not int and any(words in text for words in ("slice indices", "can't multiply", "'size' failed to unpack", "cannot be interpreted as")):
        return refusal(f"best_of {width} is no number of sequences", 0, text)
    return refusal(text, 0)


def of_schema(errors, body):
    """The first of pydantic's errors; those of unions come under the location of the field, too."""
    first = errors[0]
    if first["type"] == "value_error":
        return refusal(first["ctx"]["error"], 400)
    key = first["loc"][1] if first["loc"][0] == "body" else first["loc"][0]
    kind = "int" if first["type"] == "finite_number" else first["type"].split("_")[0]
    if first["type"] == "greater_than_equal":
        return refusal(f"{key} must be at least {first['ctx']['ge']}", 400, first["msg"])
    return refusal(f"{key} must be {WANTED[kind]}, is {WORDS[type(body[key])]}", 400, first["msg"])
