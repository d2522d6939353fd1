#!/usr/bin/env bash
# Installs librung to a folder and builds the program beside this script against it, by pkg-config
# and by CMake, shared and static; each must print the same sums.
#   installed.sh BUILD CUDA_INCLUDE COMPILER VERSION
set -euo pipefail
build=$1 cuda=$2 compiler=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wanted="librung $4: 2000006 4000012"

sanitized=()
if nm -D "$build"/lib/librung.so 2>/dev/null | grep -q __asan_; then
    sanitized=(-fsanitize=address,undefined)
fi

# try NAME PROGRAM: runs it on the simulator.
try() {
    local said
    said=$(LD_LIBRARY_PATH=$build/sim:$work/prefix/lib "$2")
    if [ "$said" != "$wanted" ]; then
        echo "installed.sh: $1: '$said' instead of '$wanted'" >&2
        exit 1
    fi
    echo "$1: $said"
}

DESTDIR= cmake --install "$build" --prefix "$work/prefix" >"$work/log" || {
    cat "$work/log" >&2
    exit 1
}
libdir=$(dirname "$(find "$work/prefix" -name librung.a)")
[ "$libdir" = "$work/prefix/lib" ] || ln -sfn "$libdir" "$work/prefix/lib"
export PKG_CONFIG_PATH=$libdir/pkgconfig

# shellcheck disable=SC2046 # words of pkg-config are meant to split
"$compiler" "${sanitized[@]}" -std=c17 -Wall -Wextra -Werror "$here/program.c" -isystem "$cuda" \
    $(pkg-config --cflags --libs rung) -L"$build/sim" -l:libcuda.so.1 -o "$work/shared"
try "pkg-config, shared" "$work/shared"
"$compiler" "${sanitized[@]}" -std=c17 "$here/program.c" -isystem "$cuda" $(pkg-config --cflags rung) \
    "$libdir/librung.a" -ldl -L"$build/sim" -l:libcuda.so.1 -o "$work/static"
try "archive" "$work/static"
if readelf -d "$work/static" | grep -q 'NEEDED.*librung'; then
    echo "installed.sh: the static program needs librung.so" >&2
    exit 1
fi

# The header is C++ as well.
if command -v c++ >/dev/null; then
    printf '#include <rung.h>\nint main() { return rung_sum_version() == nullptr; }\n' >"$work/main.cpp"
    c++ "${sanitized[@]}" -Wall -Werror "$work/main.cpp" $(pkg-config --cflags --libs rung) -o "$work/cpp"
    LD_LIBRARY_PATH=$libdir "$work/cpp"
    echo "C++: links"
fi

mkdir "$work/project"
cp "$here/program.c" "$work/project"
cat >"$work/project/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES C)
find_package(rung 0.1 REQUIRED)
foreach(kind shared static)
  add_executable(${kind} program.c)
  target_include_directories(${kind} SYSTEM PRIVATE ${CUDA_INCLUDE})
  target_link_libraries(${kind} PRIVATE rung::${kind} ${DRIVER})
endforeach()
PROJECT
cmake -S "$work/project" -B "$work/out" -DCMAKE_PREFIX_PATH="$work/prefix" -DCUDA_INCLUDE="$cuda" \
    -DDRIVER="$build/sim/libcuda.so.1" -DCMAKE_C_COMPILER="$compiler" \
    -DCMAKE_C_FLAGS="${sanitized[*]}" >"$work/log" 2>&1 &&
    cmake --build "$work/out" >>"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}
try "CMake, shared" "$work/out/shared"
try "CMake, static" "$work/out/static"
