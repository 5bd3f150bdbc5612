"""vllm_rows.py: vLLM 0.5.0's answers to golden/boundary/*.json: one row through its logits processors and Sampler.forward on CPU.

What is told is the row as it is handed to the draw: ids that can be drawn, their probabilities, and their logits after penalties and
temperature. Rows of probabilities are given as their logarithms.
"""
import math
from fractions import Fraction
from itertools import accumulate

import vllm_step
import vllm_values
from ask import NotAsked
from vllm_http import ROOM, protocol
from vllm_step import torch
from vllm_wheel import SamplingParams, logits_processor

FILTERS = ("top_k", "top_p", "min_p", "repetition_penalty", "frequency_penalty", "presence_penalty")
NO_ROW = "a row with a NaN, an infinity or a negative weight: the golden says what may be drawn whatever an engine does"
EDGE = "a mass lies exactly on the edge, and the softmax of the row's logarithms does not give the row back: rounding would decide"
UNSTABLE = "equal values, whose order torch's sort keeps on a GPU and, in rows of more than 16, not on a CPU"
ACCEPTED = "a temperature that is NaN: the golden says that no sampler may accept it, and this one does and makes every logit NaN"
NO_ID = "an id outside the vocabulary: the golden says that no sampler may accept it, {}"


def number(value):
    if isinstance(value, str):
        return float.fromhex(value) if "0x" in value else float(value)
    return value


def row_of(case):
    """(logits, and for probabilities the row itself)."""
    values = [number(value) / number(case["denominator"]) for value in case["values"]]
    if case["kind"] == "logits":
        if any(not value < math.inf for value in values):
            raise NotAsked(NO_ROW)
        return torch.tensor(values, dtype=torch.float), None
    if any(not 0 <= value < math.inf for value in values):
        raise NotAsked(NO_ROW)
    row = torch.tensor(values, dtype=torch.float)
    return row.log(), row / row.sum()


def processors_of(parameters):
    """Biases as the OpenAI endpoint makes a processor of them; bans as a user's own."""
    found = []
    if "logit_bias" in parameters:
        body = protocol.CompletionRequest(model="m", prompt="a", logit_bias={str(key): bias for key, bias in parameters["logit_bias"]})
        found += body.to_sampling_params().logits_processors
    if "banned" in parameters:
        def ban(_, logits):
            logits[parameters["banned"]] = -math.inf
            return logits
        found.append(ban)
    return found


def made_of(case):
    asked = {key: number(value) for key, value in case["parameters"].items() if key in FILTERS}
    return SamplingParams(temperature=number(case.get("temperature", 1.0)), max_tokens=ROOM, min_tokens=case["parameters"].get("min_tokens", 0),
                          stop_token_ids=case["parameters"].get("stop"), logits_processors=processors_of(case["parameters"]), **asked)


def outside(case):
    """What becomes of an id that is none."""
    for key in ("prompt", "output", "stop"):
        if any(not 0 <= one < len(case["values"]) for one in case["parameters"].get(key, [])):
            return key
    return None


def on_edge(case):
    """The heaviest tokens that top_k leaves have exactly top_p of their mass, for some number of them."""
    weights = sorted((Fraction(value) for value in case["values"]), reverse=True)
    top_k, top_p = case["parameters"].get("top_k", -1), number(case["parameters"].get("top_p", 1.0))
    left = [one for one in weights if not 0 < top_k < len(weights) or one >= weights[top_k - 1]]
    return sum(left) > 0 and any(mass == Fraction(top_p) * sum(left) for mass in accumulate(left[:-1]))


def pushed(case, made, logits):
    one = case["parameters"]
    prepared = vllm_step.metadata([vllm_step.group(made, one.get("prompt", []), [one.get("output", [])], is_prompt=False)])
    return vllm_step.forward(prepared, logits_processor._apply_logits_processors(logits.clone().unsqueeze(0), prepared))[0]


def rows(_, case):
    try:
        made = made_of(case)
    except ValueError as error:
        return {"refused": str(error).split(" ")[0], "said": str(error)}
    logits, row = row_of(case)
    key = outside(case)
    try:
        notes = pushed(case, made, logits)
    except Exception as error:
        if key:
            raise NotAsked(NO_ID.format(f"and the step dies: {str(error).splitlines()[0]}")) from None
        raise
    if key:
        raise NotAsked(NO_ID.format("and this one counts it nowhere"))
    if "temperature" in case and math.isnan(number(case["temperature"])):
        raise NotAsked(ACCEPTED)
    if "top_p" in case["parameters"] and not torch.equal(logits.sort().indices, logits.sort(stable=True).indices):
        raise NotAsked(UNSTABLE)
    if row is not None and "top_p" in case["parameters"] and not torch.equal(torch.softmax(logits, -1), row) and on_edge(case):
        raise NotAsked(EDGE)
    handed = notes.handed[0]
    kept = [i for i, logit in enumerate(handed.tolist()) if logit > -math.inf]
    answer = {"kept": kept, "mass": [f"{notes.probs[0][i].item():.9e}" for i in kept]}
    return answer | ({"logits": [f"{handed[i].item():.9e}" for i in kept]} if case["kind"] == "logits" else {})
