"""vllm.py: vLLM 0.5.0: which parameters a request ends up with, what is refused, and what a step then does.

Readings as in defaults.py: the article's quoted code (article-port), its tables and sentences (article-prose), the released
wheel (upstream). The constructor is told as comparisons that Python itself makes, so that its own words come out where a type
cannot be compared. A step's flags are sets, made anew from the groups of the step.
"""
import math
import struct

import defaults
from defaults import Refused, is_number, wrong_type
from predicate import History

ENGINE = "vllm-0.5.0"
EPSILON = 1e-5
PARAMETERS = defaults.PARAMETERS + ("n", "best_of", "use_beam_search", "early_stopping", "length_penalty", "max_tokens", "min_tokens",
                                    "logprobs", "prompt_logprobs", "truncate_prompt_tokens", "stop", "detokenize")
IN_ARTICLE = PARAMETERS[:11]
INTEGERS = ("top_k", "seed", "n", "best_of", "max_tokens", "min_tokens", "logprobs", "prompt_logprobs", "truncate_prompt_tokens")
BOOLEANS = ("use_beam_search", "early_stopping", "detokenize")
OBJECT = {"temperature": 1.0, "top_k": -1, "top_p": 1.0, "min_p": 0.0, "repetition_penalty": 1.0, "frequency_penalty": 0.0,
          "presence_penalty": 0.0, "seed": None, "n": 1, "best_of": None, "use_beam_search": False, "early_stopping": False,
          "length_penalty": 1.0, "max_tokens": 16, "min_tokens": 0, "logprobs": None, "prompt_logprobs": None,
          "truncate_prompt_tokens": None, "stop": None, "detokenize": True}
SCHEMA = {"chat": {"temperature": 0.7, "max_tokens": None, "stop": []}, "completions": {"stop": []}}  # where an endpoint's differs from the object
ABSENT = {"chat": ("logprobs", "prompt_logprobs", "truncate_prompt_tokens", "detokenize"), "completions": ("prompt_logprobs", "detokenize"),
          "generate": ()}
STAGES = ("min_tokens", "penalties", "temperature", "top_p_top_k", "min_p", "softmax", "sample", "logprobs")
DRAWS = ("greedy", "random", "random_seed", "beam")
LETTERS = {"penalties": "P", "top_p_top_k": "k", "min_p": "m", "greedy": "G", "random": "R", "random_seed": "S", "beam": "B"}
TRUE, FALSE = ("1", "on", "t", "true", "y", "yes"), ("0", "off", "f", "false", "n", "no")


def as_boolean(key, value):
    if is_number(value) and value in (0, 1):
        return bool(value)
    if isinstance(value, str) and value.lower() in TRUE + FALSE:
        return value.lower() in TRUE
    raise wrong_type(400, key, "true or false", value)


def validated(endpoint, key, value):
    """A member of the body behind the schema of an OpenAI endpoint."""
    if value is None and not (endpoint == "completions" and key == "n"):
        return None
    if key == "stop":
        if not isinstance(value, (str, list)):
            raise wrong_type(400, key, "a string or an array", value)
        return value
    convert = defaults.as_integer if key in INTEGERS else as_boolean if key in BOOLEANS else defaults.as_float
    found = convert(key, value)
    if key == "truncate_prompt_tokens" and found < 1:
        raise Refused(400, f"{key} must be at least 1")
    return found


def before_schema(logprobs):
    """What completions asks of the raw body before anything else."""
    try:
        if logprobs is not None and not logprobs >= 0:
            raise Refused(400, "if passed, `logprobs` must be a positive value.")
    except TypeError as error:
        raise Refused(500, str(error)) from None


def effective(reading, endpoint, request):
    """{parameter: (value, layer)} before the constructor."""
    if endpoint == "responses":
        raise Refused(404, f"{ENGINE} has no /v1/responses")
    if reading != "upstream":
        return {key: (request[key], "request") if request.get(key) is not None else (OBJECT[key], "default") for key in IN_ARTICLE}
    built_in = OBJECT | SCHEMA.get(endpoint, {})
    if endpoint == "completions":
        before_schema(request.get("logprobs"))
    out = {}
    for key in PARAMETERS:
        if key in request and key not in ABSENT[endpoint]:
            out[key] = (request[key] if endpoint == "generate" else validated(endpoint, key, request[key]), "request")
        else:
            out[key] = (built_in[key], "default")
    return out


