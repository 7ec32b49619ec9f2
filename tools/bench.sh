#!/bin/sh
# Runs every benchmark, one after the other. Each prints its figures beside a yardstick that the same run measures.
#
#   sh tools/bench.sh BUILD [NAME...]        all, or only the named ones
set -u

build=${1:?the build directory}
shift
failed=0
ran=" "
for program in "$build"/bench/bench_* bench/bench_*.sh bench/bench_*.py; do
    [ -f "$program" ] && [ -x "$program" ] || continue
    name=$(basename "$program")
    name=${name#bench_}
    name=${name%.*}
    case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
    printf '\n== %s (%s)\n' "$name" "$program"
    ran="$ran$name "
    FAIRLEAD_BUILD=$build "$program" || { printf '%s: failed\n' "$name" >&2; failed=1; }
done
for name in "$@"; do
    case "$ran" in *" $name "*) continue ;; esac
    echo "there is no benchmark '$name' in $build/bench or bench" >&2
    failed=1
done
exit "$failed"
