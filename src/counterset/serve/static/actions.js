// What people do on the page: each function changes the state, and nothing else.

import { announce, change, feature, firstLimits, limitOf, state } from "./state.js";

// Set a value of the case, or of the what-if if there is one.
export function setValue(name, value) {
  change(({ asked }) => {
    const held = asked.tried ? "tried" : "values";
    asked[held] = { ...asked[held], [name]: value };
  });
}

export function setLimit(name, part) {
  change((now) => {
    now.asked.limits = { ...now.asked.limits, [name]: { ...limitOf(name), ...part } };
  });
}

export function set(part) {
  change((now) => { Object.assign(now.asked, part); });
}

// Lift what the server found to be in the way: one part of one limit, or all of them.
export function lift({ name, part }) {
  const free = { locked: { locked: false }, way: { way: "any" }, range: { low: null, high: null } };
  if (name !== null) {
    setLimit(name, free[part]);
    announce(`Lifted: ${feature(name).label}.`);
    return;
  }
  change((now) => {
    for (const each of now.start.features) {
      const { difficulty } = limitOf(each.name);
      now.asked.limits = { ...now.asked.limits, [each.name]: { difficulty } };
    }
  });
}

// Back to the case as it was picked, with the limits of the beginning.
export function reset() {
  change((now) => {
    now.asked.values = { ...now.original };
    now.asked.limits = firstLimits(now.start);
    now.asked.tried = null;
    now.order = null;
    now.isFresh = true;
  });
  announce("The case is as it was.");
}

// Take the values of a way over into the what-if.
export function tryWay(way) {
  change(({ asked }) => { asked.tried = { ...asked.values, ...changesOf(way) }; });
}

export function startTrial() {
  change(({ asked }) => { asked.tried = { ...asked.values }; });
}

export function endTrial() {
  change((now) => { now.asked.tried = null; now.trial = null; });
}

export function takeTrial() {
  change((now) => {
    now.asked.values = { ...now.asked.tried };
    now.asked.tried = null;
    now.trial = null;
  });
}

export function keepWay(way) {
  if (isKept(way)) return;
  change(({ asked }) => { asked.kept = [...asked.kept, changesOf(way)]; });
  announce("Kept.");
}

export function dropWay(way) {
  const key = keyOf(way);
  change(({ asked }) => {
    asked.kept = asked.kept.filter((each) => JSON.stringify(each) !== key);
  });
  announce("No longer kept.");
}

export function isKept(way, now = state) {
  const key = keyOf(way);
  return now.asked.kept.some((each) => JSON.stringify(each) === key);
}

// What a way changes: by feature, the new value.
export function changesOf(way) {
  return Object.fromEntries(way.changes.map((each) => [each.name, each.value]));
}

export function keyOf(way) {
  return JSON.stringify(changesOf(way));
}
