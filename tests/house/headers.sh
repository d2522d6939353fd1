#!/usr/bin/env bash
# Compiles every header of host/ alone: each must include what it needs.
# Usage: headers.sh CC FLAGS... (the build passes its compiler and include folders)
set -uo pipefail
cd "$(dirname "$0")/../.."
failed=0
for header in host/*/*.h; do
    printf '#include "%s"\n' "${header#host/}" |
        "$@" -std=c17 -Ihost -fsyntax-only -Wall -Wextra -Werror -x c - || failed=1
done
[ "$failed" = 0 ] && echo "headers: ok"
exit "$failed"
