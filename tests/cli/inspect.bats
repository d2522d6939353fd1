load common

setup() {
    folder=$(mktemp -d)
    forms=$repository/tests/data/inspect/forms.cu
}

teardown() {
    rm -rf "$folder"
}

# Tests of SASS are skipped without a disassembler.
need_nvdisasm() {
    rung inspect --target sm_75 --format json v1-b256-const 2>/dev/null |
        jq -e '.rows[0].sass != null' >/dev/null || skip "no nvdisasm on this machine"
}

@test "a known bound divides or masks by the target, a hand-written mask never divides" {
    need_nvrtc
    rung inspect --bound const,runtime --version 1 --predicate mod,mask,opaque --target all \
        --format json 2>/dev/null | jq -e '
        .schema == "rung/1" and .command == "inspect" and
        ([.rows[] | select(.id == "v1-b256-const") | .ptx.verdict] | unique) == ["mask"] and
        ([.rows[] | select(.id == "v1-b256-const-mask") | .ptx.verdict] | unique) == ["mask"] and
        ([.rows[] | select(.id | endswith("-opaque")) | .ptx.verdict] | unique) == ["divide"] and
        all(.rows[] | select(.id == "v1-b256-runtime");
            .ptx.verdict == (if (.nvvm | split(".")[0] | tonumber) < 20
                             then "divide" else "mask" end))'
}

@test "rows have every field of the contract" {
    need_nvrtc
    rung inspect v1-b256-runtime --target sm_75 --format json 2>/dev/null | jq -e '
        (.rows | length) == 1 and (.rows[0] |
        .id == "v1-b256-runtime" and .kernel == "reduce_v1_b256_runtime" and
        .target == "sm_75" and (.nvrtc | type) == "string" and .nvvm == "7.0.1" and
        .status == "ok" and .ptx.verdict == "divide" and .ptx.divide == 1 and .ptx.mask == 0 and
        .ptx.multiply == 0 and .ptx.barriers == 2 and
        any(.ptx.evidence[]; test("^[0-9]+: rem.u32 ")))'
}

@test "SASS says the same, with offsets" {
    need_nvrtc
    need_nvdisasm
    rung inspect v1-b256-runtime v1-b256-const --target sm_75,sm_90 --format json | jq -e '
        (.rows | length) == 4 and all(.rows[]; .agree == "agree" and .sass_target == .target) and
        any(.rows[0].sass.evidence[]; test("^0x[0-9a-f]{4}: MUFU.RCP")) and
        .rows[2].sass.mask == 8 and .rows[2].registers > 0 and .rows[2].shared_bytes == 1024'
}

@test "without a disassembler sass is null and says why" {
    need_nvrtc
    expect 0 rung inspect v2-b64-const --target sm_75 --nvdisasm /bin/false --format json
    rung inspect v2-b64-const --target sm_75 --nvdisasm /bin/false --format json 2>/dev/null |
        jq -e '.rows[0] | .sass == null and .agree == null and .ptx.verdict == "none" and
               (.reason | contains("/bin/false"))'
    expect 3 rung inspect v2-b64-const --nvdisasm "$folder/none"
    says "$folder/none"
}

@test "the table fits 80 columns and joins targets that say the same" {
    need_nvrtc
    rung inspect --bound const,runtime --unroll all --predicate all --version 1 --target all \
        >"$folder/table" 2>/dev/null
    [ "$(wc -L <"$folder/table")" -le 80 ]
    [ "$(grep -c '^v1-b256-runtime ' "$folder/table")" -le 3 ]
    grep -q '^v1-b256-runtime  *75-90 .*divide.*rem\.u32' "$folder/table"
}

@test "a file of the user's, kernel by kernel" {
    need_nvrtc
    expect 0 rung inspect "$forms" --target sm_75
    says "by_three " "multiply" "lane_scan" "mixed"
    rung inspect "$forms" --target sm_75 --format json 2>/dev/null | jq -e --arg file "$forms" '
        all(.rows[]; .file == $file and .id == null) and
        (.rows[] | select(.kernel == "long_divisor") | .ptx.divide) == 2'
}

@test "source that does not compile shows the log with its own line, and exits 3" {
    need_nvrtc
    printf '__global__ void k(float *p)\n{\n    p[0] = missing;\n}\n' >"$folder/bad.cu"
    expect 3 rung inspect "$folder/bad.cu" --target sm_75
    says "$folder/bad.cu(3): error" "missing"
    expect 4 rung inspect "$folder/bad.cu" v3-b64-const --target sm_75
    says "1 of 2" "v3-b64-const"
}

@test "a whole program is told how to be inspected, CUDA's own headers are found" {
    need_nvrtc
    printf '#include <cstdio>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n' \
        >"$folder/program.cu"
    expect 3 rung inspect "$folder/program.cu" --target sm_75
    says "$folder/program.cu(1)" "nvcc -arch=sm_75 -cubin"
    include=$(rung doctor --format json | jq -r '.rows[] | select(.part == "nvrtc") | .found' |
        grep -o '/[^ ,;]*' | head -1)
    [ -e "$(dirname "$include")/../include/cuda_fp16.h" ] || skip "no headers beside NVRTC"
    printf '#include <cuda_fp16.h>\n__global__ void k(__half *p)\n{\n    if (threadIdx.x %% 4 == 0)\n%s' \
        '        p[threadIdx.x] = p[threadIdx.x] + p[threadIdx.x + 2];
}
' >"$folder/half.cu"
    expect 0 rung inspect "$folder/half.cu" --target sm_75
    says "mask"
}

