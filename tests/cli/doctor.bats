load common

setup() {
    folder=$(mktemp -d)
}

teardown() {
    rm -rf "$folder"
}

@test "every part is ok, noted, or missing with what provides it" {
    rung doctor --format json | jq -e '
        (.rows | length) >= 9 and
        all(.rows[]; (.state | IN("ok", "note", "missing")) and (.found | length) > 0) and
        all(.rows[] | select(.state == "missing"); .provided_by != null) and
        ([.rows[].part] | contains(["driver", "nvrtc", "simulator", "nvdisasm", "ptxas", "cache"]))'
}

@test "lines fit 80 columns but for paths, and no colour leaves a terminal" {
    expect 0 rung doctor
    says "This machine can generate and model"
    printf '%s\n' "$output" | grep -v / | absent grep -E '.{81}'
    printf '%s\n' "$output" | absent grep -q $'\033'
}

@test "the cache that is in use is named" {
    RUNG_CACHE_DIR=$folder/mine expect 0 rung doctor
    says "$folder/mine"
    RUNG_CACHE_DIR=/dev/null/x rung doctor --format csv | grep '^cache,note'
}

@test "without compiler and images nothing can be simulated: exit 3" {
    cp "$rung_program" "$folder/rung" # away from the images of the build
    expect 3 "$folder/rung" doctor --nvrtc "$folder/nonexistent"
    says "$folder/nonexistent" "tools/setup" "It cannot" "simulate"
}

@test "an image folder is enough to simulate" {
    mkdir -p "$folder/images/sm_75"
    RUNG_IMAGE_PATH=$folder/images expect 0 rung doctor --nvrtc "$folder/nonexistent"
    says "$folder/images: sm_75"
}

@test "a driver library that is none is said so" {
    expect 0 rung doctor --driver "$folder/nonexistent.so"
    says "$folder/nonexistent.so"
    echo "no library" >"$folder/text.so"
    expect 0 rung doctor --driver "$folder/text.so"
    says "$folder/text.so"
}

@test "bad input" {
    expect 2 rung doctor please
    says please
    expect 2 rung doctor --format yaml
    says yaml
}

@test "--opcodes lists what the simulator executes, in 80 columns" {
    expect 0 rung doctor --opcodes
    says "opcode     operands types | modifiers"
    says "shfl       5      .b32 | .sync .up .down .bfly .idx"
    rung doctor --opcodes | absent grep -q '.\{81\}'
}
