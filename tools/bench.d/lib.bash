# What the sections of tools/bench share: source it first, end with `finish`.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
goals_missed=0

# skip REASON: this section cannot run here.
skip() {
    printf '  skipped: %s\n' "$*"
    exit 77
}

# seconds COMMAND...: its wall time; its output goes to $work/log, and is shown if it fails.
seconds() {
    local start end
    start=$EPOCHREALTIME
    if ! "$@" >"$work/log" 2>&1; then
        tail -n 20 "$work/log" >&2
        exit 3
    fi
    end=$EPOCHREALTIME
    awk -v a="${start/,/.}" -v b="${end/,/.}" 'BEGIN {printf "%.6f", b - a}'
}

# median NUMBER...
median() {
    printf '%s\n' "$@" | sort -g | awk '{v[NR] = $1} END {
        print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'
}

# calculate EXPRESSION
calculate() {
    awk "BEGIN {printf \"%.9g\", ($1)}"
}

heading() {
    printf '  %-34s %10s %10s %8s  %s\n' "" ours peer ratio goal
}

# row WHAT OURS PEER UNIT GOAL: a line whose ratio is peer / ours, "times less". GOAL is the ratio
# wanted, or "".
row() {
    local ratio verdict=
    ratio=$(calculate "$3 / $2")
    if [ -n "$5" ]; then
        verdict="at least $5"
        if [ "$(calculate "$ratio >= $5")" = 0 ]; then
            verdict+=", missed"
            goals_missed=1
        fi
    fi
    printf '  %-34s %7.4g %s %7.4g %s %7.1fx  %s\n' "$1" "$2" "$4" "$3" "$4" "$ratio" "$verdict"
}

# limit WHAT VALUE UNIT LIMIT: a line with no peer, only a limit.
limit() {
    local verdict="at most $4 $3"
    if [ "$(calculate "$2 <= $4")" = 0 ]; then
        verdict+=", missed"
        goals_missed=1
    fi
    printf '  %-34s %7.4g %s %29s\n' "$1" "$2" "$3" "$verdict"
}

finish() {
    exit "$goals_missed"
}
