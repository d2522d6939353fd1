load common

# What the program writes, against host/cli/rung.schema.json; skipped without python3-jsonschema.
setup() {
    folder=$(mktemp -d)
    python3 -c 'import jsonschema' 2>/dev/null || skip "no python3-jsonschema"
}

teardown() {
    rm -rf "$folder"
}

validate() {
    python3 "$BATS_TEST_DIRNAME/schema.py" "$repository/host/cli/rung.schema.json" "$@"
}

# write NAME COMMAND...: the document of a command; its exit status is no matter here.
write() {
    local name=$1
    shift
    rung "$@" --format json >"$folder/$name.json" 2>/dev/null || true
}

@test "the documents of every command are valid" {
    need_nvrtc
    write run run --device sim --n 0,3000 --bound all --version all --block 64
    write dot run --device sim --n 1000 --op dot --type f64,i32
    write sweep sweep --device sim --n 3000 --block 64 --counters
    write verify verify --device sim --version 1
    write controls verify --device sim --control all
    write model model --version all --block all
    write steps model --steps
    write trace trace v2-b64-const v5-plain
    write inspect inspect --version 1 --bound all --target sm_75,sm_120
    write diff inspect --diff v1-b256-const v1-b256-runtime
    write claims claims --device sim --n 3000
    write sum sum --device sim --n 100
    for command in list doctor cache; do
        write $command $command
    done
    rung sweep --device sim --n 3000 --block 64 -o "$folder/rows.jsonl" >/dev/null 2>&1
    write compare compare "$folder/rows.jsonl" "$folder/rows.jsonl"
    expect 0 validate "$folder"/*.json
}

@test "the lines of journals are valid: of the simulator, and of a card" {
    rung sweep --device sim --n 3000 --version all --block 64 --bound all -o "$folder/rows.jsonl" \
        >/dev/null 2>&1
    rung sweep --device sim --n 4000 --block 64 --counters -o "$folder/rows.jsonl" >/dev/null 2>&1
    rung sweep --noise --device sim --n 4000 --block 64 -o "$folder/noise.jsonl" >/dev/null 2>&1
    expect 0 validate "$folder"/*.jsonl "$repository"/generated/h200/*.jsonl
}

@test "a row that could not be measured is valid" {
    RUNG_NVRTC=/nonexistent rung sweep --device sim --n 10 --block 4 --version 1 --op dot \
        --type i32 --bound runtime -o "$folder/rows.jsonl" >/dev/null 2>&1 || true
    grep -q '"status":"[a-z]*","reason":"' "$folder/rows.jsonl"
    expect 0 validate "$folder/rows.jsonl"
}

@test "what is not so is refused, and named" {
    rung model --version 1 --format json >"$folder/good.json"
    expect 0 validate "$folder/good.json"
    refuse() {
        jq "$1" "$folder/good.json" >"$folder/bad.json"
        expect 1 validate "$folder/bad.json"
        says "$2"
    }
    refuse 'del(.rows[0].time_ms)' "'time_ms' is a required property"
    refuse '.rows[0].block = 3' "rows/0/block"
    refuse '.rows[0].bound = "sometimes"' "rows/0/bound"
    refuse '.rows[0].model.body_runs = "47"' "rows/0/model"
    refuse '.rows[0].status = "wrong"' "rows/0/reason"
    refuse '.schema = "rung/2"' "schema"
    refuse 'del(.environment.date)' "'date' is a required property"
    sed '1s/"schema":"rung-journal.1",//' "$repository/generated/h200/all.jsonl" >"$folder/bad.jsonl"
    expect 1 validate "$folder/bad.jsonl"
    says "'schema' is a required property"
}
