#!/bin/bash
# witness.sh ENGINE [PART]: asks an engine's released wheel every golden case of it and writes golden/witness/ENGINE.json;
# `make witness ENGINE=...` runs it. With PART only the cases with it in FILE#ID are asked, and nothing is written.
#
# golden/witness/ENGINE.txt pins the wheel and all that it is asked with, by SHA-256, and names the Python it needs in its
# first line. The environment (several GB: the engine's own PyTorch) is made once in $WITNESS_DIR/ENGINE (default: samplegate
# under $XDG_CACHE_HOME or ~/.cache) and made anew when the pins change or with FRESH=1. Python: $PYTHON, else the one named.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { printf 'witness: %s\n' "$*" >&2; exit 2; }

engines=
for pins in golden/witness/*.txt; do
    [ ! -f "$pins" ] || engines+=" $(basename "$pins" .txt)"
done
engine=${1:-}
pins=golden/witness/$engine.txt
[ -n "$engine" ] || fail "no engine named: make witness ENGINE=NAME; known:$engines"
case $engine in */*) fail "no engine '$engine'; known:$engines" ;; esac
[ -f "$pins" ] || fail "no engine '$engine'; known:$engines"

wanted=$(sed -n '1s/^# python \([0-9.]*\)$/\1/p' "$pins")
[ -n "$wanted" ] || fail "$pins: its first line must be '# python VERSION'"
python=${PYTHON:-python$wanted}
command -v "$python" >/dev/null || fail "$engine needs Python $wanted, and there is no '$python': install it, or set PYTHON"
found=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
[ "$found" = "$wanted" ] || fail "$engine needs Python $wanted, and '$python' is $found: set PYTHON"

home=${WITNESS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/samplegate/witness}/$engine
sum=$(sha256sum <"$pins")
if [ "${FRESH:-}" = 1 ] || [ "$(cat "$home/pins" 2>/dev/null || true)" != "$sum" ]; then
    printf 'witness: making the environment %s\n' "$home" >&2
    rm -rf "$home"
    mkdir -p "$home"
    "$python" -m venv "$home/venv"
    "$home/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: -r "$pins" ||
        fail "the pinned wheels of $engine could not be installed; what pip said is above"
    printf '%s\n' "$sum" >"$home/pins"
fi

# The user's own settings of an engine, of Python or of a hub must not change an answer.
while IFS='=' read -r name _; do
    case $name in SGLANG_* | SGL_* | VLLM_* | PYTHON* | TORCH* | HF_* | TRANSFORMERS_* | CUDA_* | OMP_*) unset "$name" ;; esac
done < <(env)
export CUDA_VISIBLE_DEVICES='' HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 PYTHONHASHSEED=0
if [ $# -gt 1 ]; then
    exec "$home/venv/bin/python" -B golden/witness/ask.py "$engine" "$2"
fi
"$home/venv/bin/python" -B golden/witness/ask.py "$engine"
python3 -B golden/model/write.py provenance sums
