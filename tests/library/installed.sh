#!/usr/bin/env bash
# Installs librung to a folder and builds the program beside this script against it, by pkg-config
# and by CMake, shared and static; each must print the same sums.
#   installed.sh BUILD CUDA_INCLUDE COMPILER VERSION
set -euo pipefail
build=$1 cuda=$2 compiler=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CMAKE_GENERATOR=Ninja # which building needs anyway, and make is not
wanted="librung $4: 2000006 4000012"

sanitized=()
if nm -D "$build"/lib/librung.so 2>/dev/null | grep -q __asan_; then
    sanitized=(-fsanitize=address,undefined)
fi

# try NAME PROGRAM: runs it on the simulator.
try() {
    local said
    said=$(LD_LIBRARY_PATH=$build/sim:$libdir "$2")
    if [ "$said" != "$wanted" ]; then
        echo "installed.sh: $1: '$said' instead of '$wanted'" >&2
        exit 1
    fi
    echo "$1: $said"
}

# compile OUT SOURCE WORD...: a program that links the simulator as its driver.
compile() {
    "$compiler" "${sanitized[@]}" -std=c17 -Wall -Wextra -Werror "$2" -isystem "$cuda" "${@:3}" \
        -L"$build/sim" -l:libcuda.so.1 -Wl,--no-undefined -o "$1"
}

# Installed twice, to a folder with a blank, and moved afterwards.
for _ in 1 2; do
    DESTDIR= cmake --install "$build" --prefix "$work/first place" >"$work/log" || {
        cat "$work/log" >&2
        exit 1
    }
done
mv "$work/first place" "$work/prefix"
libdir=$(dirname "$(find "$work/prefix" -name librung.a)")
export PKG_CONFIG_PATH=$libdir/pkgconfig

# pkg-config quotes blanks for a shell.
eval "flags=($(pkg-config --cflags --libs rung))"
eval "include=($(pkg-config --cflags rung))"
compile "$work/shared" "$here/program.c" "${flags[@]}"
try "pkg-config, shared" "$work/shared"
compile "$work/static" "$here/program.c" "${include[@]}" "$libdir/librung.a" -ldl
try "archive" "$work/static"
if readelf -d "$work/static" | grep -q 'NEEDED.*librung'; then
    echo "installed.sh: the static program needs librung.so" >&2
    exit 1
fi

# Where libraries lie a level deeper, as Debian has them under /usr.
cmake -S "$here/../.." -B "$work/deeper" -DRUNG_CUDA_INCLUDE="$cuda" -DCMAKE_INSTALL_PREFIX=/usr -DBUILD_TESTING=OFF \
    -DCMAKE_INSTALL_LIBDIR=lib/a-triplet -DCMAKE_C_COMPILER="$compiler" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}
mkdir -p "$work/usr/lib/a-triplet/pkgconfig"
cp "$work/deeper/host/rung.pc" "$work/usr/lib/a-triplet/pkgconfig"
cp -P "$libdir"/librung.* "$work/usr/lib/a-triplet"
cp -R "$work/prefix/include" "$work/usr"
eval "deeper=($(PKG_CONFIG_PATH=$work/usr/lib/a-triplet/pkgconfig pkg-config --cflags --libs rung))"
compile "$work/triplet" "$here/program.c" "${deeper[@]}"
try "pkg-config, lib/a-triplet" "$work/triplet"

# The header is C of any year from 1999 on, and C++.
printf '#include <rung.h>\nint main(void) { return rung_sum_version() == 0; }\n' >"$work/main.c"
for year in 99 11 17; do
    "$compiler" -std=c$year -Wall -Wextra -pedantic -Werror -fsyntax-only "${include[@]}" "$work/main.c"
done
if command -v c++ >/dev/null; then
    printf '#include <rung.h>\nint main() { return rung_sum_version() == nullptr; }\n' >"$work/main.cpp"
    c++ "${sanitized[@]}" -std=c++11 -Wall -Wextra -pedantic -Werror "$work/main.cpp" "${flags[@]}" \
        -o "$work/cpp"
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
