"""vllm_lives.py: vLLM 0.5.0's answers to golden/predicate/{forks,history}.json: its scheduler, sampler and output processor, step after step.

A life is asked what its next steps would be on copies, so that asking changes nothing.
"""
import copy

import vllm_step
import vllm_values
from ask import NotAsked
from vllm_defaults import made_of
from vllm_predicate import NO_REQUESTS, alone
from vllm_step import torch
from vllm_wheel import (CacheConfig, Counter, Scheduler, SchedulerConfig, SequenceStatus, SingleStepOutputProcessor, StopChecker)

FLAGS = {"penalties": "P", "top_p_top_k": "k", "min_p": "m", "greedy": "G", "random": "R", "random_seed": "S", "beam": "B"}
MODEL_LENGTH = 64


def scheduler_of(preemption=None):
    cache = CacheConfig(16, 0.9, 0, "auto")
    cache.num_gpu_blocks = cache.num_cpu_blocks = 64
    return Scheduler(SchedulerConfig(MODEL_LENGTH * 64, 64, MODEL_LENGTH, preemption_mode=preemption), cache, None)


class Life:
    """A server's running batch."""

    def __init__(self, vocab, preemption=None):
        self.vocab, self.counter, self.groups = vocab, Counter(), {}
        self.scheduler = scheduler_of(preemption)

    def admit(self, identity, made):
        self.groups[identity] = vllm_step.live_group(identity, made, self.counter)
        self.scheduler.add_seq_group(self.groups[identity])

    def step(self):
        """Schedule, sample, process: (groups of the step, notes, outputs)."""
        scheduled, outputs = self.scheduler.schedule()
        prepared = vllm_step.metadata(scheduled)
        notes, sampled = vllm_step.forward(prepared, torch.zeros(vllm_step.rows_of(prepared), self.vocab))
        processor = SingleStepOutputProcessor(self.scheduler.scheduler_config, None, self.scheduler, self.counter,
                                              StopChecker(MODEL_LENGTH, lambda _: None))
        for one, output in zip(outputs.scheduled_seq_groups, sampled):
            one.seq_group.update_num_computed_tokens(one.token_chunk_size)
            processor.process_outputs(one.seq_group, [output])
        self.scheduler.free_finished_seq_groups()
        return scheduled, notes, sampled

    def join(self):
        """The step of the prompts that wait, if any still does."""
        if self.scheduler.waiting:
            self.step()

    def finish(self, identity):
        """The request's sequences stop; before its prompt has run, it is given up."""
        group = self.groups[identity]
        if group in self.scheduler.waiting:
            return self.scheduler.abort_seq_group(identity)
        for sequence in group.get_unfinished_seqs():
            sequence.status = SequenceStatus.FINISHED_STOPPED
            self.scheduler.free_seq(sequence)
        self.scheduler.free_finished_seq_groups()

    def next_steps(self):
        """What the next step of the prompts and the next one of the running requests would be; None without any."""
        for kind in ("waiting", "running"):
            generators = [group.state.generator for group in self.groups.values()]  # which torch cannot copy
            one = copy.deepcopy(self.scheduler, {id(each): each for each in generators})
            if kind == "running":
                one.waiting.clear()
            if not (one.waiting if kind == "waiting" else one.running):
                yield None
                continue
            scheduled, _ = one.schedule()
            assert all(each.is_prompt == (kind == "waiting") for each in scheduled)
            yield vllm_step.metadata(scheduled)


def letters(prepared, vocab):
    _, raised = vllm_step.flags_of(prepared, vocab)
    return "".join(letter if name in raised else "-" for name, letter in FLAGS.items())


def history(_, case):
    life, events = Life(case["server"]["vocab"]), []
    for event in case["events"]:
        if event["do"] == "admit":
            made, refused = made_of(vllm_values.decoded(event["request"]))
            assert not refused
            life.admit(event["id"], made)
        elif event["do"] == "join":
            life.join()
        elif event["do"] == "finish":
            life.finish(event["id"])
        else:
            life.scheduler.free_finished_seq_groups()
        told = {}
        for name, prepared in zip(("prefill", "running"), life.next_steps()):
            told[name] = prepared and {"flags": letters(prepared, life.vocab)} | \
                vllm_step.told(vllm_step.forward(prepared, torch.zeros(vllm_step.rows_of(prepared), life.vocab))[0])
        events.append(told)
    return {"events": events}


def preempted(life, group):
    """How the scheduler would take this group off the GPU."""
    tried = []
    for mode in ("recompute", "swap"):
        setattr(life.scheduler, f"_preempt_by_{mode}", lambda *_, mode=mode: tried.append(mode))
    life.scheduler._preempt(group, [])
    return tried[0]


def forks(_, case):
    """Prompts that share a step; then each of them when several, and when one of its sequences still runs."""
    if not case["batch"]:
        raise NotAsked(NO_REQUESTS)
    life = Life(64, case["server"].get("preemption"))
    for i, request in enumerate(case["batch"]):
        made, refused = made_of(vllm_values.decoded(request))
        refused = refused or alone(made, life.vocab)
        if refused:
            return refused
        life.admit(str(i), made)
    _, notes, sampled = life.step()
    found = []
    for group, output in zip(life.groups.values(), sampled):
        kind, kept = group.sampling_params.sampling_type.name.lower(), len(output.samples)
        drawn = kept if kind == "beam" else notes.drawn.get(kind, 1)
        told = {"sequences": group.num_seqs(), "drawn": drawn, "kept": kept, "preempted": preempted(life, group)}
        for sequence in group.get_unfinished_seqs()[1:]:
            sequence.status = SequenceStatus.FINISHED_STOPPED
        found.append(told | {"last_preempted": preempted(life, group)})
    return {"forks": found}
