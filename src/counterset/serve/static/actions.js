// What people do on the page: each function changes the state, and nothing else.

import { announce, change, constraintOf, feature, firstConstraints, state } from "./state.js";

// Set a value of the case, or of the what-if if there is one.
export function setValue(name, value) {
  change(({ asked }) => {
    const held = asked.tried ? "tried" : "values";
    asked[held] = { ...asked[held], [name]: value };
  });
}

export function setConstraint(name, part) {
  change((now) => {
    now.asked.constraints = { ...now.asked.constraints, [name]: { ...constraintOf(name), ...part } };
  });
}

export function set(part) {
  change((now) => { Object.assign(now.asked, part); });
}

// Lift what the server found to prevent options: a part of one constraint, or all constraints.
export function lift({ name, part }) {
  const free = { lock: { locked: false }, direction: { direction: "any" }, range: { low: null, high: null } };
  if (name !== null) {
    setConstraint(name, free[part]);
    announce(`Lifted: ${feature(name).label}.`);
    return;
  }
  change((now) => {
    for (const each of now.start.features) {
      const { difficulty } = constraintOf(each.name);
      now.asked.constraints = { ...now.asked.constraints, [each.name]: { difficulty } };
    }
  });
}

// Back to the case as it was picked, with the first constraints.
export function reset() {
  change((now) => {
    now.asked.values = { ...now.original };
    now.asked.constraints = firstConstraints(now.start);
    now.asked.tried = null;
    now.order = null;
    now.isFresh = true;
  });
  announce("The case is reset.");
}

// Take the values of an option over into the what-if.
export function tryOption(option) {
  change(({ asked }) => { asked.tried = { ...asked.values, ...changesOf(option) }; });
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

export function keepOption(option) {
  if (isKept(option)) return;
  change(({ asked }) => { asked.kept = [...asked.kept, changesOf(option)]; });
  announce("Kept.");
}

export function dropOption(option) {
  const key = keyOf(option);
  change(({ asked }) => {
    asked.kept = asked.kept.filter((each) => JSON.stringify(each) !== key);
  });
  announce("No longer kept.");
}

export function isKept(option, now = state) {
  const key = keyOf(option);
  return now.asked.kept.some((each) => JSON.stringify(each) === key);
}

// What an option changes: by feature, the new value.
export function changesOf(option) {
  return Object.fromEntries(option.changes.map((each) => [each.name, each.after]));
}

export function keyOf(option) {
  return JSON.stringify(changesOf(option));
}
