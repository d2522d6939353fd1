#!/usr/bin/env bats
# rung sweep, compare and best on the simulator: cells, journals, resuming, and what a kill leaves.
load common

setup() {
    work=$(mktemp -d)
    journal=$work/journal.jsonl
}

teardown() {
    rm -rf "$work"
}

small() {
    rung sweep --device sim --n 1000 "$@"
}

rows_of() {
    grep -c '"record":"row"' "$1" || true
}

# The ids of finished rows, one a line, sorted; a row that is there twice shows.
ids_of() {
    grep '"record":"row"' "$1" | sed 's/.*"id":"\([^"]*\)".*/\1/' | sort
}

@test "sweep: the default is 48 cells, and a shard every third of them" {
    expect 0 small --list
    says "48 cells" "v1-b32-const" "v4-b1024-runtime"
    for shard in 0 1 2; do
        small --list --shard "$shard/3" 2>/dev/null | grep -o 'v[0-9]-[^ ]*' >>"$work/ids"
    done
    [ "$(sort -u "$work/ids" | wc -l)" -eq 48 ]
    [ "$(wc -l <"$work/ids")" -eq 48 ]
}

@test "sweep: a condition leaves cells out, and the dry run counts them" {
    expect 0 small --dry-run --where 'block <= 64 && (version == 1 || bound == runtime)'
    says "10 cells of 48 in the product, 10 to measure, with 10 images"
}

@test "sweep: what is typed wrong is named before anything runs" {
    expect 2 small --where 'blok == 64'
    says "'blok' is no axis" "version, block"
    expect 2 small --where 'block == 64000'
    says "leaves none of 48 cells"
    expect 2 small --shard 3/3
    says "'3/3'" "counted from 0"
    expect 2 small --shard 0/4294967297 --list
    says "'0/4294967297'" "counted from 0"
    expect 2 small --shard 4294967297/4294967298 --list
    says "'4294967297/4294967298'" "counted from 0"
    expect 2 small --timer graph --state clean
    says "rotate or warm, not clean"
    expect 2 small --state cold
    says "'cold'" "clean, dirty, rotate, warm"
    expect 2 small --retry
    says "-o FILE"
    expect 3 small -o /nonexistent/journal
    says "/nonexistent/journal cannot be written"
    expect 2 small --version 6 --bound runtime
    says "version 6"
}

@test "sweep: counts of the simulator, no times, in the order of the axes" {
    expect 0 small --block 64,256 --bound const
    output=$(tr -s ' ' <<<"$output")
    says "simulator" "v1-b256-const 47 47" "v2-b256-const 12 47" "v3-b256-const 12 12"
    expect 0 small --block 64 --bound const --format json
    says '"command": "sweep"' '"time_ms": null' '"schema": "rung/1"'
}

@test "sweep: the same command measures what is missing, and nothing twice" {
    expect 0 small --block 64 -o "$journal"
    [ "$(rows_of "$journal")" -eq 8 ]
    expect 0 small --block 64 -o "$journal"
    says "8 of 8 cells are in"
    expect 0 small --block 64,128 -o "$journal"
    says "8 of 16 cells are in"
    [ "$(rows_of "$journal")" -eq 16 ]
    [ "$(ids_of "$journal" | uniq -d | wc -l)" -eq 0 ]
    grep -q '"record":"run".*"schema":"rung-journal/1".*"seed"' "$journal"
    grep -q '"record":"end".*"status":"ok"' "$journal"
}

@test "sweep: a cut journal keeps what is whole, and is gone on with" {
    expect 0 small --block 64 -o "$journal"
    head -c -100 "$journal" >"$work/cut.jsonl" # inside the end record
    for cut in 300 1500 4000; do
        head -c "-$cut" "$journal" >"$work/cut.jsonl"
        expect 0 small --block 64 -o "$work/cut.jsonl"
        [ "$(ids_of "$work/cut.jsonl" | uniq | wc -l)" -eq 8 ]
        expect 0 rung compare --fail-on any "$journal" "$work/cut.jsonl"
        says "8 same"
    done
}

