// The one state of the page. Everything that is shown follows from it.
//
// `asked` is what a person chose; it stands in the address after #, so that a link shows the same.
// The rest is what the server answered, and how the asking goes.

export const state = {
  asked: {
    case: null, // the position of the case, null before one is picked
    values: {}, // the case, by feature
    limits: {}, // what each feature may do: locked, way, low, high, difficulty
    target: null, // the position of the wanted class, null for any other
    interval: null, // the wanted range, if the model predicts numbers
    ways: 5,
    tried: null, // the values of the what-if, null if there is none
    kept: [], // ways that are kept: what each changes
    picture: "changes",
    noise: 0.03,
    seed: 0,
    filter: null, // show only cases of this class
    search: "",
  },
  start: null, // features, classes and cases
  original: {}, // the values of the picked case, before they were edited
  order: null, // the names of the features that stand in front, null: all do
  isFresh: true, // whether the next answer is about another case: then nearest ways come first
  answer: null, // the decision and the ways
  trial: null, // the decision on the what-if
  map: null,
  nearby: { own: null, anchored: null },
  lift: null, // which limit stands in the way
  busy: {}, // by kind of question: "asked" or "slow"
  failed: {}, // by kind of question: the server's sentence
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

// Say something, also to those who do not see the page; it goes away after 4 s.
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

export function limitOf(name, now = state) {
  return { locked: false, way: "any", low: null, high: null, difficulty: 1, ...now.asked.limits[name] };
}

// The limits as the server takes them: without those that limit nothing.
export function limitsToSend(now = state) {
  const sent = {};
  for (const each of now.start.features) {
    const limit = limitOf(each.name, now);
    const isFree = !limit.locked && limit.way === "any" && limit.low === null
      && limit.high === null && limit.difficulty === 1;
    if (!isFree) sent[each.name] = limit;
  }
  return sent;
}

// What is asked about the case.
export function question(now = state) {
  const { case: position, values, target, interval, ways, kept } = now.asked;
  return { case: position, values, limits: limitsToSend(now), target, interval, ways, kept };
}

export function firstLimits(start) {
  return Object.fromEntries(start.features.map((each) => [each.name, { ...each.limit }]));
}
