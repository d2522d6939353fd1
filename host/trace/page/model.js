// The data of the traces, and what can be asked of it. A trace is one version; `steps` of all
// traces are stepped together, a shorter one stays at its last.
"use strict";

const traces = JSON.parse(document.getElementById("data").textContent);
const lastStep = Math.max(...traces.map((trace) => trace.steps.length)) - 1;

const calm = matchMedia("(prefers-reduced-motion: reduce)");

const lanes = (mask) => { // set bits
  let count = 0;
  for (let bits = mask >>> 0; bits; bits &= bits - 1) count++;
  return count;
};
const bit = (mask, lane) => ((mask >>> lane) & 1) === 1;

// Shared memory after every step, rebuilt from the stores; null where nothing was ever stored.
function replay(trace) {
  let words = new Array(trace.slots).fill(null);
  for (const step of trace.steps) {
    words = words.slice();
    step.stores.slot.forEach((slot, i) => { words[slot] = step.stores.value[i]; });
    step.shared = words;
  }
}

// Tables that make a cell's story a look-up: by thread and by slot.
function index(step) {
  step.byThread = new Map();
  step.bySlot = new Map();
  step.readBy = new Map();
  const adds = step.additions;
  adds.thread.forEach((thread, i) => {
    step.byThread.set(thread, i);
    if (adds.slot[i] !== null) step.bySlot.set(adds.slot[i], i);
    for (const side of ["left", "right"])
      if (adds[side + "_from"][i] === "shared") {
        const slot = adds[side + "_at"][i];
        if (!step.readBy.has(slot)) step.readBy.set(slot, []);
        step.readBy.get(slot).push(i);
      }
  });
  step.stale = new Set(adds.stale_threads);
  step.marked = new Set(); // threads that a finding is about
  step.readsOf = new Map(); // thread to the indices of its reads of the first vector
  step.partner = new Map(); // "thread element" to its value of the second
  step.reads.thread.forEach((thread, i) => {
    if (step.reads.vector[i] === 1) step.partner.set(`${thread} ${step.reads.element[i]}`, step.reads.value[i]);
    else if (step.readsOf.has(thread)) step.readsOf.get(thread).push(i);
    else step.readsOf.set(thread, [i]);
  });
  step.storedBy = new Map(step.stores.slot.map((slot, i) => [slot, step.stores.thread[i]]));
  step.storeOf = new Map(step.stores.thread.map((thread, i) => [thread, i]));
  step.warpOf = new Map(step.warps.map((warp) => [warp.warp, warp]));
  step.worst = step.accesses.reduce((worst, access) => Math.max(worst, access.ways), 0);
}

for (const trace of traces) {
  replay(trace);
  trace.steps.forEach(index);
  for (const finding of trace.findings)
    for (const thread of finding.threads) trace.steps[finding.step].marked.add(thread);
}

// Bars over banks have one scale in all traces.
const worstWays = Math.max(...traces.flatMap((trace) => trace.steps.map((step) => step.worst)));

const stepOf = (trace, at) => trace.steps[Math.min(at, trace.steps.length - 1)];
const isVector = (trace) => trace.input.b !== null;

function stepName(trace, step) {
  if (step.kind === "load") return isVector(trace) ? "load, multiply" : "load";
  if (step.kind === "write") return "write";
  return step.stride ? `stride ${step.stride}` : "add";
}
const shortName = (step) => step.kind === "add" && step.stride ? `${step.stride}` : step.kind;

const value = (number) => number === null ? "?" : String(Number(number.toPrecision(9)));
const signed = (number) => number < 0 ? `(${value(number)})` : value(number);

function additionText(step, i) {
  const adds = step.additions;
  return `T${adds.thread[i]}: ${signed(adds.left[i])} + ${signed(adds.right[i])} = ${value(adds.result[i])}`;
}

