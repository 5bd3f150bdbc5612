#!/bin/bash
# gpu.sh: everything that can be judged on a machine with a CUDA GPU, with a log a stranger can read afterwards.
#
#   ci/gpu.sh [LOG_FOLDER]      default ./gpu-log
#
# In this order, so that what a limit cuts off is what matters least: tokens against the reference, eagerly and from CUDA
# graphs; speed; filters and determinism; compute-sanitizer; distributions; PyTorch. What LIMIT seconds (default 570, 0: none)
# leave no time for is named as not run.
#
# VENV=DIR names the environment whose bin/python3 has PyTorch with CUDA (default: python3 of PATH); BUILD=DIR as in make.
# Exit status: 0 all that ran passed, 1 something did not, 77 nothing ran on a GPU, 2 the log folder cannot be written.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

log=${1:-gpu-log}
build=${BUILD:-build}
sampler=python:torch${VENV:+@$VENV}
python=${VENV:+$VENV/bin/}python3
limit=${LIMIT:-570}

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

# step NAME COMMAND...: runs it with its output in LOG_FOLDER/NAME.txt, and says in one line how it came out. Exit status of
# the command; 125 if there was no time left for it.
step() {
    local name=$1 status=0 start=$SECONDS left=$((limit ? limit - SECONDS : 86400))
    shift
    if [ "$left" -le 5 ]; then
        not_run+=("$name (no time left)")
        return 125
    fi
    {
        printf '$ %s\n' "$*"
        timeout "$left" "$@" || status=$?
        printf 'exit status %d\n' "$status"
    } >"$log/$name.txt" 2>&1
    if [ "$status" -eq 124 ] && [ "$limit" -gt 0 ]; then
        not_run+=("$name (not finished in $left s)")
        return 125
    fi
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

# Only what this device needs.
architectures=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | sort -u | xargs)
if ! step build make -j"$(nproc)" BUILD="$build" ${architectures:+CUDA_ARCHS="$architectures"} all "$build/bench-cuda"; then
    not_run+=('all that needs the build')
    summary
fi
# identical NAME RULE PLAN: the device gives the reference's token in every row of the plan.
identical() {
    local out=$log/$1
    step "$1" "$build/samplegate" compare --old "reference:$2" --new "cuda:$2" --plan "$3" --out "$out" || return 0
    step "$1-verdict" grep '"verdict":"identical"' <(tail -n 1 "$out/results.jsonl") || true
}

# bench-cuda's launches under each tool of compute-sanitizer.
sanitize() {
    local tool
    for tool in memcheck racecheck initcheck; do
        step "$tool" "$sanitizer" --tool "$tool" --error-exitcode 9 --log-file "$log/$tool.log" "$build/bench-cuda" check || true
    done
}

# Our own kernels: every token is the reference's.
if why=$("$build/samplegate-host" cuda:race </dev/null 2>&1); then
    on_gpu=1
    step cuda-check "$build/bench-cuda" check || true
    step cuda-speed "$build/bench-cuda" speed || true
    grep -E '^(good|FAIL)' "$log/cuda-speed.txt" 2>/dev/null || true
    for rule in race seeded; do
        identical "cuda-$rule-tokens" "$rule" pair
    done
    # Filters, and same seed, same token as the reference's golden, whatever the batch; and what else the kernels claim.
    for rule in race seeded; do
        step "cuda-$rule-card" "$build/samplegate" run --sut "cuda:$rule" --plan card --require gpu --out "$log/cuda-$rule-card" || true
    done
    sanitizer=$(command -v compute-sanitizer || ls "${CUDA_HOME:-/usr/local/cuda}"/bin/compute-sanitizer 2>/dev/null || true)
    if [ -n "$sanitizer" ]; then sanitize; else not_run+=('compute-sanitizer (not installed)'); fi
    for rule in greedy categorical gumbel torch-race seeded-2025; do
        identical "cuda-$rule-tokens" "$rule" pair
    done
    # The distribution, judged like any stranger's.
    for rule in categorical race gumbel seeded; do
        step "cuda-$rule" "$build/samplegate" run --sut "cuda:$rule" --plan quick --require gpu --out "$log/cuda-$rule" || true
    done
    # A stranger's plug-in on the device, as the README says it is built.
    if step example-build "${NVCC:-${CUDA_HOME:+$CUDA_HOME/bin/}nvcc}" -std=c++17 -shared -Xcompiler -fPIC -I . -I suite/sut \
        suite/sut/examples/sampler.cu -o "$log/sampler-cuda.so"; then
        step example "$build/samplegate" run --sut "$log/sampler-cuda.so,device=cuda" --plan quick --require gpu --out "$log/example" || true
    fi
else
    not_run+=("cuda:RULE (${why##*samplegate-host: })")
fi

if ! why=$("$python" -I -c 'import torch; torch.zeros(1, device="cuda")' 2>&1); then
    not_run+=("torch on CUDA (${why##*$'\n'})")
else
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
fi

# What needs no GPU, last.
step golden-verify "$build/samplegate" golden verify || true
step reference "$build/samplegate" run --sut reference --plan quick --out "$log/reference" || true
summary
