// Shake it: do people almost like this one get the same ways? Two ways to choose, side by side.

import { h } from "./dom.js";
import { keyOf, set } from "./actions.js";
import { distance, percent } from "./format.js";
import { failure, waiting } from "./failures.js";
import { marker } from "./marks.js";
import { feature } from "./state.js";

const VIEWS = [
  ["own", "Chosen for each person alone", "The ways are looked for anew for every person."],
  ["anchored", "The same list for people alike", "People of one region are offered one list."],
];

export function shakePanel(state) {
  const { asked, answer } = state;
  const most = Math.round((state.start?.most_noise ?? 0.25) * 100);
  return [
    h("div", { class: "head" }, h("h2", {}, "Shake it"),
      h("p", { class: "note" }, "20 people almost like this one, with the same decision: who is offered the same ways? A way is kept if the same features change in the same direction. Sets that differ by 0 are the same.")),
    h("div", { class: "controls" },
      h("label", { for: "noise" }, "How much"),
      h("input", { id: "noise", type: "range", min: "1", max: String(most), step: "1",
        value: String(Math.round(asked.noise * 100)),
        "aria-valuetext": `${percent(asked.noise)} of each number's usual range`,
        oninput: (event) => set({ noise: Number(event.target.value) / 100 }) }),
      h("output", { for: "noise" }, `each number moves by about ${percent(asked.noise)} of its usual range`),
      h("button", { type: "button", id: "others", onclick: () => set({ seed: asked.seed + 1 }) }, "Draw other people")),
    howDifferent(state),
    answer?.ways.length
      ? h("div", { class: "views" }, VIEWS.map((view) => column(state, ...view)))
      : h("p", { class: "note" }, answer ? "There is no way to compare." : "…"),
  ];
}

// By how much these people differ from this one, in the units of the page.
function howDifferent({ nearby }) {
  const differences = (nearby.own ?? nearby.anchored)?.differences;
  return differences ? h("p", { class: "note", id: "differences" }, `They differ, on average: ${differences}.`) : null;
}

function column(state, view, title, told) {
  const found = state.nearby[view];
  const isOld = state.busy.explain || state.busy[view];
  return h("section", { class: "view", id: `view-${view}`, key: view, "aria-labelledby": `title-${view}` },
    h("h3", { id: `title-${view}` }, title),
    h("p", { class: "note" }, told),
    failure(state, view),
    waiting(state, view, view === "anchored" && (!found || isHard(state))
      ? "Making the lists for people alike: that takes some seconds …"
      : "Explaining 20 people …"),
    found ? h("div", { class: isOld ? "old" : "" }, grid(state, found), number(found))
      : h("p", { class: "note" }, state.failed[view] ? "" : "…"));
}

function grid(state, { kept, people, ways }) {
  if (!people) return h("p", { class: "note" }, "No person almost like this one has the same decision. Shake less.");
  return h("div", { class: "grid", role: "table", "aria-label": "Who is offered which way" },
    inOrder(state, ways).map((i) => {
      const row = kept[i];
      const count = row.reduce((sum, each) => sum + each, 0);
      return h("div", { class: "line", role: "row", key: String(i) },
        h("span", { class: "told", role: "rowheader", title: ways[i].headline }, mark(state, ways[i]), brief(state, ways[i])),
        h("span", { class: "cells", role: "cell", "aria-label": `kept by ${count} of ${people}` },
          row.map((each) => h("i", { class: each ? "with" : "without",
            "aria-hidden": "true" }, each ? "" : "×"))),
        h("span", { class: "count", role: "cell" }, `${count}/${people}`));
    }));
}

// The lists depend on what is hard: with other difficulties they are made anew.
function isHard(state) {
  return Object.values(state.asked.limits).some((each) => each.difficulty > 1);
}

// Ways in the order of the cards; those that have none come last.
function inOrder(state, ways) {
  const places = ways.map((way) => placeOf(state, way)).map((at) => (at < 0 ? Infinity : at));
  return ways.map((_, i) => i).sort((a, b) => (places[a] === places[b] ? a - b : places[a] - places[b]));
}

function placeOf(state, way) {
  return state.answer.ways.findIndex((each) => keyOf(each) === keyOf(way));
}

// The number of the card with the same way, if there is one.
function mark(state, way) {
  const at = placeOf(state, way);
  return at >= 0 && marker(at, `way ${at + 1}`);
}

// A way in a few words: what goes up, down, or to which value.
function brief(state, way) {
  return way.changes.map((each) => {
    const { has_order: hasOrder } = feature(each.name);
    const own = state.asked.values[each.name];
    if (!hasOrder || own === null) return `${each.label} → ${each.after}`;
    return `${each.label} ${each.value > own ? "↑" : "↓"}`;
  }).join(", ");
}

function number({ differ, kept, people }) {
  if (!people || differ === null) return null;
  const offers = kept.length * people;
  const count = kept.flat().reduce((sum, each) => sum + each, 0);
  return h("p", { class: "differ" }, `${count} of ${offers} are kept; their sets differ from this one by `,
    h("strong", {}, distance(differ) || "0"));
}
