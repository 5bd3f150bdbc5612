"""bench_race.py: the Gumbel-max step from Python, ours against PyTorch's and numpy's, one core, one process, interleaved.

Usage: PYTHON ci/bench_race.py BUILD      (after `make BUILD/libkernels.so`; PYTHON has torch: that build is the peer)

Per call: probabilities of a batch of 8 rows in, 8 tokens out, new noise each time. torch's lines are those of the published
rule (exponential_, clamp_min_, div, argmax); numpy's are its ziggurat in fp32, divide and argmax into arrays that it keeps.
Each figure is CPU time per call, the median of five rounds, every round timing each contender in turn; spread: largest over
smallest round. A ratio is the median of the five rounds' own ratios.
"""
import ctypes
import os
import statistics
import sys
import time

import numpy
import torch

BATCH, ROUNDS = 8, 5


def library(build):
    kernels = ctypes.CDLL(os.path.join(os.path.abspath(build), "libkernels.so"))
    kernels.loops_of.restype = ctypes.c_void_p
    kernels.sampler_rule_of.restype = ctypes.c_int
    kernels.draws_call.restype = None
    kernels.draws_call.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t,
                                   ctypes.c_size_t, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p]
    return kernels


def ours(kernels, isa, rule, probs):
    loops, rule = kernels.loops_of(isa.encode()), kernels.sampler_rule_of(rule.encode())
    rows, vocab = probs.shape
    token = (ctypes.c_int32 * rows)()
    position = 0

    def call():
        nonlocal position
        kernels.draws_call(loops, rule, probs.data_ptr(), rows, vocab, vocab, 1, position, token)
        position += rows
        return token
    return call


def of_torch(probs):
    def call():
        q = torch.empty_like(probs, dtype=torch.float32).exponential_(1.0)
        q = q.clamp_min_(torch.finfo(torch.float32).tiny)
        return probs.div(q).argmax(dim=-1)
    return call


def of_numpy(probs):
    p = probs.numpy()
    q, ratio = numpy.empty_like(p), numpy.empty_like(p)
    generator = numpy.random.Generator(numpy.random.PCG64(1))

    def call():
        generator.standard_exponential(dtype=numpy.float32, method="zig", out=q)
        with numpy.errstate(divide="ignore"):  # its fp32 noise is 0 now and then
            return numpy.divide(p, q, out=ratio).argmax(axis=-1)
    return call


def per_call(work, calls):
    start = time.thread_time()
    for _ in range(calls):
        work()
    return (time.thread_time() - start) / calls * 1e6


def measure(contenders):
    """{name: [microseconds of each round]}, the contenders timed in turn."""
    calls = {}
    for name, work in contenders.items():
        work()
        calls[name] = max(3, int(200000 / per_call(work, 2)))
    rounds = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, work in contenders.items():
            rounds[name].append(per_call(work, calls[name]))
    return rounds


def report(rounds, peers):
    for name, times in rounds.items():
        line = f"  {name:16s} {statistics.median(times):9.1f} us   spread {max(times) / min(times):.2f}"
        if name not in peers:
            for peer in peers:
                ratios = [p / o for p, o in zip(rounds[peer], times)]
                line += f"   {statistics.median(ratios):6.1f}x {peer}"
        print(line)


def main():
    kernels = library(sys.argv[1])
    torch.set_num_threads(1)
    torch.manual_seed(38117)
    isas = [isa for isa in ("avx512", "avx2", "baseline") if kernels.loops_of(isa.encode())]
    config = torch.__config__.show()
    capability = [line.strip(" -") for line in config.splitlines() if "capability" in line]
    print(f"peers: torch {torch.__version__} ({config.splitlines()[1].strip(' -')}, "
          f"{'MKL' if torch.backends.mkl.is_available() else 'no MKL'}, {', '.join(capability)}), "
          f"numpy {numpy.__version__}; one thread; load {os.getloadavg()[0]:.1f}")
    for vocab in (32768, 151936):
        probs = torch.softmax(3 * torch.randn(BATCH, vocab), -1).contiguous()
        peers = {"torch": of_torch(probs), "numpy": of_numpy(probs)}
        contenders = dict(peers)
        for rule in ("race", "gumbel", "seeded"):
            for isa in isas:
                if rule == "race" or isa != "baseline":
                    contenders[f"{rule}, {isa}"] = ours(kernels, isa, rule, probs)
        print(f"V = {vocab}, batch {BATCH}, softmax(3 N(0,1))")
        report(measure(contenders), peers)


main()
