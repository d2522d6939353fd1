#!/usr/bin/env bash
# The report that a foreign program's end leaves: exact counts of adding two vectors of 50,000.
# Run alone: LD_LIBRARY_PATH=build/sim tests/driver/report.sh build/tests/vector_add
set -euo pipefail
report=$(mktemp)
trap 'rm -f "$report"' EXIT
RUNG_SIM_CHECK=1 RUNG_SIM_REPORT=$report "$1" >/dev/null
expect() {
    grep -Eq "^$1 +$2\$" "$report" || { echo "lacks '$1 $2':"; cat "$report"; exit 1; }
}
expect "launches" 1
expect "blocks" 196                 # of 256 threads
expect "warps" 1568                 # eight a block
expect "divergent branches" 1       # the warp in which the vectors end
expect "global store sectors" 6250  # 200,000 bytes of 32
expect "global load sectors" 14063  # twice as many, and one a warp for the word that all read
expect "findings" 0
# Without the variable there is no report, and a file that cannot be written is no failure.
RUNG_SIM_REPORT=/nonexistent/report "$1" >/dev/null
echo "report: ok"
