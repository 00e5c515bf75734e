// Who is offered which option: people almost alike, and the two ways to choose a list.

import { data, h } from "./dom.js";
import { keyOf, optionsShown } from "./actions.js";
import { VIEWS } from "./alike.js";
import { isOld } from "./asking.js";
import { codeOf, marker } from "./format.js";
import { feature } from "./state.js";

export function shakePanel(state) {
  const { answer } = state;
  if (answer && !answer.options.length) return [];
  return [
    h("div", { class: "head" }, h("h2", {}, "Who is offered which option"),
      h("p", { class: "note" }, "The same 20 people. An option counts as the same if the same features change: numbers in the same direction, and categories to the same value.")),
    h("div", { class: "views" }, Object.keys(VIEWS).map((view) => column(state, view))),
  ];
}

function column(state, view) {
  const found = state.nearby[view];
  const [title, note] = VIEWS[view];
  return h("section", { class: "view", id: `view-${view}`, key: view, "aria-labelledby": `title-${view}` },
    h("h3", { id: `title-${view}` }, title),
    h("p", { class: "note" }, note),
    found ? h("div", { class: isOld(state, view) ? "old" : "" }, grid(state, found)) : h("p", { class: "note" }, "…"));
}

function grid(state, { kept, least, people, options }) {
  if (!people) return h("p", { class: "note" }, "No person almost like this one has the same decision. Shake less.");
  return h("div", { class: "grid", role: "table", "aria-label": "Who is offered which option" },
    options.map((option, i) => {
      const count = kept[i].reduce((sum, each) => sum + each, 0);
      const own = optionsShown(state).find((each) => keyOf(each) === keyOf(option));
      return h("div", { class: "line", role: "row", key: String(i) },
        h("span", { class: "what-changes", role: "rowheader", title: option.sentence }, own && marker(own.rank, `option ${own.rank}`), h("span", {}, brief(state, option))),
        h("span", { class: "cells", role: "cell", "aria-label": `${count} of ${people} are offered it` },
          kept[i].map((each) => h("i", { class: each ? "with" : "without", "aria-hidden": "true" }, each ? "✓" : "×"))),
        h("span", { class: "count", role: "cell", title: `at least ${Math.floor(100 * least[i])}% of all such people, 95% sure` }, `${count}/${people}`));
    }));
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
