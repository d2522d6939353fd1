// The cards and the controls: one position for all traces, kept in the address as #step=N.
"use strict";

const $ = (id) => document.getElementById(id);
let position = 0, playing = null;

const escaped = (text) => text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

class Card {
  constructor(trace, element) {
    Object.assign(this, { trace, element });
    this.detail = element.querySelector(".detail");
    this.list = element.querySelector(".additions");
    this.details = element.querySelector("details");
    const tell = (text) => { this.detail.textContent = text ?? this.hint; };
    this.hint = "Point at a cell, or walk to one with the arrow keys, to see its operands.";
    const small = trace.block <= 32;
    this.picture = new (small ? LadderPicture : GridPicture)(trace, element, tell);
    this.lines = trace.source.split("\n");
    this.details.addEventListener("toggle", () => this.fillList());
    tell(null);
  }

  show(at) {
    const { trace, element } = this, step = stepOf(trace, at);
    this.step = step;
    element.dataset.step = String(Math.min(at, trace.steps.length - 1));
    element.querySelector(".step-name").textContent = stepName(trace, step);
    element.querySelector(".step-text").innerHTML = escaped(stepText(trace, step))
      .replace(/^(\d+) of (\d+) threads/, "<b>$1 of $2 threads</b>")
      .replace(/(\d+-way bank conflict\.|Barrier: only .*)/, '<b class="bad">$1</b>');
    this.showFacts(step);
    this.showSource(step);
    this.showFindings(step);
    element.querySelector(".result").hidden = step.kind !== "write";
    const count = step.kind === "load" ? step.stores.thread.length : step.additions.thread.length;
    const what = step.kind === "load" ? "load" : "addition";
    element.querySelector("summary").textContent = count === 1 ? `The ${what} of this step` : `All ${count} ${what}s of this step`;
    this.details.style.visibility = count ? "" : "hidden";
    this.fillList();
    this.picture.show(Math.min(at, trace.steps.length - 1));
  }

  showFacts(step) {
    const { trace } = this, last = trace.steps[trace.steps.length - 1].so_far;
    const facts = [["additions", "additions"], ["body runs", "body_runs"], ["serialised", "serialised"]];
    this.element.querySelector(".facts").innerHTML = facts.map(([name, key]) =>
      `<div><dt>${name} so far</dt><dd>${step.so_far[key]} <small>of ${last[key]}</small></dd></div>`).join("");
  }

  // Seven lines of the source round the one that runs.
  showSource(step) {
    const box = this.element.querySelector(".source");
    const line = step.source_line || 0;
    box.hidden = !line && !step.ptx;
    if (!line) {
      box.innerHTML = `<div class="at"><span class="number">${step.line}</span>${escaped(step.ptx || "")}</div>`;
      return;
    }
    const several = document.body.classList.contains("several");
    const from = Math.max(1, line - (several ? 1 : 2)), to = Math.min(this.lines.length, line + (several ? 1 : 2));
    const shown = this.lines.slice(from - 1, to);
    const indent = Math.min(...shown.filter((text) => text.trim()).map((text) => text.match(/^ */)[0].length));
    box.innerHTML = shown.map((text, i) => {
      const mark = from + i === line ? ' class="at"' : "";
      return `<div${mark}><span class="number">${from + i}</span>${escaped(text.slice(indent))}</div>`;
    }).join("");
  }

  showFindings(step) {
    const box = this.element.querySelector(".findings");
    const here = this.trace.findings.filter((finding) => finding.step === step.index);
    const most = 6;
    const items = here.slice(0, most).map((finding) =>
      `<li><b>${escaped(finding.kind)}</b> ${escaped(findingText(finding))}</li>`);
    if (here.length > most) items.push(`<li>and ${here.length - most} more in this step</li>`);
    box.innerHTML = items.join("");
  }

  fillList() {
    if (!this.details.open) return;
    const { trace, step } = this;
    const texts = step.kind === "load" ? step.stores.thread.map((thread) => loadText(step, thread))
      : step.additions.thread.map((_, i) => additionText(step, i));
    this.list.innerHTML = texts.map((text) => `<li>${escaped(text)}</li>`).join("");
  }
}

const cards = traces.map((trace, i) => new Card(trace, document.querySelector(`[data-trace="${i}"]`)));

