#!/bin/bash
# route.sh BUILD [REQUESTS]: `samplegate route` on a generated trace of a million requests, a hundred at a time: the time it
# takes, and that its memory does not grow with the trace. 0 if both are as promised: 10 s of CPU time, 64 MiB.
set -euo pipefail
build=$1 requests=${2:-1000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf '%s\n' '{"temperature": 0.6, "top_k": 20, "top_p": 0.95, "min_p": 0}' >"$work/config.json"
# One request in 250 is greedy or filtered; the others ask for the plain path.
awk -v requests="$requests" 'BEGIN {
    srand(1)
    for (i = 0; i < requests; i++) {
        time += -0.01 * log(1 - rand())
        kind = int(500 * rand())
        fields = kind == 0 ? "\"temperature\": 0" : kind == 1 ? "\"top_p\": 0.9" : "\"top_p\": 1.0, \"top_k\": -1"
        printf "{\"id\": \"r%d\", \"endpoint\": \"chat\", \"arrival\": %.6f, \"finish\": %.6f, \"body\": {\"model\": \"m\", ", i, time, time + 0.2 + 1.6 * rand()
        printf "\"messages\": [{\"role\": \"user\", \"content\": \"What is the capital of France?\"}], \"seed\": %d, %s}}\n", int(1e9 * rand()), fields
    }
}' >"$work/trace.jsonl"

times=$(
    ulimit -v 65536
    TIMEFORMAT='%R %U'
    { time "$build/samplegate" route --engine sglang-0.5.20 --generation-config "$work/config.json" \
        --requests "$work/trace.jsonl" >"$work/report"; } 2>&1
)
grep -q "^sglang-0.5.20 as upstream: $requests requests$" "$work/report"
sed -n '/^over time/,/^changes/p' "$work/report"
echo "$requests requests: ${times% *} s, ${times#* } s of CPU time, under 64 MiB of address space"
awk -v cpu="${times#* }" -v requests="$requests" 'BEGIN { exit !(cpu < 10 * requests / 1e6 + 1) }'
