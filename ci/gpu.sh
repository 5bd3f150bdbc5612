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

passed=0 failed=0 on_gpu=0 not_run=('device kernels (the reference has none yet)')

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
    missing=$(printf '%s; ' "${not_run[@]}")
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
summary
