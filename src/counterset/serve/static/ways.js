// The ways: a card each, what is certain about them, and those that are kept.

import { data, h } from "./dom.js";
import { dropWay, isKept, keepWay, keyOf, lift, tryWay } from "./actions.js";
import { isShort } from "./asking.js";
import { counted, distance } from "./format.js";
import { failure, waiting } from "./failures.js";
import { marker } from "./marks.js";

export function waysPanel(state) {
  const { answer, busy } = state;
  return [
    h("div", { class: "head" }, h("h2", {}, heading(state))),
    failure(state, "explain", "report"),
    waiting(state, "explain", "Looking for ways: the model is being asked …"),
    !answer && !state.failed.explain && h("ol", { class: "cards" },
      [0, 1, 2].map((i) => h("li", { key: `empty ${i}`, class: "card empty" }))),
    answer && h("div", { class: busy.explain ? "old" : "" }, content(state)),
    state.asked.kept.length > 0 && kept(state),
  ];
}

function heading({ answer }) {
  if (!answer) return "Ways";
  if (answer.status === "already_reached") return "Nothing to change";
  return `${counted(answer.ways.length, "way")} to ${answer.wanted}`;
}

function content(state) {
  const { answer } = state;
  if (answer.status === "already_reached") {
    return h("p", { class: "note" },
      `The model says “${answer.told}”, which is what is wanted. Pick another case, or want something else.`);
  }
  const near = Math.min(...answer.ways.map((way) => way.distance));
  return [
    isShort(state) && shortfall(state),
    h("ol", { class: "cards" },
      answer.ways.map((way, i) => card(state, way, i, way.distance === near))),
    answer.ways.length > 0 && h("details", { class: "sure" },
      h("summary", {}, "What is checked, and what is proved"),
      h("ul", {}, [...answer.sure, ...answer.far, ...answer.limits].map((each) => h("li", {}, each)))),
  ];
}

function shortfall(state) {
  const { answer, asked, lift: found, busy } = state;
  const count = answer.ways.length;
  return h("div", { class: "short-of", role: "status" },
    h("p", {}, count ? `${asked.ways} were asked for, and ${count === 1 ? "1 was" : `${count} were`} found. ` : "No way was found within these limits. ",
      found ? found.sentence : busy.lift ? "Looking for what stands in the way …" : ""),
    found?.button && h("button", { type: "button", id: "lift", onclick: () => lift(found) }, found.button));
}

function card(state, way, i, isNearest) {
  return h("li", { class: `card way-${i % 7}`, key: `place ${i}`, "data-way": keyOf(way) },
    h("h3", {}, marker(i), way.headline),
    changes(way),
    h("p", { class: "facts" }, [
      isNearest && h("span", { class: "tag" }, "nearest"),
      h("span", { title: "1 is one number moved across its usual range" }, `distance ${distance(way.distance)}`),
      steady(state, way)]),
    h("div", { class: "buttons" },
      h("button", { type: "button", class: "try", "aria-label": `Try way ${i + 1}`, onclick: () => tryWay(way) }, "Try it"),
      h("button", { type: "button", class: "keep", "aria-pressed": String(isKept(way, state)),
        "aria-label": `Keep way ${i + 1}`,
        onclick: () => (isKept(way, state) ? dropWay(way) : keepWay(way)) },
      isKept(way, state) ? "Kept ✓" : "Keep")));
}

function changes(way) {
  return h("ul", { class: "changes" }, way.changes.map((each) =>
    h("li", { key: each.name }, h("span", { class: "what" }, data(each.label)), " ",
      h("span", { class: "from" }, data(each.before)), h("span", { "aria-label": "to" }, " → "),
      h("strong", {}, data(each.after)))));
}

// By how many of the people almost like this one the way is kept.
function steady(state, way) {
  const { own } = state.nearby;
  const at = own ? own.ways.findIndex((each) => keyOf(each) === keyOf(way)) : -1;
  if (at < 0) return h("span", { class: "steady" }, state.busy.own ? "kept by …" : "");
  const count = own.kept[at].reduce((sum, each) => sum + each, 0);
  return h("span", { class: "steady", title: "How many people almost like this one are offered it too" },
    `kept by ${count} of ${own.people} people alike`);
}

function kept(state) {
  const cards = state.answer?.kept ?? [];
  return h("section", { class: "kept", "aria-labelledby": "kept-heading" },
    h("h2", { id: "kept-heading" }, "Kept"),
    h("ul", { class: "cards" }, cards.map((way, i) =>
      h("li", { class: "card", key: `kept ${i}` },
        h("h3", {}, way.headline),
        h("p", { class: "facts" }, `leads to ${way.told} · distance ${distance(way.distance)}`,
          !way.leads && h("strong", {}, " · no longer what is wanted")),
        h("div", { class: "buttons" },
          h("button", { type: "button", onclick: () => tryWay(way), "aria-label": `Try kept way ${i + 1}` }, "Try it"),
          h("button", { type: "button", "aria-label": `Drop kept way ${i + 1}`,
            onclick: () => dropKept(state, i) }, "Drop"))))));
}

function dropKept(state, i) {
  const way = state.asked.kept[i];
  dropWay({ changes: Object.entries(way).map(([name, value]) => ({ name, value })) });
}
