"""vllm_step_cases.py: what only vLLM 0.5.0 has: golden/predicate/forks.json, draw.json, rows.json, candidates.json and
golden/defaults/tensors.json.

Sequences a request forks into, the cached sampling type, the tokens that each row's penalties count (every order of up to three
groups), beam candidates, parameters as tensors of the logits' type.
"""
from itertools import product

import vllm
from engine_values import encoded, outcome
from files import family_text, write_text
from vllm_cases import BEAM_2, E, GREEDY, PLAIN, READINGS, SEEDED, SERVER, VLLM, F, K, M, P, R, S, T, V, below, constructed

VERSION = "1"
FORKS = {
    "fork": {
        "bug": "best_of is ignored, or n is taken for it.",
        "effect": "Fewer candidates than were asked and paid for; capacity is planned for the wrong number of sequences.",
        "links": [VLLM + "blob/v0.5.0/vllm/engine/output_processor/single_step.py"]},
    "shared-width": {
        "bug": "None: rows are drawn as often as the largest best_of of the step's prompts of that type.",
        "effect": "One request with best_of 20 multiplies the noise and the copies of every prompt beside it.",
        "links": [VLLM + "blob/v0.5.0/vllm/model_executor/layers/sampler.py"]},
    "swap": {
        "bug": "What is preempted is swapped while several sequences may run, and recomputed when one is left.",
        "effect": "Out of memory, a request with best_of 4 is copied to the host instead of recomputed; the article says so of its whole life.",
        "links": [VLLM + "blob/v0.5.0/vllm/core/scheduler.py"]},
}
DRAW = {
    "cached": {
        "bug": "The type is derived anew at each access, or a clone forgets it.",
        "effect": "Code that sets seed or temperature on a used object changes the draw here and not there.",
        "links": [VLLM + "blob/v0.5.0/vllm/sampling_params.py"]},
    "order": {
        "bug": "The type is derived in another order: beam search, temperature, seed.",
        "effect": "A greedy request with a seed is sampled, or a beam is greedy.",
        "links": [VLLM + "blob/v0.5.0/vllm/sampling_params.py"]},
}
ROWS = {
    "rows-shifted": {
        "bug": "Token lists are gathered only once a group has raised the penalties' flag, and scattered from row 0.",
        "effect": "A penalised request behind an unpenalised one is penalised with another request's tokens, or not at all, depending on the order of the batch.",
        "links": [VLLM + "issues/5607", VLLM + "pull/5639"]},
    "prompt-rows": {
        "bug": "Rows of prompt log-probabilities are not counted among the rows.",
        "effect": "Penalties of everybody behind them use another row's tokens.",
        "links": [VLLM + "pull/10740"]},
}
TENSORS = {
    "half": {
        "bug": "Parameters become tensors of the logits' type before they are used.",
        "effect": "On a bfloat16 model top_p = 0.999 is 1: the step sorts and cuts nothing; temperatures and penalties are off by up to 0.4 %.",
        "links": [VLLM + "pull/2937"]},
    "sentinel": {
        "bug": "A greedy request's temperature divides, or top_k = -1 reaches the tensor.",
        "effect": "Infinite logits, or an index outside the row.",
        "links": [VLLM + "pull/7227"]},
}
BEAM = {
    "beam": {
        "bug": "Candidates are taken a sequence at a time, fewer than twice the width, or without the sums so far.",
        "effect": "Beam search loses the best continuation.",
        "links": [VLLM + "blob/v0.5.0/vllm/model_executor/layers/sampler.py"]},
}
WIDE, WIDER = {"best_of": 4}, {"best_of": 8, "n": 2}
FORK_BATCHES = {
    "one": ([], [PLAIN]), "best-of": (["fork", "swap"], [WIDE]), "n": (["fork", "swap"], [{"n": 3}]), "n-below-best-of": (["fork"], [WIDER]),
    "beside-plain": (["shared-width"], [PLAIN, WIDE]), "beside-wider": (["shared-width"], [WIDE, WIDER, PLAIN]), "other-type": (["shared-width"], [WIDE, SEEDED]),
    "seeded": (["shared-width"], [SEEDED | WIDE, SEEDED]), "greedy": ([], [GREEDY, WIDE]), "beam": (["fork", "swap"], [BEAM_2]),
    "beam-wide": (["fork"], [{"use_beam_search": True, T: 0.0, "n": 5}, BEAM_2, PLAIN]), "none": ([], []), "greedy-two": (["fork"], [GREEDY | {"n": 2}]),
    "below-n": (["fork"], [{"n": 3, "best_of": 2}]), "fraction": (["fork"], [{"best_of": 1.5}]),
}


