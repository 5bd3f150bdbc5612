"""body.py: members of a request body on which no path of SGLang depends, and what is refused because of them.

Told as tables: which members an endpoint takes, under which name the engine's object has them, and in which order they are
looked at. The OpenAI endpoints drop what they do not know; at /generate every member is an argument of the engine's object.
"""
from defaults import Refused, as_integer, is_number, schema_type, strict_types, wrong_type

ARGUMENTS = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "frequency_penalty", "presence_penalty", "sampling_seed", "max_new_tokens",
             "min_new_tokens", "n", "beam_width", "logit_bias", "json_schema", "regex", "ebnf", "structural_tag", "stop", "stop_regex", "ignore_eos")
MORE_ARGUMENTS = {"sglang-0.5.19": ("is_normalized",), "sglang-0.5.20": ("is_normalized", "ebnf_full_assistant"), "sglang-0.5.23": ("watermark",)}
FIELDS = tuple(sorted((set(ARGUMENTS) - set(ARGUMENTS[:8])) | {key for keys in MORE_ARGUMENTS.values() for key in keys} |
                      {"max_tokens", "max_completion_tokens", "max_output_tokens", "min_tokens", "unknown_key"}))
# Of the OpenAI endpoints: whole numbers, and which may be null.
WHOLE = {"chat": {"max_tokens": True, "max_completion_tokens": True, "min_tokens": False, "n": False},
         "completions": {"max_tokens": False, "min_tokens": False, "n": False}, "responses": {"max_output_tokens": True}}
LEAST = {"chat": "min_tokens", "completions": "min_tokens", "generate": "min_new_tokens"}
MOST = {"chat": ("max_completion_tokens", "max_tokens"), "completions": ("max_tokens",), "responses": ("max_output_tokens",), "generate": ("max_new_tokens",)}
GRAMMARS = {"chat": ("regex", "ebnf"), "completions": ("json_schema", "regex", "ebnf"), "responses": (),
            "generate": ("json_schema", "regex", "ebnf", "structural_tag")}


def strict(engine):
    return engine == "sglang-0.5.23"


def compare_n(body):
    if "n" in body and not is_number(body["n"]):
        raise Refused(500, f"'>' not supported between instances of '{type(body['n']).__name__}' and 'int'")


def unknown(engine, body, status, text):
    for key in body:
        if key not in ARGUMENTS + MORE_ARGUMENTS[engine]:
            raise Refused(status, text.format(key))


def before_resolve(engine, endpoint, body):
    """The schema, and /generate's count of answers."""
    if endpoint != "generate":
        taken = {}
        for key, nullable in WHOLE[endpoint].items():
            if key in body and not (body[key] is None and nullable):
                taken[key] = as_integer(key, body[key])
        if endpoint == "completions" and taken.get("max_tokens", 1) < 1:
            raise Refused(400, "max_tokens must be positive")
        return
    for key, value in body.items() if strict(engine) else ():  # read member by member
        unknown(engine, [key], 400, "unknown field `{}`")
        strict_types({key: value})
        if key in ("max_new_tokens", "min_new_tokens", "n", "beam_width") and value is not None and type(value) is not int:
            raise schema_type(value, True)
    compare_n(body)
    most = body.get("max_new_tokens")
    if most is not None and not is_number(most):  # added to the length of the prompt before the parameters are merged
        raise wrong_type(500, "max_new_tokens", "a number", most)


def before_normalize(engine, endpoint, body):
    """The constructor. True: the body says that normalization is done."""
    if endpoint != "generate" or strict(engine):
        return False
    unknown(engine, body, 500, "Unexpected keyword argument '{}'")
    return body.get("is_normalized") is True


def as_list(value):
    return [] if value is None else [value] if isinstance(value, str) else value


def before_verify(endpoint, body):
    taken = (("stop", "stop strings"), ("stop_regex", "stop_regex patterns"))
    for key, what in taken[:1] if endpoint == "responses" else taken:
        given = as_list(body.get(key))
        if len(given) > 32:
            raise Refused(400, f"at most 32 {what} are allowed, got {len(given)}")
        for pattern in given if key == "stop_regex" else ():
            if len(pattern.encode()) > 256:
                raise Refused(400, f"stop_regex is {len(pattern.encode())} bytes, over the 256-byte limit")
    if endpoint == "generate" and body.get("beam_width") is not None and body["beam_width"] < 1:
        raise Refused(400, f"beam_width must be at least 1, got {body['beam_width']}.")


def length(endpoint, key, value):
    if endpoint != "generate":
        return as_integer(key, value)
    if not is_number(value):
        raise wrong_type(500, key, "a number", value)
    return value


def after_verify(endpoint, body, vocab):
    built_in = {"generate": 128, "completions": 16}.get(endpoint)
    said = [(key, body[key]) for key in MOST[endpoint] if key in body and (body[key] is not None or endpoint == "generate")]
    most = built_in if not said else None if said[0][1] is None else length(endpoint, *said[0])
    if endpoint == "responses" and most is not None:
        most -= 2
    least = body.get(LEAST.get(endpoint))
    least = 0 if least is None else length(endpoint, LEAST[endpoint], least)
    if least < 0:
        raise Refused(400, f"min_new_tokens must be in [0, max_new_tokens], got {least}.")
    if most is not None and most < 0:
        raise Refused(400, f"max_new_tokens must be at least 0, got {most}.")
    if most is not None and least > most:
        raise Refused(400, f"min_new_tokens must be in [0, max_new_tokens({most})], got {least}.")
    for key in (body.get("logit_bias") or {}) if endpoint != "responses" else ():
        try:
            token = int(key)
        except ValueError:
            raise Refused(400, f"invalid literal for int() with base 10: {key!r}") from None
        if vocab and not 0 <= token < vocab:
            raise Refused(400, f"logit_bias must has keys in [0, {vocab - 1}], got {key}.")
    if sum(bool(body.get(key)) for key in GRAMMARS[endpoint]) > 1:
        raise Refused(400, "Only one of json_schema, regex, ebnf, or structural_tag can be set.")
