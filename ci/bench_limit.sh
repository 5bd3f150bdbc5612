#!/bin/bash
# bench_limit.sh: the reference on this CPU: instruction limits, and the published experiment.
#
# ci/bench.sh runs it: BUILD TORCH.
set -eu
grep -m1 'model name' /proc/cpuinfo | sed 's/.*: //'
printf 'load %s, %s\n' "$(cut -d' ' -f1 /proc/loadavg)" "$(${CC:-cc} --version | head -n 1)"
"$1/bench-limit" 200000