function compare() {
  const rows = traces.map((trace) => {
    const step = stepOf(trace, position), add = step.kind === "add";
    const running = step.warps.filter((warp) => warp.body_runs).length;
    const cells = [add ? `${step.active} of ${trace.block}` : "–", add ? `${running} of ${trace.warps}` : "–",
      step.worst > 1 ? `${step.worst}-way` : step.worst ? "none" : "–", step.so_far.body_runs, step.so_far.serialised];
    const row = cells.map((cell, i) => `<td${i === 2 && step.worst > 1 ? ' class="bad"' : ""}>${cell}</td>`);
    return `<tr><th scope="row">${escaped(trace.id)}</th>${row.join("")}</tr>`;
  });
  $("compare").querySelector("tbody").innerHTML = rows.join("");
}

function show(at, announce = true) {
  position = Math.max(0, Math.min(lastStep, at));
  for (const card of cards) card.show(position);
  if (traces.length > 1) compare();
  $("step").value = String(position);
  const longest = traces.find((trace) => trace.steps.length - 1 === lastStep);
  const step = longest.steps[position];
  const words = traces.length === 1 ? stepText(longest, step)
    : traces.map((trace) => `${trace.id}: ${stepText(trace, stepOf(trace, position))}`).join(" ");
  const said = `Step ${position} of ${lastStep}, ${stepName(longest, step)}. ${words}`;
  $("step").setAttribute("aria-valuetext", said);
  if (announce) $("live").textContent = said;
  for (const tick of $("ticks").children) tick.dataset.now = String(Number(tick.dataset.at) === position);
  history.replaceState(null, "", `#step=${position}`);
}

function play(on) {
  clearInterval(playing);
  playing = null;
  if (on) {
    if (position === lastStep) show(0);
    const next = () => {
      show(position + 1);
      if (position === lastStep) play(false);
    };
    playing = setInterval(next, calm.matches ? 2400 : 1600);
  }
  $("play").textContent = on ? "❚❚" : "▶";
  $("play").setAttribute("aria-label", on ? "Pause" : "Play");
}

function go(at) { play(false); show(at); }

function listen() {
  $("first").addEventListener("click", () => go(0));
  $("back").addEventListener("click", () => go(position - 1));
  $("forward").addEventListener("click", () => go(position + 1));
  $("last").addEventListener("click", () => go(lastStep));
  $("play").addEventListener("click", () => play(playing === null));
  $("step").addEventListener("input", () => go(Number($("step").value)));
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const typing = ["SELECT", "TEXTAREA"].includes(event.target.tagName) || event.target.name === "view";
    const pressed = event.target.tagName === "BUTTON" || event.target.tagName === "SUMMARY";
    const keys = { ArrowLeft: position - 1, ArrowRight: position + 1, Home: 0, End: lastStep,
      PageUp: position - 1, PageDown: position + 1 };
    if (event.key === " " && !pressed && !typing) { event.preventDefault(); play(playing === null); }
    else if (event.key in keys && !typing) { event.preventDefault(); go(keys[event.key]); }
  });
  for (const radio of document.querySelectorAll("[name=view]"))
    radio.addEventListener("change", () => {
      document.body.dataset.view = radio.value;
      show(position, false);
    });
  addEventListener("hashchange", () => show(fromAddress(), false));
  const repaint = () => { readPalette(); show(position, false); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  $("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = getComputedStyle(root).colorScheme === "dark";
    root.dataset.theme = dark ? "light" : "dark";
    repaint();
  });
}

function fromAddress() {
  const found = /step=(\d+)/.exec(location.hash);
  return found ? Number(found[1]) : 0;
}

function ticks() {
  const longest = traces.find((trace) => trace.steps.length - 1 === lastStep);
  $("ticks").classList.toggle("many", lastStep > 9);
  $("ticks").innerHTML = longest.steps.map((step, i) => {
    const alike = traces.every((trace) => shortName(stepOf(trace, i)) === shortName(step));
    const left = lastStep ? (100 * i) / lastStep : 0;
    return `<span data-at="${i}" style="left:${left}%">${alike ? escaped(shortName(step)) : i}</span>`;
  }).join("");
}

document.body.classList.add("live");
if (traces.every((trace) => trace.block <= 32)) {
  $("views").hidden = true;
  if (traces.length === 1) document.querySelector("details").open = true;
}
$("compare").hidden = traces.length < 2;
$("step").max = String(lastStep);
const theme = /theme=(dark|light)/.exec(location.hash);
if (theme) document.documentElement.dataset.theme = theme[1];
readPalette();
ticks();
listen();
show(fromAddress(), false);
