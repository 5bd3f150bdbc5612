#!/bin/sh
# gate.sh BUILD [REQUIRE]: the published upgrade, judged in four comparisons; `make gate` runs it.
# 0 only if each comparison that ran ends with the exit code and the verdict word said here. Without PyTorch two of the
# four cannot run: the last line says so, and REQUIRE=torch makes that an error.
set -u
build=$1
require=${2:-}
ran=0
failed=0

# expect NAME WORD EXIT WITHIN -- COMPARE-ARGUMENTS
expect() {
    name=$1 word=$2 code=$3 within=$4
    shift 5
    printf '\n=== %s: expected %s%s, exit %s\n' "$name" "$word" "$([ "$within" = yes ] && echo ', but within epsilon')" "$code"
    log=$(mktemp -d) || exit 99
    "$build/samplegate" compare --out "$log" "$@"
    got=$?
    last=$(tail -n 1 "$log/results.jsonl" 2>/dev/null)
    ran=$((ran + 1))
    case $last in
    *"\"verdict\":\"$word\""*"\"within_epsilon\":$([ "$within" = yes ] && echo true || echo false)"*) [ "$got" -eq "$code" ] || failed=$((failed + 1)) ;;
    *) failed=$((failed + 1)) ;;
    esac
    if [ "$got" -ne "$code" ]; then printf '!!! %s: exit %s, expected %s\n' "$name" "$got" "$code"; fi
    rm -rf "$log"
}

# The interpreter that has PyTorch: the user's own first (a virtual environment), then the system's.
torch=
for at in '' @/usr; do
    python=python3
    [ -n "$at" ] && python=/usr/bin/python3
    if [ -z "$torch" ] && "$python" -I -c 'import torch' 2>/dev/null; then torch=python:torch$at; fi
done

expect 'a: categorical -> race, reference' equivalent 0 no -- \
    --plan gate --old reference:categorical --new reference:race
if [ -n "$torch" ]; then
    expect 'b: multinomial -> the nine lines, PyTorch fp32' identical 0 no -- \
        --plan pair --old "$torch,rule=multinomial" --new "$torch,rule=race"
    expect "b': the same in bf16" equivalent 0 no -- \
        --plan pair --old "$torch,rule=multinomial,dtype=bf16" --new "$torch,rule=race,dtype=bf16"
else
    printf '\n=== b and b'\'': not run: no python3 here can import torch\n'
fi
expect "c: categorical -> race on torch CUDA's noise grid" different 1 yes -- \
    --plan gate --old reference:categorical --new reference:torch-race

printf '\ngate: %s of 4 ran, %s as expected\n' "$ran" $((ran - failed))
[ "$failed" -eq 0 ] || exit 1
if [ "$require" = torch ] && [ -z "$torch" ]; then
    echo 'gate: REQUIRE=torch, and PyTorch comparisons were not run' >&2
    exit 1
fi
[ -z "$require" ] || [ "$require" = torch ] || { echo "gate: REQUIRE=$require is unknown; accepted: torch" >&2; exit 2; }
