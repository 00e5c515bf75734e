// The head of the page: whose model, what it decides, and what is wanted.

import { h } from "./dom.js";
import { percent } from "./format.js";
import { announce } from "./state.js";
import { set } from "./actions.js";
import { loadCase, saveReport } from "./asking.js";
import { fallible } from "./failures.js";

export function header(state) {
  return [
    h("div", { class: "brand" },
      h("h1", {}, "counterset"), h("p", { class: "title" }, state.start?.title ?? "")),
    state.start && badges(state),
    state.start && h("div", { class: "wanted" }, goal(state), ways(state)),
    state.start && h("div", { class: "tools" },
      h("button", { type: "button", id: "share", onclick: share }, "Share"),
      h("button", { type: "button", id: "report", disabled: !state.answer?.ways.length,
        onclick: () => fallible("report", saveReport) }, "Report")),
  ];
}

// What the model says: always in sight.
function badges(state) {
  const { answer, asked, trial, busy } = state;
  return h("div", { class: "badges" },
    h("p", { class: `badge ${busy.explain ? "old" : ""}`, id: "decision" },
      h("span", { class: "small" }, "The case"), decision(answer, asked)),
    asked.tried && h("p", { class: `badge trial ${busy.predict ? "old" : ""}`, id: "trial" },
      h("span", { class: "small" }, "What if"), decision(trial, asked)));
}

function decision(answer, asked) {
  if (!answer) return h("strong", {}, "…");
  const isWanted = meets(answer, asked);
  const sign = isWanted === null ? "" : isWanted ? "✓ " : "✗ ";
  return h("strong", { class: isWanted ? "yes" : "no" }, sign + answer.told,
    answer.probability !== null
      && h("span", { class: "sure", title: "The model's probability of this decision" },
        ` ${percent(answer.probability)} sure`));
}

// Whether a decision is what is wanted; null if anything else than it is.
function meets(answer, { target, interval }) {
  if (answer.number !== null) return interval[0] <= answer.number && answer.number <= interval[1];
  return target === null ? null : answer.label === target;
}

function goal(state) {
  const { asked, start } = state;
  if (start.classes) {
    return h("label", {}, "Wanted ",
      h("select", { id: "target", value: asked.target === null ? "" : String(asked.target),
        onchange: (event) => set({ target: event.target.value === "" ? null : Number(event.target.value) }) },
      h("option", { value: "" }, "anything else"),
      start.classes.map((each, i) => h("option", { value: String(i) }, each))));
  }
  const end = (i, text) => h("label", {}, `${text} `,
    h("input", { type: "number", step: "any", class: "short", value: String(asked.interval[i]),
      oninput: (event) => {
        if (event.target.value === "") return;
        const interval = [...asked.interval];
        interval[i] = Number(event.target.value);
        set({ interval });
      } }));
  return h("span", { class: "ends" }, end(0, "Wanted from"), end(1, "to"));
}

function ways(state) {
  const counts = Array.from({ length: state.start.most_ways }, (_, i) => String(i + 1));
  return h("label", {}, "Ways ",
    h("select", { id: "count", value: String(state.asked.ways),
      onchange: (event) => set({ ways: Number(event.target.value) }) },
    counts.map((each) => h("option", { value: each }, each))));
}

async function share() {
  try {
    await navigator.clipboard.writeText(location.href);
    announce("The link is copied: whoever opens it sees this page.");
  } catch {
    announce("The link is the address of this page: copy it from the address bar.");
  }
}

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
