// When the server is asked, and how its answers change the state.
//
// Each kind of question is asked again when what it depends on has changed. The old answer stays,
// dimmed, until the new one is there.

import { Asker, Failure, ask } from "./api.js";
import { optionsShown } from "./actions.js";
import { restore } from "./address.js";
import { announce, caseName, change, cleanPerson, question, state } from "./state.js";
import { counted } from "./format.js";

const PAUSE = 150; // ms after the last keystroke
const QUIET = 600; // ms after the last answer, before people almost alike are asked about
const FRONT = 7; // features that stand in front of a long table, at least
const SLOW = 1000; // ms after which the page says what it waits for

const askers = {
  explain: new Asker("explorer/explain"),
  predict: new Asker("explorer/predict"),
  map: new Asker("explorer/map"),
  reasons: new Asker("explorer/reasons"),
  lift: new Asker("explorer/lift"),
  nearest: new Asker("explorer/nearby"),
  shared: new Asker("explorer/nearby"),
  compare: new Asker("explorer/compare"),
};
// The last question of each kind, as text: the same is not asked twice.
const last = {};
// The values of the cases that were loaded.
const loaded = new Map();

// What each kind of question would ask now.
function bodies(now) {
  const body = question(now);
  const { kept, ...unkept } = body;
  const { ranges, ...points } = unkept;
  const drawn = { ...points, noise: now.asked.noise, seed: now.asked.seed };
  return { explain: body, map: points, lift: points, reasons: points,
    compare: { ...points, other: loaded.get(now.asked.other) },
    predict: { values: now.asked.tried, target: body.target },
    nearest: { ...drawn, strategy: "nearest" }, shared: { ...drawn, strategy: "shared" } };
}

// Whether an answer is about something else than what the page shows now.
export function isOld(now, kind) {
  const hasFault = Object.keys(now.invalid).length > 0 && (kind === "predict") === (now.asked.tried !== null);
  return hasFault || now.about[kind] !== JSON.stringify(bodies(now)[kind]);
}

// Ask whatever follows from the state and was not asked yet.
export function askWhatChanged(now) {
  if (!now.isLoaded) return;
  const body = bodies(now);
  if (now.asked.view !== "case") {
    stop(...Object.keys(now.busy).filter((kind) => kind in askers && kind !== "compare"));
    if (now.asked.view === "compare" && body.compare.other) {
      putOnce("compare", body.compare, PAUSE, (answer) => (next) => { next.compared = answer; });
    }
    return;
  }
  // What is asked about people alike is dropped at once, so that an edit finds the server free.
  stop(...["nearest", "shared"].filter((kind) => last[kind] && last[kind] !== JSON.stringify(body[kind])));
  putOnce("explain", body.explain, PAUSE, ({ explanation, ...rest }) => (next) => {
    next.answer = { ...explanation, ...rest };
    next.lift = null;
    next.order = inFront(next);
    const missing = next.asked.options - optionsShown(next).length;
    if (missing > 0 && explanation.options.length === body.explain.options) next.extra += missing;
    next.notice = noticeOf(next);
  });
  if (now.asked.tried) {
    putOnce("predict", body.predict, PAUSE, (answer) => (next) => {
      next.trial = answer;
      next.notice = `What if: ${answer.label_text}.`;
    });
  }
  if (now.busy.explain || !now.answer || isOld(now, "explain")) return;
  if (now.asked.picture === "map" && now.answer.options.length) {
    putOnce("map", body.map, 0, (answer) => (next) => { next.map = answer; });
  }
  if (now.hasReasons) putOnce("reasons", body.reasons, 0, (answer) => (next) => { next.reasons = answer; });
  if (isShort(now)) {
    putOnce("lift", body.lift, 0, (answer) => (next) => { next.lift = answer; });
  }
  if (!now.answer.options.length) return;
  putOnce("nearest", body.nearest, QUIET, (answer) => (next) => { next.nearby.nearest = answer; });
  if (now.busy.nearest || state.busy.nearest) return; // one after the other
  putOnce("shared", body.shared, 0, (answer) => (next) => { next.nearby.shared = answer; });
}

export function isShort(now) {
  return now.answer.status !== "already_reached" && optionsShown(now).length < now.asked.options
    && now.answer.options.length < question(now).options;
}

