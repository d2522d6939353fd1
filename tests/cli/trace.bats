load common

setup() {
    folder=$(mktemp -d)
    export RUNG_CACHE_DIR=$folder/cache
}

teardown() {
    rm -rf "$folder"
}

@test "bad ids, inputs and forms are named and exit 2" {
    expect 2 rung trace
    says "an id is needed"
    expect 2 rung trace v3-b9-const
    says "9" "power of two"
    expect 2 rung trace nonsense
    says "nonsense"
    expect 2 rung trace v3-b8-const --n 9
    says "--n '9'" "v3-b8-const" "0 to 8"
    expect 2 rung trace v4-b8-const --n 17
    says "--n '17'" "v4-b8-const" "0 to 16"
    expect 2 rung trace v3-b8-const --input 1,2,3,4,5,6,7,8,9
    says "9 numbers"
    expect 2 rung trace v3-b8-const --input 1,two,3
    says "number 2" "'two'"
    expect 2 rung trace v3-b8-const --input 1,,2
    says "1,,2" "missing"
    expect 2 rung trace v3-b8-const --input 1,2,3 --n 4
    says "3 numbers" "4 elements"
    expect 2 rung trace v3-b8-const-dot --input 1,2,3 --input-b 1,2
    says "--input-b" "2 numbers" "3 elements"
    expect 2 rung trace v3-b8-const --input-b ones
    says "--input-b" "v3-b8-const is a sum"
    expect 2 rung trace v3-b8-const-i32 --input 0.5
    says "0.5" "i32"
    expect 2 rung trace v3-b8-const --input "$folder/none"
    says "no such file"
    expect 2 rung trace v3-b8-const --block 8
    says "--block"
    expect 2 rung trace v3-b8-const --format csv
    says "csv"
    expect 2 rung trace v3-b8-const v1-b8-const -o "$folder/x.svg"
    says "one id"
    expect 2 rung trace v3-b8-const --device tpu
    says "'tpu'" "cuda:K"
    expect 2 rung trace v3-b8-const --image cubin
    says "PTX only"
    expect 2 rung trace v3-b8-const --driver /lib/libcuda.so.1
    says "--driver"
    expect 2 rung trace v3-b8-const --target sm_75,sm_90
    says "one target"
}

@test "the ending of -o names the form, or is refused" {
    cd "$folder"
    local name
    for name in x.pdf x.csv x.md x.jsonl a.html/x.png; do
        expect 2 rung trace v1-b8-const -o "$name"
        says "-o '$name'" ".html, .svg, .json or .txt"
    done
    expect 2 rung trace v1-b8-const -o x.html --format json
    says "-o 'x.html' and --format 'json'"
    expect 2 rung trace v1-b8-const -o x.json --format table
    expect 2 rung trace v1-b8-const -o x.svg --all
    says "--all"
    [ -z "$(ls)" ]
    need_nvrtc
    mkdir a.d
    for name in x.txt none a.d/none .hidden; do
        expect 0 rung trace v1-b8-const -o "$name"
        grep -q '^v1-b8-const' "$name"
    done
    expect 0 rung trace v1-b8-const -o x.HTML
    head -1 x.HTML | grep -q '<!doctype html>'
    expect 0 rung trace v1-b8-const -o x.json
    jq -e '.command == "trace"' x.json
    expect 0 rung trace v1-b8-const -o x.jsonl --format json
    jq -e '.command == "trace"' x.jsonl
}

@test "an option of a wrong value is named, with the value and what is allowed" {
    for value in 5000 9 x 1,2 -1 '' 2^50; do
        expect 2 rung trace v3-b8-const --n "$value"
        says "--n '$value'" "v3-b8-const" "0 to 8"
    done
    expect 2 rung trace v3-b8-const --input 1,2,3,4,5,6,7,8,9
    says "--input" "9 numbers" "0 to 8"
    for value in 7 x 4096 0 99999999999999999999999; do
        expect 2 rung trace v5-plain --block "$value"
        says "--block '$value'" "a power of two, 2 to 1024"
    done
    expect 2 rung trace v3-b8-const --format zork
    says "--format 'zork'" "table" "json"
}

@test "a refused command leaves an old file as it was" {
    echo old >"$folder/page.html"
    expect 2 rung trace v3-b8-const --n 9 -o "$folder/page.html"
    [ "$(cat "$folder/page.html")" = old ]
    [ "$(ls "$folder")" = page.html ]
}

@test "the seed's dot product makes 52" {
    expect 0 rung trace v3-b8-const-dot --input 1,2,3,4,5,6,7,8 --input-b 2,1,2,1,2,1,2,1
    says "T0: 2 + 10 = 12" "T2: 6 + 14 = 20" "T0: 12 + 20 = 32" "T0: 32 + 20 = 52" \
        "(1×2) + (2×1)" "= 2 + 2 + 6 + 4 + 10 + 6 + 14 + 8 = 52 ✓"
    case $output in *$'\033'*) return 1 ;; esac
    seed=$output
    expect 0 rung trace v3-b8-const-dot
    [ "$output" = "$seed" ]
}

