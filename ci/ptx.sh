#!/bin/bash
# ptx.sh FOLDER [ARCHITECTURE...]: the floating-point instructions that nvcc makes of the kernels are those of the
# source: no .ftz (denormals stay), no .approx (every operation is rounded as IEEE says), and the same sequence with
# -fmad=true and -fmad=false (nothing is contracted). Needs nvcc, no GPU; PTX is kept in FOLDER.
#
# It also shows that it can fail: builds with fast mathematics and with a product and a sum left to the compiler must be
# refused. Exit status: 0 good, 1 not, 2 no nvcc (NVCC, CUDA_HOME/bin/nvcc, or the one of PATH). Architectures: 75 80 90 100
# by default.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${1:?usage: ptx.sh FOLDER [ARCHITECTURE...]}
shift
[ $# -gt 0 ] || set -- 75 80 90 100
nvcc=${NVCC:-nvcc}
[ -n "${NVCC:-}" ] || [ ! -x "${CUDA_HOME:-}/bin/nvcc" ] || nvcc=$CUDA_HOME/bin/nvcc
command -v "$nvcc" >/dev/null || { echo 'ptx: not checked (no nvcc)'; exit 2; }
mkdir -p "$folder"

# ptx SOURCE ARCHITECTURE OUT FLAGS...
ptx() {
    local source=$1 architecture=$2 out=$3
    shift 3
    "$nvcc" -std=c++17 -O2 -I. -ptx -arch="compute_$architecture" "$@" -o "$out" "$source"
}

# The floating-point instructions, one a line, without registers and constants: name and types.
sequence() { grep -oE '^[[:space:]]*(@[^ ]+ )?[a-z0-9]+(\.[a-z0-9]+)*\.(f16|bf16|f32|f64)(\.[a-z0-9]+)*' "$1" | sed -E 's/^[[:space:]]*(@[^ ]+ )?//'; }

# verdict WITHOUT WITH: one line about a pair of builds, -fmad=false and -fmad=true; 1 if it is refused.
verdict() {
    local count instructions
    count=$(cat "$1" "$2" | grep -cE '\.(ftz|approx)\b' || true)
    instructions=$(sequence "$1" | wc -l)
    if [ "$count" -gt 0 ]; then
        echo "refused: $count instructions with .ftz or .approx"
        return 1
    fi
    if ! cmp -s <(sequence "$1") <(sequence "$2"); then
        echo "refused: -fmad=true makes other floating-point instructions"
        return 1
    fi
    if [ "$instructions" -eq 0 ]; then
        echo 'refused: no floating-point instruction was found'
        return 1
    fi
    echo "good: $instructions floating-point instructions, fma.rn $(sequence "$1" | grep -c '^fma\.rn'), div.rn $(sequence "$1" | grep -c '^div\.rn')"
}

failed=0
for architecture in "$@"; do
    for kernels in cuda cuda_staged; do
        out=$folder/$kernels-$architecture
        ptx "kernels/$kernels.cu" "$architecture" "$out.ptx" -fmad=false
        ptx "kernels/$kernels.cu" "$architecture" "$out-fmad.ptx" -fmad=true
        printf '%s.cu, compute_%s: ' "$kernels" "$architecture"
        verdict "$out.ptx" "$out-fmad.ptx" || failed=1
    done
done

# refuses NAME SOURCE FLAGS...: the same check must say no.
refuses() {
    local name=$1 source=$2 said
    shift 2
    ptx "$source" "$first" "$folder/$name.ptx" -fmad=false "$@"
    ptx "$source" "$first" "$folder/$name-fmad.ptx" -fmad=true "$@"
    if said=$(verdict "$folder/$name.ptx" "$folder/$name-fmad.ptx"); then
        echo "$name: $said, and should have been refused"
        failed=1
    else
        echo "$name: $said, as it must be"
    fi
}
first=$1
refuses fast-math kernels/cuda_staged.cu -use_fast_math
refuses flush-to-zero kernels/cuda_staged.cu -ftz=true
echo '__global__ void contracted(float *x) { x[0] = x[0] * x[1] + x[2]; }' >"$folder/contracted.cu"
refuses contraction "$folder/contracted.cu"
exit "$failed"
