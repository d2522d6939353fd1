#!/usr/bin/env python3
"""Reads pages of `rung report` in a headless Chromium.

page_test.py RUNG RESULTS: RESULTS is the folder of the worked example. Exit 0 if all holds, 1 if
not, 77 where there is no Chromium. What must be shown is read from the journals, not from the page.
"""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "trace"))
from devtools import Browser, find_browser  # noqa: E402

TWICE = 2.5  # the second card's times over the first one's
failures = []


def check(got, wanted, what):
    if got != wanted:
        failures.append(f"{what}: {got!r} instead of {wanted!r}")


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_other_card(path, records):
    """The same cells as another card would have measured them: slower, with another ceiling."""
    for record in records:
        if record["record"] == "run":
            record["environment"]["device"]["name"] = "Another Card"
            record["environment"]["read_ceiling_gb_per_s"] = 321.0
        times = record.get("time_ms") or {}
        for field in ("median", "min", "q1", "q3"):
            if field in times:
                times[field] *= TWICE
        if "samples" in times:
            times["samples"] = [sample * TWICE for sample in times["samples"]]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def report(rung, path, *files):
    subprocess.run([rung, "report", *files, "-o", path], check=True)
    return path


def rows(page):
    """The cells of the table of all rows, by column."""
    return page.evaluate("""(() => {
        const table = [...document.querySelectorAll('table.rows')].at(-1);
        const heads = [...table.querySelectorAll('thead th')].map((c) => c.textContent);
        return [...table.querySelectorAll('tbody tr')].map((row) => Object.fromEntries(
            [...row.children].map((c, i) => [heads[i], c.textContent])));
    })()""")


def test_two_files(page, path, ladder):
    """Every id stands twice, each row says of which file, and figures are of their own file."""
    page.open(path)
    names = {"ladder.jsonl, NVIDIA H200": 1, "other.jsonl, Another Card": TWICE}
    medians = {r["id"]: r["time_ms"]["median"] for r in ladder if r["record"] == "row"}
    seen = {}
    for row in rows(page):
        times = names[row["file"]]
        wanted = f"{medians[row['configuration']] * 1e3 * times:.2f}"
        check(row["median µs"], wanted, f"{row['configuration']} of {row['file']}")
        if row["configuration"].startswith("v1-"):
            check(row["vs v1"], "1.00×", f"version 1 against itself in {row['file']}")
        seen.setdefault(row["configuration"], []).append(row["file"])
    check(sorted(seen), sorted(medians), "configurations")
    check({tuple(files) for files in seen.values()}, {tuple(names)}, "files of a configuration")
    headings = page.evaluate("[...document.querySelectorAll('section h2')].map((h) => h.textContent)")
    check([heading.split("isolated, ")[-1] for heading in headings], list(names), "sections")
    cards = page.evaluate("[...document.querySelectorAll('.cards li')].map((c) => c.innerText)")
    check(sum("321 GB/s" in card and "other.jsonl" in card for card in cards), 1, "second ceiling")


def test_shards(page, path):
    """Files without a row in common are one result."""
    page.open(path)
    check("file" in rows(page)[0], False, "a column of files for shards")
    check(page.evaluate("document.querySelectorAll('section').length"), 1, "sections of shards")


def test_width(page, path, what):
    page.open(path)
    check(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), True,
          f"no sideways scrolling of {what} at {page.size[0]}")
    outside = page.evaluate(
        "[...document.querySelectorAll('table')].filter((t) => "
        "t.getBoundingClientRect().right > innerWidth && !t.closest('.scroll')).length")
    check(outside, 0, f"wide tables of {what} that do not scroll in themselves")


def main():
    if not find_browser():
        print("no Chromium")
        return 77
    rung, results = sys.argv[1:]
    ladder_path = os.path.join(results, "ladder.jsonl")
    with tempfile.TemporaryDirectory() as folder:
        ladder = read(ladder_path)
        other = os.path.join(folder, "other.jsonl")
        write_other_card(other, read(ladder_path))
        parts = [os.path.join(folder, f"part{i}.jsonl") for i in range(2)]
        for i, part in enumerate(parts):
            with open(part, "w", encoding="utf-8") as file:
                kept = [r for r in ladder if r["record"] != "row"
                        or (r["bound"] == "const") == (i == 0)]
                file.writelines(json.dumps(record) + "\n" for record in kept)
        long_name = os.path.join(folder, "a" * 120 + ".jsonl")
        os.link(parts[0], long_name)
        pages = {
            "one file": report(rung, f"{folder}/one.html", ladder_path),
            "two cards": report(rung, f"{folder}/two.html", ladder_path, other),
            "shards": report(rung, f"{folder}/parts.html", *parts),
            "a long name": report(rung, f"{folder}/long.html", ladder_path, long_name),
            "all results": report(rung, f"{folder}/all.html", *(
                os.path.join(results, f"{name}.jsonl")
                for name in ("ladder", "all", "counters", "simulator"))),
        }
        with Browser() as page:
            test_two_files(page, pages["two cards"], ladder)
            test_shards(page, pages["shards"])
            check(page.errors, [], "errors in the console")
        for dark in (False, True):
            with Browser(390, 844, dark=dark) as page:
                for what, path in pages.items():
                    test_width(page, path, what)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
