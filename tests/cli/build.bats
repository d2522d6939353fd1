load common

setup() {
    folder=$(mktemp -d)
}

teardown() {
    rm -rf "$folder"
}

@test "sources, PTX, cubins and a manifest that sha256sum checks" {
    need_nvrtc
    expect 0 rung build --version 1,3 --block 64,128 --target sm_75,sm_90 -o "$folder/images"
    says "v1-b64-const" "v3-b128-const" "sm_90" "8 images"
    (cd "$folder/images" && sha256sum -c --quiet MANIFEST)
    for target in sm_75 sm_90; do
        for symbol in reduce_v1_b64_const reduce_v3_b128_const; do
            grep -q "^\.target $target$" "$folder/images/$target/$symbol.ptx"
            grep -q "\.entry $symbol(" "$folder/images/$target/$symbol.ptx"
            [ "$(head -c 4 "$folder/images/$target/$symbol.cubin")" = "$(printf '\177ELF')" ]
        done
    done
    cmp "$folder/images/cu/reduce_v1_b64_const.cu" "$repository/generated/cu/reduce_v1_b64_const.cu"
}

@test "JSON has a row an image, with what its cubin needs" {
    need_nvrtc
    rung build --version 2 --target sm_80 -o "$folder" --format json 2>/dev/null | jq -e '
        .command == "build" and (.rows | length) == 1 and
        (.rows[0] | .id == "v2-b256-const" and .target == "sm_80" and .status == "ok" and
            .shared_bytes == 1024 and .registers > 4 and .cubin_bytes > 1000)'
}

@test "the second time everything comes from the cache, byte for byte" {
    need_nvrtc
    export RUNG_CACHE_DIR=$folder/cache
    rung build --block 32:128:*2 --target sm_75 -o "$folder/a" --format csv >"$folder/a.csv" 2>/dev/null
    rung build --block 32:128:*2 --target sm_75 -o "$folder/b" --format csv >"$folder/b.csv" 2>/dev/null
    [ "$(grep -c ,nvrtc, "$folder/a.csv")" = 12 ]
    [ "$(grep -c ,cache, "$folder/b.csv")" = 12 ]
    diff -r "$folder/a" "$folder/b"
}

@test "a folder is added to, and what another source made is struck from its manifest" {
    need_nvrtc
    rung build --version 1 --target sm_75,sm_80 -o "$folder" -q
    rung build --version 2 --target sm_75 -o "$folder" -q
    [ "$(grep -c '\.cubin$' "$folder/MANIFEST")" = 3 ]
    # As if version 1 had been built from an older template.
    old=$(printf '0%.0s' $(seq 64))
    sed -i "s/^[0-9a-f]*  cu\/reduce_v1/$old  cu\/reduce_v1/" "$folder/MANIFEST"
    rung build --version 1 --target sm_75 -o "$folder" -q
    absent grep -q sm_80/reduce_v1 "$folder/MANIFEST"
    grep -q sm_75/reduce_v2_b256_const.cubin "$folder/MANIFEST"
    (cd "$folder" && sha256sum -c --quiet MANIFEST)
}

@test "several at once into one folder: the manifest has what each of them wrote" {
    need_nvrtc
    for version in 1 2 3 4; do
        rung build --version $version --target sm_75 -o "$folder" -q &
    done
    wait
    [ "$(grep -c '\.cubin$' "$folder/MANIFEST")" = 4 ]
    (cd "$folder" && sha256sum -c --quiet MANIFEST)
}

@test "killed in the middle: what is in the folder is believed or made again" {
    need_nvrtc
    export RUNG_CACHE_DIR=$folder/cache
    for delay in 0.05 0.1 0.2 0.4; do
        timeout -s KILL $delay "$rung_program" build --version 1:4 --block 32:1024:*2 \
            --target sm_75 -o "$folder/images" -q || true
    done
    expect 0 rung build --version 1:4 --block 32:1024:*2 --target sm_75 -o "$folder/images" -q
    (cd "$folder/images" && sha256sum -c --quiet MANIFEST)
    [ "$(grep -c '\.cubin$' "$folder/images/MANIFEST")" = 24 ]
    rung cache --format json | jq -e '.rows[0].damaged == 0'
}

