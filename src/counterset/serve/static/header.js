// The head of the page: whose model, what it decides, and what is wanted.

import { undo } from "./address.js";
import { data, h } from "./dom.js";
import { codeOf, outside, percent } from "./format.js";
import { announce, caseName, shown } from "./state.js";
import { set } from "./actions.js";
import { isOld, saveReport } from "./asking.js";
import { fallible } from "./failures.js";
import { threshold } from "./threshold.js";
import { views } from "./views.js";

export function header(state) {
  const kept = state.asked.kept.length;
  return [
    h("div", { class: "brand" },
      h("h1", {}, "counterset"), h("p", { class: "title" }, state.start?.title ?? "")),
    state.start && badges(state),
    state.start && views(state),
    state.start && h("div", { class: "wanted" }, goal(state), threshold(state), count(state)),
    state.start && h("div", { class: "tools" },
      h("button", { type: "button", id: "undo", disabled: !state.steps, onclick: undo }, "Undo"),
      h("button", { type: "button", id: "share", onclick: share }, "Share"),
      h("button", { type: "button", id: "report",
        disabled: !state.answer?.options.length || isOld(state, "explain"),
        title: kept ? "A sheet with the options that are kept" : "A sheet with all options",
        onclick: () => fallible("report", saveReport) }, kept ? `Take home (${kept} kept)` : "Take home")),
  ];
}

// What the model says: always in sight.
function badges(state) {
  const { asked, trial, answer } = state;
  const named = asked.case === null ? "New person" : `Case ${caseName(state)}`;
  const isOff = answer && isOld(state, "explain") && (state.failed.explain || (!asked.tried && Object.keys(state.invalid).length > 0));
  return h("div", { class: "badges" },
    h("p", { class: `badge ${answer && isOld(state, "explain") ? "old" : ""}`, id: "decision" },
      h("span", { class: "small" }, data(named), isOff && ", before your change"),
      decision(answer, answer?.chances?.kind === "probability" ? answer.chances.now : null, state),
      !asked.tried && flag(state)),
    asked.tried && h("p", { class: `badge trial ${trial && isOld(state, "predict") ? "old" : ""}`, id: "trial" },
      h("span", { class: "small" }, "What if"), decision(trial, trial?.chance ?? null, state), flag(state)));
}

// The probability is that of what is wanted, as in the bars of the options.
function decision(answer, chance, state) {
  if (!answer) return h("strong", {}, "…");
  const isWanted = meets(answer, chance, state);
  const sign = isWanted === null ? "" : isWanted ? "✓\u00a0" : "✗\u00a0";
  const wanted = state.start.classes?.[state.asked.target]?.text;
  const sure = chance !== null && wanted ? [`${percent(chance)} for `, data(wanted)]
    : answer.probability !== null && [`${percent(answer.probability)} sure`];
  return h("strong", { class: isWanted ? "yes" : "no" }, sign, data(answer.label_text),
    sure && h("span", { class: "sure", title: "The model's probability" }, " ", sure));
}

// Whether a decision is the goal; null if the goal is any other decision.
function meets({ label }, chance, { asked: { target, interval, probability }, start }) {
  if (!start.classes) return interval[0] <= label && label <= interval[1];
  if (target === null) return null;
  return JSON.stringify(label) === JSON.stringify(start.classes[target].value)
    && (probability === null || chance === null || chance >= probability);
}

// The model has learned nothing about values that nobody in the training data has.
function flag(state) {
  const names = state.start.features.filter((each) => outside(each, codeOf(each, shown(state)[each.name])))
    .map((each) => each.label);
  return names.length > 0 && h("span", { class: "flag", title: names.join(", ") }, "⚠ outside the training data");
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
