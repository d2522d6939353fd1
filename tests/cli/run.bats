load common

# Everything here runs on the simulator: results and counts, no times.
setup() {
    folder=$(mktemp -d)
    need_nvrtc
}

teardown() {
    rm -rf "$folder"
}

sim() {
    rung "$@" --device sim
}

@test "the page: device, model, results, steps, and the largest of them" {
    expect 0 sim run --n 100003
    says "rung PTX simulator (no timing)" "warp size 32" "Shared memory per block: 49152 bytes" \
        "Model per block of 256 threads" "Block 256, bound const: 100003 elements of f32" \
        "v1 -> v2" "v2 -> v3" "v3 -> v4" "Largest single step: v2 -> v3" \
        "4 of 4 configurations right, counts equal to the model"
    printf '%s\n' "$output" | grep -Eq '^1  .* 47 +47 +255$'
    printf '%s\n' "$output" | grep -Eq '^2  .* 12 +47 +255$'
    printf '%s\n' "$output" | grep -Eq '^3  .* 12 +12 +255$'
    printf '%s\n' "$output" | grep -Eq '^4  .* 12 +12 +511$'
    printf '%s\n' "$output" | absent grep -E '.{81}'
    printf '%s\n' "$output" | absent grep -E ' $|GB/s|\(ms\)'
    printf '%s\n' "$output" | absent grep -q $'\033'
}

@test "the document: every field of every row, and nothing on standard error" {
    sim run --n 5000 --version 1,3 --bound const,runtime --op sum,dot --type all --format json \
        >"$folder/out" 2>"$folder/err"
    [ ! -s "$folder/err" ]
    jq -e '.schema == "rung/1" and .command == "run" and (.argv | length) > 5 and
        (.environment | .rung != null and .date != null and (.device |
            .kind == "sim" and .name != null and .cc != null and .sm_count == 16 and
            has("driver") and has("l2_bytes")) and has("git") and has("nvrtc")) and
        (.rows | length) == 24' "$folder/out"
    jq -e 'all(.rows[]; . as $row |
        all("id", "version", "block", "bound", "unroll", "predicate", "op", "type", "n", "passes",
            "launches", "bytes", "sum", "expected", "correct", "model", "executed", "time_ms",
            "gb_per_s", "of_ceiling", "vs_v1", "ptx_target", "sass_target", "image", "registers",
            "shared_bytes", "status", "reason"; . as $key | $row | has($key)))' "$folder/out"
    jq -e 'all(.rows[]; .status == "ok" and .correct and .sum == .expected and .n == 5000 and
        .model == .executed and .time_ms == null and .gb_per_s == null and .of_ceiling == null and
        .vs_v1 == null and .image == "ptx" and .ptx_target == "sm_75" and .sass_target == null and
        .reason == null and .counters.warp_instructions > 0 and .verified_runs > 50)' "$folder/out"
    jq -e '[.rows[].id] | unique | length == 24' "$folder/out"
    jq -e '.rows[] | select(.id == "v3-b256-const") |
        .passes == 2 and .launches == 2 and .bytes == 4 * (5000 + 20 + 20 + 1)' "$folder/out"
}

@test "CSV has one line a row and the fields as columns" {
    sim run --n 1000 --format csv >"$folder/out"
    [ "$(wc -l <"$folder/out")" = 5 ]
    head -1 "$folder/out" | grep -q '^id,version,block,bound,unroll,predicate,op,type,n,passes,'
    [ "$(awk -F, '{print NF}' "$folder/out" | sort -u)" = 36 ]
    grep -q '^v2-b256-const,2,256,const,full,mod,sum,f32,1000,' "$folder/out"
}

@test "Markdown tables have as many cells in every line" {
    sim run --n 1000 --format md >"$folder/out"
    grep '^|' "$folder/out" | head -5 | awk -F'|' '{print NF}' | sort -u >"$folder/widths"
    [ "$(wc -l <"$folder/widths")" = 1 ]
    grep -q '^| --- | ---: | ---: | ---: |$' "$folder/out"
}

@test "-o writes the file, and a failed run leaves the old one" {
    echo old >"$folder/out"
    expect 0 sim run --n 100 --format json -o "$folder/out"
    [ -z "$output" ]
    jq -e '.rows | length == 4' "$folder/out"
    echo old >"$folder/out"
    expect 2 sim run --n 2^40 --format json -o "$folder/out"
    says "n = 1099511627776" "are needed" "are free"
    [ "$(cat "$folder/out")" = old ]
    [ "$(ls "$folder")" = out ]
    ln -s out "$folder/link"
    expect 0 sim run --n 100 --format csv -o "$folder/link"
    [ -L "$folder/link" ]
    head -1 "$folder/out" | grep -q '^id,'
    expect 0 sim run --n 100 -o /dev/null
    [ -c /dev/null ]
    expect 3 sh -c "'$rung_program' run --device sim --n 100 >/dev/full"
    says "standard output"
}

