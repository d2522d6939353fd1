load common

# What a user types wrong: one line that names the value and what is allowed, exit 2, nothing run.
setup() {
    folder=$(mktemp -d)
    echo old >"$folder/kept"
}

teardown() {
    rm -rf "$folder"
}

# refused WORDS... -- ARGUMENTS...: run and verify both refuse, in one line that says the words.
refused() {
    local words=()
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    shift
    for verb in run verify; do
        expect 2 rung "$verb" "$@" -o "$folder/kept"
        says "${words[@]}"
        [ "${#lines[@]}" = 1 ] || { printf 'more than a line: %s\n' "$output"; return 1; }
        [ "$(cat "$folder/kept")" = old ]
        [ "$(ls "$folder")" = kept ]
    done
}

@test "block sizes" {
    refused 0 "from 2 to 1024" -- --block 0
    refused 1 "from 2 to 1024" -- --block 1
    refused 48 "32 and 64" -- --block 48
    refused 96 "64 and 128" -- --block 96
    refused 1000 "512 and 1024" -- --block 1000
    refused 3 "2 and 4" -- --block 3
    refused 2048 "from 2 to 1024" -- --block 2048
    refused 1025 "from 2 to 1024" -- --block 1025
    refused "--block" abc -- --block abc
    refused "--block" "256,," -- --block 256,,
    refused "--block" -- --block ""
    refused 48 -- --block 64,48,32
}

@test "element counts" {
    refused "--n" "'-5'" "2^40" -- --n=-5
    refused "--n" "'1.5'" "2^40" -- --n 1.5
    refused "--n" "'2^60'" "2^40" -- --n 2^60
    refused "--n" "'2^40+1'" "2^40" -- --n 2^40+1
    refused "--n" "'abc'" "2^40" -- --n abc
    refused "--n" "'1e6'" "2^40" -- --n 1e6
    refused "--n ''" "an empty value" -- --n ''
    refused "--n" "99999999999999999999" -- --n 99999999999999999999
    refused "--n" -- --n 9:1
}

@test "versions" {
    refused "--version 0" "allowed are 1, 2, 3, 4" -- --version 0
    refused "--version 99" "allowed are 1, 2, 3, 4" -- --version 99
    refused "--version" abc -- --version abc
    refused "--version 99" -- --version 1,99
}

@test "words of the axes" {
    refused "--bound 'foo'" "const, runtime, all" -- --bound foo
    refused "--unroll 'half'" "full, none, all" -- --unroll half
    refused "--predicate 'rem'" "mod, mask, shift, opaque, all" -- --predicate rem
    refused "--op 'max'" "sum, dot, all" -- --op max
    refused "--type 'f16'" "f32, f64, i32, all" -- --type f16
    refused "--variant 'x'" "base, twolevel, all" -- --variant x
    refused "--bound ''" -- --bound const,
    refused "--image 'elf'" "cubin, ptx, auto" -- --image elf
    refused "'xml'" "table, json, csv, md" -- --format xml
    refused "--bound 'CONST'" -- --bound CONST
}

@test "combinations that cannot exist are refused by name" {
    refused "version 2 has no predicate mask" -- --version 2 --predicate mask
    refused "full unrolling" "--bound const" -- --unroll full --bound runtime
    refused "twolevel" -- --version 1 --variant twolevel
    refused "version 1 has no variant 'twolevel'" -- --variant twolevel
}

@test "devices" {
    for word in gpu cuda: cuda:x cuda:-1 ""; do
        expect 2 rung run --device "$word"
        says "device '$word'" "auto, cuda, cuda:K"
    done
}

@test "options that are none, and words that are no options" {
    for verb in run verify; do
        expect 2 rung "$verb" --frob
        says "--frob" "rung $verb --help"
        expect 2 rung "$verb" --n
        says "requires an argument"
        expect 2 rung "$verb" 3
        says "'3'" "--version"
        expect 2 rung "$verb" --seed x
        says "--seed 'x'"
    done
    expect 2 rung
    says "Usage: rung COMMAND"
    expect 2 rung frobnicate
    says "no command 'frobnicate'"
    expect 2 rung --frobnicate
    says "no option '--frobnicate'"
    expect 2 rung help frobnicate
    says "frobnicate"
}

@test "how times are taken" {
    expect 2 rung run --state tepid
    says "tepid" "clean"
    expect 2 rung run --timer sundial
    says "sundial" "isolated"
    expect 2 rung run --samples 0
    says "--samples '0'"
    expect 2 rung run --samples 5 --stop ci
    says "--stop count"
    expect 2 rung run --timer graph --state clean
    says "graph"
}

@test "help goes to standard output and fits 80 columns" {
    for words in --help help "run --help" "verify --help" "help run" --version; do
        expect 0 rung $words
        [ -n "$output" ]
        [ -z "$(rung $words 2>&1 >/dev/null)" ]
        printf '%s\n' "$output" | absent grep -E '.{81}'
    done
    expect 0 rung run --help
    says "Usage: rung run [OPTION...]" "--version=LIST" "--bound=LIST"
    expect 0 rung help run
    says "Usage: rung run [OPTION...]"
}

