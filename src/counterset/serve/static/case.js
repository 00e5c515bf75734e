// The case: which one, its values, and what each feature may do.

import { h } from "./dom.js";
import { endTrial, reset, set, startTrial, takeTrial } from "./actions.js";
import { featureRow } from "./feature.js";
import { picker } from "./picker.js";
import { counted } from "./format.js";
import { failure } from "./failures.js";

const LONG = 10; // features: longer tables are folded, and can be searched

export function casePanel(state) {
  const { asked, start } = state;
  const isTrial = asked.tried !== null;
  return [
    h("div", { class: "head" }, h("h2", {}, isTrial ? "What if" : "The case"), picker(state)),
    failure(state, "case", "predict"),
    isTrial && h("p", { class: "note" },
      "You are trying values out. The ways stay those of the case."),
    start.features.length > LONG && h("label", { class: "search" },
      h("span", { class: "hidden" }, "Search features"),
      h("input", { type: "search", id: "search", placeholder: "Search features",
        value: asked.search, oninput: (event) => set({ search: event.target.value }) })),
    h("div", { class: "features" }, features(state)),
    h("div", { class: "buttons" }, isTrial
      ? [h("button", { type: "button", id: "take", key: "take", onclick: takeTrial }, "Make this the case"),
        h("button", { type: "button", id: "back", key: "back", onclick: endTrial }, "Back to the case")]
      : [h("button", { type: "button", id: "try", key: "try", onclick: startTrial }, "What if…"),
        h("button", { type: "button", id: "reset", key: "reset", onclick: reset }, "Reset")]),
  ];
}

function features(state) {
  const { asked, start, order } = state;
  const wanted = asked.search.trim().toLowerCase();
  const row = (each) => featureRow(state, each);
  if (wanted) {
    const found = start.features.filter((each) => each.label.toLowerCase().includes(wanted));
    return found.length ? found.map(row) : h("p", { class: "note" }, "No feature is called so.");
  }
  if (start.features.length <= LONG || !order) return start.features.map(row);
  const first = start.features.filter((each) => order.includes(each.name));
  const rest = start.features.filter((each) => !order.includes(each.name));
  return [
    first.map(row),
    rest.length > 0 && h("details", { class: "rest", key: "the rest" },
      h("summary", {}, `${counted(rest.length, "more feature")}${locks(rest, asked)}`),
      rest.map(row)),
  ];
}

// How many of the folded features are locked.
function locks(rest, asked) {
  const locked = rest.filter((each) => each.fixed || asked.limits[each.name]?.locked).length;
  return locked ? `, ${locked} locked` : "";
}
