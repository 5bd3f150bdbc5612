# SPDX-License-Identifier: MIT
"""torch.py: draws tokens with PyTorch, by the rules that SGLang's sampler used before and after its PR #38117, behind the
filters of its backend pytorch.

Run by host.py (`python3 host.py torch rule=multinomial dtype=bf16`); any PyTorch from 1.13 on, without numpy.
On a CPU, and for fp32 on CUDA by its source, `multinomial` and `race` make the same generator call and so draw the same
tokens from the same seed; in half precision multinomial draws its noise in the dtype of the probabilities, race in fp32.
`seeded` is SGLang's deterministic inference: the noise of a draw is a hash of seed, position and id (noise=id) or, in a
call with a filter, of the rank after sorting (noise=rank: what SGLang 0.5.19 to 0.5.23 do).
"""
import json
import os
import sys

INSTALL = ("apt-get install --no-install-recommends python3-torch and name it python:torch@/usr, or pip install torch in "
           "a virtual environment and name that: python:torch@VENV")

import torch

DTYPE = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
WORD = 0xffffffff  # 32-bit words are computed in int64


def exponential(probs, call):
    """Exp(1) noise in fp32 whatever the dtype of probs: the caller's, or fresh; never 0, so that p / q is finite."""
    if call.noise is None:
        q = torch.empty_like(probs, dtype=torch.float32).exponential_(1.0)
    else:
        q = torch.frombuffer(call.noise.data, dtype=torch.float32).view(call.noise.shape).to(probs.device, copy=True)
    return q.clamp_min_(torch.finfo(torch.float32).tiny)


def multinomial(probs, call):
    return torch.multinomial(probs, num_samples=1)


def race(probs, call):
    return (probs.float() / exponential(probs, call)).argmax(dim=-1, keepdim=True)


def gumbel(probs, call):
    return (probs.float().log() - exponential(probs, call).log()).argmax(dim=-1, keepdim=True)


def seeded(probs, call):
    return (probs.log().double() + hashed_gumbel(probs, call)).argmax(dim=-1, keepdim=True)


def hashed_gumbel(probs, call):
    """Gumbel noise [draws, vocab] in double: MurmurHash3 x86_32 of the words seed low, seed high, position, column."""
    seed, position = (column(numbers, torch.int64, probs) for numbers in (call.seeds, call.positions))
    hash = torch.zeros_like(seed)
    for word in (seed, seed >> 32, position, torch.arange(probs.shape[1], device=probs.device)):
        word = rotated((word & WORD) * 0xcc9e2d51 & WORD, 15) * 0x1b873593 & WORD
        hash = rotated(hash ^ word, 13) * 5 + 0xe6546b64 & WORD
    hash = hash ^ 16  # the length in bytes
    hash = (hash ^ hash >> 16) * 0x85ebca6b & WORD
    hash = (hash ^ hash >> 13) * 0xc2b2ae35 & WORD
    uniform = (hash ^ hash >> 16).double() / WORD
    return -uniform.log().clamp(-sys.float_info.max, -2.0 ** -32).neg().log()


def rotated(word, bits):
    return (word << bits | word >> 32 - bits) & WORD


def column(numbers, dtype, like):
    return torch.tensor(list(numbers), dtype=dtype, device=like.device).unsqueeze(1)


def filtered(probs, call):
    """(weights, ids), heaviest first, with weight 0 for what the filters drop: one sort, ids of rank below top_k, cumulative
    masses in the dtype of probs. As published it compares masses with top_p = 1 too, so that rounding in a wide row's
    cumulative mass can drop the rarest ids of a row that asks for no top_p."""
    vocab, ones = probs.shape[1], [1] * call.draws
    if any(k != -1 and k < 1 for k in call.top_k or ones):
        raise ValueError("top_k must be -1 (off) or at least 1")
    if not all(0 < p <= 1 for p in call.top_p or ones):
        raise ValueError("top_p must be above 0 and at most 1")
    if not all(0 <= p <= 1 for p in call.min_p or ones):
        raise ValueError("min_p must be 0 (off) to 1")
    weights, ids = probs.sort(dim=-1, descending=True, stable=True)
    dropped = weights.cumsum(dim=-1) - weights > column(call.top_p or ones, torch.float32, probs)
    if call.top_k:
        ranks = column([vocab if k == -1 else min(k, vocab) for k in call.top_k], torch.int64, probs)
        dropped |= torch.arange(vocab, device=probs.device) >= ranks
    if call.min_p:
        dropped |= weights < weights[:, :1] * column(call.min_p, torch.float32, probs)
    return weights.masked_fill(dropped, 0), ids


def build():
    """One line on what a CPU's times depend on."""
    capability = torch.__config__.show().partition("CPU capability usage: ")[2].split("\n")[0]
    return "threads %d, MKL %s, CPU capability %s" % (torch.get_num_threads(),
                                                      "yes" if torch.backends.mkl.is_available() else "no", capability)


RULE = {"race": race, "multinomial": multinomial, "gumbel": gumbel, "seeded": seeded}


