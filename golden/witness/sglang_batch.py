"""sglang_batch.py: the life of SGLang's running batch, in its own scheduler's rounds.

Real: ScheduleBatch, Req, SamplingBatchInfo, and of Scheduler get_next_batch_to_run (which adopts a prefill batch) and
update_running_batch (which filters before a decode step). A round's new prefill batch is handed to it, as the policy that chooses
requests and the memory that holds them are not asked about.
"""
import copy
from types import SimpleNamespace

import torch
from sglang.srt.managers.schedule_batch import FINISH_LENGTH, ScheduleBatch
from sglang.srt.managers.scheduler import Scheduler
from sglang.srt.model_executor.forward_batch_info import ForwardMode
from sglang.srt.sampling.sampling_params import TOP_K_ALL, SamplingParams
from sglang.srt.speculative.spec_info import SpeculativeAlgorithm

import sglang_body
import sglang_step
import values
from sglang_body import Refused

STAND_INS = [
    "Scheduler: its own methods on an object that has no queues and no memory; which requests a round's new prefill batch holds is said by the case",
    "prepare_for_decode and check_decode_mem: memory is there",
    "a mixed chunk: filter_batch, then mix_with_running, as the scheduler's own function has them between its choice of requests and the batch it returns",
]


class Nothing:
    """What the scheduler asks about and a plain server does not have."""

    def __bool__(self):
        return False

    def __call__(self, *args, **kwargs):
        return None

    def __getattr__(self, name):
        return NOTHING


NOTHING = Nothing()


class Rounds(SimpleNamespace):
    """The part of a scheduler that these methods read."""

    def __init__(self):
        first = SimpleNamespace(maybe_prepare_mlp_sync_batch=lambda batch, **_: batch, maybe_convert_decode_to_extend=lambda batch: batch)
        super().__init__(dllm_config=None, chunked_req=None, dp_attn_adapter=first, decode_offload_manager=None,
                         ngram_embedding_manager=SimpleNamespace(prepare_for_forward=lambda batch, **_: batch), prefill=None, forward_ct=0)

    def __getattr__(self, name):
        return NOTHING

    def get_new_batch_prefill(self, running_batch):
        return SimpleNamespace(batch_to_run=self.prefill, running_batch=running_batch)

    def _reqs_finishing_inflight(self, batch):
        return []


ROUNDS = Rounds()


def prepare_for_decode(self):
    self.forward_mode, self.out_cache_loc = ForwardMode.DECODE, torch.zeros(len(self.reqs), dtype=torch.int64)


ScheduleBatch.prepare_for_decode = prepare_for_decode
ScheduleBatch.check_decode_mem = lambda self, *args, **kwargs: True


def prefill_of(requests):
    batch = sglang_step.batch_of(requests)
    count = len(requests)
    whole = torch.ones(count, dtype=torch.int64)
    batch.forward_mode, batch.spec_algorithm = ForwardMode.EXTEND, SpeculativeAlgorithm.NONE
    batch.req_pool_indices = batch.req_pool_indices_cpu = batch.seq_lens = batch.orig_seq_lens = batch.seq_lens_cpu = batch.out_cache_loc = whole
    batch.prefix_lens, batch.extend_lens, batch.extend_num_tokens, batch.extend_logprob_start_lens = [0] * count, [1] * count, count, [0] * count
    return batch


def empty():
    return ScheduleBatch(reqs=[], device="cpu")


class Life:
    """prefill: the batch whose prompts run in this round, or None; running: the batch that decodes."""

    def __init__(self):
        self.prefill, self.running, self.mixed = None, empty(), False

    def copied(self):
        other = Life()
        other.prefill, other.running, other.mixed = clone(self.prefill), clone(self.running), self.mixed
        return other

    def round(self, last, new):
        """One round of the scheduler: `last` is the batch that ran, `new` the prefill batch it comes to."""
        ROUNDS.prefill = new
        self.running = Scheduler.get_next_batch_to_run(ROUNDS, self.running, last).running_batch

    def admit(self, one):
        if self.prefill is None:
            new = prefill_of([one])
            self.round(None, new)
            self.prefill, self.mixed = new, False
        elif self.mixed:
            self.prefill.merge_batch(prefill_of([one]))
        else:
            self.prefill = prefill_of(self.prefill.reqs + [one])

    def join(self):
        """The next round, which comes to another prefill batch and not to a decode step."""
        self.round(self.prefill, prefill_of([PLAIN]))
        self.prefill = None

    def filter(self):
        """A round that comes to a decode step."""
        if not self.running.is_empty():
            Scheduler.update_running_batch(ROUNDS, self.running)

    def mix(self):
        if self.prefill is None or self.running.is_empty():
            return
        self.running.filter_batch()
        if not self.running.is_empty():
            self.running.prepare_for_decode()
            self.prefill.mix_with_running(self.running)
            self.mixed = True
        self.running = empty()


def clone(batch):
    if batch is None:
        return None
    other = copy.copy(batch)
    other.reqs = list(batch.reqs)
    if not batch.is_empty():
        other.sampling_info = copy.copy(batch.sampling_info)
    return other


PLAIN = sglang_step.request("plain", SamplingParams())


def finish(one, ended=True):
    one.finished_reason = FINISH_LENGTH(length=1) if ended else None


LETTERS = (("G", "is_all_greedy"), ("k", "need_top_k_sampling"), ("p", "need_top_p_sampling"), ("m", "need_min_p_sampling"))


def letters(batch):
    return "".join(letter if getattr(batch.sampling_info, name) else "-" for letter, name in LETTERS)


def state(server, batch):
    """A batch as the goldens tell it: null without requests."""
    if batch is None or batch.is_empty():
        return None
    try:
        path = sglang_step.step(server, batch.sampling_info)
    except Refused as refused:
        path = refused.answer()
    return {"flags": letters(batch)} | path


def history(server, events):
    life, requests, told = Life(), {}, []
    sglang_step.install(server)
    for event in events:
        if event["do"] == "admit":
            _, params = sglang_body.send("generate", values.read_all(event["request"]), {})
            requests[event["id"]] = sglang_step.request(event["id"], params)
            life.admit(requests[event["id"]])
        elif event["do"] == "finish":
            finish(requests[event["id"]])
        else:
            getattr(life, event["do"])()
        told.append({"prefill": state(server, life.prefill), "running": state(server, life.running)})
    return {"events": told}


class Marked(int):
    """A top_k that compares as a mark says: products mark a request with flags that no one request has."""

    def __new__(cls, greedy, filters):
        made = super().__new__(cls, 20)
        made.greedy, made.filters = greedy, filters
        return made

    def __le__(self, other):
        return self.greedy if other == 1 else int(self) <= other

    def __ne__(self, other):
        return self.filters if other == TOP_K_ALL else int(self) != other

    __hash__ = int.__hash__


def marked_request(name, mark):
    params = SamplingParams(top_p=0.5 if "p" in mark else 1.0, min_p=0.5 if "m" in mark else 0.0)
    params.top_k = Marked("G" in mark, "k" in mark)
    return sglang_step.request(str(name), params)
