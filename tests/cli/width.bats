load common

# A terminal of 80 columns holds what is printed for people; paths and errors stay on one line.
setup() {
    folder=$(mktemp -d)
}

teardown() {
    rm -rf "$folder"
}

# fits COMMAND...: no line of its standard output is wider than 80 characters.
fits() {
    "$@" >"$folder/wide" 2>/dev/null || true
    [ -s "$folder/wide" ] || { echo "nothing printed: $*"; return 1; }
    LC_ALL=C.UTF-8 awk 'length($0) > 80 { print FILENAME ": " $0; bad = 1 } END { exit bad }' \
        "$folder/wide"
}

@test "every help fits" {
    fits rung --help
    for verb in $(rung --help | awk '/^  [a-z]/ { print $1 }'); do
        fits env COLUMNS=80 "$rung_program" "$verb" --help
    done
}

@test "rung --help names the commands in order" {
    verbs=$(rung --help | awk '/^  [a-z]/ { print $1 }')
    [ "$verbs" = "$(printf '%s\n' "$verbs" | sort)" ]
}

@test "the table fits where passes differ, and keeps its counts" {
    fits rung run --version all --device sim --n 65537
    expect 0 rung run --version all --device sim
    says "passes" "serialised"
    [ "$(printf '%s\n' "$output" | awk 'length($0) > 80' | wc -l)" = 0 ]
}

@test "the size of a small input is not nothing" {
    expect 0 rung run --version 1 --device sim --n 300
    says "<0.01"
}

@test "the controls, the list and the claims fit" {
    fits rung verify --control all --device sim
    fits rung list
    fits rung claims --device sim --n 3000
}

@test "a trace of the largest block fits" {
    rung trace v1-b1024-const >"$folder/trace"
    python3 -c 'import sys
sys.exit(max(len(line.rstrip("\n")) for line in open(sys.argv[1], encoding="utf-8")) > 80)' \
        "$folder/trace"
}

@test "a comparison and its reasons fit" {
    rows=$repository/generated/h200
    fits rung compare --explain "$rows/ladder.jsonl" "$rows/all.jsonl"
    rung compare --explain --fail-on none "$rows/all.jsonl" "$rows/all.jsonl" >"$folder/explained"
    # How wide the spread is, the example's own samples say.
    local spread
    spread=$(python3 - "$rows/all.jsonl" <<'PY'
import json, sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    if row.get("id") == "v8-b256-const":
        times = row["time_ms"]
        print("%.1f" % (100 * (times["q3"] - times["q1"]) / times["median"]))
PY
    )
    grep -q '^v8-b256-const .* unclear$' "$folder/explained"
    grep -q "^    spread of $spread % in A: a quieter machine or more samples$" "$folder/explained"
    rung compare --explain "$rows/all.jsonl" "$rows/all.jsonl" --format csv |
        grep -q "unclear,spread of $spread % in A"
}
