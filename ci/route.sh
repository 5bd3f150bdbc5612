#!/bin/bash
# route.sh BUILD [REQUESTS]: `samplegate route` on a generated trace of a million requests: wall and CPU time with reading, and
# peak memory; and on a quarter as many that run two thousand at a time, no two alike. 0 if each takes less than 10 s of CPU time
# a million, and one for good measure, and 64 MiB; wall time is for the reader, as other work on the machine counts in it.
set -euo pipefail
build=$1 requests=${2:-1000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf '%s\n' '{"temperature": 0.6, "top_k": 20, "top_p": 0.95, "min_p": 0}' >"$work/config.json"

# trace PER_SECOND OWN: so many arrive a second and run for a second on average. OWN 0: one request in 250 is greedy or
# filtered, the others ask for the plain path. OWN 1: no two ask for the same.
trace() {
    awk -v requests="$requests" -v rate="$1" -v own="$2" 'BEGIN {
        srand(1)
        for (i = 0; i < requests; i++) {
            time += -log(1 - rand()) / rate
            kind = int(500 * rand())
            fields = kind == 0 ? "\"temperature\": 0" : kind == 1 ? "\"top_p\": 0.9" : "\"top_p\": 1.0, \"top_k\": -1"
            if (own)
                fields = sprintf("\"temperature\": %.6f, \"top_p\": %.6f, \"top_k\": %d", 0.5 + rand(), rand() + 1e-6, 1 + 1000 * rand())
            printf "{\"id\": \"r%d\", \"endpoint\": \"chat\", \"arrival\": %.6f, \"finish\": %.6f, \"body\": {\"model\": \"m\", ", i, time, time + 0.2 + 1.6 * rand()
            printf "\"messages\": [{\"role\": \"user\", \"content\": \"What is the capital of France?\"}], \"seed\": %d, %s}}\n", int(1e9 * rand()), fields
        }
    }'
}

# measured WORDS: routes the trace and holds it against the limits.
measured() {
    python3 -I - "$1" "$requests" "$work/report" "$build/samplegate" route --engine sglang-0.5.20 \
        --generation-config "$work/config.json" --requests "$work/trace.jsonl" <<'END'
import re, resource, subprocess, sys, time
words, requests, report, *command = sys.argv[1:]
start, peak = time.monotonic(), 0
with open(report, "w") as output:
    child = subprocess.Popen(command, stdout=output)
while child.poll() is None:  # ru_maxrss would count this interpreter, whose copy the child is at first
    with open(f"/proc/{child.pid}/status") as status:
        peak = max([peak, *map(int, re.findall(r"VmHWM:\s*(\d+) kB", status.read()))])
    time.sleep(0.02)
wall = time.monotonic() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu = used.ru_utime + used.ru_stime
print(f"{int(requests):,} requests, {words}: {wall:.2f} s, {cpu:.2f} s of CPU time, at most {peak / 1024:.1f} MiB")
sys.exit(child.returncode or not (cpu < 10 * int(requests) / 1e6 + 1 and 0 < peak / 1024 < 64))
END
    grep -q "^sglang-0.5.20 as upstream: $requests requests$" "$work/report"
}

trace 100 0 >"$work/trace.jsonl"
measured 'a hundred at a time'
sed -n '/^over time/,/^changes/p' "$work/report"
requests=$((requests / 4))
trace 2000 1 >"$work/trace.jsonl"
measured 'two thousand at a time, no two alike'
