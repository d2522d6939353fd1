#!/usr/bin/env python3
"""Steps through trace pages in a headless Chromium and reads the numbers back.

page_test.py RUNG: exit 0 if all holds, 1 if not, 77 where there is no Chromium. What each step must
show is computed here from the definition of the versions, never taken from the page's own data.
"""

import os
import re
import subprocess
import sys
import tempfile

from devtools import Browser, find_browser

A = [1, 2, 3, 4, 5, 6, 7, 8]
B = [2, 1, 2, 1, 2, 1, 2, 1]
failures = []


def check(got, wanted, what):
    if got != wanted:
        failures.append(f"{what}: {got!r} instead of {wanted!r}")


def levels(version, block):
    """(stride, [(thread, slot, partner slot)]) for every level of the tree."""
    strides = [block >> (k + 1) for k in range(block.bit_length() - 1)]
    if version in (1, 2):
        strides.reverse()
    for s in strides:
        if version == 1:
            adds = [(t, t, t + s) for t in range(block) if t % (2 * s) == 0]
        elif version == 2:
            adds = [(t, 2 * s * t, 2 * s * t + s) for t in range(block) if 2 * s * t < block]
        else:
            adds = [(t, t, t + s) for t in range(s)]
        yield s, adds


def conflict(adds):
    """Worst bank conflict of one warp's access, body runs, and those weighted."""
    worst, runs, weight = 1, 0, 0
    for warp in {t // 32 for t, _, _ in adds}:
        mine = [(slot, partner) for t, slot, partner in adds if t // 32 == warp]
        ways = max(len({w for w in column if w % 32 == bank})
                   for column in zip(*mine) for bank in range(32))
        worst, runs, weight = max(worst, ways), runs + 1, weight + ways
    return worst, runs, weight


def make(rung, folder, name, *arguments):
    path = os.path.join(folder, name)
    subprocess.run([rung, "trace", *arguments, "-o", path], check=True)
    check(os.path.getsize(path) < 2 << 20, True, f"{name} is under 2 MiB")
    return path


def read_row(page, step):
    """The cells of a ladder's row, by slot."""
    return page.evaluate(
        f"[...document.querySelectorAll('.row[data-step=\"{step}\"] .cell')].map((c) => "
        "Number(c.querySelector('text').textContent))")


def numbers(page, card=0):
    return page.evaluate(f"[...document.querySelectorAll('[data-trace=\"{card}\"] .facts dd')]"
                         ".map((d) => parseInt(d.textContent))")


def test_seed(page, path):
    """The published example: its sums, its 52, and the memory those sums make."""
    page.open(path)
    shared = [a * b for a, b in zip(A, B)]
    check(read_row(page, 0), shared, "products")
    check(page.text(".step-name"), "load, multiply", "first step")
    total = 0
    for step, (stride, adds) in enumerate(levels(3, 8), 1):
        page.key("ArrowRight")
        check(page.text(".step-name"), f"stride {stride}", f"step {step}")
        wanted = [f"T{t}: {shared[s]} + {shared[p]} = {shared[s] + shared[p]}" for t, s, p in adds]
        for _, slot, partner in adds:
            shared[slot] += shared[partner]
        check(page.evaluate("[...document.querySelectorAll('.additions li')].map((l) => l.textContent)"),
              wanted, f"additions of step {step}")
        check(read_row(page, step), shared, f"shared memory after step {step}")
        total += len(adds)
        check(numbers(page), [total, step, step], f"counts of step {step}")
        live = page.text("#live")
        check(f"Step {step} of 4, stride {stride}. {len(adds)} of 8 threads add in 1 of 1 warp" in live,
              True, f"live text of step {step}: {live}")
    page.key("End")
    check(read_row(page, 4), [52], "the result")
    check("= 52 ✓" in page.text(".result"), True, "verification")
    check(page.evaluate("document.querySelector('.result').hidden"), False, "verification shown")


def test_controls(page, path):
    """Keyboard, buttons, slider, address, theme."""
    page.open(path, "#step=2")
    check(page.text(".step-name"), "stride 2", "step from the address")
    page.key("Home")
    check(page.evaluate("location.hash"), "#step=0", "Home")
    page.key("ArrowLeft")
    check(page.evaluate("location.hash"), "#step=0", "no step before the first")
    page.click("#forward")
    check(page.evaluate("location.hash"), "#step=1", "button")
    page.evaluate("step.value = 3; step.dispatchEvent(new Event('input'))")
    check(page.text(".step-name"), "stride 1", "slider")
    page.evaluate("document.activeElement.blur()")
    page.key(" ")
    check(page.evaluate("play.length === 1 && document.getElementById('play').getAttribute('aria-label')"),
          "Pause", "space plays")
    page.key(" ")
    check(page.evaluate("document.getElementById('play').getAttribute('aria-label')"), "Play",
          "space pauses")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.click("#theme")
    check(page.evaluate(ground) != light, True, "the theme button")
    page.click("#theme")
    check(page.evaluate(ground), light, "the theme button, back")
    page.emulate(True)
    check(page.evaluate(ground), light, "a chosen theme stays")
    page.emulate(False)


def test_focus(page, path):
    """Operands by pointer and by keyboard alone."""
    page.open(path, "#step=1")
    box = page.evaluate("(() => { const b = document.querySelector('.row[data-step=\"1\"] "
                        ".cell[data-slot=\"2\"] rect').getBoundingClientRect(); return [b.x + 9, b.y + 9]; })()")
    page.point(*box)
    check("T2: 6 + 14 = 20" in page.text(".detail"), True, f"hover: {page.text('.detail')}")
    check(page.evaluate("document.querySelectorAll('.linked').length"), 2, "hover marks both operands")
    page.evaluate("document.querySelector('.cell[tabindex=\"0\"]').focus()")
    for _ in range(3):
        page.key("ArrowDown")
    page.key("ArrowRight")
    check("T1: 2 + 6 = 8" in page.text(".detail"), True, f"focus: {page.text('.detail')}")
    check(page.evaluate("location.hash"), "#step=1", "arrows in the picture do not step")


def test_grid(page, path, version, block):
    """A large block on canvas: sentence, counts, every addition, conflict, and a cell's story."""
    page.open(path)
    page.evaluate("document.querySelector('details').open = true")
    shared = list(range(1, block + 1))
    so_far = [0, 0, 0]
    for step, (stride, adds) in enumerate(levels(version, block), 1):
        page.key("ArrowRight")
        what = f"version {version}, block {block}, stride {stride}"
        ways, runs, weight = conflict(adds)
        so_far = [so_far[0] + len(adds), so_far[1] + runs, so_far[2] + weight]
        check(numbers(page), so_far, f"counts, {what}")
        text = page.text(".step-text")
        check(text.startswith(f"{len(adds)} of {block} threads add in {runs} of {block // 32} warps."), True, text)
        check(f"{ways}-way bank conflict" in text, ways > 1, f"conflict, {what}: {text}")
        wanted = [f"T{t}: {shared[s]} + {shared[p]} = {shared[s] + shared[p]}" for t, s, p in adds]
        got = page.evaluate("[...document.querySelectorAll('.additions li')].map((l) => l.textContent)")
        check(got, wanted, f"additions, {what}")
        changed = {}
        for _, slot, partner in adds:
            changed[slot] = f"{shared[slot]} → {shared[slot] + shared[partner]} "
            shared[slot] += shared[partner]
        stories = page.evaluate(f"Array.from({{length: {block}}}, (_, i) => slotStory(traces[0], {step}, i))")
        for slot, story in enumerate(stories):
            said = story.split(": ", 1)[1]
            check(said.startswith(changed.get(slot, f"{shared[slot]},")), True, f"slot {slot}, {what}: {story}")
    page.key("End")
    check(f"= {sum(range(1, block + 1))} ✓" in page.text(".result"), True, "verification")
    page.evaluate("show(1); document.querySelector('.words canvas').focus()")
    page.key("ArrowDown")
    story = page.text(".detail")
    check(re.match(r"slot 32 \(word 32, bank 0\): ", story) is not None, True, f"story: {story}")
    check(page.evaluate("location.hash"), "#step=1", "arrows in the canvas do not step")
    dark = page.evaluate("(() => { const c = document.querySelector('.threads canvas'); const d = c.getContext('2d')"
                         ".getImageData(0, 0, c.width, c.height).data; return d.some((v) => v); })()")
    check(dark, True, "the threads are drawn")


def test_speed(page, path):
    """The time of a step, layout and drawing included; the quickest of five rounds."""
    page.open(path)
    times = page.evaluate(
        "(async () => { const best = []; for (let round = 0; round < 5; round++) for (let i = 0; i <= lastStep; i++) {"
        "const t = performance.now(); show(i); document.body.offsetHeight;"
        "for (const c of document.querySelectorAll('canvas')) c.getContext('2d').getImageData(0, 0, 1, 1);"
        "best[i] = Math.min(best[i] ?? 1e9, performance.now() - t); } return best; })()")
    print(f"{os.path.basename(path)}: {max(times):.1f} ms for the slowest step")
    check(max(times) < 50, True, f"a step takes {max(times):.1f} ms")


def test_several(page, path, block):
    page.open(path)
    for step in range(1, block.bit_length()):
        page.key("ArrowRight")
        for card, version in enumerate((1, 2, 3)):
            done = list(levels(version, block))[:step]
            counts = [conflict(adds) for _, adds in done]
            wanted = [sum(len(adds) for _, adds in done), sum(c[1] for c in counts), sum(c[2] for c in counts)]
            check(numbers(page, card), wanted, f"side by side, version {version}, step {step}")
            row = page.evaluate(f"[...document.querySelectorAll('#compare tbody tr')[{card}].cells].map((c) => c.textContent)")
            ways = counts[-1][0]
            check(row[1:], [f"{len(done[-1][1])} of {block}", f"{counts[-1][1]} of {block // 32}",
                            f"{ways}-way" if ways > 1 else "none", str(wanted[1]), str(wanted[2])],
                  f"comparison, version {version}, step {step}")


def test_narrow(path):
    """At 390 pixels nothing sticks out of the page."""
    for dark in (False, True):
        with Browser(390, 844, dark) as page:
            page.open(path, "#step=1")
            check(page.evaluate("document.documentElement.scrollWidth"), 390, f"width of {path}")
            check(page.errors, [], "errors of the narrow page")


def main():
    rung = os.path.abspath(sys.argv[1])
    if not find_browser():
        print("no Chromium here")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        seed = make(rung, folder, "seed.html", "v3-b8-const-dot")
        large = {(v, b): make(rung, folder, f"v{v}-{b}.html", f"v{v}-b{b}-const")
                 for v, b in ((2, 64), (2, 256), (1, 1024), (2, 1024), (3, 1024))}
        several = make(rung, folder, "several.html", *(f"v{v}-b256-const" for v in (1, 2, 3)))
        with Browser() as page:
            test_seed(page, seed)
            test_controls(page, seed)
            test_focus(page, seed)
            for (version, block), path in large.items():
                test_grid(page, path, version, block)
            test_speed(page, large[(1, 1024)])
            test_speed(page, large[(2, 1024)])
            test_several(page, several, 256)
            check(page.errors, [], "errors in the pages")
        for path in (seed, large[(2, 1024)], several):
            test_narrow(path)
    for failure in failures[:40]:
        print(failure, file=sys.stderr)
    print(f"{len(failures)} of the checks failed" if failures else "all checks hold")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
