// Shake it: do people almost like this one get the same options? Two strategies, side by side.

import { data, h } from "./dom.js";
import { keyOf, set } from "./actions.js";
import { codeOf, marker, percent } from "./format.js";
import { failure, waiting } from "./failures.js";
import { feature } from "./state.js";

const VIEWS = [
  ["nearest", "Chosen for each person alone", "The options of each person are looked for anew."],
  ["shared", "Own nearest, then a shared list", "The two nearest options of each person come first, then one list for everybody with this decision."],
];

export function shakePanel(state) {
  const { asked, answer } = state;
  const most = Math.round((state.start?.most_noise ?? 0.25) * 100);
  return [
    h("div", { class: "head" }, h("h2", {}, "Shake it"),
      h("p", { class: "note" }, "20 people almost like this one, with the same decision: who is offered the same options? An option is kept if the same features change in the same direction.")),
    h("div", { class: "controls" },
      h("label", { for: "noise" }, "How much"),
      h("input", { id: "noise", type: "range", min: "1", max: String(most), step: "1",
        value: String(Math.round(asked.noise * 100)),
        "aria-valuetext": `${percent(asked.noise)} of each number's usual range`,
        oninput: (event) => set({ noise: Number(event.target.value) / 100 }) }),
      h("output", { for: "noise" }, `each number moves by about ${percent(asked.noise)} of its usual range`),
      h("button", { type: "button", id: "others", onclick: () => set({ seed: asked.seed + 1 }) }, "Draw other people")),
    howDifferent(state),
    answer?.options.length
      ? h("div", { class: "views" }, VIEWS.map((view) => column(state, ...view)))
      : h("p", { class: "note" }, answer ? "There is no option to compare." : "…"),
  ];
}

// By how much these people differ from this one, in the units of the page.
function howDifferent({ nearby }) {
  const differences = (nearby.nearest ?? nearby.shared)?.differences;
  return differences ? h("p", { class: "note", id: "differences" }, `They differ, on average: ${differences}.`) : null;
}

function column(state, view, title, note) {
  const found = state.nearby[view];
  const isOld = state.busy.explain || state.busy[view];
  return h("section", { class: "view", id: `view-${view}`, key: view, "aria-labelledby": `title-${view}` },
    h("h3", { id: `title-${view}` }, title),
    h("p", { class: "note" }, note),
    failure(state, view),
    waiting(state, view, view === "shared" && isHard(state)
      ? "Learning the lists anew, with your difficulties: that takes some seconds …"
      : "Explaining 20 people …"),
    found ? h("div", { class: isOld ? "old" : "" }, shares(found), grid(state, found))
      : h("p", { class: "note" }, state.failed[view] ? "" : "…"));
}

// How many find their own best option among those of the case: what two people can compare.
function shares({ covered, kept, people }) {
  if (!people) return null;
  const count = kept.flat().reduce((sum, each) => sum + each, 0);
  return h("p", { class: "shares" }, h("strong", {}, `${covered} of ${people}`),
    ` find their own best option on this list; ${count} of ${kept.length * people} options are kept.`);
}

function grid(state, { kept, least, people, options }) {
  if (!people) return h("p", { class: "note" }, "No person almost like this one has the same decision. Shake less.");
  return h("div", { class: "grid", role: "table", "aria-label": "Who is offered which option" },
    inOrder(state, options).map((i) => {
      const row = kept[i];
      const count = row.reduce((sum, each) => sum + each, 0);
      return h("div", { class: "line", role: "row", key: String(i) },
        h("span", { class: "what-changes", role: "rowheader", title: options[i].sentence }, mark(state, options[i]), h("span", {}, brief(state, options[i]))),
        h("span", { class: "cells", role: "cell", "aria-label": `kept by ${count} of ${people}` },
          row.map((each) => h("i", { class: each ? "with" : "without",
            "aria-hidden": "true" }, each ? "" : "×"))),
        h("span", { class: "count", role: "cell", title: `at least ${Math.floor(100 * least[i])} % of all such people, 95 % sure` }, `${count}/${people}`));
    }));
}

// The lists depend on what is hard: with other difficulties they are learned anew.
function isHard(state) {
  return Object.values(state.asked.constraints).some((each) => each.difficulty > 1);
}

// Options in the order in which the case shows them; those that it does not have come last.
function inOrder(state, options) {
  const places = options.map((option) => placeOf(state, option)).map((at) => (at < 0 ? Infinity : at));
  return options.map((_, i) => i).sort((a, b) => (places[a] === places[b] ? a - b : places[a] - places[b]));
}

function placeOf(state, option) {
  return state.answer.options.findIndex((each) => keyOf(each) === keyOf(option));
}

// The number of the same option of the case, if there is one.
function mark(state, option) {
  const at = placeOf(state, option);
  return at >= 0 && marker(at, `option ${at + 1}`);
}

// An option in a few words: what goes up, down, or to which value.
function brief(state, option) {
  return option.changes.map((each, i) => {
    const comma = i > 0 && ", ";
    const named = feature(each.name);
    const [own, other] = [codeOf(named, state.asked.values[each.name]), codeOf(named, each.after)];
    if (!named.has_order || own === null) return [comma, data(named.label), " → ", data(each.after_text)];
    return [comma, data(named.label), other > own ? " ↑" : " ↓"];
  });
}
