#!/usr/bin/env bats
# rung claims without a card: what counts, bytes and compiled code decide, and what they cannot.
load common

setup() {
    work=$(mktemp -d)
}

teardown() {
    rm -rf "$work"
}

@test "claims: decided by counts and code, the rest needs a card" {
    need_nvrtc
    expect 0 rung claims --device sim --n 20000
    output=$(tr -s ' \n' ' ' <<<"$output")
    says "1024: 191, 191" "v4 511" "sm_75: divide" "not the constant" "told by race" \
        "no card: the simulator has no times" "1 confirmed, 6 refuted, 6 cannot be told here" \
        "\$ rung sweep --version 1,2 --block 256 --bound const"
    expect 0 rung claims --device sim --n 20000 --format json
    says '"command": "claims"' '"claim": "v4_fewer_bytes"' '"answer": "cannot tell"' '"figures"'
}

@test "claims: result files decide as well" {
    rung sweep --device sim --n 1000 --block 256 -o "$work/journal" >/dev/null 2>&1
    expect 0 rung claims --format csv "$work/journal"
    says 'conflicts_counted' 'same_additions' 'cannot tell' 'refuted'
    expect 3 rung claims "$work/none"
    says "none"
}