// "T0: 1 × 2 = 2" of the load step.
function loadText(step, thread) {
  const terms = (step.readsOf.get(thread) || []).map((i) => {
    const other = step.partner.get(`${thread} ${step.reads.element[i]}`);
    return other === undefined ? signed(step.reads.value[i]) : `${signed(step.reads.value[i])} × ${signed(other)}`;
  });
  const store = step.storeOf.get(thread);
  const made = store === undefined ? null : value(step.stores.value[store]);
  const sum = terms.join(" + ");
  if (sum === "") return `T${thread}: ${made ?? "reads nothing"}`;
  return `T${thread}: ${made === null || sum === made ? sum : `${sum} = ${made}`}`;
}

function operandPlace(adds, side, i) {
  const from = adds[side + "_from"][i], at = adds[side + "_at"][i];
  if (from === "shared") return `slot ${at}`;
  if (from === "lane") return at === null ? "another lane" : `the register of T${at}`;
  return "its register";
}

// What a thread does in a step, in words.
function threadStory(trace, step, thread) {
  const warp = step.warpOf.get(thread >> 5);
  if (step.kind === "load") return loadText(step, thread);
  const i = step.byThread.get(thread);
  if (i !== undefined) {
    const adds = step.additions;
    const from = `${operandPlace(adds, "left", i)} + ${operandPlace(adds, "right", i)}`;
    const to = adds.slot[i] === null ? ", kept in its register" : ` → slot ${adds.slot[i]}`;
    const stale = step.stale.has(thread) ? "  ✗ one operand is not what the step before left there" : "";
    return `${additionText(step, i)}   (${from}${to})${stale}`;
  }
  if (step.kind === "write") {
    const writes = warp && bit(warp.active, thread & 31);
    return `T${thread}: ${writes ? `writes ${value(trace.sum)}` : "done"}`;
  }
  if (warp && warp.body_runs)
    return `T${thread}: asleep, warp ${thread >> 5} runs for ${lanes(warp.active)} other threads`;
  return `T${thread}: idle, and so is all of warp ${thread >> 5}`;
}

// What happens to a slot in a step, in words.
function slotStory(trace, at, slot) {
  const step = stepOf(trace, at), now = step.shared[slot];
  const before = at > 0 ? stepOf(trace, at - 1).shared[slot] : null;
  const word = slot * trace.words_per_slot;
  const name = `slot ${slot} (word ${word}, bank ${word % 32}): `;
  const i = step.bySlot.get(slot);
  if (i !== undefined) return `${name}${value(before)} → ${value(now)}   ${additionText(step, i)}`;
  const writer = step.storedBy.get(slot);
  if (writer !== undefined)
    return `${name}${value(now)}   ${step.kind === "load" ? loadText(step, writer) : `stored by T${writer}`}`;
  const readers = step.readBy.get(slot);
  if (readers) return `${name}${value(now)}, read: ${readers.map((r) => additionText(step, r)).join(", ")}`;
  return name + (now === null ? "never written" : `${value(now)}, at rest`);
}

function orderText(trace, step) {
  if (step.order === "block") {
    const arrived = step.warps.reduce((sum, warp) => sum + lanes(warp.arrived), 0);
    if (step.order_broken) return `Barrier: only ${arrived} of ${trace.block} threads arrive.`;
    return "Then a barrier of the whole block.";
  }
  if (step.order === "warp") return "Ordered within the warp; no block barrier.";
  return "";
}

function findingText(finding) {
  const threads = finding.threads;
  if (threads.length === 0) return finding.line ? `${finding.text} (warp ${finding.warp})` : finding.text;
  const first = threads[0], last = threads[threads.length - 1];
  return `${finding.text} (${first === last ? `T${first}` : `${threads.length} threads, T${first} to T${last}`})`;
}

// The sentence for a step, for the eye and for the live region.
function stepText(trace, step) {
  if (step.kind === "write")
    return `The result is ${value(trace.sum)}` +
      (trace.correct ? ", as it must be." : `; it must be ${value(trace.expected)}.`);
  const running = step.warps.filter((warp) => warp.body_runs).length;
  let text = `${step.active} of ${trace.block} threads ${step.kind}`;
  if (step.kind === "add") text += ` in ${running} of ${trace.warps} ${trace.warps === 1 ? "warp" : "warps"}`;
  text += ". ";
  if (step.worst > 1) text += `${step.worst}-way bank conflict. `;
  return text + orderText(trace, step);
}