@test "PTX and cubins from files" {
    expect 0 rung inspect "$repository/generated/ptx/sm_75/reduce_v1_b256_runtime.ptx"
    says "divide" "rem.u32"
    expect 0 rung inspect "$repository/tests/data/cubin/two_sm75.cubin" --format json
    head -c 700 "$repository/tests/data/cubin/two_sm75.cubin" >"$folder/half.cubin"
    expect 2 rung inspect "$folder/half.cubin"
    says "$folder/half.cubin" "damaged cubin of 700 bytes"
    head -c 1500 "$repository/generated/ptx/sm_75/reduce_v1_b256_runtime.ptx" >"$folder/half.ptx"
    expect 3 rung inspect "$folder/half.ptx"
    says "$folder/half.ptx" "line"
}

@test "what is neither file nor id, and targets that are not there" {
    expect 2 rung inspect nosuch
    says "'nosuch' is neither a file nor an id"
    expect 2 rung inspect v6-b256-runtime
    says "version 6" 
    expect 2 rung inspect "$BATS_TEST_FILENAME"
    says "CUDA source is known by its name"
    expect 2 rung inspect --show nothing
    says "ptx, sass, source"
    need_nvrtc
    expect 2 rung inspect v1-b64-const --target sm_33
    says "sm_33" "sm_75" "sm_90"
    expect 3 rung inspect v1-b64-const --nvrtc "$folder"
    says "$folder"
}

@test "listings mark the lines that decided" {
    need_nvrtc
    expect 0 rung inspect v1-b64-const --target sm_75 --show ptx
    [ "$(grep -c '^> .*and\.b' <<<"$output")" -eq 6 ]
    expect 0 rung inspect v1-b64-runtime --target sm_75 --show source
    [ "$(grep -c '^>' <<<"$output")" -eq 1 ]
    grep -q '^> .*if (tid % (2 \* s) == 0)' <<<"$output"
    need_nvdisasm
    expect 0 rung inspect v1-b64-const --target sm_75 --show sass
    [ "$(grep -c '^> .*LOP3.LUT' <<<"$output")" -eq 6 ]
}

@test "a difference counts what the division costs" {
    need_nvrtc
    need_nvdisasm
    rung inspect --diff v1-b256-runtime v1-b256-runtime-mask --target sm_75 --format json \
        2>/dev/null | jq -e '
        (.rows | length) == 1 and (.rows[0] |
        .a.verdict == "divide" and .b.verdict == "mask" and
        .a.instructions > .b.instructions and
        .a.classes.barrier == 2 and .b.classes.barrier == 2 and
        .a.classes.load_shared == 3 and .b.classes.load_shared == 3 and
        .a.classes.store_shared == 2 and
        (.lines | length) > 0 and all(.lines[]; .a != .b))'
    rung inspect --diff v1-b64-const@sm_75 v1-b64-const@sm_75 --format json 2>/dev/null |
        jq -e '.rows[0].lines == [] and .rows[0].a == .rows[0].b'
    expect 0 rung inspect --diff v1-b64-const --target sm_75,sm_90
    says "instructions" "barriers" "A = v1-b64-const@sm_75, B = v1-b64-const@sm_90"
    expect 2 rung inspect --diff v1-b64-const v2-b64-const v3-b64-const --target sm_75
    says "--diff compares two"
}

@test "options for NVRTC change the answer" {
    need_nvrtc
    rung inspect v1-b256-const --target sm_75 -X -G --format json 2>/dev/null |
        jq -e '.rows[0].ptx | .verdict == "divide" and .divide == 1'
}

@test "the driver's own compiler needs a card" {
    need_nvrtc
    expect 3 rung inspect v1-b64-const --jit --device sim
    says "needs a card"
}

@test "two releases of NVRTC side by side" {
    need_nvrtc
    library=$(rung doctor --format json | jq -r '.rows[] | select(.part == "nvrtc") | .found' |
        grep -o '/[^ ,;]*' | head -1)
    [ -n "$library" ] || skip "the path of NVRTC is not known"
    rung inspect v1-b256-runtime --target sm_75 --nvrtc "$library,$library" --format json \
        2>/dev/null | jq -e '(.rows | length) == 2 and .rows[0].ptx == .rows[1].ptx'
}

@test "rung run shows what became of the modulo" {
    need_nvrtc
    expect 0 rung run --device sim --version 1 --bound runtime --predicate mod,mask --n 1000
    says "What became of the modulo"
    grep -Eq '^v1-b256-runtime +sm_75 +divide$' <<<"$output"
    grep -Eq '^v1-b256-runtime-mask +sm_75 +mask$' <<<"$output"
    rung run --device sim --version 1,3 --n 1000 --format json 2>/dev/null |
        jq -e '.rows[0].modulo == "mask x8" and .rows[1].modulo == "none"'
    expect 0 rung run --device sim --version 1,3 --n 1000
    absent grep -q "became of the modulo" <<<"$output"
}

@test "a file without a kernel is named, and names and axes are not mixed" {
    need_nvrtc
    : >"$folder/empty.cu"
    expect 3 rung inspect "$folder/empty.cu"
    says "no kernel" "empty.cu"
    expect 2 rung inspect v1-b256-const --unroll full,none
    says "--unroll full,none" "v1-b256-const"
}
