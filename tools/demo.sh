#!/bin/sh
# Demonstrates fair share: three accounts with 50, 30 and 20 shares compete for four CPU slots of a private instance, with
# real short jobs. The script draws their usage every three seconds. It takes about half a minute and removes all its files.
#
#   sh tools/demo.sh BUILD        BUILD: the directory with the programs
set -eu

build=$(cd "${1:?the build directory}" && pwd)
fairlead=$build/fairlead
seconds=${DEMO_SECONDS:-24}
folder=$(mktemp -d "${TMPDIR:-/tmp}/fairlead-demo.XXXXXX")
FAIRLEAD_SOCKET=$folder/state/fairlead.sock
export FAIRLEAD_SOCKET

finish() {
    trap - EXIT INT TERM
    "$fairlead" cancel --all >/dev/null 2>&1 || true
    wait_for_tasks
    "$fairlead" stop --state "$folder/state" >/dev/null 2>&1 || true
    end_launcher
    rm -rf "$folder"
}

wait_for_tasks() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
        [ -n "$("$fairlead" queue -P --noheader 2>/dev/null | head -n 1)" ] || return 0
        sleep 0.2
    done
}

# An idle launcher exits after ten seconds; the demo ends it at once.
end_launcher() {
    for process in /proc/[0-9]*; do
        if { tr '\0' ' ' <"$process/cmdline"; } 2>/dev/null | grep -q "fairlead-launcher.*$folder/state"; then
            kill "${process#/proc/}" 2>/dev/null || true
        fi
    done
}

trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

bold= dim= plain= home=
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m')
    home=$(printf '\033[7A\r\033[J')
fi

say() { printf '%s\n' "$*"; }
run() { printf '%s  $ fairlead %s%s\n' "$dim" "$*" "$plain"; "$fairlead" "$@" >/dev/null; }

# Each account's promised and received fractions, its running and pending tasks, and a bar of at most 40 columns.
draw_shares() {
    { "$fairlead" queue -P && echo = && "$fairlead" share -P; } | awk -F '|' -v bold="$bold" -v plain="$plain" '
        function task_count(id,   ranges, ends, n, i, sum) { # of "7_[3-9,12%4]"
            gsub(/.*\[|[%\]].*/, "", id)
            n = split(id, ranges, ",")
            for (i = 1; i <= n; i++) sum += split(ranges[i], ends, "-") == 2 ? ends[2] - ends[1] + 1 : 1
            return sum
        }
        $0 == "=" { shares = 1; names = 0; next }
        !names { for (i = 1; i <= NF; i++) column[$i] = i; names = 1; next }
        !shares && $column["state"] == "PENDING" { waiting[$column["account"]] += task_count($column["id"]); next }
        !shares { running[$column["account"]]++; next }
        { sub(/^ +/, "", $1) }
        $column["User"] == "" && $1 != "root" && $1 != "default" {
            promised = $column["NormShares"]; received = $column["EffectvUsage"]
            bar = ""; for (i = 0; i < received * 40; i++) bar = bar "#"
            mark = int(promised * 40 + 0.5)
            while (length(bar) < 42) bar = bar " "
            bar = substr(bar, 1, mark) "|" substr(bar, mark + 1); sub(/ +$/, "", bar)
            printf "  %s%-10s%s %6.1f %%   %6.1f %%   %7d   %7d   %s\n", bold, $1, plain, promised * 100, received * 100,
                   running[$1], waiting[$1], bar
        }'
}

draw() {
    say "  after $1 s"
    say
    say "  account    promised   received   running   waiting   (| marks the promise)"
    draw_shares
    say
}

say "${bold}Fairlead: three accounts share four CPU slots of this machine${plain}"
say
run start --state "$folder/state"
run set host_cpus=4 halflife_s=0 grace_s=1
run account add physics --shares 50
run account add biology --shares 30
run account add chemistry --shares 20
user=$(id -un)
for account in physics biology chemistry; do run user add "$user" -A "$account"; done
say
say "  Each account submits the same: an array of 500 tasks that compute for about 0.3 s."
cat >"$folder/work.sh" <<'WORK'
#!/bin/sh
end=$(($(date +%s%N) / 1000000 + 200 + FAIRLEAD_ARRAY_TASK_ID * 37 % 200))
while [ $(($(date +%s%N) / 1000000)) -lt $end ]; do :; done
WORK
for account in physics biology chemistry; do
    run submit -A "$account" -J "$account" --mem 16 --array 0-499 -o /dev/null -D "$folder" "$folder/work.sh"
done
say

elapsed=0
draw 0
while [ "$elapsed" -lt "$seconds" ]; do
    sleep 3
    elapsed=$((elapsed + 3))
    [ -z "$home" ] || printf '%s' "$home"
    draw "$elapsed"
done

say "${bold}Promised and received${plain}"
say
"$fairlead" cancel --all >/dev/null
say "  account    promised   received"
draw_shares | cut -c "1-$((32 + ${#bold} + ${#plain}))"
say
say "  There is no calculation period: a running job counts from its first second,"
say "  and the account furthest below its promise starts the next job."
say
say "${bold}Try it yourself${plain}"
say
case "$build" in "$(pwd)/"*) shown=${build#"$(pwd)/"}/ ;; *) shown=$build/ ;; esac
say "  ${shown}fairlead start                      # your private instance"
say "  ${shown}fairlead submit -n 1 -- sleep 10    # a job"
say "  ${shown}fairlead queue                      # pending and running jobs"
say "  ${shown}fairlead share                      # shares, usage, rank"
say "  ${shown}fairlead stop"
