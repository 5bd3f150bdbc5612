# SPDX-License-Identifier: MIT
"""vllm_stages.py: the sampling step of vLLM 0.5.0 in PyTorch, stage by stage and with the same operations, without vLLM: what
its parameters cost can be timed (`samplegate bench --plan bench-vllm-0.5.0`), and what it draws judged.

Run by host.py (`python3 host.py vllm_stages dtype=bf16`); any PyTorch from 1.13 on. A stage runs for every row as soon as one
row asks for it. One departure: sorts are stable by default, since the engine's, on a CPU, is not above 16 ids, and what equal
logits keep would depend on the PyTorch; ties=engine sorts as it does.
"""
import json
import os

INSTALL = ("apt-get install --no-install-recommends python3-torch and name it python:vllm_stages@/usr, or pip install torch "
           "in a virtual environment and name that: python:vllm_stages@VENV")

import torch

DTYPE = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
EPS = 1e-5
OFF = {"temperature": 1.0, "top_k": -1, "top_p": 1.0, "min_p": 0.0, "repetition_penalty": 1.0, "frequency_penalty": 0.0,
       "presence_penalty": 0.0, "min_tokens": 0}


class Batch:
    """What the rows of one step ask for, as lists, with the engine's three switches."""

    def __init__(self, call, rows, samples, vocab):
        self.samples = samples
        for name, off in OFF.items():
            asked = getattr(call, name)
            setattr(self, name, [off] * rows if asked is None else list(asked)[::samples])
        for name in ("prompt_tokens", "output_tokens", "stop_ids"):
            asked = getattr(call, name)
            setattr(self, name, [[]] * rows if asked is None else [list(ids) for ids in asked[::samples]])
        self.check(vocab)
        self.greedy = [t < EPS for t in self.temperature]
        for row in (row for row in range(rows) if self.greedy[row]):
            self.temperature[row], self.top_k[row], self.top_p[row], self.min_p[row] = 1.0, -1, 1.0, 0.0
        self.top_k = [vocab if k == -1 else min(k, vocab) for k in self.top_k]
        self.do_top_p_top_k = any(p < 1 - EPS or k != vocab for p, k in zip(self.top_p, self.top_k))
        self.do_min_p = any(p > EPS for p in self.min_p)
        self.do_penalties = any(abs(p) >= EPS or abs(f) >= EPS or abs(r - 1) >= EPS for p, f, r in
                                zip(self.presence_penalty, self.frequency_penalty, self.repetition_penalty))

    def check(self, vocab):
        for name, good in (("temperature", lambda t: t >= 0), ("top_k", lambda k: k == -1 or k >= 1), ("top_p", lambda p: 0 < p <= 1),
                           ("min_p", lambda p: 0 <= p <= 1), ("repetition_penalty", lambda r: 0 < r <= 2),
                           ("frequency_penalty", lambda f: -2 <= f <= 2), ("presence_penalty", lambda p: -2 <= p <= 2)):
            if not all(good(value) for value in getattr(self, name)):
                raise ValueError("%s has a value that vLLM 0.5.0 refuses" % name)
        for name in ("prompt_tokens", "output_tokens", "stop_ids"):
            if any(not 0 <= id < vocab for ids in getattr(self, name) for id in ids):
                raise ValueError("%s has an id outside the vocabulary" % name)


def column(numbers, like, dtype=None):
    return torch.tensor(numbers, dtype=dtype or like.dtype, device=like.device).unsqueeze(1)


def min_tokens(logits, batch):
    for row, least in enumerate(batch.min_tokens):
        if len(batch.output_tokens[row]) < least and batch.stop_ids[row]:
            logits[row, batch.stop_ids[row]] = -float("inf")


def counted(logits, tokens):
    """(how often each id is in a row's tokens, whether it is there at all); shorter rows are padded with an id past the last."""
    rows, vocab = logits.shape
    longest = max(map(len, tokens))
    padded = torch.tensor([ids + [vocab] * (longest - len(ids)) for ids in tokens], dtype=torch.long, device=logits.device)
    counts = torch.zeros((rows, vocab + 1), dtype=torch.long, device=logits.device)
    counts.scatter_add_(1, padded.view(rows, longest), torch.ones_like(padded).view(rows, longest))
    counts = counts[:, :vocab]
    return counts, counts > 0


def penalties(logits, batch):
    _, in_prompt = counted(logits, batch.prompt_tokens)
    counts, in_output = counted(logits, batch.output_tokens)
    repetition = column(batch.repetition_penalty, logits).repeat(1, logits.shape[1])
    repetition[~(in_prompt | in_output)] = 1.0
    logits = torch.where(logits > 0, logits / repetition, logits * repetition)
    logits -= column(batch.frequency_penalty, logits) * counts
    logits -= column(batch.presence_penalty, logits) * in_output
    return logits


def top_p_top_k(logits, batch, stable):
    values, ids = logits.sort(dim=-1, stable=True) if stable else logits.sort(dim=-1)
    least = values.gather(1, logits.shape[1] - column(batch.top_k, logits, torch.long))
    values.masked_fill_(values < least, -float("inf"))
    below = values.softmax(dim=-1).cumsum(dim=-1) <= 1 - column(batch.top_p, logits)
    below[:, -1] = False
    values.masked_fill_(below, -float("inf"))
    places = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)
    return values.gather(1, torch.empty_like(ids).scatter_(1, ids, places))


