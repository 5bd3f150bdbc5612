"""vllm_step.py: steps of vLLM 0.5.0: its own metadata, tensors and Sampler.forward over given logits, with a note of what ran."""
from torch.overrides import TorchFunctionMode

from vllm_wheel import (Sequence, SequenceData, SequenceGroup, SequenceGroupMetadata, SamplingMetadata, SamplingParams, SamplingTensors,
                        sampler, torch)

STAGES = {"_apply_min_tokens_penalty": "min_tokens", "_apply_penalties": "penalties", "_apply_top_k_top_p": "top_p_top_k",
          "_apply_min_p": "min_p", "_sample": "sample", "_get_logprobs": "logprobs"}
DRAWS = ("greedy", "random", "random_seed", "beam")
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
MASKED = float("-inf")


class Notes(TorchFunctionMode):
    """What Sampler.forward calls: its own functions by name, and of torch's the division and the softmax in its body."""

    def __init__(self):
        super().__init__()
        self.stages, self.draws, self.drawn, self.inside, self.kept = [], set(), {}, 0, {}

    def note(self, name, call):
        def noted(*args, **more):
            if name in STAGES:
                self.stages.append(STAGES[name])
            if name == "_multinomial":
                kind = "random_seed" if more.get("seq_groups") is not None else "random"
                self.draws.add(kind)
                self.drawn[kind] = args[1]
            elif name in ("_greedy_sample", "_beam_search_sample"):
                self.draws.add(name.split("_")[1])
            if name == "_sample":
                self.probs = args[0].clone()
            self.inside += 1
            try:
                return call(*args, **more)
            finally:
                self.inside -= 1
        return noted

    def __enter__(self):
        for name in [*STAGES, "_multinomial", "_greedy_sample", "_beam_search_sample"]:
            self.kept[name] = getattr(sampler, name)
            setattr(sampler, name, self.note(name, self.kept[name]))
        return super().__enter__()

    def __exit__(self, *error):
        for name, call in self.kept.items():
            setattr(sampler, name, call)
        return super().__exit__(*error)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if not self.inside:
            stage = {torch.Tensor.div_: "temperature", torch.softmax: "softmax"}.get(func)
            if stage:
                self.stages.append(stage)
            if stage == "softmax":
                self.handed = args[0].clone()
        return func(*args, **(kwargs or {}))


def params(request):
    return SamplingParams(**request)


def data_of(prompt, output=()):
    data = SequenceData(list(prompt))
    for token in output:
        data.append_token_id(token, 0.0)
    return data


def group(made, prompt=(1,), outputs=None, is_prompt=True, do_sample=True, first_id=0):
    """outputs: one list of tokens a sequence."""
    outputs = [[]] if outputs is None else outputs
    return SequenceGroupMetadata(request_id=str(first_id), is_prompt=is_prompt, sampling_params=made, block_tables={}, do_sample=do_sample,
                                 seq_data={first_id + i: data_of(prompt, one) for i, one in enumerate(outputs)})


def metadata(groups, query_lens=None):
    lens = query_lens or [one.token_chunk_size for one in groups]
    return SamplingMetadata.prepare(groups, lens, lens, "cpu", False)


def flags_of(prepared, vocab, dtype=torch.float32):
    """(tensors, {flags and sampling types that take part})."""
    tensors, *raised = SamplingTensors.from_sampling_metadata(prepared, vocab, torch.device("cpu"), dtype)
    asked = {name for name, one in zip(("penalties", "top_p_top_k", "min_p"), raised) if one}
    return tensors, asked | {kind.name.lower() for kind, rows in prepared.categorized_sample_indices.items() if len(rows)}


def forward(prepared, logits):
    """(notes, the step's output). Raises what the step raises."""
    notes = Notes()
    with notes:
        output = sampler.Sampler()(logits, prepared)
    return notes, output


def rows_of(prepared):
    return sum(len(one.sample_indices) + len(one.prompt_logprob_indices) for one in prepared.seq_groups)


def told(notes):
    return {"path": "torch", "stages": " ".join(notes.stages), "draws": " ".join(kind for kind in DRAWS if kind in notes.draws)}


def run(made, vocab):
    """What a step of these SamplingParams does, each at its prompt."""
    prepared = metadata([group(one, first_id=100 * i) for i, one in enumerate(made)])
    return forward(prepared, torch.zeros(rows_of(prepared), vocab))


def live_group(identity, made, counter, prompt=(1,)):
    """A SequenceGroup as the engine makes it of a request."""
    sequence = Sequence(next(counter), {"prompt_token_ids": list(prompt)}, 16)
    return SequenceGroup(str(identity), [sequence], 0.0, made)
