#!/usr/bin/env bats
# rung report: the page, the kept plots, and the formats of other tools.
load common

setup() {
    work=$(mktemp -d)
    rung sweep --device sim --n 1000 --block 64,256 -o "$work/journal.jsonl" >/dev/null 2>&1
}

teardown() {
    rm -rf "$work"
}

@test "report: one page with everything in it and nothing fetched" {
    command -v gnuplot >/dev/null || skip "no gnuplot"
    expect 0 rung report "$work/journal.jsonl" -o "$work/page.html" --title 'Ladder <&> rungs'
    output=$(cat "$work/page.html")
    says "<!DOCTYPE html>" "Ladder &lt;&amp;&gt; rungs" "v3-b256-runtime" "<svg" "var(--s1)" \
        "prefers-color-scheme:dark" "rung PTX simulator" "</html>"
    # No address is fetched: the only ones are the names of SVG's own namespaces.
    absent grep -oE '(src|href)="?https?:' "$work/page.html"
    [ "$(grep -oE 'https?://[^"]*' "$work/page.html" | grep -cv 'www.w3.org')" -eq 0 ]
    [ "$(stat -c %s "$work/page.html")" -lt 1000000 ]
}

@test "report: the plots' scripts are kept, and gnuplot takes them as they are" {
    command -v gnuplot >/dev/null || skip "no gnuplot"
    expect 0 rung report "$work/journal.jsonl" -o "$work/page.html" --keep "$work/plots"
    [ -s "$work/plots/counts-256-1.gp" ]
    [ -s "$work/plots/counts-256-1.svg" ]
    run gnuplot "$work/plots/counts-256-1.gp"
    [ "$status" -eq 0 ]
    says "<svg"
}

@test "report: shards of one sweep make one page" {
    for shard in 0 1; do
        rung sweep --device sim --n 1000 --block 64 --shard "$shard/2" -o "$work/$shard.jsonl" \
            >/dev/null 2>&1
    done
    expect 0 rung report "$work/0.jsonl" "$work/1.jsonl" -o "$work/page.html"
    output=$(cat "$work/page.html")
    says "v1-b64-const" "v2-b64-const" "v3-b64-runtime" "v4-b64-runtime"
}

@test "report: CSV and Markdown carry the rows" {
    expect 0 rung report "$work/journal.jsonl" --export csv
    says "v2-b256-const,2,256,const"
    [ "$(rung report "$work/journal.jsonl" --export csv | wc -l)" -eq 17 ]
    expect 0 rung report "$work/journal.jsonl" --export md
    says "| v2-b256-const"
}

@test "report: a file's ending does not say something else than what is in it" {
    cd "$work"
    expect 2 rung report journal.jsonl -o x.pdf
    says "-o 'x.pdf'" ".html" "--export csv makes .csv"
    expect 2 rung report journal.jsonl -o x.csv
    expect 2 rung report journal.jsonl -o x.html --export csv
    expect 2 rung report journal.jsonl -o x.csv --export t4
    [ -z "$(ls | grep '^x')" ]
    expect 0 rung report journal.jsonl -o x.csv --export csv
    expect 0 rung report journal.jsonl -o x.json --export t4
    expect 0 rung report journal.jsonl -o without-ending
    expect 2 rung report journal.jsonl --export csv --title Ladder
    says "--title"
    expect 2 rung report journal.jsonl --export csv --keep plots
    says "--keep"
}

@test "report: nvbench's JSON and T4" {
    expect 0 rung report "$work/journal.jsonl" --export nvbench -o "$work/nvbench.json"
    output=$(cat "$work/nvbench.json")
    says '"string": "1.0.0"' '"name": "rung/sum/f32"' '"is_skipped": true' \
        '"name": "Device=0 version='
    expect 0 rung report "$work/journal.jsonl" --export t4
    says '"schema_version": "1.0.0"' '"invalidity": "correct"' '"serialised"'
}

@test "report: what cannot be read is named" {
    expect 3 rung report "$work/none"
    says "none"
    printf 'nonsense\n' >"$work/text"
    expect 2 rung report "$work/text"
    says "line 1"
    : >"$work/empty"
    expect 2 rung report "$work/empty"
    says "no rows"
    expect 2 rung report --export xls "$work/journal.jsonl"
    says "'xls'"
}