def min_p(logits, batch):
    probs = logits.softmax(dim=-1)
    least = column(batch.min_p, logits) * probs.max(dim=-1, keepdim=True).values
    return logits.masked_fill_(probs < least, -float("inf"))


def choose(probs, logprobs, batch):
    """[rows, samples] tokens: greedy rows by argmax, the others by the exponential race on a copy of their rows."""
    tokens = torch.empty((probs.shape[0], batch.samples), dtype=torch.long, device=probs.device)
    for greedy in (True, False):
        rows = torch.tensor([row for row, is_greedy in enumerate(batch.greedy) if is_greedy == greedy], dtype=torch.long,
                            device=probs.device)
        if len(rows) == 0:
            continue
        if greedy:
            tokens[rows] = logprobs[rows].argmax(dim=-1, keepdim=True)
            continue
        copy = probs[rows]
        if batch.samples > 1:
            copy = copy[:, None, :].expand(-1, batch.samples, -1).contiguous().view(-1, probs.shape[1])
        noise = torch.empty_like(copy).exponential_()
        tokens[rows] = copy.div_(noise).argmax(dim=1).view(-1, batch.samples)
    return tokens


def ranks(logprobs, tokens):
    """What every step of 0.5.0 works out whether it is asked for or not: the best id, and each token's rank."""
    best = logprobs.topk(1, dim=-1)
    rows = logprobs.repeat_interleave(tokens.shape[1], dim=0) if tokens.shape[1] > 1 else logprobs
    own = rows.gather(1, tokens.view(-1, 1))
    return best, (rows > own).sum(dim=1).add_(1)


class Worker:
    takes, capabilities = "logits", "temperature top_k top_p min_p penalties min_tokens kept_out"
    contract = json.dumps({"filters": "vllm-0.5.0", "penalties": "vllm-0.5.0"})
    options = {"dtype": tuple(DTYPE), "device": ("cpu", "cuda"), "threads": "1", "ties": ("stable", "engine")}

    def __init__(self, options):
        if not options["threads"].isdigit() or int(options["threads"]) < 1:
            raise ValueError("option threads=%s: a number of at least 1 is needed" % options["threads"])
        torch.set_num_threads(int(options["threads"]))
        self.device, self.dtype, self.stable = options["device"], options["dtype"], options["ties"] == "stable"
        if self.device == "cuda":
            if not torch.cuda.is_available():
                raise ValueError("device=cuda: torch %s finds no usable CUDA device" % torch.__version__)
            self.wait = torch.cuda.synchronize
        self.name, self.version = "vllm-0.5.0-stages", torch.__version__
        self.files = {"torch/version.py": os.path.join(os.path.dirname(torch.__file__), "version.py")}
        self.versions = {"torch": torch.__version__, "torch.git": torch.version.git_version or "unknown", "build": build()}
        self.uploaded = self.rows = None

    def reset(self, seed):
        torch.manual_seed(seed)

    def step(self, logits, call, samples):
        """One step on logits that are its to change: (tokens [rows, samples], probabilities)."""
        batch = Batch(call, logits.shape[0], samples, logits.shape[1])
        min_tokens(logits, batch)
        if batch.do_penalties:
            logits = penalties(logits, batch)
        logits.div_(column(batch.temperature, logits))
        if batch.do_top_p_top_k:
            logits = top_p_top_k(logits, batch, self.stable)
        if batch.do_min_p:
            logits = min_p(logits, batch)
        probs = logits.softmax(dim=-1, dtype=torch.float32)
        logprobs = logits.log_softmax(dim=-1, dtype=torch.float32)
        tokens = choose(probs, logprobs, batch)
        ranks(logprobs, tokens)
        return tokens, probs

    def logits(self, call, samples):
        """A fresh [rows, vocab] tensor, as the head of a model leaves it."""
        if self.uploaded is not call.values:
            rows, stride = call.values.shape[0], call.values.stride
            values = torch.frombuffer(call.values.data, dtype=DTYPE[self.dtype]).view(rows, stride)
            self.uploaded, self.rows = call.values, values.to(self.device)
        index = torch.frombuffer(call.row_index, dtype=torch.int32)[::samples].to(self.device)
        return self.rows.index_select(0, index)[:, :call.values.shape[1]].contiguous()

    def sample(self, call):
        tokens, probs = self.step(self.logits(call, 1), call, 1)
        tokens = tokens.flatten().tolist()
        return (tokens, (probs[call.kept] > 0).tolist()) if call.kept else tokens

    def prepared(self, call, rule):
        """Draws of one row that follow each other are one row of the step, as best_of makes them of a prompt."""
        samples = repeated(list(call.row_index))
        logits, fresh = self.logits(call, samples), []

        def before():
            fresh[:] = [logits.clone()]

        return lambda: self.step(fresh[0], call, samples)[0], before

    def tokens(self, token):
        return token.flatten().tolist()


def repeated(index):
    """How often each row comes, if that is the same for all and they come one after the other; else 1."""
    samples = len(index) // len(set(index))
    blocks = [index[first:first + samples] for first in range(0, len(index), samples)]
    alike = all(len(set(block)) == 1 for block in blocks) and len(blocks) == len(set(index)) and samples * len(blocks) == len(index)
    return samples if alike else 1


def build():
    """One line on what a CPU's times depend on."""
    capability = torch.__config__.show().partition("CPU capability usage: ")[2].split("\n")[0]
    return "threads %d, MKL %s, CPU capability %s" % (torch.get_num_threads(),
                                                      "yes" if torch.backends.mkl.is_available() else "no", capability)