@test "an output that cannot be written is refused before anything is launched" {
    expect 2 rung run -o "$folder"
    says "$folder" "not a file"
    expect 2 rung run -o ""
    expect 3 rung run --device sim -o "$folder/none/x"
    says "$folder/none/x"
}

@test "an output that fails is named, and the exit status is 3" {
    [ -w /dev/full ] || skip "no /dev/full"
    for words in list "sweep --device sim --n 100 --block 64 --version 1" --help --version; do
        run bash -c '"$@" 2>&1 >/dev/full' - "$rung_program" $words
        [ "$status" = 3 ]
        says "cannot write standard output: No space left on device"
    done
    expect 3 rung list -o /dev/full
    says "cannot write /dev/full: No space left on device"
}

@test "a folder without a name is refused" {
    expect 2 rung build --version 1 -o ""
    says "an empty name"
}

@test "words that are no UTF-8 are refused like others, by the measuring process as well" {
    for verb in run sweep claims; do
        expect 2 rung "$verb" --device $'\xff'
        says "device '?'" "auto, cuda, cuda:K"
    done
    RUNG_NVRTC=$'/\xff' expect 4 rung sweep --device sim --n 10 --block 4 --version 1 \
        --op dot --type i32 --bound runtime
    says "cannot open NVRTC at /?"
}

@test "a number of elements given twice counts once" {
    expect 0 rung sweep --device sim --version 1 --block 64 --bound const --n 10,11,10,10:11 --list
    says "2 cells"
}

@test "whatever ends the program, nothing of an output is left behind" {
    for signal in INT TERM KILL; do
        rung run --device sim --version all --n 8Mi -o "$folder/kept" >/dev/null 2>&1 &
        sleep 0.2
        kill -$signal $! || true
        wait $! || true
        [ "$(ls "$folder")" = kept ]
    done
}

# Every option that a command offers is heeded by it; what it would ignore, it refuses.
@test "an option that a command does not heed is refused there" {
    for command in build inspect; do
        expect 2 rung $command --n 5 -o "$folder/kept"
        says "--n '5'" "number of elements"
        expect 2 rung $command --check
        expect 2 rung $command --seed 1
    done
    expect 2 rung trace v1-b8-const --check
    expect 2 rung model --check
    expect 2 rung inspect --device tpu
    says "'tpu'" "cuda:K"
    expect 2 rung verify --control v5-plain --device sim --version 3
    says "--version"
    expect 2 rung verify --control v5-plain --device sim --n 5,6
    says "--control" "one --n"
    expect 2 rung verify --control v5-plain --device sim --block 64,128
    printf '{"record":"row"}\n' >"$folder/rows"
    for option in --n=5 --device=sim --check --seed=1 --target=sm_75 --image=ptx; do
        expect 2 rung claims $option "$folder/rows"
        says "${option%%=*}" "$folder/rows"
    done
    [ "$(cat "$folder/kept")" = old ]
}

@test "the help of a command lists what it heeds" {
    lists() {
        rung "$1" --help | grep -qE "^ +(-[a-zA-Z], )?$2\b"
    }
    lacks() {
        ! lists "$@"
    }
    for option in --n --check --seed --device --target; do
        for command in run sweep verify; do
            lists $command $option
        done
        lacks compare $option
        lacks report $option
        lacks model --check
    done
    for command in inspect build; do
        lacks $command --n
        lacks $command --check
        lacks $command --seed
    done
    lists model --n
    lists claims --check
    lists trace --seed
    lacks trace --check
}

# 64 KiB of stack, for threads too. Nothing is in the cache, so that the compiler is at work as well.
@test "a small stack is enough for every command" {
    need_nvrtc
    small() {
        (ulimit -s 64 && rung "$@")
    }
    rung sweep --device sim --n 3000 --block 64 --version 1,2 -o "$folder/rows" >/dev/null
    export RUNG_CACHE_DIR=$folder/cache
    expect 0 small --help
    expect 0 small list
    expect 0 small doctor
    expect 0 small model --block all
    expect 0 small run --device sim --n 3000 --op dot --type f64 --check
    expect 0 small verify --device sim --version 8 --check
    expect 0 small verify --device sim --control v5-plain
    expect 0 small sweep --device sim --n 3000 --block 32 --version 5 -o "$folder/small"
    expect 0 small inspect --version 1 --target all
    expect 0 small trace v2-b256-const -o "$folder/trace.html"
    expect 0 small claims "$folder/rows"
    expect 0 small claims --device sim --n 3000
    expect 0 small compare "$folder/rows" "$folder/rows"
    expect 0 small report "$folder/rows" -o "$folder/report.html"
    expect 0 small build -o "$folder/images" --version 7 --target all
    expect 0 small cache
}