def fork_case(identity, flags, reading, server, batch):
    return {"id": f"{reading}/{identity}", "flags": flags, "server": server, "batch": [encoded(one) for one in batch]} | \
        outcome(lambda: {"forks": vllm.forks(reading, server, [constructed(reading, "generate", one) for one in batch])})


def fork_cases(reading):
    yield from (fork_case(name, flags, reading, {}, batch) for name, (flags, batch) in FORK_BATCHES.items())
    for mode in ("swap", "recompute"):
        yield from (fork_case(f"{name}@{mode}", ["swap"], reading, {"preemption": mode}, FORK_BATCHES[name][1]) for name in ("one", "best-of", "beam"))


TYPES = {"random": PLAIN, "greedy": GREEDY, "seeded": SEEDED, "beam": BEAM_2, "greedy-seeded": GREEDY | SEEDED, "beam-seeded": BEAM_2 | SEEDED,
         "minus-one": {"seed": -1}, "below": {T: below(E)}, "epsilon": {T: E}, "epsilon-seeded": {T: E, "seed": 0}}
CHANGES = {"seed": SEEDED, "no-seed": {"seed": None}, "greedy": GREEDY, "warm": {T: 0.7}, "beam": {"use_beam_search": True}, "minus-one": {"seed": -1}}


def draw_case(identity, flags, reading, request, steps):
    return {"id": f"{reading}/{identity}", "flags": flags, "request": encoded(request),
            "steps": [step if isinstance(step, str) else encoded(step) for step in steps]} | \
        outcome(lambda: {"draws": vllm.draws(constructed(reading, "generate", request), steps)})


def draw_cases(reading):
    for name, request in TYPES.items():
        yield draw_case(name, ["order"], reading, request, ["read"])
        for what, change in CHANGES.items():
            yield draw_case(f"{name}/read-then-{what}", ["cached"], reading, request, ["read", change, "read", "clone", "read"])
            yield draw_case(f"{name}/{what}-then-read", ["cached"], reading, request, [change, "clone", "read"])
    yield draw_case("refused", ["order"], reading, {T: -1.0}, ["read"])


def group_of(index, raises, sequences, prompt_rows):
    """Tokens that name their group and sequence."""
    request = ({S: 0.5} if raises else {}) | ({"prompt_logprobs": 0} if prompt_rows else {})
    return {"request": request, "sequences": [{"prompt": [10 * index + i, 7], "output": [100 + 10 * index + i]} for i in range(sequences)]} | \
        ({"prompt_rows": prompt_rows} if prompt_rows else {})


def rows_case(identity, flags, reading, fixed, groups):
    told = [(group["request"].get(S, group["request"].get(R, 0)) != 0, group.get("prompt_rows", 0),
             [(one["prompt"], one["output"]) for one in group["sequences"]]) for group in groups]
    found = vllm.rows(fixed, told)
    return {"id": f"{reading}/{identity}", "flags": flags, "server": SERVER, "fixed": fixed, "groups": groups,
            "rows": None if found is None else [{"prompt": prompt, "output": output} for prompt, output in found]}


def rows_cases(reading):
    for count in (1, 2, 3):
        for mask in product((False, True), repeat=count):
            name = "".join(str(int(one)) for one in mask)
            groups = [group_of(index, raises, 1, 0) for index, raises in enumerate(mask)]
            wrong = any(mask) and not mask[0]
            for fixed in (False, True):
                yield rows_case(f"{name}/{'fixed' if fixed else 'released'}", ["rows-shifted"] * wrong, reading, fixed, groups)
    shapes = {"two-sequences-first": [(False, 2, 0), (True, 1, 0)], "prompt-rows-first": [(False, 1, 3), (True, 2, 0)],
              "prompt-rows-of-raiser": [(False, 1, 0), (True, 1, 2), (False, 1, 0)], "chunk-first": [(False, 0, 0), (True, 1, 0)],
              "chunk-with-rows": [(False, 0, 2), (True, 1, 0), (False, 1, 0)], "raiser-is-chunk": [(True, 0, 0), (False, 1, 0)],
              "long-shift": [(False, 3, 0), (False, 2, 0), (True, 1, 0), (True, 1, 0)]}
    for name, shape in shapes.items():
        groups = [group_of(index, *one) for index, one in enumerate(shape)]
        flags = ["rows-shifted"] + ["prompt-rows"] * any(one[2] for one in shape)
        for fixed in (False, True):
            yield rows_case(f"{name}/{'fixed' if fixed else 'released'}", flags, reading, fixed, groups)


