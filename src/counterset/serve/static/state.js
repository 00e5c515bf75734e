// The one state of the page. Everything that is shown follows from it.
//
// `asked` is what a person chose; it stands in the address after #, so that a link shows the same,
// and each step of it can be undone. The rest is what the server answered, and how the asking goes.

export const state = {
  asked: {
    case: null, // the position of the case, null for a new person
    values: {}, // the case, by feature
    entered: null, // of a new person: which features were filled in; null for a case
    constraints: {}, // of each feature: locked, direction, low, high, difficulty
    target: null, // the position of the wanted class, null for any other
    interval: null, // the wanted range, if the model predicts numbers
    probability: null, // how probable the model must find what is wanted, null: as it decides
    options: 5, // how many to look for
    tried: null, // the values of the what-if, null if there is none
    kept: [], // of each option that is kept: what it changes
    rejected: [], // of each option that is set aside: its kind and its sentence
    ranges: false, // whether options say between which values one may choose
    picture: "changes",
    noise: 0.03,
    seed: 0,
    filter: null, // show only cases of this class
    view: "case", // "case", "compare" or "group": what is shown
    other: null, // the position of the case to compare with, null for none
    by: null, // the feature by which all cases are grouped, null for none
    search: "",
  },
  extra: 0, // how many more to ask for, because several options are of a kind that is set aside
  isLoaded: false, // whether there is a case, or a new person
  name: "", // what a new person is called on the sheet
  start: null, // features, classes and cases
  original: {}, // the values of the picked case, before they were edited
  invalid: {}, // by feature: why what stands in its field cannot be asked about
  order: null, // the names of the features that stand in front, null: all do
  form: "values", // what the case shows: "values", or "hard" for the difficulties of all features
  person: null, // who of the people alike is looked at: {view, i}
  hasReasons: false, // whether the reasons are wanted
  steps: 0, // how many steps can be undone
  answer: null, // the explanation of the case, with `kept`, `chances` and `notes`
  trial: null, // the decision on the what-if
  map: null,
  reasons: null,
  nearby: { nearest: null, shared: null }, // by strategy: who is offered the same
  lift: null, // which constraint prevents more options
  compared: null, // the case and the other, side by side
  group: null, // all cases without the wanted result, as far as they are explained
  listed: { which: "all", sort: "far", page: 0 }, // which of them the list shows
  about: {}, // by kind of question: the question that the answer is about, as text
  busy: {}, // by kind of question: "asked" or "slow"
  failed: {}, // by kind of question: the server's message
  needsToken: false,
  notice: "", // what is announced
  toast: "", // what is said for a moment
};

const listeners = [];
let waiting = false;

// Call a function after every change.
export function onChange(listener) {
  listeners.push(listener);
}

// Change the state; the page follows before the next event.
export function change(edit) {
  edit(state);
  if (waiting) return;
  waiting = true;
  queueMicrotask(() => {
    waiting = false;
    listeners.forEach((listener) => listener(state));
  });
}

// Show a message for 4 s; screen readers read it aloud.
export function announce(text) {
  change((now) => { now.notice = text; now.toast = text; });
  setTimeout(() => change((now) => { if (now.toast === text) now.toast = ""; }), 4000);
}

export function feature(name) {
  return state.start.features.find((each) => each.name === name);
}

// The values that the fields show: those of the what-if, or those of the case.
export function shown(now = state) {
  return now.asked.tried ?? now.asked.values;
}

// What a case is called: its number, or the name of a new person.
export function caseName(now = state) {
  const { case: position } = now.asked;
  if (position === null) return now.name.trim() || "new person";
  return now.start.cases.numbers[position] ?? String(position);
}

export function constraintOf(name, now = state) {
  return { locked: false, direction: "any", low: null, high: null, difficulty: 1, ...now.asked.constraints[name] };
}

// The constraints as the server takes them: without those of features that may change freely.
export function constraintsToSend(now = state) {
  const sent = {};
  for (const each of now.start.features) {
    const constraint = constraintOf(each.name, now);
    const isFree = !constraint.locked && constraint.direction === "any" && constraint.low === null
      && constraint.high === null && constraint.difficulty === 1;
    if (!isFree) sent[each.name] = constraint;
  }
  return sent;
}

// What is asked about the case. For each option that is set aside, one more is asked for.
export function question(now = state) {
  const { case: position, values, options, kept, rejected, ranges } = now.asked;
  return { case: position, values, constraints: constraintsToSend(now), ...goal(now), kept, ranges,
    options: Math.min(now.start.most_asked, options + rejected.length + now.extra) };
}

// What is wanted.
export function goal({ asked: { target, interval, probability }, start }) {
  const wanted = target === null ? null : start.classes[target].value;
  return { target: wanted, interval, target_probability: probability };
}

export function firstConstraints(start) {
  return Object.fromEntries(start.features.map((each) => [each.name, { ...each.constraint }]));
}

// What belongs to one person, as it is before anything was chosen: the next one starts with it.
export function cleanPerson(now) {
  Object.assign(now.asked, { constraints: firstConstraints(now.start), tried: null, kept: [],
    rejected: [], ranges: false, entered: null, search: "" });
  Object.assign(now, { extra: 0, invalid: {}, order: null, person: null, hasReasons: false, name: "",
    compared: null, answer: null, trial: null, map: null, reasons: null, lift: null,
    nearby: { nearest: null, shared: null } });
}
