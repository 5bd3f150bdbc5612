"""ask_vllm.py: puts golden cases to the released wheel of vLLM 0.5.0; ask.py says which."""
import vllm_defaults
import vllm_lives
import vllm_predicate
import vllm_products
import vllm_wheel


class Witness:
    packages = ("torch", "transformers", "tokenizers", "fastapi", "starlette", "pydantic", "numpy", "openai")
    stand_ins = vllm_wheel.STAND_INS
    found = {}

    def __init__(self, engine):
        assert engine == "vllm-0.5.0"
        self.answers = {
            "predicate/path.json": vllm_predicate.path, "predicate/draw.json": vllm_predicate.draw, "predicate/rows.json": vllm_predicate.rows,
            "predicate/candidates.json": vllm_predicate.candidates, "predicate/forks.json": vllm_lives.forks,
            "predicate/history.json": vllm_lives.history, "predicate/products.json": vllm_products.products,
            "defaults/effective.json": vllm_defaults.Effective(), "defaults/normalize.json": vllm_defaults.normalize,
            "defaults/tensors.json": vllm_defaults.tensors, "defaults/products.json": vllm_products.products,
        }

    def ask(self, name, group, case):
        return self.answers[name](group, case)
