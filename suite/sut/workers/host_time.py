# SPDX-License-Identifier: MIT
"""host_time.py: answers `time` messages for host.py: one call is prepared once, made again and again, and timed here, beside
the sampler, where no pipe is in the way."""
import array
import time

from host_call import Invalid, calls, number, tokens_of

CALLS_MAX = 1000000


class Timer:
    """The rows and parameters that a later message may use again."""

    def __init__(self, worker):
        self.worker, self.call, self.seed = worker, None, 0

    def take(self, metadata, arrays):
        if "values" not in arrays:
            if arrays:
                raise Invalid("time: arrays come with values, or not at all")
            if self.call is None:
                raise Invalid("time: no rows: this message has no values, and none came before it")
            return
        self.call = None
        if "kept" in metadata or metadata.get("batch") != metadata.get("draws"):
            raise Invalid("time: one call is timed: batch must be draws, and kept is not asked for")
        call, = calls(self.worker, metadata, arrays)
        self.call, self.seed = call, int(metadata["seed"])

    def answer(self, metadata, arrays):
        """(metadata, arrays) of the answer, without what it echoes."""
        worker, rule = self.worker, metadata.get("rule")
        warmup, timed, fill = (number(metadata, key, least, CALLS_MAX) for key, least in (("warmup", 0), ("calls", 1), ("fill", 0)))
        if rule is not None and rule not in worker.times.split():
            raise NotImplementedError("time: no rule %r; known are %s" % (rule, worker.times))
        self.take(metadata, arrays)
        worker.reset(self.seed)
        step, before = steps(worker, self.call, rule)
        for _ in range(warmup):
            before()
            token = step()
        queues = hasattr(worker, "wait")
        wait = worker.wait if queues else lambda: None
        host, cpu, sync, token = alone(step, before, wait, timed)
        answers = [("host_ns", host), ("cpu_ns", cpu)]
        if queues:
            full, token = behind(step, before, wait, timed, fill)
            answers += [("sync_ns", sync), ("host_full_ns", full)]
        if hasattr(worker, "tokens"):
            token = worker.tokens(token)
        token = tokens_of(token, self.call.draws)
        return {"message": "times", "queue": "device" if queues else "none"}, ([(name, "I64", (timed,), data.tobytes()) for name, data in answers] +
                                                       [("token", "I32", (self.call.draws,), token)])


def steps(worker, call, rule):
    """(one call, what goes before it untimed), functions of no arguments."""
    if not hasattr(worker, "prepared"):
        return (lambda: worker.sample(call)), (lambda: None)
    prepared = worker.prepared(call, rule)
    return prepared if isinstance(prepared, tuple) else (prepared, lambda: None)


def alone(step, before, wait, timed):
    """Each call with an empty queue: nanoseconds to its return, of CPU time, and until the device is done."""
    host, cpu, sync = (array.array("q", [0]) * timed for _ in range(3))
    clock, used, token = time.perf_counter_ns, time.process_time_ns, None
    for i in range(timed):
        before()
        wait()
        began = used()
        start = clock()
        token = step()
        returned = clock()
        wait()
        done = clock()
        host[i], cpu[i], sync[i] = returned - start, used() - began, done - start
    return host, cpu, sync, token


def behind(step, before, wait, timed, fill):
    """One call after the other without a wait, behind `fill` of them: nanoseconds to the return of each."""
    full, clock, token = array.array("q", [0]) * timed, time.perf_counter_ns, None
    for i in range(-fill, timed):
        before()
        start = clock()
        token = step()
        if i >= 0:
            full[i] = clock() - start
    wait()
    return full, token
