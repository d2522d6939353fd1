// What shows a trace: the ladder of a small block, which is in the page as a still picture, or two
// grids. Both answer show(at) and tell the card which cell the reader points at.
"use strict";

class LadderPicture {
  constructor(trace, card, tell) {
    this.trace = trace;
    this.rows = [...card.querySelectorAll(".drawing .row")];
    this.cells = [...card.querySelectorAll(".drawing .cell")];
    this.tell = tell;
    this.at = 0;
    this.here = 0;
    const box = card.querySelector(".drawing");
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "The steps as rows of cells; arrows walk over the cells");
    this.cells.forEach((cell, i) => {
      cell.setAttribute("tabindex", i === 0 ? "0" : "-1");
      cell.setAttribute("role", "img");
      cell.setAttribute("aria-label", this.story(cell));
      cell.addEventListener("pointerenter", () => this.point(cell));
      cell.addEventListener("pointerleave", () => this.point(null));
      cell.addEventListener("focus", () => { this.here = i; this.point(cell); });
      cell.addEventListener("blur", () => this.point(null));
    });
    box.addEventListener("keydown", (event) => this.walk(event));
    this.svg = box.querySelector("svg");
    this.whole = this.svg.getAttribute("viewBox");
    const narrow = matchMedia("screen and (max-width: 720px)");
    narrow.addEventListener("change", () => this.crop(narrow.matches));
    this.crop(narrow.matches);
  }

  // On a narrow screen the labels are left out, and the cells get their room.
  crop(narrow) {
    const [, y, width, height] = this.whole.split(" ").map(Number);
    const { gutter, tail } = this.svg.dataset;
    const from = narrow ? gutter - 4 : -2, room = narrow ? width - gutter - tail + 4 : width;
    this.svg.setAttribute("viewBox", `${from} ${y} ${room} ${height}`);
    this.svg.setAttribute("width", room); // with the height it gives the picture its proportions
  }

  story(cell) {
    const { step, slot, vector, element } = cell.dataset;
    if (element !== undefined) return cell.querySelector("title").textContent;
    const at = Number(step), it = this.trace.steps[at];
    if (it.kind === "write") return stepText(this.trace, it);
    const thread = it.shuffle ? Number(slot) : null;
    return thread !== null ? threadStory(this.trace, it, thread) : slotStory(this.trace, at, Number(slot));
  }

  // Marks the cells that a cell was made of.
  point(cell) {
    for (const other of this.cells) other.classList.remove("linked");
    if (!cell) return this.tell(null);
    const at = Number(cell.dataset.step), step = this.trace.steps[at];
    if (cell.dataset.slot !== undefined && step && step.kind === "add") {
      const slot = Number(cell.dataset.slot);
      const i = step.shuffle ? step.byThread.get(slot) : step.bySlot.get(slot);
      if (i !== undefined)
        for (const side of ["left", "right"]) {
          const from = step.additions[side + "_at"][i] ?? slot;
          const source = this.cells.find((c) =>
            Number(c.dataset.step) === at - 1 && Number(c.dataset.slot) === from);
          if (source) source.classList.add("linked");
        }
    }
    this.tell(this.story(cell));
  }

  walk(event) {
    const box = this.cells[this.here].querySelector("rect").getBBox();
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    let best = null, least = Infinity;
    this.cells.forEach((cell, i) => { // the nearest cell in that direction
      const other = cell.querySelector("rect").getBBox();
      const dx = other.x - box.x, dy = other.y - box.y;
      const along = dx * step[0] + dy * step[1], across = Math.abs(dx * step[1]) + Math.abs(dy * step[0]);
      const far = along + 4 * across;
      if (along > 1 && (step[1] || across < 1) && far < least) {
        least = far;
        best = i;
      }
    });
    if (best === null) return;
    this.cells[this.here].setAttribute("tabindex", "-1");
    this.here = best;
    this.cells[best].setAttribute("tabindex", "0");
    this.cells[best].focus();
  }

  show(at) {
    for (const row of this.rows) {
      const step = Number(row.dataset.step);
      row.classList.toggle("later", step > at);
      row.classList.toggle("earlier", step < at);
      row.classList.toggle("current", step === at);
    }
  }
}