@test "portable PTX stands in the oldest version of its target" {
    need_nvrtc
    expect 0 rung build --version 4 --target sm_75,sm_90 --portable -o "$folder"
    grep -q '^\.version 6\.3$' "$folder/sm_75/reduce_v4_b256_const.ptx"
    grep -q '^\.version 7\.8$' "$folder/sm_90/reduce_v4_b256_const.ptx"
    [ ! -e "$folder/sm_75/reduce_v4_b256_const.cubin" ]
    if rung doctor --format csv | grep -q '^ptxas,ok'; then
        says "proven by ptxas"
    else
        says "not proven"
    fi
    RUNG_PTXAS=/nonexistent expect 0 rung build --version 4 --target sm_75 --portable -o "$folder"
    says "not proven"
}

@test "all targets of this NVRTC" {
    need_nvrtc
    expect 0 rung build --version 3 --target all -o "$folder" -q
    [ -z "$output" ]
    n=$(rung doctor --format csv | sed -n 's/^nvrtc,ok,.*targets \([0-9 ]*\),.*/\1/p' | wc -w)
    [ "$n" -ge 5 ]
    [ "$(ls "$folder" | grep -c '^sm_')" = "$n" ]
}

@test "what the build tree holds is found beside the program, and by its installation" {
    [ -f cmake_install.cmake ] || skip "not run from a build folder"
    [ -f share/rung/images/sm_75/reduce_v1_b256_const.ptx ]
    (cd share/rung/images && sha256sum -c --quiet MANIFEST)
    cmake --install . --prefix "$folder/installed" >/dev/null
    expect 0 "$folder/installed/bin/rung" doctor --nvrtc /nonexistent --format csv
    says "$folder/installed/share/rung/images: sm_75"
    expect 0 "$folder/installed/bin/rung" --version
}

@test "without NVRTC the committed PTX is executed, and belongs to the sources of this program" {
    [ -f share/rung/images/MANIFEST ] || skip "not run from a build folder"
    rung run --device sim --nvrtc /nonexistent --version 1:4 --block 64 --bound const,runtime \
        --op sum,dot --n 1000 --format json 2>/dev/null | jq -e '
        (.rows | length) == 16 and
        all(.rows[]; .status == "ok" and .ptx_target == "sm_75" and .image == "ptx")'
}

@test "RUNG_TARGETS compiles the default set with the program just built" {
    need_nvrtc
    expect 0 cmake -DGENERATED="$repository/generated" -DIMAGES="$folder/images" \
        -DPROGRAM="$rung_program" -DTARGETS=sm_90 -P "$repository/tools/cmake/Images.cmake"
    (cd "$folder/images" && sha256sum -c --quiet MANIFEST)
    for symbol in reduce_v1_b32_const reduce_v4_b1024_runtime reduce_v3_b256_const_dot; do
        [ -s "$folder/images/sm_90/$symbol.cubin" ]
    done
    [ -s "$folder/images/sm_75/reduce_v1_b256_const.ptx" ]
    expect 1 cmake -DGENERATED="$repository/generated" -DIMAGES="$folder/images" \
        -DPROGRAM="$rung_program" -DTARGETS=sm_12 -P "$repository/tools/cmake/Images.cmake"
    says sm_12 "RUNG_TARGETS"
}

@test "bad input: named, what is allowed, exit 2, nothing written" {
    expect 2 rung build
    says "-o FOLDER"
    for wrong in "--block 0" "--block 48" "--block 2048" "--version 99" "--version x" "--bound no" \
        "--predicate mask --version 2" "--format xml" "--type f16" "extra"; do
        expect 2 rung build -o "$folder/images" $wrong
        says "${wrong##* }"
    done
    [ ! -e "$folder/images" ]
}

@test "unknown targets name those that there are" {
    need_nvrtc
    for wrong in sm_12 banana sm_75,sm_ 90; do
        expect 2 rung build -o "$folder/images" --target "$wrong"
        says "sm_75" "sm_90"
    done
    [ ! -e "$folder/images" ]
}

@test "no NVRTC, and no place to write: exit 3" {
    expect 3 rung build -o "$folder/images" --nvrtc /nonexistent
    says /nonexistent
    [ ! -e "$folder/images" ]
    need_nvrtc
    touch "$folder/file"
    expect 3 rung build -o "$folder/file"
    says "$folder/file"
}

@test "a manifest that is no manifest is replaced, not believed" {
    need_nvrtc
    printf 'rubbish\n\0\377  x\n0123  short\n' >"$folder/MANIFEST"
    expect 0 rung build --version 1 --target sm_75 -o "$folder" -q
    (cd "$folder" && sha256sum -c --quiet MANIFEST)
    [ "$(wc -l <"$folder/MANIFEST")" = 4 ]
}
