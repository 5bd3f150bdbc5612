"""bench_overhead.py: what judging costs beside sampling: CPU time of the judge over that of the workers.

Usage: PYTHON ci/bench_overhead.py BUILD      (if PYTHON has torch, its two rules are measured, too)

One plan of one wide table, one certificate and one batch size at a time, with the draws plan gate gives it, or fewer
where the sampler is slow. Workers run behind a shell that notes their CPU time; the judge's is what is left of the
whole process tree. Fixed costs are in both: laws, partitions and checks; a worker's start. The aim is 5 % at V >= 32,768 and batch >= 8.
"""
import importlib.metadata
import importlib.util
import json
import os
import shlex
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


def seconds(text):
    minutes, rest = text.rstrip("s").split("m")
    return 60 * float(minutes) + float(rest)


def measure(build, worker, folder, table, batch, draws):
    """(CPU seconds of the judge, of its workers)"""
    path, notes = os.path.join(folder, "plan.json"), os.path.join(folder, "times")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(plan(table, batch, draws), file)
    open(notes, "w", encoding="utf-8").close()
    command = f"{worker}; times >> {shlex.quote(notes)}"
    judge = subprocess.Popen([os.path.join(build, "samplegate"), "run", "--plan", path, "--jobs", "1", "--allow-inconclusive",
                              "--sut", "exec:bash -c " + shlex.quote(command)], stdout=subprocess.PIPE, text=True)
    said = judge.stdout.read()
    _, status, usage = os.wait4(judge.pid, 0)
    if status != 0:
        sys.exit(f"bench_overhead.py: samplegate failed:\n{said}")
    workers = 0.0
    with open(notes, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for line in lines[1::2]:  # every second line: of the shell's children
        workers += sum(seconds(word) for word in line.split())
    return usage.ru_utime + usage.ru_stime - workers, workers


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    suts = [("reference:race", f"{build}/samplegate-host reference:race", 300000)]
    if importlib.util.find_spec("torch"):
        workers = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "suite", "sut", "workers", "host.py")
        version = importlib.metadata.version("torch")
        suts += [(f"torch {version} {rule}", f"{shlex.quote(sys.executable)} {shlex.quote(workers)} torch rule={rule}", 10000)
                 for rule in ("multinomial", "race")]
    print(f"load {os.getloadavg()[0]:.1f}\n{'sampler':32s} {'table':14s} {'batch':>5s} {'draws':>7s} {'judge':>8s} {'worker':>8s} overhead")
    with tempfile.TemporaryDirectory() as folder:
        for name, worker, draws in suts:
            for table in TABLES:
                for batch in BATCHES:
                    judge, sampler = measure(build, worker, folder, table, batch, draws)
                    print(f"{name:32s} {table['name']:14s} {batch:5d} {draws:7d} {judge:6.2f} s {sampler:6.2f} s {100 * judge / sampler:6.1f} %",
                          flush=True)


main()
