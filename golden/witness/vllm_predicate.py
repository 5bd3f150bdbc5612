"""vllm_predicate.py: vLLM 0.5.0's answers to golden/predicate/{path,draw,rows,candidates}.json: single steps and single objects."""
import vllm_step
import vllm_values
from ask import NotAsked
from vllm_defaults import made_of
from vllm_step import torch
from vllm_wheel import SequenceData, SequenceGroupToSample, sampler

NO_VOCABULARY = "the server of this question has no vocabulary, and logits must have a width"
NO_REQUESTS = "the engine runs no step without requests"
LATER = "what 0.5.1 and later do; this wheel is 0.5.0"


def alone(made, vocab):
    """A request's own step: None, or why it fails."""
    try:
        vllm_step.run([made], vocab)
    except Exception as error:
        return vllm_values.of_step(error, [made])
    return None


def path(_, case):
    if "vocab" not in case["server"]:
        raise NotAsked(NO_VOCABULARY)
    if not case["batch"]:
        raise NotAsked(NO_REQUESTS)
    vocab, batch = case["server"]["vocab"], []
    for request in case["batch"]:  # the first request that fails, alone, is named
        made, refused = made_of(vllm_values.decoded(request))
        refused = refused or alone(made, vocab)
        if refused:
            return refused
        batch.append(made)
    return vllm_step.told(vllm_step.run(batch, vocab)[0])


def draw(_, case):
    made, refused = made_of(vllm_values.decoded(case["request"]))
    if refused:
        return refused
    found = []
    for step in case["steps"]:
        if step == "read":
            found.append(made.sampling_type.name.lower())
        elif step == "clone":
            made = made.clone()
        else:
            for key, value in vllm_values.decoded(step).items():
                setattr(made, key, value)
    return {"draws": found}


def rows(_, case):
    """The step's own token tensors without their padding; rows that they are short of count nothing."""
    if case["fixed"]:
        raise NotAsked(LATER)
    vocab, groups, lens = case["server"]["vocab"], [], []
    for i, one in enumerate(case["groups"]):
        made, refused = made_of(vllm_values.decoded(one["request"]))
        assert not refused
        sequences, prompt_rows = one["sequences"], one.get("prompt_rows", 0)
        is_prompt = bool(prompt_rows) or not sequences
        if not sequences:
            groups.append(vllm_step.group(made, do_sample=False, first_id=100 * i))
        else:
            data = {100 * i + j: vllm_step.data_of(each["prompt"], each["output"]) for j, each in enumerate(sequences)}
            groups.append(vllm_step.group(made, is_prompt=is_prompt))
            groups[-1].seq_data = data
        # of a prompt's positions the last one is drawn from, if it is the prompt's last
        lens.append(prompt_rows + bool(sequences) if is_prompt else 1)
    prepared = vllm_step.metadata(groups, lens)
    held, asked = vllm_step.flags_of(prepared, vocab)
    if "penalties" not in asked:
        return {"rows": None}
    count = len(held.temperatures)
    told = [[[token for token in row if token != vocab] for row in tokens.tolist()] for tokens in (held.prompt_tokens, held.output_tokens)]
    for tokens, lists in zip((held.prompt_tokens, held.output_tokens), told):  # what the sampler counts in each row
        counted, _ = sampler._get_bin_counts_and_mask(tokens, vocab, count)
        lists += [[] for _ in range(count - len(lists))]
        assert [sorted(set(row)) for row in lists] == [row.nonzero().flatten().tolist() for row in counted]
    return {"rows": [{"prompt": prompt, "output": output} for prompt, output in zip(*told)]}


def candidates(_, case):
    logprobs = torch.tensor([[vllm_values.decode("logprobs", {"float": "-inf"} if isinstance(x, dict) else x) for x in row] for row in case["logprobs"]],
                            dtype=torch.float)
    is_prompt, data = "cumulative" not in case, {}
    for i in range(len(logprobs)):
        data[i] = SequenceData([1])
        data[i].cumulative_logprob = 0.0 if is_prompt else float(case["cumulative"][i])
    made, refused = made_of({"use_beam_search": True, "temperature": 0.0, "best_of": max(2, case["best_of"])})
    assert not refused
    made.best_of = case["best_of"]  # a width of one keeps the case small; the constructor wants two
    group = SequenceGroupToSample(seq_ids=list(data), sampling_params=made, seq_data=data, seq_len=1, query_len=1, generator=None, is_prompt=is_prompt,
                                  prompt_logprob_indices=[], sample_indices=list(data))
    try:
        (tokens, parents), = sampler._beam_search_sample([group], logprobs)
    except Exception as error:
        return vllm_values.of_step(error, [made])
    return {"parents": parents, "tokens": tokens}