@test "any n, from nothing" {
    sim run --n 0,1,2,3,255,256,257,65537 --version all --format json >"$folder/out"
    jq -e '(.rows | length) == 64 and all(.rows[]; .correct and .sum == .expected) and
        ([.rows[].n] | unique) == [0, 1, 2, 3, 255, 256, 257, 65537]' "$folder/out"
    jq -e 'all(.rows[] | select(.n == 0);
        .sum == 0 and .passes == 1 and .launches == 1 and .bytes == 4)' "$folder/out"
    sim run --n 0,1,64Ki,2^12-1 --version 3 --format json |
        jq -e '[.rows[].n] == [0, 1, 65536, 4095]'
}

@test "the exercise of the page in one command: counted ratios 11:6, 47:12, 191:36" {
    expect 0 sim run --version 1,3 --block 64,256,1024 --n 4096
    says "Version 1 over version 3" "11:6" "47:12" "191:36" "3.92x" "5.31x"
}

@test "both bounds side by side" {
    expect 0 sim run --bound const,runtime --n 4096
    says "Both loop bounds" "ratio" "bound runtime"
    printf '%s\n' "$output" | absent grep -E '.{81}'
}

@test "the whole ladder, and what cannot exist is named and left out" {
    expect 0 sim run --version all --n 10000
    says "8 of 8 configurations right" "v7 -> v8"
    printf '%s\n' "$output" | absent grep -E '.{81}'
    expect 0 sim run --version all --bound runtime --n 1000
    says "left out v6-b256-runtime" "5 of 5"
    expect 2 sim run --version 6 --bound runtime --n 1000
    says "version 6 has no bound runtime"
}

@test "what the device or the compiler cannot exits 3" {
    expect 3 sim run --image cubin --n 100
    says "the simulator executes PTX only"
    expect 3 rung run --device cuda:7 --n 100
    expect 3 rung run --driver /nonexistent --device cuda --n 100
    says "/nonexistent"
}

@test "checks belong to the simulator and find nothing in the ladder" {
    expect 0 sim run --version all --check --seed 3 --n 3000
    says "8 of 8 configurations right"
}

@test "verify: every block, both bounds, both operations, all types" {
    expect 0 sim verify --block 2,64 --version 1,4 --bound all --op all --type all --n 2000
    says "48 of 48 configurations right in every run, counts equal"
    sim verify --version 1 --format json | jq -e '
        .command == "verify" and (.rows | length) == 1 and .rows[0].correct and .rows[0].n == 65537'
}

@test "targets: the same sums and counts from PTX of both code generators" {
    sim run --target sm_75,sm_90,sm_120 --bound const,runtime --n 3000 --format json >"$folder/out"
    jq -e '(.rows | length) == 24 and all(.rows[]; .correct and .model == .executed) and
        ([.rows[].ptx_target] | unique) == ["sm_120", "sm_75", "sm_90"]' "$folder/out"
    expect 2 sim run --target sm_74 --n 10
    says "--target 'sm_74'" "sm_75"
    expect 2 sim run --target 75 --n 10
    says "--target '75'"
}

@test "an interrupt keeps what there is and exits 130" {
    "$rung_program" run --device sim --version 1 --n 65536:1048576:512 --format csv \
        -o "$folder/out" 3>&- &
    local process=$! code=0
    sleep 2
    kill -INT $process
    wait $process || code=$?
    [ "$code" = 130 ]
    head -1 "$folder/out" | grep -q '^id,'
    [ "$(wc -l <"$folder/out")" -gt 1 ]
    [ "$(wc -l <"$folder/out")" -lt 1900 ]
    grep -v '^id,' "$folder/out" | absent grep -v ',ok,$'
    [ "$(ls "$folder")" = out ]
}

@test "the model is printed again where another type counts otherwise" {
    expect 0 rung run --device sim --n 1 --version 1,2 --type f32,f64
    says "Model per block of 256 threads, counted" "Model per block of 256 threads, sum of f64" \
        "1 element of f64"
    [ "$(printf '%s\n' "$output" | grep -c "^2 .* 55 ")" = 2 ]
}

@test "a size that does not fit is told before any row" { # the first would take minutes
    expect 2 rung run --device sim --version 1:4 --n 2^28,2^40
    says "n = 1099511627776 does not fit"
}