@test "steps name the line of the source" {
    need_nvrtc
    expect 0 rung trace v3-b8-const
    says "tile[tid] += tile[tid + s]"
}

@test "numbers come from a file and from standard input" {
    printf '5 6\n7, 8\n' >"$folder/numbers"
    expect 0 rung trace v1-b4-const --input "$folder/numbers"
    says "result 26"
    run bash -c "printf '1 2 3' | '$rung_program' trace v1-b4-const --input -"
    [ "$status" -eq 0 ]
    says "result 6"
}

@test "json has the row's fields, and steps inside" {
    rung trace v2-b64-const --format json >"$folder/trace.json"
    python3 - "$folder/trace.json" <<'PYTHON'
import json, sys
document = json.load(open(sys.argv[1]))
assert document["schema"] == "rung/1" and document["command"] == "trace"
row = document["rows"][0]
assert row["id"] == "v2-b64-const" and row["n"] == 64 and row["block"] == 64
assert row["sum"] == row["expected"] == 64 * 65 // 2 and row["correct"] is True
assert row["executed"] == {"additions": 63, "body_runs": 6, "serialised": 11} == row["model"]
assert row["ptx_target"] == "sm_75" and row["image"] == "ptx"
assert row["time_ms"] is None and row["status"] == "ok"
assert [step["stride"] for step in row["steps"]] == [None, 1, 2, 4, 8, 16, 32, None]
assert row["steps"][1]["shared_before"] == list(range(1, 65))
assert row["steps"][6]["shared_after"][0] == 64 * 65 // 2
assert [step["kind"] for step in row["steps"]][0::7] == ["load", "write"]
PYTHON
}

@test "pictures: a page and an svg, whole and without links" {
    expect 0 rung trace v2-b256-const -o "$folder/conflicts.html"
    expect 0 rung trace v2-b256-const -o "$folder/conflicts.svg"
    expect 0 rung trace v3-b8-const-dot -o "$folder/dot.svg"
    expect 0 rung trace v1-b256-const v2-b256-const v3-b256-const -o "$folder/ladder.html"
    python3 -c "
import sys, xml.etree.ElementTree as tree
for path in sys.argv[1:]:
    tree.parse(path)" "$folder/conflicts.svg" "$folder/dot.svg"
    absent grep -l 'src=\|href=' "$folder"/*.html
    grep -q '8-way bank conflict' "$folder/conflicts.svg"
    [ "$(ls "$folder" | grep -vc 'html$\|svg$\|^cache$')" = 0 ]
}

@test "several versions end in the counts that separate them" {
    expect 0 rung trace v1-b256-const v2-b256-const v3-b256-const
    says "v1-b256-const        255         47          47" \
        "v2-b256-const        255         12          47" \
        "v3-b256-const        255         12          12"
}

@test "the pictures of the README are what the program makes" {
    need_nvrtc
    expect 0 rung trace v3-b8-const-dot -o "$folder/dot.svg"
    expect 0 rung trace v2-b256-const -o "$folder/conflicts.svg"
    cmp "$folder/dot.svg" "$repository/generated/pictures/trace-dot.svg"
    cmp "$folder/conflicts.svg" "$repository/generated/pictures/trace-conflicts.svg"
}

@test "negative controls show the mistake and exit 1" {
    need_nvrtc
    expect 1 rung trace v4-wrong-index --block 8
    says "reread" "unread" "made 112 of its input, not 136"
    expect 1 rung trace v1-barrier-in-branch
    says "barrier: only 32 of 64 threads arrive"
    expect 1 rung trace v5-one-syncwarp
    says "race" "T16 to T31"
    expect 1 rung trace v4-wrong-index -o "$folder/wrong.html"
    grep -q 'element 64 is read more than once' "$folder/wrong.html"
}

@test "NO_COLOR and a pipe print no colours" {
    rung trace v2-b64-const >"$folder/plain"
    absent grep -q $'\033' "$folder/plain"
    [ "$(wc -L <"$folder/plain")" -le 80 ]
}

@test "every target makes the same steps" {
    need_nvrtc
    for target in 75 90 120; do
        expect 0 rung trace v1-b64-const --target sm_$target
        printf '%s\n' "$output" | grep -v '│' >"$folder/$target"
    done
    cmp "$folder/75" "$folder/90"
    cmp "$folder/75" "$folder/120"
}

@test "without NVRTC an image made ahead of time serves, with lines of the PTX" {
    RUNG_IMAGE_PATH=$repository/generated/ptx RUNG_NVRTC=/nonexistent \
        expect 0 rung trace v3-b8-const-dot
    says "T0: 32 + 20 = 52" "PTX " "add.f32"
    RUNG_NVRTC=/nonexistent expect 3 rung trace v4-wrong-index
    says "v4-wrong-index needs NVRTC" "/nonexistent"
}

@test "an adversarial schedule changes no step of a right kernel" {
    rung trace v1-b256-const >"$folder/plain"
    rung trace v1-b256-const --seed 5 --input iota >"$folder/seeded"
    cmp "$folder/plain" "$folder/seeded"
}