@test "sweep: a file that is no journal is left as it is" {
    printf 'hello\n' >"$work/text"
    expect 2 small -o "$work/text"
    says "holds no results: line 1"
    [ "$(cat "$work/text")" = hello ]
    printf '{"record":"run","schema":"rung-journal/99"}\n' >"$work/later"
    expect 2 small -o "$work/later"
    says "rung-journal/99"
}

@test "sweep: two sweeps into one journal are refused" {
    small --version 1:4 --n 3000000 -o "$journal" >/dev/null 2>&1 &
    local first=$!
    for _ in $(seq 100); do
        [ -s "$journal" ] && break
        sleep 0.05
    done
    expect 2 small -o "$journal"
    says "is being written by another sweep"
    kill -9 $first
    wait $first || true
}

@test "sweep: an interrupt keeps the finished rows and exits with 130" {
    "$rung_program" sweep --device sim --n 3000000 -o "$journal" >/dev/null 2>"$work/log" &
    local pid=$!
    for _ in $(seq 200); do
        [ "$(rows_of "$journal" 2>/dev/null)" -ge 2 ] 2>/dev/null && break
        sleep 0.05
    done
    kill -INT $pid
    local status=0
    wait $pid || status=$?
    [ "$status" -eq 130 ]
    grep -q 'the same command measures the others' "$work/log"
    grep -q '"record":"end","status":"interrupted"' "$journal"
    [ "$(rows_of "$journal")" -ge 2 ]
}

# Killed outright at random moments, again and again; every journal is gone on with until it is
# complete, and then a new one is begun.
@test "sweep: no finished row is lost or doubled by a kill" {
    local kills=${RUNG_TEST_KILLS:-60} done_kills=0 journals=0
    RANDOM=7
    while [ "$done_kills" -lt "$kills" ]; do
        : >"$journal"
        : >"$work/before"
        journals=$((journals + 1))
        while :; do
            "$rung_program" sweep --device sim --n 1000 --block 64:256:*2 -o "$journal" \
                >/dev/null 2>&1 &
            local pid=$!
            sleep "0.$(printf '%03d' $((RANDOM % 250)))"
            kill -9 $pid 2>/dev/null && done_kills=$((done_kills + 1))
            wait $pid 2>/dev/null || true
            ids_of "$journal" >"$work/after"
            [ "$(uniq -d <"$work/after" | wc -l)" -eq 0 ]                     # none doubled
            [ "$(comm -23 "$work/before" "$work/after" | wc -l)" -eq 0 ]      # none lost
            cp "$work/after" "$work/before"
            [ "$(wc -l <"$work/after")" -eq 24 ] && break
        done
        expect 0 small --block 64:256:*2 -o "$journal"
        says "24 of 24 cells are in"
    done
    [ "$journals" -ge 1 ]
}

@test "sweep: the machine against itself counts, and raises no false alarm" {
    expect 0 small --version 1,3 --block 64 --bound const --noise
    says "2 same" "0 false alarms among 2 pairs"
}

@test "sweep: model and simulator in one table of counters" {
    expect 0 small --version 1:3 --block 256 --bound const --counters
    output=$(tr -s ' ' <<<"$output")
    # What an H200 counts for one block: 95 and 55 wavefronts, 35 of version 2's stores conflicts.
    says "simulator 47 47 95 0 55 0" "simulator 12 47 95 70 55 35" "simulator 12 12 25 0 20 0" \
        "no counters of a card: the simulator counts itself"
}

@test "sweep: the last lines say where the time went, in 80 columns" {
    small --version 1:4 --block 64 --bound const 2>"$work/log" >/dev/null
    grep -qE '^rung sweep: 4 cells in [0-9.]+ s: [0-9.]+ loading and verifying, [0-9.]+ sampling;$' \
        "$work/log"
    grep -qE '^  [0-9.]+ \([0-9.]+ %\) outside: [0-9.]+ process and context, [0-9.]+ images, [0-9.]+ journal$' \
        "$work/log"
    absent grep -E '.{81}' "$work/log"
}

