load common

@test "every negative control is caught by the check that it names" {
    need_nvrtc
    expect 0 rung verify --control all --device sim --check --format json
    printf '%s' "$output" | jq -e '
        (.rows | length) >= 10 and
        all(.rows[] | select(.tried); .caught and .as_named) and
        ([.rows[] | select(.tried | not).control] == ["v7-count32"])'
}

@test "an exact sum alone does not see a race, and --control looks for it unasked" {
    need_nvrtc
    expect 0 rung verify --control v5-volatile --device sim --check --format json
    printf '%s' "$output" | jq -e '.rows[0].checks | .race and (.ones or .weights | not)'
    expect 0 rung verify --control v5-volatile --device sim
    says "v5-volatile" "caught  race"
}
