// The head of the page: whose model, what it decides, and what is wanted.

import { h } from "./dom.js";
import { percent } from "./format.js";
import { announce } from "./state.js";
import { set } from "./actions.js";
import { saveReport } from "./asking.js";
import { fallible } from "./failures.js";

export function header(state) {
  return [
    h("div", { class: "brand" },
      h("h1", {}, "counterset"), h("p", { class: "title" }, state.start?.title ?? "")),
    state.start && badges(state),
    state.start && h("div", { class: "wanted" }, goal(state), count(state)),
    state.start && h("div", { class: "tools" },
      h("button", { type: "button", id: "share", onclick: share }, "Share"),
      h("button", { type: "button", id: "report", disabled: !state.answer?.options.length,
        onclick: () => fallible("report", saveReport) }, "Report")),
  ];
}

// What the model says: always in sight.
function badges(state) {
  const { answer, asked, trial, busy } = state;
  return h("div", { class: "badges" },
    h("p", { class: `badge ${busy.explain ? "old" : ""}`, id: "decision" },
      h("span", { class: "small" }, "The case"), decision(answer, state)),
    asked.tried && h("p", { class: `badge trial ${busy.predict ? "old" : ""}`, id: "trial" },
      h("span", { class: "small" }, "What if"), decision(trial, state)));
}

function decision(answer, state) {
  if (!answer) return h("strong", {}, "…");
  const isWanted = meets(answer, state);
  const sign = isWanted === null ? "" : isWanted ? "✓\u00a0" : "✗\u00a0";
  return h("strong", { class: isWanted ? "yes" : "no" }, sign + answer.label_text,
    answer.probability !== null
      && h("span", { class: "sure", title: "The model's probability of this decision" },
        ` ${percent(answer.probability)} sure`));
}

// Whether a decision is the goal; null if the goal is any other decision.
function meets({ label }, { asked: { target, interval }, start }) {
  if (!start.classes) return interval[0] <= label && label <= interval[1];
  return target === null ? null : JSON.stringify(label) === JSON.stringify(start.classes[target].value);
}

function goal(state) {
  const { asked, start } = state;
  if (start.classes) {
    return h("label", {}, "Wanted ",
      h("select", { id: "target", value: asked.target === null ? "" : String(asked.target),
        onchange: (event) => set({ target: event.target.value === "" ? null : Number(event.target.value) }) },
      h("option", { value: "" }, "anything else"),
      start.classes.map((each, i) => h("option", { value: String(i) }, each.text))));
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

function count(state) {
  const counts = Array.from({ length: state.start.most_options }, (_, i) => String(i + 1));
  return h("label", {}, "Options ",
    h("select", { id: "count", value: String(state.asked.options),
      onchange: (event) => set({ options: Number(event.target.value) }) },
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
