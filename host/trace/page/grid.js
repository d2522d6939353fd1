// Pictures of large blocks, drawn on canvas: threads with a row for each warp, words with a column
// for each bank. Both redraw in full; nothing is kept between steps.
"use strict";

const palette = {};
function readPalette() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "ink", "soft", "faint", "cell", "active", "on-active", "fetch", "asleep", "bad"])
    palette[name] = style.getPropertyValue(`--${name}`).trim();
  palette.mono = style.getPropertyValue("--mono").trim();
}

// A canvas of 32 columns with labels; draws cells and turns a point into a cell.
class Grid {
  constructor(canvas, rows, head, tallest) {
    Object.assign(this, { canvas, rows, head, tallest, gutter: 34 });
    this.context = canvas.getContext("2d");
    this.waiting = new Map();
    this.columns = 32;
  }

  layout() {
    const width = this.canvas.clientWidth, scale = window.devicePixelRatio || 1;
    this.cell = Math.max(4, (width - this.gutter - 1) / this.columns);
    this.row = Math.min(this.tallest, Math.max(7, this.cell));
    this.height = Math.ceil(this.head + this.rows * this.row + 1);
    const across = Math.round(width * scale), down = Math.round(this.height * scale);
    if (this.canvas.width !== across || this.canvas.height !== down) {
      this.canvas.width = across;
      this.canvas.height = down;
      this.canvas.style.height = `${this.height}px`;
    }
    this.font = null; // a new size resets the context
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.context.clearRect(0, 0, width, this.height);
  }

  x(column) { return this.gutter + column * this.cell; }
  y(row) { return this.head + row * this.row; }

  fill(column, row, colour, alpha = 1) {
    const gap = this.cell > 14 ? 1 : 0.5, g = this.context;
    g.globalAlpha = alpha;
    g.fillStyle = colour;
    g.fillRect(this.x(column) + gap, this.y(row) + gap, this.cell - 2 * gap, this.row - 2 * gap);
    g.globalAlpha = 1;
  }

  outline(column, row, colour, width = 2) {
    const g = this.context;
    g.strokeStyle = colour;
    g.lineWidth = width;
    g.strokeRect(this.x(column) + 1, this.y(row) + 1, this.cell - 2, this.row - 2);
  }

  write(text, x, y, colour, size, align = "center") {
    const g = this.context, font = `${Math.round(size * 2) / 2}px ${palette.mono}`;
    if (this.font !== font) g.font = this.font = font; // setting a font costs more than drawing with it
    g.fillStyle = colour;
    g.textAlign = align;
    g.textBaseline = "middle";
    g.fillText(text, x, y);
  }

  // The cells 0 ... count - 1 at rest: one surface, cut by lines in the colour of the page.
  ground(count) {
    const g = this.context, whole = Math.floor(count / this.columns), rest = count % this.columns;
    g.fillStyle = palette.cell;
    g.fillRect(this.gutter, this.head, this.columns * this.cell, whole * this.row);
    g.fillRect(this.gutter, this.y(whole), rest * this.cell, rest ? this.row : 0);
    g.fillStyle = palette.paper;
    const gap = this.cell > 14 ? 2 : 1;
    for (let column = 0; column <= this.columns; column++)
      g.fillRect(this.x(column) - gap / 2, this.head, gap, this.rows * this.row);
    for (let row = 0; row <= this.rows; row++)
      g.fillRect(this.gutter, this.y(row) - gap / 2, this.columns * this.cell, gap);
  }

  // Values wait here until `values()` draws them, sorted by font and colour: to change either costs
  // more than to draw. Where cells are too small for numbers there are none at all.
  value(column, row, text, colour) {
    if (this.cell < 20) return;
    const fitting = Math.min(12, this.row * 0.62, (this.cell - 5) / (0.61 * text.length));
    const key = `${Math.floor(fitting * 2) / 2} ${colour}`;
    if (!this.waiting.has(key)) this.waiting.set(key, []);
    this.waiting.get(key).push([text, this.x(column) + this.cell / 2, this.y(row) + this.row / 2 + 0.5]);
  }

