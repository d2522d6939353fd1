#!/usr/bin/env bash
# measuring: times beside nvbench's, the default sweep, and the machine against itself
#
# Needs a card. nvbench is measured where Python has it: pip install 'cuda-bench[cu13]'. The same
# cubins are given to both. PYTHON names the interpreter.
source "$RUNG_ROOT/tools/bench.d/lib.bash"
"$RUNG" sweep --device cuda --version 1 --block 64 --bound const --n 1000 >/dev/null 2>&1 ||
    skip "no card"
python=${PYTHON:-python3}
ladder=$RUNG_ROOT/tools/bench.d/nvbench_ladder.py

# medians FILE: "id time" of every row of a journal, times in us.
medians() {
    "$python" - "$1" <<'PY'
import json, statistics, sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    if row.get("record") == "row" and row["time_ms"]:
        samples = row["time_ms"]["samples"]
        print(row["id"], 1e3 * row["time_ms"]["median"], 1e3 * statistics.fmean(samples))
PY
}

# nvbench_times FILE TAG: the same of nvbench's JSON.
nvbench_times() {
    "$python" - "$1" "$2" <<'PY'
import json, sys
for benchmark in json.load(open(sys.argv[1]))["benchmarks"]:
    for state in benchmark["states"]:
        axes = {axis["name"]: axis["value"] for axis in state["axis_values"]}
        for summary in state["summaries"]:
            if summary["tag"] == sys.argv[2]:
                value = [d["value"] for d in summary["data"] if d["name"] == "value"][0]
                print(f"v{axes['version']}-b{axes['block']}-{axes['bound']}", 1e6 * float(value))
PY
}

"$RUNG" build --block 32:1024:*2 --bound const,runtime --target native -q -o "$work/images"
images=$(echo "$work"/images/sm_*)
export RUNG_IMAGE_PATH=$work/images

# The whole default sweep, twice: the second compiles nothing and is the one that counts.
"$RUNG" sweep -o "$work/first.jsonl" >/dev/null 2>&1
ours=$(seconds "$RUNG" sweep -o "$work/second.jsonl")
grep '^rung sweep: 48' "$work/log" | sed 's/^rung sweep: /  /'
heading
limit "default sweep, 48 cells" "$ours" s 20
outside=$(sed -n 's/.*(\([0-9.]*\) %) outside.*/\1/p' "$work/log")
limit "of it outside measuring" "$outside" % 5

# The machine against itself: 100 cells and more, each under two names.
"$RUNG" sweep --noise --version 1:4 --block 32:1024:*2 --bound const,runtime --n 2^22,2^24-611,2^25 \
    >"$work/noise" 2>/dev/null || true
tail -n 3 "$work/noise" | sed 's/^/  /'
limit "false alarms of 144 pairs" "$(sed -n 's/^\([0-9]*\) false alarms.*/\1/p' "$work/noise")" "" 1
"$RUNG" compare --fail-on none "$work/first.jsonl" "$work/second.jsonl" | tail -n 1 |
    sed 's/^/  two sweeps after each other: /'

"$python" -c 'from cuda import bench' 2>/dev/null || {
    echo "  nvbench is not there (pip install 'cuda-bench[cu13]'): its figures are left out"
    finish
}

# Time to measure the same cells, nvbench at its defaults.
theirs=$(seconds "$python" "$ladder" "$images" --json "$work/nvbench.json")
row "time for the 48 cells" "$ours" "$theirs" s 2

# The same kernels, cold as nvbench means it (L2 dirty) and warm in batches: the largest difference.
"$RUNG" sweep --state dirty -o "$work/dirty.jsonl" >/dev/null 2>&1
"$RUNG" sweep --state warm --timer batch -o "$work/batch.jsonl" >/dev/null 2>&1
difference() { # WHAT OUR-FILE OUR-COLUMN TAG
    medians "$2" | sort >"$work/ours"
    nvbench_times "$work/nvbench.json" "$4" | sort >"$work/theirs"
    join "$work/ours" "$work/theirs" | awk -v column="$3" '{
        d = 100 * ($column / $4 - 1); if (d < 0) d = -d
        printf "%s %.3f %.3f %.3f\n", $1, $column, $4, d}' | sort -k4 -g >"$work/differences"
    local n middle worst
    n=$(wc -l <"$work/differences")
    [ "$n" -eq 48 ] || { echo "  $1: only $n cells in common"; return; }
    middle=$(sed -n '24p' "$work/differences" | cut -d' ' -f4)
    worst=$(tail -n 1 "$work/differences")
    limit "$1, median difference" "$middle" % 1
    echo "  largest: $worst (id, ours us, nvbench us, %)"
}
difference "cold against nvbench" "$work/dirty.jsonl" 3 nv/cold/time/gpu/mean
difference "warm against nvbench" "$work/batch.jsonl" 3 nv/batch/time/gpu/mean
finish
