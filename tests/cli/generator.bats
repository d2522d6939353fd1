load common

setup() {
    folder=$(mktemp -d)
    generator=$(dirname "$rung_program")/rung-gen
    cp -r "$repository/generated/cu" "$folder/cu"
}

teardown() {
    rm -rf "$folder"
}

@test "what is generated passes the check, and the check changes nothing" {
    expect 0 "$generator" --check --only sources --folder "$folder"
    diff -r "$repository/generated/cu" "$folder/cu"
}

@test "a stale, a missing and an extra file are each named, and writing repairs them" {
    echo >>"$folder/cu/reduce_v2_b256_const.cu"
    rm "$folder/cu/reduce_v3_b64_runtime.cu"
    echo >"$folder/cu/reduce_v99_b64_const.cu"
    expect 1 "$generator" --check --only sources --folder "$folder"
    says "stale: $folder/cu/reduce_v2_b256_const.cu" "missing: $folder/cu/reduce_v3_b64_runtime.cu" \
        "extra: $folder/cu/reduce_v99_b64_const.cu" "1 stale, 1 missing, 1 extra"
    expect 0 "$generator" --only sources --folder "$folder"
    says "2 written" "1 removed"
    diff -r "$repository/generated/cu" "$folder/cu"
}

@test "an empty folder is written whole" {
    expect 0 "$generator" --only sources --folder "$folder/new"
    diff -r "$repository/generated/cu" "$folder/new/cu"
}

@test "PTX of another compiler build is not checked, and says so" {
    need_nvrtc
    mkdir -p "$folder/ptx"
    echo "NVRTC 1.0 of long ago" >"$folder/ptx/TOOLKIT"
    expect 77 "$generator" --check --only ptx --folder "$folder"
    says "another build"
}

@test "any configuration can be printed, and one that cannot exist is refused" {
    expect 0 "$generator" --emit v1-b8-runtime-shift-dot-f64
    says "reduce_v1_b8_runtime_shift_dot_f64" "1u << j < blockDim.x" "static_assert"
    expect 2 "$generator" --emit v6-b256-runtime
    says "version 6" "runtime"
    expect 2 "$generator" --emit v1-b96-const
    says "96"
    expect 2 "$generator" --only everything
    says "everything"
}

@test "nothing of this machine is in what is generated" {
    absent grep -rIl -e "$repository" -e "$(date +%Y-%m)" "$repository/generated" \
        --include='*.cu' --include='*.ptx' --include=TOOLKIT
}
