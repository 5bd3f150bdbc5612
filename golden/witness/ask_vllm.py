"""ask_vllm.py: puts golden cases to the released wheel of vLLM 0.5.0; ask.py says which."""
import ast
import hashlib
import inspect

import vllm_defaults
import vllm_lives
import vllm_predicate
import vllm_products
import vllm_rows
import vllm_wheel


def no_way_around_torch():
    """Sampler._sample returns what _sample_with_torch does before it can come to the Triton kernel."""
    first, *_ = [one for one in ast.parse(inspect.getsource(vllm_wheel.sampler._sample)).body[0].body if not isinstance(one, ast.Expr)]
    return isinstance(first, ast.Return) and first.value.func.id == "_sample_with_torch"


def hash_of(module):
    with open(module.__file__, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Witness:
    packages = ("torch", "transformers", "tokenizers", "fastapi", "starlette", "pydantic", "numpy", "openai")
    platform_tag = "manylinux1_x86_64"  # the metadata inside say linux_x86_64
    stand_ins = vllm_wheel.STAND_INS

    def __init__(self, engine):
        assert engine == "vllm-0.5.0"
        self.found = {"every step samples with torch, none with the Triton kernel": no_way_around_torch(),
                      "SHA-256 of vllm/model_executor/layers/sampler.py": hash_of(vllm_wheel.sampler),
                      "SHA-256 of vllm/model_executor/sampling_metadata.py": hash_of(vllm_wheel.sampling_metadata)}
        effective = vllm_defaults.Effective()
        products = vllm_products.Products(effective.of_body)
        self.answers = {
            "predicate/path.json": vllm_predicate.path, "predicate/draw.json": vllm_predicate.draw, "predicate/rows.json": vllm_predicate.rows,
            "predicate/candidates.json": vllm_predicate.candidates, "predicate/forks.json": vllm_lives.forks,
            "predicate/history.json": vllm_lives.history, "predicate/products.json": products,
            "defaults/effective.json": effective, "defaults/normalize.json": vllm_defaults.normalize,
            "defaults/tensors.json": vllm_defaults.tensors, "defaults/products.json": products,
        }

    def ask(self, name, group, case):
        return vllm_rows.rows(group, case) if name.startswith("boundary/") else self.answers[name](group, case)
