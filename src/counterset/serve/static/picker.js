// The picker of cases.

import { h } from "./dom.js";
import { set } from "./actions.js";
import { loadCase } from "./asking.js";
import { fallible } from "./failures.js";

// Which case: leaf through, or go to a number.
export function picker(state) {
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
      start.classes.map((each, i) => decisions.includes(i)
        && h("option", { value: String(i) },
          `${decisions.filter((one) => one === i).length} ${each}`)))));
}

// Cases beyond those that are listed are found by their position.
function find(field, numbers, count, go) {
  const text = field.value.trim();
  let at = numbers.indexOf(text);
  if (at < 0 && count > numbers.length && /^\d+$/.test(text)) at = Number(text);
  const isFound = at >= 0 && at < count;
  field.setCustomValidity(isFound ? "" : "There is no case of this number.");
  field.reportValidity();
  if (isFound) go(at);
}
