// What people do on the page: each function changes the state, and nothing else.

import { announce, change, cleanPerson, constraintOf, feature, firstConstraints, state } from "./state.js";
import { codeOf } from "./format.js";

// Set a value of the case, or of the what-if if there is one.
export function setValue(name, value) {
  change((now) => {
    const { asked } = now;
    const held = asked.tried ? "tried" : "values";
    asked[held] = { ...asked[held], [name]: value };
    if (asked.entered && !asked.tried) asked.entered = { ...asked.entered, [name]: true };
    setFault(now, name, "");
  });
}

// Say that what stands in a field cannot be asked about; the value before stays.
export function refuseValue(name, fault) {
  change((now) => setFault(now, name, fault));
}

// A field of a new person that is emptied has its typical value again.
export function clearValue(name) {
  change((now) => {
    const { [name]: _, ...entered } = now.asked.entered;
    now.asked.entered = entered;
    now.asked.values = { ...now.asked.values, [name]: feature(name).typical };
    setFault(now, name, "");
  });
}

function setFault(now, name, fault) {
  const { [name]: _, ...others } = now.invalid;
  now.invalid = fault ? { ...others, [name]: fault } : others;
}

export function setConstraint(name, part) {
  change((now) => {
    now.asked.constraints = { ...now.asked.constraints, [name]: { ...constraintOf(name), ...part } };
  });
}

// Change what is chosen.
export function set(part) {
  change((now) => { Object.assign(now.asked, part); });
}

// Change what is only looked at.
export function look(part) {
  change((now) => { Object.assign(now, part); });
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
    if (now.asked.entered) now.asked.entered = {};
    Object.assign(now.asked, { constraints: firstConstraints(now.start), tried: null, rejected: [] });
    Object.assign(now, { order: null, invalid: {} });
  });
  announce("The case is reset.");
}

// Begin with an empty form: typical values stand in for what is not filled in.
export function startPerson() {
  change((now) => {
    cleanPerson(now);
    now.original = Object.fromEntries(now.start.features.map((each) => [each.name, each.typical]));
    Object.assign(now.asked, { case: null, values: { ...now.original }, entered: {} });
    Object.assign(now, { isLoaded: true, form: "values" });
  });
  announce("A new person: fill in what you know.");
}

// Take the values of an option over into the what-if; a second time, go back to the case.
export function tryOption(option) {
  if (isTried(option)) {
    endTrial();
    return;
  }
  change(({ asked }) => { asked.tried = { ...asked.values, ...changesOf(option) }; });
}

export function isTried(option, now = state) {
  const { tried, values } = now.asked;
  if (!tried) return false;
  const wanted = { ...values, ...changesOf(option) };
  return Object.keys(wanted).every((name) => JSON.stringify(wanted[name]) === JSON.stringify(tried[name]));
}

export function startTrial() {
  change(({ asked }) => { asked.tried = { ...asked.values }; });
}

export function endTrial() {
  change((now) => { now.asked.tried = null; now.trial = null; now.invalid = {}; });
}

export function takeTrial() {
  change((now) => {
    const { asked } = now;
    if (asked.entered) {
      const moved = Object.keys(asked.tried).filter((name) => asked.tried[name] !== asked.values[name]);
      asked.entered = { ...asked.entered, ...Object.fromEntries(moved.map((name) => [name, true])) };
    }
    asked.values = { ...asked.tried };
    asked.tried = null;
    now.trial = null;
  });
}

export function keepOption(option) {
  if (isKept(option)) return;
  change(({ asked }) => { asked.kept = [...asked.kept, changesOf(option)]; });
  announce("Kept for the sheet to take home.");
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

// Set an option aside, with all that change the same in the same direction; one more is asked for.
export function rejectOption(option) {
  change(({ asked }) => {
    asked.rejected = [...asked.rejected, { kind: kindOf(option), sentence: option.sentence }];
  });
  announce("Set aside. Looking for another option.");
}

export function bringBack() {
  set({ rejected: [] });
}

export function isRejected(option, now = state) {
  const kind = kindOf(option);
  return now.asked.rejected.some((each) => each.kind === kind);
}

// The options that are shown: as many as were asked for, without those that are set aside.
export function optionsShown(now = state) {
  const options = now.answer?.options ?? [];
  return options.filter((each) => !isRejected(each, now)).slice(0, now.asked.options);
}

// What an option changes: by feature, the new value.
export function changesOf(option) {
  return Object.fromEntries(option.changes.map((each) => [each.name, each.after]));
}

export function keyOf(option) {
  return JSON.stringify(changesOf(option));
}

// Options are of one kind if they change the same features: numbers in the same direction, and
// categories to the same value.
export function kindOf(option) {
  return JSON.stringify(option.changes.map(({ name, before, after }) => {
    const named = feature(name);
    const [from, to] = [codeOf(named, before), codeOf(named, after)];
    return [name, named.has_order && from !== null && to !== null ? Math.sign(to - from) : after];
  }));
}