TENSOR_REQUESTS = {
    "defaults": ([], {}), "greedy": (["sentinel"], GREEDY), "below": (["sentinel"], {T: below(E)}), "beam": (["sentinel"], BEAM_2), "epsilon": (["half"], {T: E}),
    "top-k": ([], {K: 20}), "top-k-fraction": (["sentinel"], {K: 2.7}), "top-k-true": (["sentinel"], {K: True}), "top-k-above": (["sentinel"], {K: V + 1}),
    "top-k-infinite": (["sentinel"], {K: float("inf")}), "top-k-half": (["sentinel"], {K: 0.5}),
    **{f"top-p-{x}": (["half"], {P: x}) for x in (0.9, 0.95, 0.99, 0.999, 0.9999, 0.998046875, 0.998046876, 1e-40, 5e-324)},
    "temperature-0.7": (["half"], {T: 0.7}), "temperature-half-way": (["half"], {T: 1 + 2.0**-8}), "temperature-twice-rounded": (["half"], {T: 1 + 2.0**-8 + 2.0**-40}),
    "temperature-above-half-way": (["half"], {T: 1 + 2.0**-8 + 2.0**-20}), "temperature-odd-half-way": (["half"], {T: 1 + 3 * 2.0**-8}),
    "temperature-70000": (["half"], {T: 70000.0}), "temperature-65519": (["half"], {T: 65519.0}), "temperature-65520": (["half"], {T: 65520.0}), "temperature-1e39": (["half"], {T: 1e39}),
    "temperature-3.4e38": (["half"], {T: 3.4e38}), "min-p": (["half"], {M: 0.05}), "penalties": (["half"], {R: 1.1, F: -0.3, S: 1e-5}), "presence-tiny": (["half"], {S: 3e-8}),
    "refused": ([], {P: 2.0}),
}


def tensor_case(name, flags, logits, request):
    server = {"vocab": V, "logits": logits}

    def compute():
        made = constructed("upstream", "generate", request)
        vllm.profile("upstream", server, made)
        return {"tensors": encoded(vllm.tensors(server, made))}

    return {"id": f"upstream/{logits}/{name}", "flags": flags, "server": server, "request": encoded(request)} | outcome(compute)


def tensor_cases():
    return (tensor_case(name, flags, logits, request) for logits in ("f32", "bf16", "f16") for name, (flags, request) in TENSOR_REQUESTS.items())


# Sums that fp32 adds exactly; no two of those that count are equal, whose order torch leaves open.
BEAMS = {
    "prompt": ([[-1.0, -3.0, -0.5, -2.0, -4.0]], None, 2), "prompt-all": ([[-2.0, -1.0]], None, 1), "prompt-too-narrow": ([[-2.0, -1.0, -3.0]], None, 2),
    "sums-decide": ([[-0.5, -4.0, -4.0], [-3.0, -0.25, -2.0]], [-4.0, -1.0], 2), "one-parent-wins": ([[-9.0, -9.5], [-1.0, -1.5]], [-1.0, -1.0], 1),
    "masked": ([[-1.0, float("-inf"), float("-inf")], [-2.0, float("-inf"), -8.0]], [-0.5, -0.5], 1),
    "masked-width": ([[-1.0, -5.0, float("-inf")], [-2.0, float("-inf"), -8.0]], [-0.5, -0.5], 2),
    "three": ([[-1.0, -2.0, -3.0, -4.0], [-1.5, -2.5, -3.5, -4.5], [-1.25, -2.25, -3.25, -4.25]], [0.0, -0.25, -2.0], 3),
}


def number(value):
    return {"float": "-inf"} if value == float("-inf") else value


def beam_case(name, logprobs, cumulative, best_of):
    return {"id": f"upstream/{name}", "flags": ["beam"], "logprobs": [[number(x) for x in row] for row in logprobs]} | \
        ({"cumulative": cumulative} if cumulative else {}) | {"best_of": best_of} | outcome(lambda: vllm.candidates(logprobs, cumulative, best_of))


def group(reading, cases):
    return {"source": "golden/model/vllm_step_cases.py", "version": VERSION, "engine": vllm.ENGINE, "as": reading, "cases": list(cases)}


def write():
    families = {
        "forks": (FORKS, [group(reading, fork_cases(reading)) for reading in READINGS[1:]]),
        "draw": (DRAW, [group(reading, draw_cases(reading)) for reading in ("article-port", "upstream")]),
        "rows": (ROWS, [group("upstream", rows_cases("upstream"))]),
        "candidates": (BEAM, [group("upstream", (beam_case(name, *one) for name, one in BEAMS.items()))]),
    }
    tensors = [group("upstream", tensor_cases())]
    write_text("defaults/tensors.json", family_text("defaults", "tensors", TENSORS, tensors))
    for check, (notes, groups) in families.items():
        write_text(f"predicate/{check}.json", family_text("predicate", check, notes, groups))
    return {f"{check} {one['as']}": len(one["cases"]) for check, (_, groups) in families.items() for one in groups} | \
        {"tensors upstream": len(tensors[0]["cases"])}