  values() {
    const g = this.context;
    g.textAlign = "center";
    g.textBaseline = "middle";
    for (const [key, texts] of this.waiting) {
      const [size, colour] = key.split(" ");
      g.font = this.font = `${size}px ${palette.mono}`;
      g.fillStyle = colour;
      for (const [text, x, y] of texts) g.fillText(text, x, y);
    }
    this.waiting.clear();
  }

  columnLabels(name) {
    const every = this.cell >= 20 ? 1 : this.cell >= 12 ? 4 : 8;
    for (let column = 0; column < this.columns; column += every)
      this.write(String(column), this.x(column) + this.cell / 2, this.head - 7, palette.soft, 9);
    this.write(name, 0, this.head - 7, palette.soft, 9, "left");
  }

  rowLabels(text) {
    const every = this.row >= 11 ? 1 : 2;
    for (let row = 0; row < this.rows; row += every)
      this.write(text(row), this.gutter - 5, this.y(row) + this.row / 2 + 0.5, palette.soft,
        Math.min(10, this.row * every * 0.8), "right");
  }

  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - this.gutter) / this.cell);
    const row = Math.floor((event.clientY - box.top - this.head) / this.row);
    return column >= 0 && column < this.columns && row >= 0 && row < this.rows ? row * this.columns + column : null;
  }
}

function drawThreads(grid, trace, step, focus) {
  grid.layout();
  grid.columnLabels("lane");
  grid.rowLabels((row) => `w${row}`);
  grid.ground(trace.block);
  for (let warp = 0; warp < trace.warps; warp++) {
    const work = step.warpOf.get(warp), active = work ? work.active : 0;
    const faded = focus.warp !== null && focus.warp !== warp ? 0.25 : 1;
    for (let lane = 0; lane < 32 && warp * 32 + lane < trace.block; lane++) {
      const thread = warp * 32 + lane;
      if (bit(active, lane)) grid.fill(lane, warp, step.marked.has(thread) ? palette.bad : palette.active, faded);
      else if (active) grid.fill(lane, warp, palette.asleep, faded);
      const made = step.byThread.get(thread);
      const text = made === undefined ? `T${thread}` : value(step.additions.result[made]);
      grid.value(lane, warp, text, bit(active, lane) ? palette["on-active"] : palette.soft);
      if (step.order_broken && work && !bit(work.arrived, lane)) grid.outline(lane, warp, palette.bad, 1);
    }
    if (step.order_broken && !work)
      for (let lane = 0; lane < 32; lane++) grid.outline(lane, warp, palette.bad, 1);
  }
  grid.values();
  if (focus.thread !== null) grid.outline(focus.thread % 32, focus.thread >> 5, palette.ink);
}

// The access whose conflict the bars show: the worst one, of the warp in focus if there is one.
function shownAccess(step, warp) {
  let shown = null;
  for (const access of step.accesses)
    if ((warp === null || access.warp === warp) && (shown === null || access.ways > shown.ways)) shown = access;
  return shown;
}

// Words that each bank serves; a word twice counts once. A 64-bit access goes by half-warps, and the
// half whose busiest bank serves more is the one that is shown.
function served(trace, access) {
  const per = trace.words_per_slot;
  let worst = null, next = 0;
  const wordOf = Array.from({ length: 32 }, (_, lane) => bit(access.lanes, lane) ? access.words[next++] : null);
  for (let first = 0; first < 32; first += 32 / per) {
    const banks = Array.from({ length: 32 }, () => new Set());
    for (const word of wordOf.slice(first, first + 32 / per))
      for (let w = 0; word !== null && w < per; w++) banks[(word + w) % 32].add(word + w);
    const counts = banks.map((words) => words.size);
    if (worst === null || Math.max(...counts) > Math.max(...worst)) worst = counts;
  }
  return worst;
}

