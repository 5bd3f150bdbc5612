# SPDX-License-Identifier: MIT
"""torch.py: draws tokens with PyTorch, by the rules that SGLang's sampler used before and after its PR #38117.

Run by host.py (`python3 host.py torch rule=multinomial dtype=bf16`); any PyTorch from 1.13 on, without numpy.
On a CPU, and for fp32 on CUDA by its source, `multinomial` and `race` make the same generator call and so draw the same
tokens from the same seed; in half precision multinomial draws its noise in the dtype of the probabilities, race in fp32.
"""
import os

INSTALL = ("apt-get install --no-install-recommends python3-torch and name it python:torch@/usr, or pip install torch in "
           "a virtual environment and name that: python:torch@VENV")

import torch

DTYPE = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


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


RULE = {"race": race, "multinomial": multinomial, "gumbel": gumbel}


class Worker:
    options = {"rule": tuple(RULE), "dtype": tuple(DTYPE), "device": ("cpu", "cuda"),
               "takes": ("probabilities", "logits"), "threads": "1"}

    def __init__(self, options):
        if not options["threads"].isdigit() or int(options["threads"]) < 1:
            raise ValueError("option threads=%s: a number of at least 1 is needed" % options["threads"])
        torch.set_num_threads(int(options["threads"]))
        self.place, self.device = torch.device(options["device"]), options["device"]
        self.rule, self.takes, self.dtype = RULE[options["rule"]], options["takes"], options["dtype"]
        self.name, self.version = "torch-" + options["rule"], torch.__version__
        abilities = [("temperature", self.takes == "logits"), ("noise", options["rule"] != "multinomial")]
        self.capabilities = " ".join(word for word, present in abilities if present)
        self.files = {"torch/version.py": os.path.join(os.path.dirname(torch.__file__), "version.py")}
        self.versions = {"torch": torch.__version__, "torch.git": torch.version.git_version or "unknown",
                         "cuda": torch.version.cuda or "none"}
        if self.device == "cuda":
            if not torch.cuda.is_available():
                raise ValueError("device=cuda: torch %s finds no usable CUDA device" % torch.__version__)
            self.versions["gpu"] = "%s, compute %d.%d" % ((torch.cuda.get_device_name(),) + torch.cuda.get_device_capability())
        self.uploaded = self.rows = None

    def reset(self, seed):
        torch.manual_seed(seed)  # every device's generator

    def sample(self, call):
        try:
            return self.rule(self.probs(call), call).flatten().tolist()
        except RuntimeError as error:  # e.g. torch 1.13 has no fp16 multinomial on a CPU
            if "not implemented for" in str(error):
                raise NotImplementedError(str(error))
            raise

    def probs(self, call):
        """A contiguous [draws, vocab] tensor of probabilities, as an engine has it before it draws."""
        if self.uploaded is not call.values:
            rows = torch.frombuffer(call.values.data, dtype=DTYPE[self.dtype]).view(call.values.shape)
            self.uploaded, self.rows = call.values, rows.to(self.place)
        batch = self.rows.index_select(0, torch.frombuffer(call.row_index, dtype=torch.int32).to(self.place))
        if self.takes == "probabilities":
            return batch
        logits = batch.float()
        if call.temperature is not None:
            logits = logits / torch.tensor(call.temperature, dtype=torch.float32, device=self.place).unsqueeze(1)
        return torch.softmax(logits, dim=-1).to(DTYPE[self.dtype])
