// Two cases side by side: how they differ, what each is offered, and which options both share.

import { data, h } from "./dom.js";
import { isOld, loadOther } from "./asking.js";
import { find } from "./case.js";
import { failure, fallible, waiting } from "./failures.js";
import { counted, marker, number, percent } from "./format.js";
import { caseName } from "./state.js";

export function comparePanel(state) {
  const { asked, compared } = state;
  if (asked.view !== "compare") return [];
  return [
    h("div", { class: "head" }, h("h2", { tabindex: "-1" }, "Two cases"), picker(state)),
    failure(state, "case", "compare"),
    waiting(state, "compare", "Explaining both cases …"),
    asked.other === null ? h("p", { class: "note" }, "Choose a second case: its number, or “Compare” in the list of all cases.")
      : compared ? h("div", { class: isOld(state, "compare") ? "old" : "", key: "both" }, both(state))
        : h("p", { class: "note" }, state.failed.compare ? "" : "…"),
  ];
}

// Which other case: leaf through those that are not decided as wanted, or go to a number.
function picker({ asked, start }) {
  const { numbers, decisions, count } = start.cases;
  const listed = numbers.map((_, i) => i).filter(
    (i) => decisions[i] !== null && i !== asked.case && (asked.filter === null || decisions[i] === asked.filter));
  const go = (position) => fallible("case", () => loadOther(position));
  const before = listed.filter((i) => i < (asked.other ?? 0)).at(-1);
  const after = listed.find((i) => i > (asked.other ?? -1));
  return h("div", { class: "picker" },
    h("label", { for: "other" }, "Beside case"),
    h("input", { id: "other", type: "text", inputmode: "numeric", class: "short", autocomplete: "off",
      value: asked.other === null ? "" : numbers[asked.other] ?? String(asked.other),
      onchange: (event) => find(event.target, numbers, count, go) }),
    h("button", { type: "button", "aria-label": "The other case before", id: "other-before", "data-then": "#other-after",
      disabled: before === undefined, onclick: () => go(before) }, "‹"),
    h("button", { type: "button", "aria-label": "The next other case", id: "other-after", "data-then": "#other-before",
      disabled: after === undefined, onclick: () => go(after) }, "›"));
}

function both(state) {
  const { differs, equal, distance, explanations, shared } = state.compared;
  const names = [caseName(state), state.start.cases.numbers[state.asked.other] ?? String(state.asked.other)];
  const titles = names.map((name, i) => (i === 0 && state.asked.case === null ? name : `Case ${name}`));
  const theirs = new Map(shared.map(([own, other]) => [other, own]));
  return [
    h("table", { class: "differs" },
      h("caption", {}, differs.length
        ? `They differ in ${counted(differs.length, "value")}, and are equal in ${number(equal)}. The distance between them is ${number(Number(distance.toPrecision(3)))}. ${state.start.scale}`
        : "They have the same values."),
      differs.length > 0 && h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Feature"),
        titles.map((each, i) => h("th", { scope: "col", key: String(i) }, data(each))))),
      h("tbody", {}, decided(explanations),
        differs.map((each) => h("tr", { key: each.label }, h("th", { scope: "row" }, data(each.label)),
          h("td", {}, data(each.own)), h("td", {}, data(each.other)))))),
    h("p", { class: "lead", id: "shared" }, sharing(explanations, shared)),
    h("div", { class: "beside" },
      offered(titles[0], explanations[0], (_, i) => (shared.some(([own]) => own === i) ? [i + 1, `also offered to ${titles[1].replace(/^C/, "c")}`] : [i + 1])),
      offered(titles[1], explanations[1], (_, i) => (theirs.has(i) ? [theirs.get(i) + 1, `the same as option ${theirs.get(i) + 1} of ${titles[0].replace(/^C/, "c")}`] : null))),
    h("p", { class: "note" }, "The same goal and the same constraints for both. Two options are the same if they change the same features: numbers in the same direction, and categories to the same value."),
  ];
}

function decided(explanations) {
  return h("tr", { key: "decision" }, h("th", { scope: "row" }, "Decision"),
    explanations.map((each, i) => h("td", { key: String(i) }, data(each.label_text),
      each.probability !== null && ` (${percent(each.probability)} sure)`)));
}

function sharing(explanations, shared) {
  const counts = explanations.map((each) => each.options.length);
  if (!counts[0] || !counts[1]) return "There is nothing to share: one of them has no option.";
  if (!shared.length) return "No option of one is an option of the other.";
  return [h("strong", {}, number(shared.length)), ` of ${counted(counts[0], "option")} ${shared.length === 1 ? "is" : "are"} offered to both.`];
}

function offered(title, explanation, markOf) {
  const { options, status, label_text: label } = explanation;
  return h("div", { key: title }, h("h3", {}, data(title), " is offered"),
    options.length
      ? h("ol", {}, options.map((option, i) => {
        const known = markOf(option, i);
        return h("li", { key: String(i) },
          known ? marker(known[0], `option ${known[0]}`) : h("span", { class: "mark none", role: "img", "aria-label": "its own" }, "–"),
          h("span", {}, option.sentence, known?.[1] && h("span", { class: "both" }, ` – ${known[1]}`)));
      }))
      : h("p", { class: "note" }, status === "already_reached" ? ["Nothing to change: ", data(label), "."] : "No option was found."));
}
