"""defaults.py: which sampling parameters a request ends up with in SGLang 0.5.19, 0.5.20 and 0.5.23, and what is refused.

Three readings, told apart as "as": what the published article's code computes (article-port), what its sentences say
(article-prose), and what the released wheels do (upstream; 0.5.23 has a strict schema at /generate and looks at seeds, else they
agree). Each reading is told
as tables of who may speak for a parameter, in order; it is written from the article and from observed answers of the wheels,
and shares nothing with suite/sut/engines/.

A request is a dict as JSON gives it: a key may be absent, None, or hold any type.
"""
import math
import re

TOP_K_ALL = 2**30
GREEDY_BELOW = 1e-6
PARAMETERS = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "frequency_penalty", "presence_penalty", "seed")
KNOWN = {"article-port": PARAMETERS[:4], "article-prose": PARAMETERS[:5], "upstream": PARAMETERS}
NEUTRAL = {"temperature": 1.0, "top_k": -1, "top_p": 1.0, "min_p": 0.0, "repetition_penalty": 1.0, "frequency_penalty": 0.0,
           "presence_penalty": 0.0, "seed": None}
# What the engine's own parameter object starts from: the whole vocabulary is already a number there.
OBJECT = NEUTRAL | {"top_k": TOP_K_ALL}
# What transformers 4 says for keys that the file does not have.
CLASS_DEFAULTS = {"temperature": 1.0, "top_k": 50, "top_p": 1.0, "repetition_penalty": 1.0}
WORDS = {type(None): "null", bool: "true or false", int: "a number", float: "a number", str: "a string", list: "an array", dict: "an object"}


class Refused(Exception):
    """status: the HTTP answer, or 0 where the article's code raises or a step fails."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status, self.text = status, text


def wrong_type(status, key, wanted, value):
    return Refused(status, f"{key} must be {wanted}, is {WORDS[type(value)]}")


def spelled_float(text):
    if re.search("[xX]", text):
        raise ValueError(text)
    return float(text)


def spelled_integer(text):
    if not re.fullmatch(r"\s*[+-]?[0-9]+(_[0-9]+)*(\.0+)?\s*", text):
        raise ValueError(text)
    return int(text.split(".")[0])


def as_float(key, value):
    """What the OpenAI endpoints' schema makes of a value for a field of type float."""
    try:
        if isinstance(value, (bool, int, float)):
            return float(value)
        if isinstance(value, str):
            return spelled_float(value)
    except ValueError:
        pass
    raise wrong_type(400, key, "a number", value)


def as_integer(key, value):
    try:
        if isinstance(value, (bool, int)) or (isinstance(value, float) and value.is_integer() and abs(value) < 2**63):
            return int(value)
        if isinstance(value, str):
            return spelled_integer(value)
    except ValueError:
        pass
    raise wrong_type(400, key, "an integer", value)


def body_key(endpoint, parameter):
    """The member of a request body that feeds a parameter; None: the endpoint has no such field."""
    if parameter == "seed":
        return {"generate": "sampling_seed", "responses": None}.get(endpoint, "seed")
    return parameter


def validated(endpoint, request):
    """The body behind the schema of an OpenAI endpoint. Null is refused where the field is not optional."""
    optional = {"chat": PARAMETERS[:5] + ("seed",), "responses": PARAMETERS[:5], "completions": ("seed",)}[endpoint]
    out = {}
    for parameter in PARAMETERS:
        key = body_key(endpoint, parameter)
        if key is None or key not in request:
            continue
        convert = as_integer if parameter in ("top_k", "seed") else as_float
        if request[key] is not None:
            out[parameter] = convert(key, request[key])
        elif parameter not in optional:
            raise wrong_type(400, key, "a number" if convert is as_float else "an integer", None)
    return out


def speakers_upstream(endpoint, parameter, request, preferred, model):
    """(layer, value) in order of precedence, silent ones left out."""
    if endpoint == "generate":  # two dicts laid over each other: a null speaks
        return [(layer, said[parameter]) for layer, said in (("request", request), ("preferred", preferred)) if parameter in said] + \
               [("default", OBJECT[parameter])]
    said = [("request", request[parameter])] if parameter in request else []
    if endpoint != "completions" and parameter in model:
        said.append(("model", model[parameter]))
    if endpoint == "responses" and parameter in ("temperature", "top_p"):
        return said + [("default", {"temperature": 0.7, "top_p": 1.0}[parameter])]
    if endpoint == "responses" and parameter in ("top_k", "min_p", "repetition_penalty", "seed"):  # left out of the message if silent
        if parameter in preferred:
            said.append(("preferred", preferred[parameter]))
        return said + [("default", OBJECT[parameter])]
    return said + [("default", NEUTRAL[parameter])]


def non_null(values, keys):
    return {key: values[key] for key in keys if values.get(key) is not None}


def speakers_prose(endpoint, parameter, request, preferred, model):
    said = [("request", request[parameter])] if parameter in request else []
    said += [("preferred", preferred[parameter])] if parameter in preferred else []
    reads = {"chat": KNOWN["article-prose"], "responses": ("temperature", "top_p")}.get(endpoint, ())
    said += [("model", model[parameter])] if parameter in reads and parameter in model else []
    return said + [("default", NEUTRAL[parameter])]


