#!/bin/bash
# check.sh BUILD [PART...]: every test, a line each, and the counts at the end; `make check` runs it after building.
#
# Parts (default: all): units python golden mutants engines route examples calibrate asan valgrind clang nvcc.
# 0 only if nothing failed. What cannot run here is counted as skipped and named; REQUIRE=all makes a skip fail.
set -u
cd "$(dirname "$0")/.." || exit 99
build=${1:-build}
shift
parts=${*:-units python golden mutants engines route examples calibrate asan valgrind clang nvcc}
passed=0 failed=0 skipped=0
logs=$build/check-logs
mkdir -p "$logs"
export SAMPLEGATE_BUILD=$build NO_COLOR=1

# count NAME LOG STATUS PASSED FAILED: one line, and the log's end if something failed.
count() {
    passed=$((passed + $4))
    failed=$((failed + $5))
    if [ "$3" -eq 0 ] && [ "$5" -eq 0 ]; then
        printf '  pass  %-46s %4d tests %6.1f s\n' "$1" "$4" "$seconds"
    else
        [ "$5" -gt 0 ] || failed=$((failed + 1))
        printf '  FAIL  %-46s exit %d\n' "$1" "$3"
        tail -n 30 "$2" | sed 's/^/        /'
    fi
}

# timed LOG COMMAND...: run, keep the output in LOG, and "STATUS SECONDS" in LOG.end.
timed() {
    local log=$1 start=$EPOCHREALTIME status
    shift
    "$@" >"$log" 2>&1
    status=$?
    awk -v s="$status" -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print s, b - a }' >"$log.end"
}
export -f timed

