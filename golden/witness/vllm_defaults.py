"""vllm_defaults.py: vLLM 0.5.0's answers to golden/defaults/{effective,normalize,tensors}.json."""
import vllm_step
import vllm_values
from vllm_http import Servers, reached
from vllm_wheel import SamplingParams

NORMALIZED = vllm_values.PARAMETERS
TENSORS = {"temperature": "temperatures", "top_k": "top_ks", "top_p": "top_ps", "min_p": "min_ps", "repetition_penalty": "repetition_penalties",
           "frequency_penalty": "frequency_penalties", "presence_penalty": "presence_penalties"}


def step_of(made, vocab):
    try:
        return vllm_step.told(vllm_step.run([made], vocab)[0])
    except Exception as error:
        return vllm_values.of_step(error, [made])


class Effective:
    def __init__(self):
        self.servers = Servers()

    def of_body(self, endpoint, vocab, request):
        """(parameters, answer)."""
        made, refused = self.servers.answer(endpoint, request)
        return reached(endpoint, request), refused or step_of(made, vocab)

    def __call__(self, group, case):
        found, answer = self.of_body(group["endpoint"], case["server"]["vocab"], vllm_values.decoded(case["request"]))
        told = {key: [vllm_values.encode(key, value), layer] for key, (value, layer) in (found or {}).items()}
        return ({"effective": told} if told else {}) | answer


def made_of(request, generate=True):
    """(SamplingParams, None) or (None, refusal)."""
    try:
        return SamplingParams(**request), None
    except Exception as error:
        return None, vllm_values.of_constructor(error, generate)


def normalize(_, case):
    asked = vllm_values.decoded(case["params"])
    made, refused = made_of(asked, False)
    return refused or {"normalized": vllm_values.encoded({key: getattr(made, key) for key in NORMALIZED})}


def tensors(_, case):
    vocab, dtype = case["server"]["vocab"], vllm_step.TYPES[case["server"]["logits"]]
    made, refused = made_of(vllm_values.decoded(case["request"]))
    if refused:
        return refused
    try:
        prepared = vllm_step.metadata([vllm_step.group(made)])
        held, _ = vllm_step.flags_of(prepared, vocab, dtype)
        found = {key: getattr(held, name)[0].item() for key, name in TENSORS.items()}
        vllm_step.forward(prepared, vllm_step.torch.zeros(1, vocab, dtype=dtype))
    except Exception as error:
        return vllm_values.of_step(error, [made])
    return {"tensors": vllm_values.encoded(found)}
