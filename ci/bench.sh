#!/bin/bash
# bench.sh BUILD [TORCH] [SECTION...]: measure, and write BENCHMARKS.md; `make bench` runs it.
#
# TORCH is a virtual environment with PyPI's PyTorch, or empty; Debian's is taken where python3-torch is installed. Each
# section is kept in BUILD/bench/, so that one can be measured again without the others: published, vllm, and one of every
# ci/bench_NAME.py (run by each Python with torch, with BUILD as its argument) or ci/bench_NAME.sh (BUILD TORCH).
# An interrupted section keeps what was whole and says so. SECTION assemble measures nothing: it puts together what is there.
set -u
build=$1
torch=${2:-}
shift $(($# < 2 ? $# : 2))
cd "$(dirname "$0")/.." || exit 2
out=$build/bench
mkdir -p "$out" || exit 99

pythons=() torches=() stages=()
if /usr/bin/python3 -I -c 'import torch' 2>/dev/null; then
    pythons+=(/usr/bin/python3) torches+=(--sut python:torch@/usr) stages+=(--sut python:vllm_stages@/usr)
fi
if [ -n "$torch" ]; then
    "$torch/bin/python3" -I -c 'import torch' || { echo "bench.sh: TORCH=$torch: no python3 there that can import torch" >&2; exit 2; }
    pythons+=("$torch/bin/python3") torches+=(--sut "python:torch@$torch") stages+=(--sut "python:vllm_stages@$torch")
fi

section_published() {
    printf '## The published plan, side by side\n\n'
    printf 'Both rules on the same probability tensors, in one process of each PyTorch, and the reference'"'"'s own; the samplers in turn. `samplegate bench --plan bench-38117`.\n\n'
    "$build/samplegate" bench --plan bench-38117 "${torches[@]}" --sut reference --claimed 1.75 --markdown --out "$out/published"
}

section_vllm() {
    printf '## What parameters cost: vLLM 0.5.0\n\n'
    printf 'The cells of the article on vLLM 0.5.0, on its stages in PyTorch (`suite/sut/workers/vllm_stages.py`) and on the reference under the same rules, which prepares each row by itself. `samplegate bench --plan bench-vllm-0.5.0`.\n\n'
    "$build/samplegate" bench --plan bench-vllm-0.5.0 "${stages[@]}" --sut reference,filters=vllm-0.5.0,penalties=vllm-0.5.0 \
        --markdown --out "$out/vllm"
}

# section_other NAME: what another script prints, under the first line of its head.
section_other() {
    local script status=0
    for script in "ci/bench_$1".*; do
        printf '## %s\n\n' "$(sed -n 's/^\("""\|# \)bench_[^:]*: *//p' "$script" | sed -n '1{s/[".]*$//;s/^./\U&/;p}')"
        case $script in
        *.py)
            for python in "${pythons[@]}"; do
                printf '```\n'
                "$python" "$script" "$build" 2>&1 || status=1
                printf '```\n\n'
            done
            [ ${#pythons[@]} -gt 0 ] || printf 'Not run: no python3 here can import torch.\n'
            ;;
        *.sh)
            printf '```\n'
            "$script" "$build" "$torch" 2>&1 || status=1
            printf '```\n'
            ;;
        esac
    done
    return $status
}

others=$(ls ci/bench_*.py ci/bench_*.sh 2>/dev/null | sed 's|ci/bench_||; s|\.[a-z]*$||' | sort -u)
all="published vllm $others"
failed=0
names=${*:-$all}
[ "$names" != assemble ] || names=
for name in $names; do
    case " $(echo $all) " in *" $name "*) ;; *) echo "bench.sh: no section '$name'; there are: $(echo $all)" >&2; exit 2 ;; esac
    echo "bench: $name" >&2
    if declare -F "section_$name" >/dev/null; then "section_$name"; else section_other "$name"; fi > "$out/$name.md.partial"
    status=$?
    sed -i "s|${torch:-/nowhere}|VENV|g; s|$build/||g" "$out/$name.md.partial" # whoever reads it has other folders
    mv "$out/$name.md.partial" "$out/$name.md"
    [ $status -eq 0 ] || { echo "bench: $name: exit $status" >&2; failed=1; }
    [ $status -ne 130 ] || break
done

{
    printf '# Benchmarks\n\nWritten by `make bench` (`ci/bench.sh`); each section says on which machine and under what load it was measured.\n'
    printf 'Where other programs run, `cpu` is the figure to read: what the process used of its cores.\n'
    for name in $all; do
        if [ -f "$out/$name.md" ]; then printf '\n'; cat "$out/$name.md"; else printf '\n## %s\n\nNot run.\n' "$name"; fi
    done
} > BENCHMARKS.md.partial && mv BENCHMARKS.md.partial BENCHMARKS.md || exit 99
exit $failed
