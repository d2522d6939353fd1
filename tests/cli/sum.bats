load common

@test "librung is verified on the simulator, each size and type" {
    expect 0 rung sum --device sim --check --op all --type all --n 0,1,4097,100003
    says "wide" "narrow" "block" "sums verified" "tells no times"
    [ "$(grep -c ' ok ' <<<"$output")" -eq 24 ]
}

@test "its JSON has the launch and the sum, and null for times" {
    expect 0 rung sum --device sim --n 8192 --format json
    python3 - <<PY
import json
document = json.loads('''$output''')
assert document["command"] == "sum"
row, = document["rows"]
assert row["n"] == 8192 and row["kernel"] == "block" and row["blocks"] == 1
assert row["launches"] == 1 and row["bytes"] == 32768
assert row["correct"] is True and row["sum"] == row["expected"]
assert row["time_ms"] is None and row["gb_per_s"] is None and row["status"] == "ok"
PY
}

@test "what it cannot sum is named" {
    expect 2 rung sum --type f16
    says "f16" "f32, f64, i32"
    expect 2 rung sum --n -5
    says "-5"
    expect 2 rung sum 100
    says "'100'" "--n"
    expect 2 rung sum --version 3
}

@test "a size that does not fit is told before any sum" { # the first would take minutes
    expect 2 rung sum --device sim --n 2^28,2^40
    says "n = 1099511627776 does not fit"
}

@test "the seed may be any, and the help has the simulator's own size" {
    expect 0 rung sum --device sim --n 100003 --seed 18446744073709551615
    expect 2 rung sum --device sim --seed 1x
    says "'1x'" "2^64-1"
    expect 0 rung sum --help
    says "1000003 on"
    expect 0 rung sum --device sim
    says "1000003"
}

@test "sums that were taken are kept where a later one fails" {
    nm -D "$rung_program" | grep __asan_ >/dev/null && skip "a sanitizer needs the address space"
    small() { (ulimit -v 300000 && rung sum --device sim --n 1000,2^27 "$@"); }
    expect 4 small
    says "1000  block" "sum of f32 at n = 134217728: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY"
    expect 4 small --format csv
    says "sum,f32,1000,block,1 x 64,ok"
}