def schema_type(value, whole):
    """How 0.5.23's schema names a value of the wrong type."""
    kinds = {str: 'string "{}"', bool: "boolean `{}`", float: "floating point `{}`", list: "sequence", dict: "map"}
    said = str(value).lower() if isinstance(value, bool) else value
    return Refused(400, f"invalid type: {kinds[type(value)].format(said)}, expected {'i64' if whole else 'f64'}")


def strict_types(request):
    """0.5.23's schema at /generate: a boolean is no number, 20.0 no integer; null is nothing."""
    for key, value in request.items():
        if key in PARAMETERS[:7] + ("sampling_seed",) and value is not None:
            whole = key in ("top_k", "sampling_seed")
            if not (type(value) is int or type(value) is float and not whole):
                raise schema_type(value, whole)


def effective(reading, endpoint, request, server, engine="sglang-0.5.20"):
    """{parameter: (value, layer)} before normalization.

    server: sampling_defaults ("model" if absent), generation_config, preferred, transformers ("pinned" if absent).
    """
    config = server.get("generation_config") or {}
    if reading == "upstream":
        if server.get("transformers") == "4" and "generation_config" in server:
            config = CLASS_DEFAULTS | config
        if engine == "sglang-0.5.23" and endpoint == "generate":
            strict_types(request)
    model = non_null(config, PARAMETERS[:5]) if server.get("sampling_defaults", "model") == "model" else {}
    preferred = server.get("preferred") or {}
    if reading == "article-port":
        model = model if endpoint == "chat" else {}
        order = {key: [("request", request.get(key)), ("model", model.get(key)), ("default", NEUTRAL[key])] for key in KNOWN[reading]}
        said = {key: [(layer, value) for layer, value in speakers if value is not None] for key, speakers in order.items()}
    elif reading == "article-prose":
        request, preferred = non_null(request, KNOWN[reading]), non_null(preferred, KNOWN[reading])
        said = {key: speakers_prose(endpoint, key, request, preferred, model) for key in KNOWN[reading]}
    else:
        preferred = {key: preferred[name] for key in PARAMETERS for name in [body_key("generate", key)] if name in preferred}
        if endpoint == "generate":
            request = {key: request[name] for key in PARAMETERS for name in [body_key("generate", key)] if name in request}
        else:
            request = validated(endpoint, request)
        said = {key: speakers_upstream(endpoint, key, request, preferred, model) for key in KNOWN[reading]}
    return {key: (speakers[0][1], speakers[0][0]) for key, speakers in said.items()}


def unordered(operator, left, right):
    """Python's own words when two types cannot be compared: what the article's code would die of."""
    return Refused(0, f"'{operator}' not supported between instances of '{type(left).__name__}' and '{type(right).__name__}'")


def is_number(value):
    return isinstance(value, (bool, int, float))


def normalize(reading, params):
    """Temperature below 1e-6 becomes top_k = 1; top_k = -1 becomes the whole vocabulary; upstream, null becomes the default."""
    out = dict(params)
    if reading == "upstream":
        out |= {key: NEUTRAL[key] for key, value in params.items() if value is None}
    if not is_number(out["temperature"]):
        if reading != "upstream":
            raise unordered("<=", 0, out["temperature"])
        raise wrong_type(500, "temperature", "a number", out["temperature"])
    if 0 <= out["temperature"] < GREEDY_BELOW:
        out |= {"temperature": 1.0, "top_k": 1}
    if is_number(out["top_k"]) and out["top_k"] == -1:
        out["top_k"] = TOP_K_ALL
    return out


# In the order in which they are asked; each: key, accepted(value), the engine's sentence.
RULES = (
    ("temperature", lambda v: math.isfinite(v) and v >= 0, "must be a non-negative finite number"),
    ("top_p", lambda v: 0 < v <= 1, "must be in (0, 1]"),
    ("min_p", lambda v: 0 <= v <= 1, "must be in [0, 1]"),
    ("top_k", lambda v: not v < 1, "must be -1 (disable) or at least 1"),
    ("frequency_penalty", lambda v: -2 <= v <= 2, "must be in [-2, 2]"),
    ("presence_penalty", lambda v: -2 <= v <= 2, "must be in [-2, 2]"),
    ("repetition_penalty", lambda v: 0 < v <= 2, "must be in (0, 2] (1.0 = no penalty)"),
)


def status_at(endpoint, status):
    """/v1/responses answers a comparison that failed as it does a bad value."""
    return 400 if (endpoint, status) == ("responses", 500) else status


def verify(reading, params, engine="sglang-0.5.20"):
    """Refuse what the engine answers with an error; the article checks nothing."""
    if reading != "upstream":
        return
    for key, accepted, sentence in RULES:
        if not is_number(params[key]):
            raise wrong_type(500, key, "a number", params[key])
        if not accepted(params[key]):
            raise Refused(400, f"{key} {sentence}, got {params[key]}.")
    if engine == "sglang-0.5.23" and params["seed"] is not None:
        seed = params["seed"]
        if not isinstance(seed, int):
            raise Refused(400, f"sampling_seed must be an integer, got {type(seed).__name__}.")
        if not -2**63 <= seed < 2**63:
            raise Refused(400, f"sampling_seed must be in [-2**63, 2**63 - 1], got {seed}.")
