#!/usr/bin/env bash
# the simulator: warp instructions a second, and what a second core gives
#
# No peer: what else executes PTX replaces the runtime of a whole program and cannot be called from
# here. The goals are for the four kernels of the default page over all 16,776,605 elements.
source "$RUNG_ROOT/tools/bench.d/lib.bash"
[ "$(nproc)" -ge 2 ] || skip "one core"

"$RUNG_ROOT/build/tests/bench_sim" "$RUNG_ROOT/generated/ptx/sm_75" >"$work/figures"
sed 's/^/  /' "$work/figures"
read -r one two < <(awk '/^all four/ {print $3, $8}' "$work/figures")
limit "v1 to v4, summed by two threads" "$two" s 2
limit "share of it that one thread needs" "$(calculate "$two / $one")" "" 0.556
finish
