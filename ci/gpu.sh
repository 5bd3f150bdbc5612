#!/bin/bash
# gpu.sh: everything that can be judged on a machine with a CUDA GPU, with a log a stranger can read afterwards.
#
#   ci/gpu.sh [LOG_FOLDER]      default ./gpu-log
#
# VENV=DIR names the environment whose bin/python3 has PyTorch with CUDA (default: python3 of PATH); BUILD=DIR as in make.
# Exit status: 0 all that ran passed, 1 something did not, 77 nothing ran on a GPU, 2 the log folder cannot be written.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

log=${1:-gpu-log}
build=${BUILD:-build}
sampler=python:torch${VENV:+@$VENV}
python=${VENV:+$VENV/bin/}python3

if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L 2>/dev/null | grep -q '^GPU '; then
    echo 'gpu: not run (no CUDA device found)'
    exit 77
fi
mkdir -p "$log" && : >"$log/machine.txt" || exit 2

{
    date -u
    git rev-parse HEAD 2>/dev/null || echo 'not a git checkout'
    nvidia-smi
    nvidia-smi -q
    "${NVCC:-nvcc}" --version 2>&1 || echo 'no nvcc'
    "$python" -I -c 'import sys, torch; print(sys.version, torch.__version__, torch.version.git_version, torch.version.cuda)' 2>&1 || true
} >"$log/machine.txt"

passed=0 failed=0 on_gpu=0 not_run=()

