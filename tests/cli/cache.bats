load common

setup() {
    folder=$(mktemp -d)
    export RUNG_CACHE_DIR=$folder/cache
}

teardown() {
    rm -rf "$folder"
}

@test "an empty cache is shown, and made for its user alone" {
    expect 0 rung cache
    says "$folder/cache" "entries          0"
    [ "$(stat -c %a "$folder/cache")" = 700 ]
    grep -q '^Signature: 8a477f597d28d172789f06886806bc55' "$folder/cache/CACHEDIR.TAG"
}

@test "path prints the folder and nothing else" {
    expect 0 rung cache path
    [ "$output" = "$folder/cache" ]
}

@test "JSON carries every figure" {
    rung cache show --format json | jq -e '
        .schema == "rung/1" and .command == "cache" and (.environment.rung | type) == "string" and
        .rows[0].entries == 0 and .rows[0].bytes == 0 and .rows[0].limit_bytes == 1073741824'
    RUNG_CACHE_LIMIT=2 rung cache --format json | jq -e '.rows[0].limit_bytes == 2097152'
}

@test "clear removes entries, damaged ones and what killed writers left, and nothing else" {
    rung cache >/dev/null
    mkdir "$RUNG_CACHE_DIR/ab"
    entry=$RUNG_CACHE_DIR/ab/$(printf 'c%.0s' $(seq 62))
    echo torn >"$entry"
    echo half >"$entry.12-0.tmp"
    echo mine >"$RUNG_CACHE_DIR/ab/notes"
    rung cache --format json | jq -e '.rows[0].entries == 1 and .rows[0].damaged == 1'
    expect 0 rung cache clear
    says "removed entries  1"
    [ ! -e "$entry" ] && [ ! -e "$entry.12-0.tmp" ] && [ -e "$RUNG_CACHE_DIR/ab/notes" ]
}

@test "prune removes what cannot be read" {
    rung cache >/dev/null
    mkdir "$RUNG_CACHE_DIR/ab"
    echo torn >"$RUNG_CACHE_DIR/ab/$(printf 'c%.0s' $(seq 62))"
    rung cache prune --format json |
        jq -e '.rows[0] | .removed_entries == 1 and .entries == 0 and .damaged == 0'
}

@test "bad input is refused by name, and nothing is removed" {
    expect 2 rung cache banana
    says banana "show, path, prune, clear"
    expect 2 rung cache prune --to 12x
    says 12x
    expect 2 rung cache clear --to 1
    says "--to belongs to prune"
    expect 2 rung cache show clear
    says show clear
    expect 2 rung cache --format xml
    says xml "table, json, csv, md"
    expect 2 rung cache --nosuch
}

@test "a folder that cannot be used is said so" {
    RUNG_CACHE_DIR=/dev/null/cache expect 3 rung cache
    says /dev/null
}

@test "-o leaves an old file as it was when the command fails" {
    echo old >"$folder/out"
    expect 2 rung cache banana -o "$folder/out"
    [ "$(cat "$folder/out")" = old ]
    expect 0 rung cache --format csv -o "$folder/out"
    grep -q '^entries,0$' "$folder/out"
}
