"""ask_sglang.py: SGLang's released wheels as a witness: requests go through its HTTP application, batches through its sampler.

sglang_body.py is the way of a request, sglang_step.py a step of the sampler, sglang_batch.py the running batch, sglang_products.py
the full products.
"""
import ast
import inspect
import logging
import os
import warnings
from importlib.metadata import requires, version

os.environ["TORCHDYNAMO_DISABLE"] = "1"  # nothing is compiled: a watched call must be seen
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from sglang.srt.runtime_context import get_context

get_context().override_server_args().install()

import sglang_batch
import sglang_body
import sglang_products
import sglang_step
import values
from ask import NotAsked
from sglang.srt.sampling.sampling_params import SamplingParams
from sglang_body import Refused

DRAW = "sampling_from_probs_torch"
NINE = ("exponential_(1.0)", "clamp_min_(torch.finfo(torch.float32).tiny)", "(probs.float() / q).argmax(dim=-1, keepdim=True)")


def calls_of(name):
    """Where the package calls a function of this name: "layers/sampler.py: Sampler._sample_from_probs"."""
    import sglang.srt
    top, found = os.path.dirname(inspect.getfile(sglang.srt.server_args)), []
    for folder, folders, names in os.walk(top):
        folders.sort()
        for file in sorted(names):
            path = os.path.join(folder, file)
            if not file.endswith(".py"):
                continue
            with open(path, encoding="utf-8") as stream:
                text = stream.read()
            if name in text:
                found += [f"{os.path.relpath(path, top)}: {place}" for place in places(ast.parse(text), name, "")]
    return found


def places(node, name, where):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call) and getattr(child.func, "id", getattr(child.func, "attr", None)) == name:
            yield where
        inside = f"{where}.{child.name}".lstrip(".") if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else where
        yield from places(child, name, inside)


class Witness:
    packages = ("torch", "transformers", "pydantic", "fastapi", "msgspec", "numpy")
    stand_ins = sglang_body.STAND_INS + sglang_step.STAND_INS + sglang_batch.STAND_INS

    def __init__(self, engine):
        pinned, = {line.split(";")[0].strip() for line in requires("sglang") if line.startswith("torch==")}
        self.stand_ins = self.stand_ins + [f"PyTorch {version('torch')}, the same for every release asked, for the pinned {pinned}"]
        source = inspect.getsource(getattr(sglang_step.sampler, DRAW))
        self.found = {f"the published lines are in {DRAW}": all(line in source for line in NINE), f"calls of {DRAW}": calls_of(DRAW)}
        if self.found[f"the published lines are in {DRAW}"] != (engine != "sglang-0.5.19") or len(self.found[f"calls of {DRAW}"]) != 1:
            raise SystemExit(f"witness: {engine}: expected the published lines from 0.5.20 on, in a function with one caller; found {self.found}")

    def ask(self, file, group, case):
        if any(server.get("transformers") == "4" for server in case.get("servers", [case.get("server", {})])):
            raise NotAsked("asks what transformers 4 makes of the model's file; this release is pinned to transformers 5 and does not start with 4")
        if file.endswith("products.json"):
            return sglang_products.ask(case)
        try:
            return getattr(self, file.split("/")[1].split(".")[0])(group, case)
        except Refused as refused:
            return refused.answer()

    def path(self, group, case):
        if not case["batch"]:  # such a batch the scheduler never runs
            assert sglang_batch.empty().is_empty()
            return {"error": "a batch needs at least one request", "status": 0, "said": "ScheduleBatch.is_empty(): the scheduler runs nothing"}
        params = [sglang_body.send("generate", values.read_all(one), {})[1] for one in case["batch"]]
        sglang_step.install(case["server"])
        requests = [sglang_step.request(str(k), one) for k, one in enumerate(params)]
        return sglang_step.step(case["server"], sglang_step.batch_of(requests).sampling_info)

    def history(self, group, case):
        return sglang_batch.history(case["server"], case["events"])

    def effective(self, group, case):
        def told(effective):
            return {"effective": {key: [values.written(key, value), layer] for key, (value, layer) in effective.items()}} if effective else {}
        effective = None
        try:
            effective, params = sglang_body.send(group["endpoint"], values.read_all(case["request"]), case["server"])
            sglang_step.install(case["server"])
            batch = sglang_step.batch_of([sglang_step.request("0", params)])
            return told(effective) | {"path": sglang_step.step(case["server"], batch.sampling_info)["path"]}
        except Refused as refused:
            return told(effective or getattr(refused, "effective", None)) | refused.answer()

    def normalize(self, group, case):
        """The engine's own object: a ValueError is HTTP 400 at every endpoint, another exception 500."""
        given = {("sampling_seed" if key == "seed" else key): value for key, value in values.read_all(case["params"]).items()}
        try:
            params = SamplingParams(**given)
            params.normalize(None)
            params.verify(2**30)
        except ValueError as error:
            raise Refused(400, str(error)) from None
        except TypeError as error:
            key = sglang_body.member_of(error)
            key, value = ("seed" if key == "sampling_seed" else key), given[key]
            raise Refused(500, f"{key} must be a number, is {values.WORDS[type(value)]}", str(error)) from None
        names = {key: ("sampling_seed" if key == "seed" else key) for key in case["params"]}
        return {"normalized": {key: values.written(key, getattr(params, name)) for key, name in names.items()}}