def complaints(o):
    """What the constructor refuses before it rewrites anything: pairs of (refused, sentence), each asked only if none before it is."""
    yield o["n"] < 1, f"n must be at least 1, got {o['n']}."
    yield o["best_of"] < o["n"], f"best_of must be greater than or equal to n, got n={o['n']} and best_of={o['best_of']}."
    yield not -2.0 <= o["presence_penalty"] <= 2.0, f"presence_penalty must be in [-2, 2], got {o['presence_penalty']}."
    yield not -2.0 <= o["frequency_penalty"] <= 2.0, f"frequency_penalty must be in [-2, 2], got {o['frequency_penalty']}."
    yield not 0.0 < o["repetition_penalty"] <= 2.0, f"repetition_penalty must be in (0, 2], got {o['repetition_penalty']}."
    yield o["temperature"] < 0.0, f"temperature must be non-negative, got {o['temperature']}."
    yield not 0.0 < o["top_p"] <= 1.0, f"top_p must be in (0, 1], got {o['top_p']}."
    yield o["top_k"] < -1 or o["top_k"] == 0, f"top_k must be -1 (disable), or at least 1, got {o['top_k']}."
    yield not 0.0 <= o["min_p"] <= 1.0, f"min_p must be in [0, 1], got {o['min_p']}."
    most = o["max_tokens"]
    yield most is not None and most < 1, f"max_tokens must be at least 1, got {most}."
    yield o["min_tokens"] < 0, f"min_tokens must be greater than or equal to 0, got {o['min_tokens']}."
    yield most is not None and o["min_tokens"] > most, f"min_tokens must be less than or equal to max_tokens={most}, got {o['min_tokens']}."
    for key in ("logprobs", "prompt_logprobs"):
        yield o[key] is not None and o[key] < 0, f"{key} must be non-negative, got {o[key]}."
    cut = o["truncate_prompt_tokens"]
    yield cut is not None and cut < 1, f"truncate_prompt_tokens must be >= 1, got {cut}"
    yield "" in o["stop"], "stop cannot contain an empty string."
    yield o["stop"] and not o["detokenize"], "stop strings are only supported when detokenize is True. Set detokenize=True to use stop."
    if o["use_beam_search"]:
        yield o["best_of"] == 1, f"best_of must be greater than 1 when using beam search. Got {o['best_of']}."
        yield o["temperature"] > EPSILON, "temperature must be 0 when using beam search."
        yield o["top_p"] < 1.0 - EPSILON, "top_p must be 1 when using beam search."
        yield o["top_k"] != -1, "top_k must be -1 when using beam search."
        yield o["early_stopping"] not in (True, False, "never"), f"early_stopping must be True, False, or 'never', got {o['early_stopping']}."
    else:
        yield o["early_stopping"] is not False, "early_stopping is not effective and must be False when not using beam search."
        length = o["length_penalty"]
        yield (length < 1.0 - EPSILON or length > 1.0 + EPSILON,
               "length_penalty is not effective and must be the default value of 1.0 when not using beam search.")


def stops(said):
    return [] if said is None else [said] if isinstance(said, str) else list(said)


def construct(reading, params):
    """The engine's own object, or Refused."""
    out = dict(params)
    if out["best_of"] is None:
        out["best_of"] = out["n"]
    if out["seed"] == -1:
        out["seed"] = None
    if reading != "upstream":
        return out
    try:
        for refused, sentence in complaints(out | {"stop": stops(out["stop"])}):
            if refused:
                raise Refused(400, sentence)
    except TypeError as error:
        raise Refused(500, str(error)) from None
    if draw(out) == "greedy":
        out |= {"top_p": 1.0, "top_k": -1, "min_p": 0.0}
        if out["best_of"] > 1:
            raise Refused(400, f"best_of must be 1 when using greedy sampling.Got {out['best_of']}.")
    return out | {"stop": stops(out["stop"])}


def construct_at(reading, endpoint, params):
    """The same behind an endpoint. The demonstration server, which has /generate, catches nothing: whatever is raised is HTTP 500."""
    try:
        return construct(reading, params)
    except Refused as refused:
        raise Refused(500 if endpoint == "generate" else refused.status, refused.text) from None


def draw(params):
    if params["use_beam_search"]:
        return "beam"
    if params["temperature"] < EPSILON:
        return "greedy"
    return "random" if params["seed"] is None else "random_seed"


def fits_step(params):
    """What a step dies of, in the order in which it comes to it: the generator, the sorted row, the copies of the row."""
    k, seed, width = params["top_k"], params["seed"], params["best_of"]
    if seed is not None and type(seed) is not int:
        raise Refused(0, f"manual_seed expected a long, but got {type(seed).__name__}")
    if math.isnan(k) or -1 < k < 1:
        raise Refused(0, f"top_k {k} is no index into the sorted row")
    if draw(params) != "greedy" and not isinstance(width, int):
        raise Refused(0, f"best_of {width} is no number of sequences")


