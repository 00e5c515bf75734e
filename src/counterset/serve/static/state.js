// The one state of the page. Everything that is shown follows from it.
//
// `asked` is what a person chose; it stands in the address after #, so that a link shows the same.
// The rest is what the server answered, and how the asking goes.

export const state = {
  asked: {
    case: null, // the position of the case, null before one is picked
    values: {}, // the case, by feature
    constraints: {}, // of each feature: locked, direction, low, high, difficulty
    target: null, // the position of the wanted class, null for any other
    interval: null, // the wanted range, if the model predicts numbers
    probability: null, // how probable the model must find what is wanted, null: as it decides
    options: 5, // how many to look for
    tried: null, // the values of the what-if, null if there is none
    kept: [], // of each option that is kept: what it changes
    picture: "changes",
    noise: 0.03,
    seed: 0,
    filter: null, // show only cases of this class
    search: "",
  },
  start: null, // features, classes and cases
  original: {}, // the values of the picked case, before they were edited
  order: null, // the names of the features that stand in front, null: all do
  isFresh: true, // whether the next answer is about another case: then the nearest options come first
  answer: null, // the explanation of the case, with `kept` and `notes`
  trial: null, // the decision on the what-if
  map: null,
  nearby: { nearest: null, shared: null }, // by strategy: who is offered the same
  lift: null, // which constraint prevents more options
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

// What is asked about the case.
export function question(now = state) {
  const { case: position, values, target, interval, probability, options, kept } = now.asked;
  const wanted = target === null ? null : now.start.classes[target].value;
  return { case: position, values, constraints: constraintsToSend(now), target: wanted, interval,
    target_probability: probability, options, kept };
}

export function firstConstraints(start) {
  return Object.fromEntries(start.features.map((each) => [each.name, { ...each.constraint }]));
}
