# What every file of tests/cli shares; `load common` at its top. `rung` is the program of the build
# that ctest runs in, else build/rung. Only what bats 1.2 has is used: no `run -N`.
repository=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
if [ -x ./rung ]; then
    rung_program=$PWD/rung
else
    rung_program=$repository/build/rung
fi

rung() {
    "$rung_program" "$@"
}

# expect STATUS COMMAND...: runs it and checks the exit status; prints what it said if it differs.
expect() {
    local wanted=$1
    shift
    run "$@"
    if [ "$status" -ne "$wanted" ]; then
        printf 'exit status %s, not %s: %s\n%s\n' "$status" "$wanted" "$*" "$output"
        return 1
    fi
}

# says TEXT...: the output of the last command holds each text.
says() {
    local text
    for text in "$@"; do
        case $output in
        *"$text"*) ;;
        *)
            printf "'%s' is missing in: %s\n" "$text" "$output"
            return 1
            ;;
        esac
    done
}

# absent COMMAND...: it must find nothing. A bare `!` is no check: bash does not stop at it.
absent() {
    ! "$@"
}

# Tests that compile are skipped where nothing can.
need_nvrtc() {
    rung doctor --format csv | grep -q '^nvrtc,ok' || skip "no NVRTC on this machine"
}
