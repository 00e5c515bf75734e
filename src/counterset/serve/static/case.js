// The case: which one, its values, and what each feature may do.

import { data, h } from "./dom.js";
import { endTrial, look, reset, set, setConstraint, startPerson, startTrial, takeTrial } from "./actions.js";
import { featureRow } from "./feature.js";
import { loadCase } from "./asking.js";
import { counted } from "./format.js";
import { failure, fallible } from "./failures.js";
import { constraintOf } from "./state.js";

const LONG = 10; // features: longer tables are folded, and can be searched

export function casePanel(state) {
  const { asked, start, form } = state;
  const isTrial = asked.tried !== null;
  return [
    h("div", { class: "head" }, h("h2", {}, isTrial ? "What if" : asked.entered ? "A new person" : "The case"), picker(state)),
    failure(state, "case", "predict"),
    unreadable(start.cases),
    asked.entered && newPerson(state),
    isTrial && h("p", { class: "note" },
      "You are trying values out. The options stay those of the case."),
    h("div", { class: "tabs", role: "group", "aria-label": "What to fill in" },
      [["values", "Values"], ["hard", "What is hard"]].map(([name, text]) => h("button", { type: "button",
        key: name, id: `form-${name}`, "aria-pressed": String(form === name), onclick: () => look({ form: name }) }, text))),
    start.features.length > LONG && h("label", { class: "search" },
      h("span", { class: "hidden" }, "Search features"),
      h("input", { type: "search", id: "search", placeholder: "Search features",
        value: asked.search, oninput: (event) => set({ search: event.target.value }) })),
    form === "hard" ? h("div", { class: "features", key: "hard" }, difficulties(state))
      : h("div", { class: "features", key: "values" }, features(state)),
    h("div", { class: "buttons" }, isTrial
      ? [h("button", { type: "button", id: "take", key: "take", "data-then": "#try", onclick: takeTrial }, "Make this the case"),
        h("button", { type: "button", id: "back", key: "back", "data-then": "#try", onclick: endTrial }, "Back to the case")]
      : [h("button", { type: "button", id: "try", key: "try", "data-then": "#take", onclick: startTrial }, "What if…"),
        h("button", { type: "button", id: "reset", key: "reset", onclick: reset }, "Reset")]),
  ];
}

// The features that are searched for; all in their order, if none is.
function found(state) {
  const wanted = state.asked.search.trim().toLowerCase();
  return state.start.features.filter((each) => each.label.toLowerCase().includes(wanted));
}

function features(state) {
  const { asked, start, order } = state;
  const row = (each) => featureRow(state, each);
  if (asked.search.trim() || start.features.length <= LONG || !order) {
    const rows = found(state).map(row);
    return rows.length ? rows : h("p", { class: "note" }, "No feature has this name.");
  }
  const first = order.map((name) => start.features.find((each) => each.name === name));
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

// How hard each change is for this person, of all features at once.
function difficulties(state) {
  const levels = [1, 2, 3, 4, 5];
  return h("table", { class: "hard" },
    h("caption", {}, "How hard is each change for this person, from 1 (easy) to 5? At 3, it counts three times as far as usual."),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Feature"), h("th", { scope: "col" }, "lock"),
      levels.map((each) => h("th", { scope: "col" }, String(each))))),
    h("tbody", {}, found(state).map(({ name, label }) => {
      const { locked, difficulty } = constraintOf(name, state);
      return h("tr", { key: name },
        h("th", { scope: "row" }, data(label)),
        h("td", {}, h("input", { type: "checkbox", checked: Boolean(locked), "aria-label": `Lock: ${label}`,
          onchange: (event) => setConstraint(name, { locked: event.target.checked }) })),
        levels.map((each) => h("td", {}, h("input", { type: "radio", name: `all hard ${name}`,
          checked: each === difficulty, disabled: Boolean(locked), "aria-label": `${label}: ${each} of 5`,
          onchange: () => setConstraint(name, { difficulty: each }) }))));
    })));
}

// Which cases of the file cannot be read, and why.
function unreadable({ unreadable: count, faults, count: all }) {
  return count > 0 && h("details", { class: "faults", key: "faults" },
    h("summary", {}, `⚠ ${count} of ${counted(all, "case")} cannot be read, and ${count === 1 ? "is" : "are"} skipped`),
    h("ul", {}, faults.map((each) => h("li", {}, data(each))), count > faults.length && h("li", {}, "…")));
}

function newPerson(state) {
  const { asked, start } = state;
  const open = start.features.filter((each) => !asked.entered[each.name]).length;
  return h("div", { class: "entering", key: "entering" },
    h("label", {}, "Name or number ", h("input", { type: "text", id: "person-name", value: state.name,
      autocomplete: "off", maxlength: "100", oninput: (event) => look({ name: event.target.value }) })),
    h("p", { class: "note", id: "open" }, open
      ? `${open} of ${counted(start.features.length, "value")} ${open === 1 ? "is" : "are"} not filled in. What is typical of the training data stands in for ${open === 1 ? "it" : "them"}.`
      : "All values are filled in."));
}

// Which case: leaf through, go to a number, or begin with an empty form.
function picker(state) {
  const { asked, start } = state;
  const { numbers, decisions, count } = start.cases;
  const listed = numbers.map((_, i) => i).filter(
    (i) => decisions[i] !== null && (asked.filter === null || decisions[i] === asked.filter));
  const go = (position) => position !== undefined && fallible("case", () => loadCase(position));
  const at = asked.case ?? -1;
  const before = listed.filter((i) => i < at).at(-1);
  const after = listed.find((i) => i > at);
  const known = decisions.filter((each) => each !== null);
  return h("div", { class: "picker" },
    h("label", { for: "number" }, "Case"),
    h("input", { id: "number", type: "text", inputmode: "numeric", class: "short",
      value: asked.case === null ? "" : numbers[asked.case] ?? String(asked.case),
      placeholder: "new", autocomplete: "off",
      onchange: (event) => find(event.target, numbers, count, go) }),
    h("button", { type: "button", "aria-label": "The case before", id: "before", "data-then": "#after",
      disabled: before === undefined, onclick: () => go(before) }, "‹"),
    h("button", { type: "button", "aria-label": "The next case", id: "after", "data-then": "#before",
      disabled: after === undefined, onclick: () => go(after) }, "›"),
    h("button", { type: "button", id: "new", onclick: startPerson }, "New person"),
    start.classes && h("label", { class: "filter" }, "of ",
      h("select", { id: "filter", value: asked.filter === null ? "" : String(asked.filter),
        onchange: (event) => {
          const filter = event.target.value === "" ? null : Number(event.target.value);
          set({ filter });
          if (filter !== null && decisions[asked.case] !== filter) go(decisions.indexOf(filter));
        } },
      h("option", { value: "" }, `all ${count.toLocaleString("en-US")}`),
      start.classes.map(({ text }, i) => known.includes(i)
        && h("option", { value: String(i) },
          `${known.filter((one) => one === i).length} ${text}`)))));
}

// Cases beyond those that are listed are found by their position.
export function find(field, numbers, count, go) {
  const text = field.value.trim();
  let at = numbers.indexOf(text);
  if (at < 0 && count > numbers.length && /^\d+$/.test(text)) at = Number(text);
  const isFound = at >= 0 && at < count;
  field.setCustomValidity(isFound ? "" : "There is no case with this number.");
  field.reportValidity();
  if (isFound) go(at);
}