// Ask everything of these kinds again, such as after a failure.
export function retry(...kinds) {
  kinds.forEach((kind) => { delete last[kind]; });
  change((now) => { kinds.forEach((kind) => { delete now.failed[kind]; }); });
}

// Drop questions whose answers nobody waits for any more.
function stop(...kinds) {
  kinds.forEach((kind) => { askers[kind].cancel(); delete last[kind]; });
}

export async function loadStart() {
  const response = await ask("explorer/start");
  return response.json();
}

// The values of a case.
async function valuesOf(position) {
  if (loaded.has(position)) return loaded.get(position);
  change((now) => { now.busy.case = "asked"; });
  try {
    const response = await ask(`explorer/cases/${position}`);
    const { values } = await response.json();
    loaded.set(position, values);
    return values;
  } finally {
    delete state.busy.case; // shown by the change that follows, be it the case or a failure
  }
}

// Put another case beside the one that is picked.
export async function loadOther(position) {
  await valuesOf(position);
  change((now) => { now.asked.other = position; });
}

// Show a case as it is, or with what a link holds; without a position, a new person.
export async function loadCase(position, held = null) {
  const values = position === null
    ? Object.fromEntries(state.start.features.map((each) => [each.name, each.typical]))
    : await valuesOf(position);
  if (Number.isInteger(held?.o)) await valuesOf(held.o);
  change((now) => {
    if (now.asked.case !== position || !now.isLoaded) cleanPerson(now);
    now.isLoaded = true;
    now.original = values;
    now.invalid = {};
    now.asked.case = position;
    if (held) restore(now, held);
    else Object.assign(now.asked, { values: { ...values }, tried: null, entered: position === null ? {} : null });
  });
}

// The sheet to take home: the kept options of a case; all that are shown, if none is kept.
export async function saveReport() {
  const name = caseName();
  const date = new Date().toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
  const response = await ask("explorer/report", { ...question(), date,
    name: state.asked.case === null ? name : null, shown: optionsShown().map((each) => each.rank) });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = `options-${name.replace(/[^\p{L}\p{N}._-]+/gu, "-")}.html`;
  link.click();
  URL.revokeObjectURL(link.href);
  announce("The sheet is saved.");
}

// Ask a question unless it was the last of its kind. `apply` makes an edit of the state.
function putOnce(kind, body, pause, apply) {
  const text = JSON.stringify(body);
  if (last[kind] === text) return;
  last[kind] = text;
  put(kind, body, pause, apply);
}

async function put(kind, body, pause, apply) {
  const slow = setTimeout(() => change((now) => { now.busy[kind] = "slow"; }), pause + SLOW);
  change((now) => { now.busy[kind] = "asked"; });
  try {
    const answer = await askers[kind].ask(body, pause);
    clearTimeout(slow);
    if (answer === null) { // another question was asked, or none is needed any more
      if (!last[kind]) change((now) => { delete now.busy[kind]; });
      return;
    }
    const edit = apply(answer);
    change((now) => {
      now.about[kind] = JSON.stringify(body);
      edit(now);
      delete now.failed[kind];
    });
  } catch (error) {
    clearTimeout(slow);
    if (!(error instanceof Failure)) throw error;
    change((now) => {
      now.failed[kind] = error.message;
      now.needsToken ||= error.status === 401;
    });
  }
  change((now) => { delete now.busy[kind]; });
}

// Long tables: the features that options change stand in front, and some that may change. While a
// person works nothing leaves its place; what is used for the first time comes after it.
function inFront(now) {
  if (now.start.features.length <= 10) return null;
  const used = [...new Set(now.answer.options.flatMap((option) => option.changes.map((each) => each.name)))];
  if (now.order) return [...now.order, ...used.filter((name) => !now.order.includes(name))];
  const free = now.start.features.filter((each) => !used.includes(each.name) && !each.constraint.locked);
  return [...used, ...free.slice(0, Math.max(0, FRONT - used.length)).map((each) => each.name)];
}

function noticeOf(now) {
  const { status, label_text: label, wanted_text: wanted } = now.answer;
  if (status === "already_reached") return `${label}: the goal is reached.`;
  const count = optionsShown(now).length;
  return `${label}. ${counted(count, "option")} that ${count === 1 ? "leads" : "lead"} to ${wanted}.`;
}