# whole NAME COMMAND...: a command that is one test.
whole() {
    local name=$1 log=$logs/${1//[\/ ]/-}.log status seconds
    shift
    timed "$log" "$@"
    read -r status seconds <"$log.end"
    count "$name" "$log" "$status" "$([ "$status" -eq 0 ] && echo 1 || echo 0)" 0
}

# units LABEL COMMAND... <BINARIES: cmocka programs, as many at a time as there are cores, each behind COMMAND; their own
# counts.
units() {
    local label=$1 binaries binary name log status seconds good bad
    shift
    mapfile -t binaries
    [ ${#binaries[@]} -gt 0 ] || return 0
    # shellcheck disable=SC2016
    printf '%s\n' "${binaries[@]}" | xargs -P "$(nproc)" -I{} bash -c '
        name=$0${2#*/tests/}
        timed "$1/${name//\//-}.log" "${@:3}" "$2"' "$label" "$logs" {} "$@"
    for binary in "${binaries[@]}"; do
        name=$label${binary#*/tests/}
        log=$logs/${name//\//-}.log
        read -r status seconds <"$log.end"
        good=$(grep -c '^\[       OK \]' "$log")
        bad=$(grep '^\[  FAILED  \] [a-z]' "$log" | sort -u | wc -l) # cmocka names each twice
        [ "$status" -ne 0 ] || [ "$good" -gt 0 ] || status=77          # zero tests are not a pass
        count "$name" "$log" "$status" "$good" "$bad"
    done
}

skip() {
    skipped=$((skipped + 1))
    printf '  skip  %-46s %s\n' "$1" "$2"
}

units_of() { # BUILD LABEL
    SAMPLEGATE_BUILD=$1 units "$2" env < <(find "$1/tests" -type f -name 'test_*' -executable | sort)
}

part_units() {
    units_of "$build" ''
    [ -x "$build/tests/kernels/test_cuda_shim" ] || skip 'CUDA kernels through the host shim' 'not built (no C++ compiler)'
}

part_python() {
    local test
    for test in model engines requests; do
        whole "golden/model/test_$test.py" python3 "golden/model/test_$test.py"
    done
    whole 'golden/witness/test_records.py' python3 golden/witness/test_records.py
    for test in host host_ask host_options host_time torch vllm_stages; do
        whole "suite/sut/workers/test_$test.py" /usr/bin/python3 "suite/sut/workers/test_$test.py"
    done
}

part_golden() {
    whole 'golden verify' "$build/samplegate" golden verify --golden golden
    whole 'golden verify: errors planted in the model' python3 golden/model/test_planted.py "$build/samplegate"
}

# What a mutant shows is its one defect only if the sampler around it is sound.
part_mutants() {
    whole 'compare: reference, the clean mutant' bash -euo pipefail -c "
        '$build/samplegate' compare --plan card --old reference:race --new '$build/mutants.so,id=clean' --json |
        tail -n 1 | grep -o '\"verdict\":\"identical\"'"
    whole 'kill table (make mutants)' "$build/kill_table" "$build"
    cat "$logs/kill-table-(make-mutants).log"
}

# Real samplers: the reference, PyTorch; and the same verdict from a recording.
part_engines() {
    local gate=$build/samplegate torch='python:torch@/usr' work
    whole 'run quick: reference' "$gate" run --plan quick
    whole 'run quick: reference:categorical' "$gate" run --plan quick --sut reference:categorical
    for sut in reference:race reference:seeded,filters=vllm-v1,penalties=vllm-v1 reference:gumbel,filters=llama.cpp \
               reference:categorical,filters=flashinfer-joint engine:sglang-0.5.19 engine:sglang-0.5.20 \
               engine:sglang-0.5.23 engine:vllm-0.5.0; do
        whole "run card: $sut" "$gate" run --plan card --sut "$sut"
    done
    # SGLang's first seeded rule: 1,920 draws over 20 ids in both stages together.
    whole 'run card: reference:seeded-2025 is rejected' bash -c "
        '$gate' run --plan card --cell seeds-20 --sut reference:seeded-2025 | tee '$logs/seeded-2025.txt'
        [ \${PIPESTATUS[0]} -eq 1 ] && grep -q '^FAIL dependence.seed on seeds-20' '$logs/seeded-2025.txt'"
    # One cell of a plan is no verdict on an upgrade, but its tokens are all there to compare.
    if [ -x "$build/tests/shim-host" ]; then
        whole 'compare: reference, cuda kernels on the host' bash -euo pipefail -c "
            '$gate' compare --plan quick --cell peaked-3 --old reference:race --new 'exec:$build/tests/shim-host cuda:race' --allow-inconclusive --json |
            tail -n 1 | grep -o '50000 of 50000 tokens equal on the same seeds'"
        whole 'run card: cuda kernels on the host, by seed' "$gate" run --plan card --cell again-2 --sut "exec:$build/tests/shim-host cuda:seeded"
        whole 'run card: cuda kernels on the host, filters' "$gate" run --plan card --cell min-p --sut "exec:$build/tests/shim-host cuda:race"
        whole 'bench-cuda check: launches and graphs on the host' "$build/tests/shim-bench-cuda" check
    fi
    if /usr/bin/python3 -I -c 'import torch' 2>/dev/null; then
        whole 'run quick: torch, the nine lines' "$gate" run --plan quick --sut "$torch"
        whole 'run quick: torch multinomial' "$gate" run --plan quick --sut "$torch,rule=multinomial"
        whole 'run card: torch, its filters' "$gate" run --plan card --check boundary --sut "$torch,takes=logits"
        whole "run card: vLLM 0.5.0's stages in torch" "$gate" run --plan card --check boundary --sut python:vllm_stages@/usr
        whole 'compare: reference, torch, by seed' bash -euo pipefail -c "
            '$gate' compare --plan quick --cell masked-1000 --old reference:seeded,values=probabilities --new '$torch,rule=seeded' --allow-inconclusive --json |
            tail -n 1 | grep -o '20000 of 20000 tokens equal on the same seeds'"
        whole 'bench: both rules in one torch' bash -euo pipefail -c "
            '$gate' bench --sut '$torch' --sut reference --cell normal-32768 --calls 5 --warmup 1 --sessions 1 --claimed 1.75 |
            grep -o 'claimed  1.75: normal-32768/batch:64, \[1\] multinomial -> \[1\] race: '"
        work=$(mktemp -d)
        whole 'requests -> worker elsewhere -> judge' bash -euo pipefail -c "
            '$gate' requests quick -o '$work/requests' --takes probabilities --noise
            (cd / && env -i /usr/bin/python3 '$PWD/suite/sut/workers/host.py' torch < '$work/requests' > '$work/recording')
            '$gate' judge '$work/recording' --json | tail -n 1 | grep -o '\"verdict\":\"pass\",\"exit\":0'"
        rm -rf "$work"
    else
        skip 'real PyTorch' "not run: /usr/bin/python3 cannot import torch (ci/setup.sh torch)"
    fi
}

part_route() { whole 'route: a million requests (ci/route.sh)' ci/route.sh "$build"; }

# What the README tells users to copy, built as it says and judged; the broken one is rejected for the right reason.
part_examples() {
    local gate=$build/samplegate from=suite/sut/examples out=$build/examples
    mkdir -p "$out"
    whole 'run quick: sampler.py' "$gate" run --plan quick --cell uniform-20 --sut "python:$from/sampler.py"
    whole 'build sampler.c' ${CC:-cc} -shared -fPIC -I suite/sut $from/sampler.c -o "$out/sampler.so"
    whole 'run quick: sampler.c' "$gate" run --plan quick --sut "$out/sampler.so"
    whole 'build sampler.c -DBROKEN' ${CC:-cc} -DBROKEN -shared -fPIC -I suite/sut $from/sampler.c -o "$out/broken.so"
    whole 'run quick: sampler.c -DBROKEN is rejected' bash -c "
        '$gate' run --plan quick --cell uniform-20 --sut '$out/broken.so' | tee '$logs/broken.txt'
        [ \${PIPESTATUS[0]} -eq 1 ] && grep -q '^FAIL equivalence.batch on uniform-20' '$logs/broken.txt'"
    if [ -x "$build/tests/shim-host" ]; then
        whole 'build sampler.cu for the host' ${CXX:-g++} -x c++ -std=c++17 -shared -fPIC -I . -I suite/sut $from/sampler.cu -o "$out/sampler-shim.so"
        whole 'run quick: sampler.cu on the host' "$gate" run --plan quick --cell masked-1000 \
            --sut "exec:$build/tests/shim-host $out/sampler-shim.so device=cuda"
        whole 'run card: sampler.cu on the host, padded' "$gate" run --plan card --cell padded-257 \
            --sut "exec:$build/tests/shim-host $out/sampler-shim.so device=cuda"
    fi
    if [ -x "$build/elementary-host" ]; then
        whole 'build sampler.cu with nvcc' "${NVCC:-${CUDA_HOME:+$CUDA_HOME/bin/}nvcc}" -std=c++17 -shared -Xcompiler -fPIC -I . -I suite/sut $from/sampler.cu -o "$out/sampler-cuda.so"
    fi
}

part_calibrate() { whole 'calibrate: 5 runs of quick and card on fresh seeds' "$build/calibrate" 5; }

sanitized='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer'
part_asan() {
    whole 'build with ASan and UBSan' make -s -j2 "BUILD=$build-asan" "CFLAGS=$sanitized" NVCC= all tests
    export SAMPLEGATE_EXHAUSTIVE=0
    units_of "$build-asan" 'asan/'
    unset SAMPLEGATE_EXHAUSTIVE
    whole 'asan/run quick, small tables' "$build-asan/samplegate" run --plan quick --cell u
    whole 'asan/run quick, masked table' "$build-asan/samplegate" run --plan quick --cell masked
}

part_valgrind() {
    if ! command -v valgrind >/dev/null; then
        skip 'valgrind' 'not run: not installed'
        return
    fi
    # valgrind has no AVX-512; the judge's child, the host, runs under it too.
    local grind=(env SAMPLEGATE_ISA=avx2 SAMPLEGATE_EXHAUSTIVE=0 valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite)
    units valgrind/ "${grind[@]}" < <(ls "$build"/tests/{kernels/test_{philox,rules},stats/test_{chi_square,partition},suite/{json/test_scan,judge/test_script,oracle/test_edited,sut/protocol/test_frame}})
    whole 'valgrind/run quick, one small cell' "${grind[@]}" --trace-children=yes "$build/samplegate" run --plan quick --cell peaked-3
}

part_clang() {
    if ! command -v clang >/dev/null; then
        skip 'clang' 'not run: not installed'
        return
    fi
    local cxx=clang++
    command -v clang++ >/dev/null || cxx=${CXX:-g++}
    whole 'build with clang' make -s -j2 "BUILD=$build-clang" CC=clang "CXX=$cxx" CFLAGS='-O2 -g -Werror' NVCC= all tests
    units_of "$build-clang" 'clang/'
    whole 'clang/run quick' "$build-clang/samplegate" run --plan quick
}

part_nvcc() {
    if [ ! -x "$build/elementary-host" ]; then
        skip 'nvcc host pass' 'cuda: not built (no nvcc)'
        return
    fi
    whole 'nvcc host pass: same output hashes' "$build/elementary-host" golden/kat/elementary.txt
    whole 'PTX of the kernels' ci/ptx.sh "$build/ptx"
    cat "$logs/PTX-of-the-kernels.log"
    whole 'build bench-cuda' make -s "BUILD=$build" "$build/bench-cuda"
    # It draws on a GPU; without one (77) nothing is passed.
    if "$build/bench-cuda" check >"$logs/bench-cuda.log" 2>&1 || [ $? -ne 77 ]; then
        whole 'bench-cuda check' "$build/bench-cuda" check
    else
        skip 'bench-cuda check' 'not run: no CUDA device found'
    fi
}

for part in $parts; do
    declare -F "part_$part" >/dev/null || { echo "check.sh: unknown part '$part'" >&2; exit 2; }
    printf '%s\n' "$part"
    "part_$part"
done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "${REQUIRE:-}" != all ] || [ "$skipped" -eq 0 ] || failed=$((failed + 1))
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
