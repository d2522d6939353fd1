#!/usr/bin/env bash
# librung shows the functions of rung.h and no others, and needs nothing but the C library.
#   symbols.sh SHARED STATIC
set -euo pipefail
header=$(dirname "$0")/../../host/sum/rung.h
wanted=$(grep -o 'rung_sum_[a-z_]*(' "$header" | grep -v '^rung_sum_code' | tr -d '(' | sort -u)
shown=$(nm -D --defined-only "$1" | awk '$2 == "T" {print $3}' | sed 's/@.*//' | sort -u)
if [ "$wanted" != "$shown" ]; then
    diff <(echo "$wanted") <(echo "$shown") >&2
    echo "symbols.sh: rung.h (<) and the shared library (>) differ" >&2
    exit 1
fi
needed=$(readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
for library in $needed; do
    case $library in
    libc.so.* | libdl.so.* | libm.so.* | ld-linux*) ;;
    libasan.so.* | libubsan.so.*) ;; # of a sanitizer build
    *)
        echo "symbols.sh: the shared library needs $library" >&2
        exit 1
        ;;
    esac
done
# What is undefined in the archive is defined in it, or is the C library's.
missing=$(comm -23 <(nm -u "$2" | awk '/ U rung_/ {print $2}' | sort -u) \
    <(nm --defined-only "$2" | awk '$3 ~ /^rung_/ {print $3}' | sort -u))
if [ -n "$missing" ]; then
    echo "symbols.sh: the archive lacks $missing" >&2
    exit 1
fi
echo "symbols: $(echo "$shown" | wc -l) functions, as in rung.h"
