#!/usr/bin/env bash
# The drop-in library exports the Driver API and the simulator's own few names, and nothing else.
# Run alone: tests/driver/symbols.sh build/sim/libcuda.so.1
set -euo pipefail
command -v nm >/dev/null || exit 77
names=$(nm -D --defined-only "$1" | awk '{print $NF}')
others=$(grep -vE '^(cu[A-Z]|rungSim[A-Z])' <<<"$names" || true)
[ -z "$others" ] || { echo "also exports: $others"; exit 1; }
for name in cuInit cuMemAlloc cuMemAlloc_v2 cuCtxCreate_v4 cuLaunchKernel cuLaunchKernel_ptsz \
    cuGetProcAddress cuGetProcAddress_v2 cuEventElapsedTime_v2 rungSimCounters; do
    grep -qx "$name" <<<"$names" || { echo "lacks $name"; exit 1; }
done
readelf -d "$1" | grep -q 'SONAME.*libcuda\.so\.1' || { echo "wrong SONAME"; exit 1; }
echo "$(wc -l <<<"$names") symbols"