def profile(reading, server, params):
    """What one constructed request asks of its step, as a set."""
    vocab = server.get("vocab")
    if vocab is None:
        raise Refused(0, "the flags of a step depend on the vocabulary: say how large it is")
    for key in PARAMETERS[:7]:
        if not is_number(params[key]):
            raise wrong_type(0, key, "a number", params[key])
    k, top_p = params["top_k"], params["top_p"]
    deviations = params["presence_penalty"], params["frequency_penalty"], params["repetition_penalty"] - 1.0
    if reading == "article-prose":
        asks = {"top_p_top_k": top_p < 1 or k != -1, "min_p": params["min_p"] > 0, "penalties": any(deviations)}
    else:
        if reading == "upstream":
            fits_step(params)
            k = min(k, vocab)
        asks = {"top_p_top_k": top_p < 1.0 - EPSILON or (vocab if k == -1 else k) != vocab, "min_p": params["min_p"] > EPSILON,
                "penalties": any(abs(one) >= EPSILON for one in deviations)}
    return frozenset(name for name, asked in asks.items() if asked) | {draw(params)}


def letters(flags):
    return "".join(letter if name in flags else "-" for name, letter in LETTERS.items())


def of_letters(text):
    return frozenset(name for name, letter in LETTERS.items() if letter in text)


def path(reading, flags):
    always = {"min_tokens", "temperature", "softmax", "sample"} | ({"logprobs"} if reading == "upstream" else set())
    return {"path": "torch", "stages": " ".join(name for name in STAGES if name in always | flags),
            "draws": " ".join(name for name in DRAWS if name in flags)}


def path_of_batch(reading, server, requests):
    """requests: constructed parameters of all groups of a step."""
    if not requests:
        raise Refused(0, "a batch needs at least one request")
    return path(reading, frozenset().union(*[profile(reading, server, one) for one in requests]))


def states(profiles, events):
    """(flags of the prompts' step, flags of the running requests' step): of those that are there and unfinished."""
    history = History("article-port", {}, events)
    waiting = [one for one, join in history.join_of.items() if join is None and one not in history.finished]
    return tuple(frozenset().union(*[profiles[one] for one in there]) if there else None for there in (waiting, history.rows(len(events))))


def forks(reading, server, requests):
    """Of constructed requests whose prompts share a step."""
    found = []
    for one in requests:
        if type(one["best_of"]) is not int or not 1 <= one["best_of"] < 2**31:
            raise Refused(0, f"best_of {one['best_of']} is no number of sequences")
    for one in requests:
        width, kind = one["best_of"], draw(one)
        share = max(other["best_of"] for other in requests if draw(other) == kind)
        always = server.get("preemption")
        many = "swap" if width > 1 else "recompute"
        last = many if kind == "beam" or reading != "upstream" else "recompute"
        found.append({"sequences": width, "drawn": 2 * width if kind == "beam" else share, "kept": 2 * width if kind == "beam" else width,
                      "preempted": always or many, "last_preempted": always or last})
    return found


def draws(params, steps):
    """A request's object, read, cloned and overwritten: what each reading gives. The first one decides."""
    found, seen = [], None
    now = dict(params)
    for step in steps:
        if step == "read":
            seen = seen or draw(now)
            found.append(seen)
        elif step != "clone":
            now |= step
    return found


def rows(fixed, groups):
    """groups: (raises penalties, rows of prompt log-probabilities, [(prompt, output), ...]). None if no group raises them.

    Row j of the step counts the tokens of row j + k, the last k rows none; k: the rows of the groups before the first that raises
    penalties; 0 in later releases.
    """
    own, shift = [], None
    for raises, prompt_rows, sequences in groups:
        if raises and shift is None:
            shift = len(own)
        own += [([], [])] * prompt_rows + sequences
    if shift is None:
        return None
    return own if fixed else own[shift:] + [([], [])] * shift


def candidates(logprobs, cumulative, best_of):
    """Pairs of sums, in exact arithmetic of numbers that fp32 adds exactly; ties, which torch leaves open, go to the lower index."""
    vocab = len(logprobs[0])
    scored = [(-(x + before), i * vocab + j) for i, (row, before) in enumerate(zip(logprobs, cumulative or [0] * len(logprobs)))
              for j, x in enumerate(row)]
    if 2 * best_of > len(scored):
        raise Refused(0, "selected index k out of range")
    best = [index for _, index in sorted(scored)[:2 * best_of]]
    return {"parents": [index // vocab for index in best], "tokens": [index % vocab for index in best]}


def as_single(x):
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def as_half(x):
    try:
        return struct.unpack("<e", struct.pack("<e", as_single(x)))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def as_brain(x):
    """The upper half of a float's bits, rounded to nearest, ties to even."""
    single = as_single(x)
    if single != single:
        return single
    bits, = struct.unpack("<I", struct.pack("<f", single))
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]


def tensors(server, params):
    """Constructed parameters as the step's tensors of the logits' type hold them; top_k is an integer."""
    convert = {"f32": as_single, "bf16": as_brain, "f16": as_half}[server.get("logits", "f32")]
    top_k = min(params["top_k"], server["vocab"])
    own = params | {"temperature": 1.0 if params["temperature"] < EPSILON else params["temperature"]}
    return {key: int(server["vocab"] if top_k == -1 else top_k) if key == "top_k" else convert(own[key]) for key in PARAMETERS[:7]}
