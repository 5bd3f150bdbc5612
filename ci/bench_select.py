"""bench_select.py: exact selection against torch.topk, one core, one process, interleaved.

Usage: PYTHON ci/bench_select.py BUILD      (after `make BUILD/libkernels.so`; PYTHON has torch: that build is the peer)

Each figure is CPU time per call from Python, the median of five rounds, every round timing each contender in turn;
spread: largest over smallest round. A ratio is the median of the five rounds' own ratios. Ours answers the kept
ids of one row (top_k 20 and top_p 0.95 together, ties and nucleus exact); torch.topk answers k values and ids and
knows no nucleus, so it is the least that a filtered step needs in torch. The sort is what torch takes for top_p.
"""
import ctypes
import os
import statistics
import sys
import time

import torch

VOCAB, ROUNDS = 151936, 5


class Parameters(ctypes.Structure):
    _fields_ = [("top_k", ctypes.c_int64), ("top_p", ctypes.c_double), ("min_p", ctypes.c_double)]


def library(build):
    kernels = ctypes.CDLL(os.path.join(build, "libkernels.so"))
    for name in ("filter_rule_of", "weight_loops_of"):
        getattr(kernels, name).restype = ctypes.c_void_p
    kernels.loops_of.restype = ctypes.c_void_p
    kernels.select_ids.restype = ctypes.c_size_t
    kernels.select_ids.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
                                   ctypes.c_size_t, ctypes.c_void_p]
    return kernels


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
        calls[name] = max(5, int(20000 / per_call(work, 5)))
    rounds = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, work in contenders.items():
            rounds[name].append(per_call(work, calls[name]))
    return rounds


def report(title, rounds, peers, ours):
    print(title)
    for name, times in rounds.items():
        line = f"  {name:24s} {statistics.median(times):9.1f} us   spread {max(times) / min(times):.2f}"
        if name in ours:
            for peer in peers:
                ratios = [p / o for p, o in zip(rounds[peer], times)]
                line += f"   {statistics.median(ratios):7.1f}x {peer}"
        print(line)


def main():
    kernels = library(sys.argv[1])
    torch.set_num_threads(1)
    isas = [isa for isa in ("baseline", "avx2", "avx512") if kernels.loops_of(isa.encode())]
    ids = (ctypes.c_uint32 * VOCAB)()
    print(f"peer: torch {torch.__version__}, {torch.__config__.show().splitlines()[1].strip(' -')}, one thread; "
          f"V = {VOCAB}; load {os.getloadavg()[0]:.1f}")
    for sigma in (2, 3, 5, 8):
        torch.manual_seed(38117)
        row = torch.softmax(sigma * torch.randn(VOCAB), -1).contiguous()

        def select(isa, rule, k, p):
            loops = kernels.weight_loops_of(isa.encode())
            chosen = kernels.filter_rule_of(rule.encode())
            parameters = Parameters(k, p, 0)
            address = row.data_ptr()
            return lambda: kernels.select_ids(loops, chosen, ctypes.byref(parameters), address, VOCAB, ids)

        kept = select("baseline", "sglang-pytorch", 20, 0.95)()
        nucleus = select("baseline", "sglang-pytorch", -1, 0.95)()
        ours = {f"select, {isa}": select(isa, "sglang-pytorch", 20, 0.95) for isa in isas}
        peers = {"topk(50)": lambda: torch.topk(row, 50), "topk(20)": lambda: torch.topk(row, 20)}
        report(f"softmax({sigma} N(0,1)): top_k 20 and top_p 0.95 keep {kept} ids", measure({**peers, **ours}),
               peers, ours)
        ours = {f"select, {isa}": select(isa, "sglang-pytorch", -1, 0.95) for isa in isas}
        peers = {"sort": lambda: torch.sort(row, descending=True)}
        report(f"  top_p 0.95 alone keeps {nucleus}", measure({**peers, **ours}), peers, ours)


main()
