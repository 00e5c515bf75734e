// The state in the address: only what differs from the case as it was picked. Each step is one of
// the browser's history, so that Undo, and Back, stay inside the page.

import { change, firstConstraints } from "./state.js";

const PAUSE = 1500; // ms: changes of the same field that follow each other faster are one step

export function toAddress(state) {
  const { asked, start, original } = state;
  const held = { c: asked.case };
  put(held, "v", differences(asked.values, original));
  if (asked.entered) held.e = Object.keys(asked.entered);
  const constraints = {};
  const first = firstConstraints(start);
  for (const [name, constraint] of Object.entries(asked.constraints)) {
    if (JSON.stringify(constraint) !== JSON.stringify(first[name])) constraints[name] = constraint;
  }
  put(held, "l", constraints);
  if (asked.target !== start.target) held.t = asked.target;
  if (asked.interval && JSON.stringify(asked.interval) !== JSON.stringify(start.interval)) {
    held.i = asked.interval;
  }
  if (asked.probability !== start.probability) held.a = asked.probability;
  if (asked.options !== start.options) held.n = asked.options;
  if (asked.tried) held.w = differences(asked.tried, asked.values);
  if (asked.kept.length) held.k = asked.kept;
  if (asked.rejected.length) held.x = asked.rejected;
  if (asked.ranges) held.g = true;
  if (asked.picture !== "changes") held.p = asked.picture;
  if (asked.noise !== 0.03) held.s = asked.noise;
  if (asked.seed) held.r = asked.seed;
  if (asked.filter !== null) held.f = asked.filter;
  if (asked.view !== "case") held.m = asked.view;
  if (asked.other !== null) held.o = asked.other;
  if (asked.by !== null) held.b = asked.by;
  return `#${encodeURIComponent(JSON.stringify(held))}`;
}

// What an address holds; null if there is nothing, or nothing that can be read.
export function fromAddress(hash) {
  try {
    const held = JSON.parse(decodeURIComponent(hash.slice(1)));
    return held && typeof held === "object" ? held : null;
  } catch {
    return null;
  }
}

// Put what an address holds into the state, whose `original` is that of its case.
export function restore(now, held) {
  const { asked, start, original } = now;
  const names = new Set(start.features.map((each) => each.name));
  const known = (values) => Object.fromEntries(
    Object.entries(values ?? {}).filter(([name]) => names.has(name)));
  const list = (values) => (Array.isArray(values) ? values : []);
  const constraints = Object.entries(known(held.l)).filter(([, each]) => each && typeof each === "object");
  asked.values = { ...original, ...known(held.v) };
  asked.entered = asked.case === null
    ? Object.fromEntries(list(held.e).filter((name) => names.has(name)).map((name) => [name, true])) : null;
  asked.constraints = { ...firstConstraints(start), ...Object.fromEntries(constraints) };
  asked.target = held.t === undefined ? start.target : held.t;
  if (!start.classes?.[asked.target]) asked.target = held.t === null ? null : start.target;
  asked.interval = held.i ?? start.interval;
  asked.probability = held.a === undefined ? start.probability : held.a;
  asked.options = Number.isInteger(held.n) ? held.n : start.options;
  asked.tried = held.w ? { ...asked.values, ...known(held.w) } : null;
  asked.kept = list(held.k).map(known);
  asked.rejected = list(held.x).filter((each) => typeof each?.kind === "string");
  asked.ranges = held.g === true;
  asked.picture = ["changes", "map", "menu"].includes(held.p) ? held.p : "changes";
  asked.noise = typeof held.s === "number" ? held.s : 0.03;
  asked.seed = Number.isInteger(held.r) ? held.r : 0;
  asked.filter = Number.isInteger(held.f) ? held.f : null;
  asked.view = ["compare", "group"].includes(held.m) ? held.m : "case";
  asked.other = Number.isInteger(held.o) && held.o >= 0 ? held.o : null;
  asked.by = names.has(held.b) ? held.b : null;
}

let last = { what: "", time: 0 };
// What was written last, and how the browser writes that; null: what comes next takes its place.
let written = null;

// Write the state into the address: as a new step, or into the last one if it goes on.
export function remember(now) {
  const address = toAddress(now);
  if (address === written?.address) return;
  if (written && location.hash !== written.hash) return; // a step back is on its way
  const what = written ? whatDiffers(fromAddress(written.address), fromAddress(address)) : "";
  const goesOn = what === "" || (what === last.what && Date.now() - last.time < PAUSE);
  last = { what, time: Date.now() };
  const steps = (history.state?.steps ?? 0) + (goesOn ? 0 : 1);
  history[goesOn ? "replaceState" : "pushState"]({ steps }, "", address);
  written = { address, hash: location.hash };
  now.steps = steps;
}

// The state is that of the address now, after a step back or forward.
export function arrive() {
  change((now) => {
    written = null;
    now.steps = history.state?.steps ?? 0;
  });
}

// Take one step back. It is counted at once: a second click may come before the step was taken.
export function undo() {
  change((now) => {
    if (!now.steps) return;
    now.steps -= 1;
    history.back();
  });
}

// The names of what differs between two addresses.
function whatDiffers(before, after) {
  const names = [];
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [a, b] = [before[key] ?? {}, after[key] ?? {}];
    if (JSON.stringify(a) === JSON.stringify(b)) continue;
    const parts = "vlw".includes(key) ? new Set([...Object.keys(a), ...Object.keys(b)]) : [""];
    for (const part of parts) {
      if (JSON.stringify(a[part]) !== JSON.stringify(b[part]) || !part) names.push(`${key} ${part}`);
    }
  }
  return names.join("\n");
}

function differences(values, others) {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(others[name])));
}

function put(held, key, values) {
  if (Object.keys(values).length) held[key] = values;
}
