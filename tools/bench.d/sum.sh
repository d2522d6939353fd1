#!/usr/bin/env bash
# sum: librung beside CUB's sum, and beside Thrust where the value goes to the host
#
# Needs a card, and nvcc for the peer; RUNG_PEER_SUM names one that is built already.
source "$RUNG_ROOT/tools/bench.d/lib.bash"
peer=${RUNG_PEER_SUM:-$work/peer_sum.so}
if [ ! -e "$peer" ]; then
    nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
    [ -x "$nvcc" ] || skip "no nvcc, which CUB's sum is built with"
    ls /dev/nvidia0 >/dev/null 2>&1 || skip "no card"
    "$nvcc" -O3 -arch=native -shared -Xcompiler -fPIC -cudart static \
        "$RUNG_ROOT/tools/bench.d/peer_sum.cu" -o "$peer"
fi
result=0
"$RUNG_ROOT/build/tests/bench_sum" "$peer" || result=$?
[ "$result" != 77 ] || exit 77
[ "$result" = 0 ] || exit 3
finish
