#!/usr/bin/env bash
# another block size: our kernels beside a rebuild of the same four by nvcc -O3
#
# The peer is what one does without this program: a file with the four kernels of one block size
# (our own, without the model that ours carry) and a main that launches them, compiled and linked
# anew for each block size. Ours generates and compiles the same kernels, into a folder.
source "$RUNG_ROOT/tools/bench.d/lib.bash"
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
"$RUNG" doctor --format csv | grep -q '^nvrtc,ok' || skip "no NVRTC"

target=sm_75
blocks=(32 64 128 256 512 1024)

build() {
    "$RUNG" build --version 1:4 --target "$target" --quiet "$@"
}

# ours RUNS BOUNDS: the median wall time of all block sizes, with the cache as it is.
ours() {
    local times=() i
    for ((i = 0; i < $1; i++)); do
        [ "$3" = warm ] || rm -rf "$work/cache"
        times+=("$(seconds build --block 32:1024:*2 --bound "$2" -o "$work/ours")")
    done
    median "${times[@]}"
}

write_peer() {
    local block=$1 version symbol
    for version in 1 2 3 4; do
        symbol=reduce_v${version}_b${block}_const
        sed '/^\/\/ The model of this kernel/,$d' "$work/ours/cu/$symbol.cu"
    done
    cat <<PROGRAM
#include <cstdio>
int main()
{
    const unsigned long long n = 1 << 20;
    const unsigned int blocks = n / $block;
    float *in, *out, sum;
    cudaMalloc(&in, n * sizeof *in);
    cudaMalloc(&out, blocks * sizeof *out);
    cudaMemset(in, 0, n * sizeof *in);
    reduce_v1_b${block}_const<<<blocks, $block>>>(in, out, n);
    reduce_v2_b${block}_const<<<blocks, $block>>>(in, out, n);
    reduce_v3_b${block}_const<<<blocks, $block>>>(in, out, n);
    reduce_v4_b${block}_const<<<(blocks + 1) / 2, $block>>>(in, out, n);
    cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
    std::printf("%g\n", sum);
    return cudaDeviceSynchronize();
}
PROGRAM
}

peer() {
    local times=() block
    for block in "${blocks[@]}"; do
        write_peer "$block" >"$work/peer.cu"
        times+=("$(seconds nvcc -std=c++17 -O3 -arch="$target" -o "$work/peer" "$work/peer.cu")")
    done
    median "${times[@]}"
}

export RUNG_CACHE_DIR=$work/cache
cold=$(ours 3 const cold)
warm=$(ours 7 const warm)
if command -v nvcc >/dev/null; then
    heading
    theirs=$(peer)
    row "one block size, nothing cached" "$(calculate "$cold / ${#blocks[@]}")" "$theirs" s 15
    row "one block size, from the cache" "$(calculate "$warm / ${#blocks[@]}")" "$theirs" s 200
else
    printf '  no nvcc on this machine: no peer. Ours for one block size: %.3f s cold, %.4f s warm\n' \
        "$(calculate "$cold / ${#blocks[@]}")" "$(calculate "$warm / ${#blocks[@]}")"
fi
limit "48 configurations, nothing cached" "$(ours 3 const,runtime cold)" s 3
limit "48 configurations, from the cache" "$(ours 7 const,runtime warm)" s 0.2
finish