function drawBars(grid, trace, access) {
  const room = grid.head - 18, banks = served(trace, access), g = grid.context;
  banks.forEach((count, bank) => {
    if (!count) return;
    const height = Math.max(2, (room * count) / Math.max(worstWays, 2));
    g.fillStyle = access.ways > 1 ? palette.bad : palette.faint;
    g.fillRect(grid.x(bank) + 1.5, grid.head - 15 - height, grid.cell - 3, height);
    if (access.ways > 1 && grid.cell >= 14 && height > 12)
      grid.write(String(count), grid.x(bank) + grid.cell / 2, grid.head - 15 - height / 2, palette.paper, 10);
  });
}

function drawWords(grid, trace, at, focus) {
  const step = stepOf(trace, at), per = trace.words_per_slot;
  grid.layout();
  const access = shownAccess(step, focus.warp);
  if (access) drawBars(grid, trace, access);
  grid.columnLabels("bank");
  grid.rowLabels((row) => String(row * 32));
  const read = new Set(), stored = new Set();
  for (const touch of step.accesses) {
    if (focus.warp !== null && touch.warp !== focus.warp) continue;
    for (const first of touch.words)
      for (let w = 0; w < per; w++) (touch.kind === "store" ? stored : read).add(first + w);
  }
  grid.ground(trace.slots * per);
  for (let word = 0; word < trace.slots * per; word++) {
    const column = word % 32, row = Math.floor(word / 32), slot = Math.floor(word / per);
    const number = step.shared[slot];
    let ink = palette.soft;
    if (stored.has(word)) { grid.fill(column, row, palette.active); ink = palette["on-active"]; }
    else if (read.has(word)) { grid.fill(column, row, palette.fetch); ink = palette["on-active"]; }
    if (word % per === 0) grid.value(column, row, value(number), ink);
  }
  grid.values();
  drawFocus(grid, trace, step, focus);
}

// Operands on their way: `progress` of the distance from the word that was read to the result.
function drawFlight(grid, trace, step, progress) {
  const adds = step.additions, per = trace.words_per_slot;
  adds.thread.forEach((_, i) => {
    const from = adds.right_at[i] * per, to = adds.slot[i] * per;
    if (adds.right_from[i] !== "shared" || adds.slot[i] === null) return;
    const column = (from % 32) + ((to % 32) - (from % 32)) * progress;
    const row = Math.floor(from / 32) + (Math.floor(to / 32) - Math.floor(from / 32)) * progress;
    grid.fill(column, row, palette.fetch, 0.85);
  });
}

function drawFocus(grid, trace, step, focus) {
  const per = trace.words_per_slot, g = grid.context;
  const place = (slot) => [((slot * per) % 32), Math.floor((slot * per) / 32)];
  let i = focus.thread !== null ? step.byThread.get(focus.thread) : undefined;
  if (focus.slot !== null) {
    grid.outline(...place(focus.slot), palette.ink);
    i = step.bySlot.get(focus.slot) ?? (step.readBy.get(focus.slot) || [])[0];
  }
  if (i === undefined) return;
  const adds = step.additions, to = adds.slot[i];
  for (const side of ["left", "right"]) {
    if (adds[side + "_from"][i] !== "shared") continue;
    const [column, row] = place(adds[side + "_at"][i]);
    grid.outline(column, row, palette.ink, 1.5);
    if (to === null || to === adds[side + "_at"][i]) continue;
    const [toColumn, toRow] = place(to);
    g.strokeStyle = palette.ink;
    g.lineWidth = 1.5;
    g.beginPath();
    g.moveTo(grid.x(column) + grid.cell / 2, grid.y(row) + grid.row / 2);
    g.lineTo(grid.x(toColumn) + grid.cell / 2, grid.y(toRow) + grid.row / 2);
    g.stroke();
  }
  if (to !== null) grid.outline(...place(to), palette.ink, 2);
}
