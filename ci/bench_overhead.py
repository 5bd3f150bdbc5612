"""bench_overhead.py: what judging costs beside sampling: CPU time of the judge over that of the workers.

Usage: PYTHON ci/bench_overhead.py BUILD      (if PYTHON has torch, its two rules are measured, too)

One plan of one wide table, one certificate and one batch size at a time, with the draws plan gate gives it, or fewer
where the sampler is slow. The kernel keeps the judge's CPU time and that of the workers it has waited for apart. Fixed
costs are in both: laws, partitions and checks; a worker's start. The aim is 5 % at V >= 32,768 and batch >= 8.
"""
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

BATCHES = (8, 64)
TABLES = ({"name": "zipf-32768", "kind": "zipf", "vocab": 32768},
          {"name": "normal-151936", "kind": "normal", "vocab": 151936, "sigma": 3})


def plan(table, batch, draws):
    return {"schema": "samplegate-plan-1", "name": "overhead", "notes": "", "seed": "38117",
            "batches": [{"size": batch, "share": "1"}], "tables": [table],
            "cells": [{"family": "equivalence", "name": "cell", "table": table["name"], "draws": draws, "epsilon": 0.01,
                       "certify": "bins"}]}


def measure(build, sut, folder, table, batch, draws):
    """(CPU seconds of the judge, of its workers), of a child that has ended and is not yet reaped."""
    path = os.path.join(folder, "plan.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(plan(table, batch, draws), file)
    judge = subprocess.Popen([os.path.join(build, "samplegate"), "run", "--plan", path, "--jobs", "1", "--allow-inconclusive",
                              "--sut", sut], stdout=subprocess.PIPE, text=True)
    said = judge.stdout.read()
    os.waitid(os.P_PID, judge.pid, os.WEXITED | os.WNOWAIT)
    with open(f"/proc/{judge.pid}/stat", encoding="ascii") as file:
        ticks = [int(word) for word in file.read().rpartition(")")[2].split()[11:15]]  # own and children's, user and system
    if judge.wait() != 0:
        sys.exit(f"bench_overhead.py: samplegate failed:\n{said}")
    return [sum(part) / os.sysconf("SC_CLK_TCK") for part in (ticks[:2], ticks[2:])]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    suts = [("reference:race", "reference:race", 300000)]
    if importlib.util.find_spec("torch"):
        at = f"@{sys.prefix}"
        version = importlib.metadata.version("torch")
        suts += [(f"torch {version} {rule}", f"python:torch{at},rule={rule}", 10000)
                 for rule in ("multinomial", "race")]
    print(f"load {os.getloadavg()[0]:.1f}\n{'sampler':32s} {'table':14s} {'batch':>5s} {'draws':>7s} {'judge':>8s} {'worker':>8s} overhead")
    with tempfile.TemporaryDirectory() as folder:
        for name, sut, draws in suts:
            for table in TABLES:
                for batch in BATCHES:
                    judge, sampler = measure(build, sut, folder, table, batch, draws)
                    print(f"{name:32s} {table['name']:14s} {batch:5d} {draws:7d} {judge:6.2f} s {sampler:6.2f} s {100 * judge / sampler:6.1f} %",
                          flush=True)


main()
