// The case: which one, its values, and what each feature may do.

import { h } from "./dom.js";
import { endTrial, reset, set, startTrial, takeTrial } from "./actions.js";
import { featureRow } from "./feature.js";
import { loadCase } from "./asking.js";
import { counted } from "./format.js";
import { failure, fallible } from "./failures.js";

const LONG = 10; // features: longer tables are folded, and can be searched

export function casePanel(state) {
  const { asked, start } = state;
  const isTrial = asked.tried !== null;
  return [
    h("div", { class: "head" }, h("h2", {}, isTrial ? "What if" : "The case"), picker(state)),
    failure(state, "case", "predict"),
    isTrial && h("p", { class: "note" },
      "You are trying values out. The options stay those of the case."),
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
    return found.length ? found.map(row) : h("p", { class: "note" }, "No feature has this name.");
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
  const locked = rest.filter((each) => asked.constraints[each.name]?.locked).length;
  return locked ? `, ${locked} locked` : "";
}

// Which case: leaf through, or go to a number.
function picker(state) {
  const { asked, start } = state;
  const { numbers, decisions, count } = start.cases;
  const listed = numbers.map((_, i) => i).filter(
    (i) => asked.filter === null || decisions[i] === asked.filter);
  const go = (position) => position !== undefined && fallible("case", () => loadCase(position));
  const before = listed.filter((i) => i < asked.case).at(-1);
  const after = listed.find((i) => i > asked.case);
  return h("div", { class: "picker" },
    h("label", { for: "number" }, "Case"),
    h("input", { id: "number", type: "text", inputmode: "numeric", class: "short",
      value: asked.case === null ? "" : numbers[asked.case] ?? String(asked.case),
      autocomplete: "off",
      onchange: (event) => find(event.target, numbers, count, go) }),
    h("button", { type: "button", "aria-label": "The case before", id: "before",
      disabled: before === undefined, onclick: () => go(before) }, "‹"),
    h("button", { type: "button", "aria-label": "The next case", id: "after",
      disabled: after === undefined, onclick: () => go(after) }, "›"),
    start.classes && h("label", { class: "filter" }, "of ",
      h("select", { id: "filter", value: asked.filter === null ? "" : String(asked.filter),
        onchange: (event) => {
          const filter = event.target.value === "" ? null : Number(event.target.value);
          set({ filter });
          if (filter !== null && decisions[asked.case] !== filter) go(decisions.indexOf(filter));
        } },
      h("option", { value: "" }, `all ${count.toLocaleString("en-US")}`),
      start.classes.map(({ text }, i) => decisions.includes(i)
        && h("option", { value: String(i) },
          `${decisions.filter((one) => one === i).length} ${text}`)))));
}

// Cases beyond those that are listed are found by their position.
function find(field, numbers, count, go) {
  const text = field.value.trim();
  let at = numbers.indexOf(text);
  if (at < 0 && count > numbers.length && /^\d+$/.test(text)) at = Number(text);
  const isFound = at >= 0 && at < count;
  field.setCustomValidity(isFound ? "" : "There is no case with this number.");
  field.reportValidity();
  if (isFound) go(at);
}