class Worker:
    options = {"rule": tuple(RULE), "dtype": tuple(DTYPE), "device": ("cpu", "cuda"),
               "takes": ("probabilities", "logits"), "noise": ("id", "rank"), "threads": "1"}

    def __init__(self, options):
        if not options["threads"].isdigit() or int(options["threads"]) < 1:
            raise ValueError("option threads=%s: a number of at least 1 is needed" % options["threads"])
        self.by_rank, is_seeded = options["noise"] == "rank", options["rule"] == "seeded"
        if self.by_rank and not is_seeded:
            raise ValueError("option noise=rank: rule=seeded only")
        torch.set_num_threads(int(options["threads"]))
        self.place, self.device = torch.device(options["device"]), options["device"]
        self.rule, self.takes, self.dtype = RULE[options["rule"]], options["takes"], options["dtype"]
        self.name, self.version = "torch-" + options["rule"], torch.__version__
        abilities = [("temperature", self.takes == "logits"), ("noise", options["rule"] in ("race", "gumbel")),
                     ("seeded", is_seeded), ("top_k top_p min_p kept_out", True)]
        self.capabilities = " ".join(word for word, present in abilities if present)
        claims = {"rule": "seeded", "bitwise": "same device",
                  "rng_keying": "seed, position, " + ("rank" if self.by_rank else "column")} if is_seeded else {}
        self.contract = json.dumps(dict(claims, filters="sglang-pytorch"))
        self.files = {"torch/version.py": os.path.join(os.path.dirname(torch.__file__), "version.py")}
        self.versions = {"torch": torch.__version__, "torch.git": torch.version.git_version or "unknown",
                         "cuda": torch.version.cuda or "none", "build": build()}
        if self.device == "cuda":
            if not torch.cuda.is_available():
                raise ValueError("device=cuda: torch %s finds no usable CUDA device" % torch.__version__)
            self.versions["gpu"] = "%s, compute %d.%d" % ((torch.cuda.get_device_name(),) + torch.cuda.get_device_capability())
            self.wait = torch.cuda.synchronize
        self.times = " ".join([options["rule"]] + [rule for rule in RULE if rule != options["rule"]])
        self.uploaded = self.rows = None

    def prepared(self, call, rule):
        """One call on a tensor that lies there: of probabilities the rule alone, as it is in the engine; of logits with the
        softmax, and either with filters where they are asked for."""
        rule = self.rule if rule is None else RULE[rule]
        self.own_seeds(call)
        if self.takes == "logits":
            logits = self.batch(call).contiguous()
            return lambda: self.draw(self.softmax(logits, call), call, rule)[0]
        probs = self.batch(call).contiguous()
        return lambda: self.draw(probs, call, rule)[0]

    def tokens(self, token):
        return token.flatten().tolist()

    def reset(self, seed):
        torch.manual_seed(seed)  # every device's generator
        self.seed, self.position = seed - (seed >> 63 << 64), 0  # as int64

    def own_seeds(self, call):
        if call.seeds is None:  # only the rule seeded looks
            call.seeds, call.positions = [self.seed] * call.draws, range(self.position, self.position + call.draws)
            self.position += call.draws

    def sample(self, call):
        self.own_seeds(call)
        try:
            tokens, probs = self.draw(self.probs(call), call)
        except RuntimeError as error:  # e.g. torch 1.13 has no fp16 multinomial on a CPU
            if "not implemented for" in str(error):
                raise NotImplementedError(str(error))
            raise
        tokens = tokens.flatten().tolist()
        return (tokens, (probs[call.kept] > 0).tolist()) if call.kept else tokens

    def draw(self, probs, call, rule=None):
        """Tokens, and the probabilities they are drawn from: 0 where a filter dropped an id."""
        rule = rule or self.rule
        if call.top_k is None and call.top_p is None and call.min_p is None:
            return rule(probs, call), probs
        weights, ids = filtered(probs, call)
        kept = torch.zeros_like(probs).scatter_(1, ids, weights)
        if not self.by_rank:
            return rule(kept, call), kept
        if call.min_p:
            raise NotImplementedError("no min_p with noise=rank: SGLang refuses it with a seed")
        return ids.gather(1, seeded(weights.double(), call)), kept

    def batch(self, call):
        """The [draws, vocab] tensor of a call's values; strided where rows are padded."""
        if self.uploaded is not call.values:
            rows, stride = call.values.shape[0], call.values.stride
            values = torch.frombuffer(call.values.data, dtype=DTYPE[self.dtype]).view(rows, stride)
            self.uploaded, self.rows = call.values, values.to(self.place)
        index = torch.frombuffer(call.row_index, dtype=torch.int32).to(self.place)
        return self.rows.index_select(0, index)[:, :call.values.shape[1]]

    def probs(self, call):
        """A [draws, vocab] tensor of probabilities, as an engine has it before it draws."""
        batch = self.batch(call)
        return batch if self.takes == "probabilities" else self.softmax(batch, call)

    def softmax(self, batch, call):
        logits = batch.float()
        if call.temperature is not None:
            temperature = column(call.temperature, torch.float32, logits)
            if not bool(((temperature > 0) & temperature.isfinite()).all()):
                raise ValueError("temperature must be positive and finite")
            logits = logits / temperature
        return torch.softmax(logits, dim=-1).to(DTYPE[self.dtype])
