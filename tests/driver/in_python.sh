#!/usr/bin/env bash
# Runs a Python program of tests/driver with the simulator as its libcuda.so.1, by the Python that
# RUNG_TEST_PYTHON names, else python3. Exit status 77 where its package is not installed, or where
# the library needs a sanitizer's runtime, which a foreign program does not bring.
# Run alone: LD_LIBRARY_PATH=build/sim tests/driver/in_python.sh tests/driver/cuda_bindings.py
set -euo pipefail
python=${RUNG_TEST_PYTHON:-python3}
command -v "$python" >/dev/null || { echo "skipped: no $python"; exit 77; }
if ldd "$LD_LIBRARY_PATH/libcuda.so.1" | grep -q libasan; then
    echo "skipped: the library is built with a sanitizer"
    exit 77
fi
exec "$python" "$@"