class GridPicture {
  constructor(trace, card, tell) {
    Object.assign(this, { trace, tell, at: 0 });
    this.focus = { warp: null, thread: null, slot: null };
    const wide = document.body.classList.contains("several") ? 14 : 20;
    const rows = Math.ceil((trace.slots * trace.words_per_slot) / 32);
    const threads = card.querySelector(".threads canvas"), words = card.querySelector(".words canvas");
    this.threads = new Grid(threads, trace.warps, 16, wide);
    this.words = new Grid(words, rows, worstWays > 1 ? 58 : 30, wide);
    this.listen(threads, this.threads, trace.block, (cell) => this.pointThread(cell));
    this.listen(words, this.words, trace.slots * trace.words_per_slot, (cell) => this.pointWord(cell));
    const pick = card.querySelector(".pick");
    for (let warp = 0; warp < trace.warps; warp++) pick.add(new Option(`warp ${warp}`, String(warp)));
    pick.addEventListener("change", () => {
      this.picked = pick.value === "" ? null : Number(pick.value);
      this.pointThread(null);
    });
    this.picked = null;
    let width = 0; // drawing changes the height: only a new width asks for another drawing
    new ResizeObserver(([entry]) => {
      if (entry.contentRect.width === width) return;
      width = entry.contentRect.width;
      requestAnimationFrame(() => this.draw());
    }).observe(card.querySelector(".grids"));
  }

  listen(canvas, grid, cells, point) {
    let here = 0;
    canvas.addEventListener("pointermove", (event) => {
      const cell = grid.hit(event);
      point(cell !== null && cell < cells ? cell : null);
    });
    canvas.addEventListener("pointerleave", () => point(null));
    canvas.addEventListener("focus", () => point(here));
    canvas.addEventListener("blur", () => point(null));
    canvas.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -32, ArrowDown: 32 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      if (here + by >= 0 && here + by < cells) here += by;
      point(here);
    });
  }

  pointThread(thread) {
    this.focus = { warp: thread === null ? this.picked : thread >> 5, thread, slot: null };
    this.draw();
    this.tell(thread === null ? null : threadStory(this.trace, stepOf(this.trace, this.at), thread));
  }

  pointWord(word) {
    const slot = word === null ? null : Math.floor(word / this.trace.words_per_slot);
    this.focus = { warp: this.picked, thread: null, slot };
    this.draw();
    this.tell(slot === null ? null : slotStory(this.trace, this.at, slot));
  }

  show(at) {
    const forward = at === this.at + 1;
    this.at = at;
    cancelAnimationFrame(this.frame);
    this.draw();
    if (forward && !calm.matches) this.fly(performance.now());
    if (this.focus.thread !== null) this.tell(threadStory(this.trace, stepOf(this.trace, at), this.focus.thread));
    if (this.focus.slot !== null) this.tell(slotStory(this.trace, at, this.focus.slot));
  }

  // The fetched operands travel to the words that they are added to.
  fly(since) {
    this.frame = requestAnimationFrame((now) => {
      const progress = Math.min(1, (now - since) / 450);
      this.draw();
      if (progress === 1 || !this.words.canvas.offsetParent) return;
      drawFlight(this.words, this.trace, stepOf(this.trace, this.at), 1 - (1 - progress) ** 3);
      this.fly(since);
    });
  }

  draw() {
    const step = stepOf(this.trace, this.at);
    if (this.threads.canvas.offsetParent) drawThreads(this.threads, this.trace, step, this.focus);
    if (this.words.canvas.offsetParent && this.trace.slots) drawWords(this.words, this.trace, this.at, this.focus);
    this.threads.canvas.setAttribute("aria-label", `Threads, a row is a warp. ${stepText(this.trace, step)}`);
    const access = shownAccess(step, this.focus.warp);
    const conflict = !access ? "Not touched."
      : `Warp ${access.warp}: ${access.ways === 1 ? "no conflict" : `${access.ways}-way conflict`}.`;
    this.words.canvas.setAttribute("aria-label", `Shared memory, a column is a bank. ${conflict}`);
  }
}