# step NAME COMMAND...: runs it with its output in LOG_FOLDER/NAME.txt, and says in one line how it came out.
step() {
    local name=$1 status=0 start=$SECONDS
    shift
    {
        printf '$ %s\n' "$*"
        "$@" || status=$?
        printf 'exit status %d\n' "$status"
    } >"$log/$name.txt" 2>&1
    if [ "$status" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    printf 'gpu: %-24s exit %-3d %4d s  %s\n' "$name" "$status" $((SECONDS - start)) "$log/$name.txt"
    return "$status"
}

summary() {
    local missing
    missing=$(printf '%s; ' "${not_run[@]:-nothing}")
    if [ "$on_gpu" -eq 0 ]; then
        printf 'gpu: not run on a GPU; %d steps passed, %d failed on the CPU; not run: %s; log in %s\n' "$passed" "$failed" "${missing%; }" "$log"
    else
        printf 'gpu: %d steps passed, %d failed; not run: %s; log in %s\n' "$passed" "$failed" "${missing%; }" "$log"
    fi
    if [ "$failed" -gt 0 ]; then exit 1; fi
    if [ "$on_gpu" -eq 0 ]; then exit 77; fi
    exit 0
}

if ! step build make BUILD="$build"; then
    not_run+=('all that needs the build')
    summary
fi
step golden-verify "$build/samplegate" golden verify || true
step reference "$build/samplegate" run --sut reference --plan quick --out "$log/reference" || true

# identical NAME RULE PLAN: the device gives the reference's token in every row of the plan.
identical() {
    local out=$log/$1
    step "$1" "$build/samplegate" compare --old "reference:$2" --new "cuda:$2" --plan "$3" --out "$out" || return 0
    step "$1-verdict" grep '"verdict":"identical"' <(tail -n 1 "$out/results.jsonl") || true
}

# The same kernels under each tool of compute-sanitizer, on a few draws of rows of one block's every shape.
sanitize() {
    local tool rule
    cat >"$log/sanitizer-plan.json" <<'PLAN'
{
  "schema": "samplegate-plan-1",
  "name": "sanitizer",
  "notes": "A few draws of narrow and wide rows, for a slow machine.",
  "seed": "38117",
  "batches": [{"size": 1, "share": "1/4"}, {"size": 8, "share": "3/4"}],
  "tables": [
    {"name": "uniform-20", "kind": "flat", "vocab": 20},
    {"name": "zipf-257", "kind": "zipf", "vocab": 257},
    {"name": "normal-32768", "kind": "normal", "vocab": 32768, "sigma": 3}
  ],
  "cells": [
    {"family": "equivalence", "name": "uniform-20", "table": "uniform-20", "draws": 64, "epsilon": 0.5, "certify": "none"},
    {"family": "equivalence", "name": "zipf-257", "table": "zipf-257", "draws": 64, "epsilon": 0.5, "certify": "none"},
    {"family": "equivalence", "name": "normal-32768", "table": "normal-32768", "draws": 16, "epsilon": 0.5, "certify": "none"}
  ]
}
PLAN
    step sanitizer-requests "$build/samplegate" requests "$log/sanitizer-plan.json" -o "$log/sanitizer-requests" || return 0
    for tool in memcheck racecheck initcheck synccheck; do
        for rule in race categorical seeded; do
            step "$tool-$rule" sh -c '"$0" --tool "$1" --error-exitcode 9 --log-file "$2" "$3" "cuda:$4" <"$5" >/dev/null' \
                "$sanitizer" "$tool" "$log/$tool-$rule.log" "$build/samplegate-host" "$rule" "$log/sanitizer-requests" || true
        done
    done
}

# Our own kernels: every token is the reference's; then the distribution, judged like any stranger's.
if why=$("$build/samplegate-host" cuda:race </dev/null 2>&1); then
    on_gpu=1
    for rule in greedy categorical race gumbel torch-race seeded seeded-2025; do
        identical "cuda-$rule-tokens" "$rule" pair
    done
    for rule in categorical race gumbel seeded; do
        step "cuda-$rule" "$build/samplegate" run --sut "cuda:$rule" --plan quick --require gpu --out "$log/cuda-$rule" || true
    done
    # A stranger's plug-in on the device, as the README says it is built.
    if step example-build "${NVCC:-${CUDA_HOME:+$CUDA_HOME/bin/}nvcc}" -std=c++17 -shared -Xcompiler -fPIC -I . -I suite/sut \
        suite/sut/examples/sampler.cu -o "$log/sampler-cuda.so"; then
        step example "$build/samplegate" run --sut "$log/sampler-cuda.so,device=cuda" --plan quick --require gpu --out "$log/example" || true
    fi
    # Same seed, same token as the reference's golden, whatever the batch; and what else the kernels claim.
    for rule in race seeded; do
        step "cuda-$rule-card" "$build/samplegate" run --sut "cuda:$rule" --plan card --require gpu --out "$log/cuda-$rule-card" || true
    done
    sanitizer=$(command -v compute-sanitizer || ls "${CUDA_HOME:-/usr/local/cuda}"/bin/compute-sanitizer 2>/dev/null || true)
    step bench-cuda "$build/samplegate" bench --plan bench-38117 --sut cuda:race --out "$log/bench-cuda" || true
    if [ -n "$sanitizer" ]; then sanitize; else not_run+=('compute-sanitizer (not installed)'); fi
else
    not_run+=("cuda:RULE (${why##*samplegate-host: })")
fi

if ! why=$("$python" -I -c 'import torch; torch.zeros(1, device="cuda")' 2>&1); then
    not_run+=("torch on CUDA (${why##*$'\n'})")
    summary
fi
on_gpu=1
# Two workers: each holds a CUDA context of its own.
for rule in multinomial race gumbel; do
    step "torch-$rule" "$build/samplegate" run --sut "$sampler,device=cuda,rule=$rule" --plan quick --jobs 2 \
        --out "$log/torch-$rule" || true
done
# The published upgrade, on the device it was written for.
for dtype in f32 bf16 f16; do
    step "upgrade-$dtype" "$build/samplegate" compare --old "$sampler,device=cuda,rule=multinomial,dtype=$dtype" \
        --new "$sampler,device=cuda,rule=race,dtype=$dtype" --plan pair --jobs 2 --out "$log/upgrade-$dtype" || true
done
# How long its calls take: host-side behind an empty and a full queue, and synchronized; and what parameters cost.
step bench-torch "$build/samplegate" bench --plan bench-38117 --sut "$sampler,device=cuda" --claimed 1.75 --out "$log/bench-torch" || true
step bench-vllm "$build/samplegate" bench --plan bench-vllm-0.5.0 --sut "${sampler/:torch/:vllm_stages},device=cuda" \
    --out "$log/bench-vllm" || true
summary
