#!/bin/bash
# setup.sh: installs, from Debian's packages, what is missing to build and to check; with everything present it does nothing.
#
#   ci/setup.sh [build] [check] [torch]      default: build check
#
# It looks for commands, headers and modules, not for package names, so that any other way of having them counts too.
# Something missing: root, or CI=true with sudo, installs it; anybody else is told the one command, exit status 2.
# CC (default cc) is the compiler whose headers are looked at.
set -euo pipefail

say() { printf 'setup: %s\n' "$*" >&2; }

read -r -a compiler <<<"${CC:-cc}"
case ${compiler[0]##*/} in
cc) compiler_package=gcc ;;
*) compiler_package=${compiler[0]##*/} ;; # gcc, clang, gcc-12, clang-14: packages of the same name
esac

has_command() { command -v "$1" >/dev/null; }
has_header() { has_command "${compiler[0]}" && printf '#include <%s>\n' "$1" | "${compiler[@]}" -E -x c - >/dev/null 2>&1; }
# -I: not from the current folder, where a file of ours may have the module's name.
has_module() {
    [ -x /usr/bin/python3 ] &&
        /usr/bin/python3 -I -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$1') is None)"
}

# Lines of: kind of thing, its name, the packages that bring it.
build_needs="
command ${compiler[0]} $compiler_package
command make make
command pkg-config pkg-config
command python3 python3
header stdio.h libc6-dev
header gsl/gsl_cdf.h libgsl-dev
header cjson/cJSON.h libcjson-dev
header openssl/evp.h libssl-dev
header Random123/philox.h librandom123-dev"
check_needs="$build_needs
header cmocka.h libcmocka-dev
header mpfr.h libmpfr-dev
command clang clang
command ${CXX:-g++} g++
command valgrind valgrind"
torch_needs="
module torch python3-torch"

# Sets lacks (names) and packages to what the lines of $1 ask for and this machine does not have.
look() {
    local kind name package
    lacks=() packages=()
    while read -r kind name package; do
        if [ -n "$kind" ] && ! "has_$kind" "$name"; then
            lacks+=("$name")
            packages+=("$package")
        fi
    done < <(sort -u <<<"$1")
}

[ $# -gt 0 ] || set -- check
needs=
for group in "$@"; do
    case $group in
    build) needs+=$build_needs ;;
    check) needs+=$check_needs ;;
    torch) needs+=$torch_needs ;;
    *)
        say "unknown group '$group': known are build, check, torch"
        exit 2
        ;;
    esac
done

look "$needs"
[ ${#lacks[@]} -gt 0 ] || exit 0

if ! has_command apt-get; then
    say "missing: ${lacks[*]}. There is no apt-get here: install by hand what Debian calls ${packages[*]}"
    exit 2
fi
install=(apt-get install -y --no-install-recommends "${packages[@]}")
root=()
if [ "$(id -u)" -ne 0 ]; then
    root=(sudo)
    if [ "${CI:-}" != true ] || ! has_command sudo; then
        say "missing: ${lacks[*]}. Run: sudo sh -c 'apt-get update && ${install[*]}'"
        exit 2
    fi
fi

say "installing ${packages[*]}"
quiet=(env DEBIAN_FRONTEND=noninteractive)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${root[@]}" apt-get update && "${root[@]}" "${quiet[@]}" "${install[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    say "apt-get failed, its last lines are above; the command was: ${install[*]}"
    exit 2
fi
look "$needs"
if [ ${#lacks[@]} -gt 0 ]; then
    say "still missing after the installation: ${lacks[*]}"
    exit 2
fi
