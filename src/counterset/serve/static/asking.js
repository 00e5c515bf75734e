// When the server is asked, and how its answers change the state.
//
// Each kind of question is asked again when what it depends on has changed. The old answer stays
// until the new one is there.

import { Asker, Failure, ask } from "./api.js";
import { keyOf } from "./actions.js";
import { restore } from "./address.js";
import { announce, change, question, state } from "./state.js";
import { counted } from "./format.js";

const PAUSE = 150; // ms after the last keystroke
const QUIET = 600; // ms after the last answer, before people almost alike are asked about
const FRONT = 7; // features that stand in front of a long table, at least
const SLOW = 1000; // ms after which the page says what it waits for

const askers = {
  explain: new Asker("explorer/explain"),
  predict: new Asker("explorer/predict"),
  map: new Asker("explorer/map"),
  lift: new Asker("explorer/lift"),
  nearest: new Asker("explorer/nearby"),
  shared: new Asker("explorer/nearby"),
};
// The last question of each kind, as text: the same is not asked twice.
const last = {};

// Ask whatever follows from the state and was not asked yet.
export function askWhatChanged(now) {
  if (now.asked.case === null) return;
  const body = question(now);
  putOnce("explain", body, PAUSE, ({ explanation, kept, notes }) => (next) => {
    const answer = { ...explanation, kept, notes };
    answer.options = inPlace(next.isFresh ? [] : next.answer?.options ?? [], answer.options);
    next.isFresh = false;
    next.answer = answer;
    next.lift = null;
    next.order ??= inFront(answer, next);
    next.notice = noticeOf(answer);
  });
  if (now.asked.tried) {
    putOnce("predict", { values: now.asked.tried }, PAUSE, (answer) => (next) => {
      next.trial = answer;
      next.notice = `What if: ${answer.label_text}.`;
    });
  }
  if (now.busy.explain || !now.answer) return;
  if (now.asked.picture === "map" && now.answer.options.length) {
    putOnce("map", body, 0, (answer) => (next) => { next.map = answer; });
  }
  const { kept, ...unkept } = body;
  if (isShort(now)) {
    putOnce("lift", unkept, 0, (answer) => (next) => { next.lift = answer; });
  }
  if (!now.answer.options.length) return;
  const drawn = { ...unkept, noise: now.asked.noise, seed: now.asked.seed };
  putOnce("nearest", { ...drawn, strategy: "nearest" }, QUIET, (answer) => (next) => {
    next.nearby.nearest = answer;
  });
  if (now.busy.nearest || state.busy.nearest) return; // one after the other, so that an edit finds the server free
  putOnce("shared", { ...drawn, strategy: "shared" }, 0, (answer) => (next) => {
    next.nearby.shared = answer;
  });
}

export function isShort(now) {
  return now.answer.status !== "already_reached" && now.answer.options.length < now.asked.options;
}

// Ask everything of these kinds again, such as after a failure.
export function retry(...kinds) {
  kinds.forEach((kind) => { delete last[kind]; });
  change((now) => { kinds.forEach((kind) => { delete now.failed[kind]; }); });
}

export async function loadStart() {
  const response = await ask("explorer/start");
  return response.json();
}

// Load a case and put what a link holds on top of it.
export async function loadCase(position, held = null) {
  change((now) => { now.busy.case = "asked"; });
  let values;
  try {
    const response = await ask(`explorer/cases/${position}`);
    ({ values } = await response.json());
  } finally {
    delete state.busy.case; // shown by the change that follows, be it the case or a failure
  }
  change((now) => {
    now.original = values;
    now.order = null;
    now.isFresh = true;
    now.trial = null;
    now.nearby = { nearest: null, shared: null };
    now.map = null;
    now.asked.case = position;
    if (held) {
      restore(now.asked, held, now.start, values);
    } else {
      now.asked.values = { ...values };
      now.asked.tried = null;
    }
  });
}

export async function saveReport() {
  const response = await ask("explorer/report", question());
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = "explanation.html";
  link.click();
  URL.revokeObjectURL(link.href);
  announce("The report is saved.");
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
  let answer = null;
  try {
    answer = await askers[kind].ask(body, pause);
    clearTimeout(slow);
    if (answer === null) return; // another question was asked
    const edit = apply(answer);
    change((now) => { edit(now); delete now.failed[kind]; });
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

// Options keep their place: one that changes the same features stands where it stood before.
export function inPlace(old, options) {
  const names = (option) => option.changes.map((each) => each.name).join("\n");
  const placed = new Array(options.length).fill(null);
  const rest = [];
  for (const option of options) {
    let at = old.findIndex((each, i) => keyOf(each) === keyOf(option) && i < placed.length && !placed[i]);
    if (at < 0) {
      at = old.findIndex((each, i) => names(each) === names(option) && i < placed.length && !placed[i]);
    }
    if (at < 0) rest.push(option);
    else placed[at] = option;
  }
  return placed.map((each) => each ?? rest.shift());
}

// Long tables: the features that an option changes stand in front, and some that may change.
function inFront(answer, now) {
  if (now.start.features.length <= 10) return null;
  const used = new Set(answer.options.flatMap((option) => option.changes.map((each) => each.name)));
  const names = now.start.features.map((each) => each.name);
  const free = now.start.features.filter((each) => !used.has(each.name) && !each.constraint.locked);
  const more = free.slice(0, Math.max(0, FRONT - used.size)).map((each) => each.name);
  return names.filter((name) => used.has(name) || more.includes(name));
}

function noticeOf({ status, label_text: label, wanted_text: wanted, options }) {
  if (status === "already_reached") return `${label}: the goal is reached.`;
  return `${label}. ${counted(options.length, "option")} to ${wanted}.`;
}