@test "compare: classes, reasons and exit statuses" {
    small --version 1:3 --block 64 --bound const -o "$work/a" >/dev/null 2>&1
    small --version 2:4 --block 64 --bound const -o "$work/b" >/dev/null 2>&1
    expect 1 rung compare --explain "$work/a" "$work/b"
    says "missing" "in A only" "new" "in B only" "the counts are equal" "2 same, 1 missing, 1 new"
    expect 0 rung compare --fail-on none "$work/a" "$work/b"
    expect 1 rung compare --fail-on any "$work/b" "$work/a"
    expect 0 rung compare "$work/a" "$work/a"
    expect 2 rung compare "$work/a"
    says "two result files"
    expect 3 rung compare "$work/a" "$work/none"
    says "none"
    expect 2 rung compare --fail-on never "$work/a" "$work/b"
    says "'never'"
}

@test "compare: a file without rows is no file to compare with" {
    small --version 1 --block 64 --bound const -o "$work/a" >/dev/null 2>&1
    : >"$work/empty"
    head -1 "$work/a" >"$work/begun"
    for none in empty begun; do
        expect 2 rung compare "$work/a" "$work/$none"
        says "$work/$none has no rows"
        expect 2 rung compare --fail-on none "$work/$none" "$work/a"
        says "$work/$none has no rows"
    done
    expect 2 rung compare --format json -o "$work/out" "$work/empty" "$work/empty"
    [ ! -e "$work/out" ]
    expect 0 rung compare --help
    says "2 if a file has no"
}

# The journal is in the random order in which rows were finished.
@test "compare: rows stand in the order of the axes, the new ones among them" {
    small --version 1,3 --block 64,128 --bound all -o "$work/b" >/dev/null 2>&1
    { sed '/"record":"row"/d' "$work/b"; grep '"record":"row"' "$work/b" | grep -v v1-b64 | sort -r; } >"$work/a"
    rung compare --fail-on none "$work/a" "$work/b" --format csv | cut -d, -f1 | cut -d' ' -f1 >"$work/order"
    printf '%s\n' key v1-b64-const v3-b64-const v1-b64-runtime v3-b64-runtime v1-b128-const \
        v3-b128-const v1-b128-runtime v3-b128-runtime | diff - "$work/order"
}

@test "compare: the JSON of another command is a result file, too" {
    rung run --device sim --n 1000 --block 64 --format json -o "$work/run.json"
    small --block 64 --bound const -o "$work/sweep.jsonl" >/dev/null 2>&1
    expect 0 rung compare --fail-on any "$work/run.json" "$work/sweep.jsonl"
    says "4 same"
}

@test "best: without times there is nothing to choose by" {
    small --version 1 --block 64 --bound const -o "$journal" >/dev/null 2>&1
    expect 3 rung best "$journal"
    says "has no times"
}

@test "best: with times, as text and in every format" {
    rung run --device sim --n 1000 --block 64 --format json |
        jq '.rows |= map(.version as $v | .time_ms = {median: (1 / $v), min: (1 / $v), q1: (1 / $v),
            q3: (1 / $v), samples: [range(20) | 1 / $v]})' >"$work/timed.json"
    expect 0 rung best "$work/timed.json"
    says "Best of 4" "v4-b64-const" "next: v3-b64-const"
    expect 0 rung best "$work/timed.json" --format csv
    says "file,question,place,id,time_ms,ratio" "best,v4-b64-const,0.25,1.000" "next,v3-b64-const"
    expect 0 rung best "$work/timed.json" --format json -o "$work/best.json"
    jq -e '.command == "best" and .argv[0:2] == ["rung", "best"] and .environment.rung != null and
        (.rows | map(.id)) == ["v4-b64-const", "v3-b64-const"] and .rows[0].ratio == 1' \
        "$work/best.json"
    expect 2 rung best "$work/timed.json" --format xml
    expect 3 rung best "$work/none.json" --format json -o "$work/kept.json"
    [ ! -e "$work/kept.json" ]
}

@test "what all rows have in common is said only where there is something" {
    expect 0 rung sweep --device sim --version 1 --block 64 --n 1000,2000 --target sm_75,sm_90
    says "v1-b64-const n=1000 sm_75"
    case $output in *"All rows"*) false ;; esac
}
