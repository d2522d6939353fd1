load common

@test "list has one row a version, with its title, change and axes" {
    rung list --format json | jq -e '
        .schema == "rung/1" and .command == "list" and
        ([.rows[].version] == [range(1; (.rows | length) + 1)]) and (.rows | length) >= 8 and
        all(.rows[]; (.title | length) > 0 and (.change | length) > 0) and
        (.rows[0].predicate == ["mod", "mask", "shift", "opaque"]) and
        (.rows[1].predicate == ["mod"]) and
        (.rows[5].bound == ["const"]) and (.rows[5].lacks.runtime | length) > 0 and
        (.rows[7].variants | length) == 1 and (.rows[7].variants[0].variant == "twolevel") and
        (.rows[6].grid == "fixed") and (.rows[3].elements_per_thread == 2)'
}

@test "list reads well in 80 columns" {
    expect 0 rung list
    says "interleaved, divergent" "--predicate mod, mask," "--variant twolevel"
    [ "$(rung list | awk 'length > 80' | wc -l)" -eq 0 ]
}

@test "list --controls has every known mistake and the check that must tell" {
    rung list --controls --format json | jq -e '
        (.rows | length) >= 10 and all(.rows[]; (.mistake | length) > 0) and
        ([.rows[].name] | contains(["v1-barrier-in-branch", "v3-wrong-buffer", "v4-wrong-index",
            "v5-volatile", "v5-plain", "v5-one-syncwarp", "v5-reads-past", "v7-count32",
            "v8-shrinking-mask", "v8-warps-down"]))'
    expect 0 rung list --controls
    says "v5-volatile" "race"
    [ "$(rung list --controls | awk 'length > 80' | wc -l)" -eq 0 ]
}

@test "model counts what the arithmetic says at 256 threads" {
    rung model --format json | jq -e '
        [.rows[].model | [.body_runs, .serialised, .additions]] ==
        [[47, 47, 255], [12, 47, 255], [12, 12, 255], [12, 12, 511]]'
}

@test "model answers the exercise: the ratio grows with the block" {
    expect 0 rung model --version 1,3 --block 32,64,256,1024
    says "5 : 5 = 1.00" "11 : 6 = 1.83" "47 : 12 = 3.92" "191 : 36 = 5.31"
}

@test "model --steps shows each step of the tree" {
    rung model --version 1,2 --steps --format json | jq -e '
        [.rows[0].steps[].body_runs] == [8, 8, 8, 8, 8, 4, 2, 1] and
        [.rows[1].steps[].body_runs] == [4, 2, 1, 1, 1, 1, 1, 1] and
        [.rows[1].steps[].serialised] == [8, 8, 8, 8, 8, 4, 2, 1] and
        [.rows[1].steps[].active] == [128, 64, 32, 16, 8, 4, 2, 1]'
    [ "$(rung model --version 1 --steps --format csv | wc -l)" -eq 9 ]
}

@test "model rows have every field of the contract, null where it does not apply" {
    rung model --format json | jq -e '
        all(.rows[]; ([keys[]] | contains(["id", "version", "block", "bound", "unroll",
            "predicate", "op", "type", "n", "passes", "launches", "bytes", "sum", "expected",
            "correct", "model", "executed", "time_ms", "gb_per_s", "of_ceiling", "vs_v1",
            "ptx_target", "sass_target", "image", "registers", "shared_bytes", "status",
            "reason"])) and .sum == null and .executed == null and .passes == 3)'
}

@test "a combination that cannot exist is refused by name" {
    expect 2 rung model --version 6 --bound runtime
    says "version 6" "runtime" "no loop is left"
    expect 2 rung model --version 2 --predicate mask
    says "version 2" "mask" "no modulo"
    expect 2 rung model --version 3 --variant twolevel
    says "version 3" "twolevel"
}

@test "values that do not exist are named with those that do" {
    for block in 0 1 48 96 2048; do
        expect 2 rung model --block $block
        says "$block"
    done
    expect 2 rung model --version 99
    says "99"
    expect 2 rung model --predicate modulo
    says "modulo" "opaque"
    expect 2 rung list --format yaml
    says "yaml"
}

@test "an output file is whole or untouched" {
    folder=$(mktemp -d)
    rung model --format csv -o "$folder/model.csv"
    [ "$(wc -l <"$folder/model.csv")" -eq 5 ]
    expect 2 rung model --version 99 -o "$folder/model.csv"
    [ "$(wc -l <"$folder/model.csv")" -eq 5 ]
    rm -r "$folder"
}
