// People almost alike: do they find their best option on this list? Click one to see what differs.

import { data, h } from "./dom.js";
import { look, optionsShown, set } from "./actions.js";
import { isOld } from "./asking.js";
import { counted, marker, percent } from "./format.js";
import { failure, waiting } from "./failures.js";
import { caseName } from "./state.js";

// The two ways to choose a list, and what they are called.
export const VIEWS = {
  nearest: ["Each person's own nearest options", "The options of each person are looked for anew."],
  shared: ["Two of their own, then a shared list", "The two nearest options of each person come first, then one list for everybody with this decision."],
};

export function alikePanel(state) {
  const { asked, answer, nearby } = state;
  const most = Math.round((state.start?.most_noise ?? 0.25) * 100);
  if (answer && !answer.options.length) return [];
  const differences = (nearby.nearest ?? nearby.shared)?.differences;
  return [
    h("h2", { class: "hidden", tabindex: "-1" }, "People almost alike"),
    lead(state),
    failure(state, "nearest", "shared"),
    h("div", { class: "strips" }, Object.keys(VIEWS).map((view) => strip(state, view))),
    h("div", { class: "controls" },
      h("label", { for: "noise" }, "Shake it"),
      h("input", { id: "noise", type: "range", min: "1", max: String(most), step: "1",
        value: String(Math.round(asked.noise * 100)),
        "aria-valuetext": `${percent(asked.noise)} of each number's usual range`,
        oninput: (event) => set({ noise: Number(event.target.value) / 100 }) }),
      h("button", { type: "button", id: "others", onclick: () => set({ seed: asked.seed + 1 }) }, "Other people"),
      h("output", { for: "noise", class: "note", id: "differences" },
        `Each number moves by about ${percent(asked.noise)} of its usual range`,
        differences && [": they differ, on average: ", data(differences)], ".")),
    person(state),
  ];
}

// Who finds the best option of their own among those of a list, as 0 and 1. Options that are set
// aside are not on the list of the case.
function found(state, view) {
  const { covered, each } = state.nearby[view];
  if (view === "shared") return covered;
  const ranks = new Set(optionsShown(state).map((option) => option.rank));
  return each.map(({ offered, best }) => Number(best !== null && ranks.has(offered[best].same)));
}

const sum = (values) => values.reduce((total, each) => total + each, 0);

function lead(state) {
  const { nearest } = state.nearby;
  if (!nearest) {
    return h("p", { class: "lead" }, state.failed.nearest ? "Nobody could be asked." : "20 people almost like this one are being asked …",
      waiting(state, "nearest", "Explaining 20 people …"));
  }
  if (!nearest.people) return h("p", { class: "lead" }, "No person almost like this one has the same decision. Shake less.");
  return h("p", { class: `lead ${isOld(state, "nearest") ? "old" : ""}` },
    h("strong", {}, `${sum(found(state, "nearest"))} of ${nearest.people}`),
    " people almost like this one find their best option on this list.");
}

function strip(state, view) {
  const answer = state.nearby[view];
  const [title, note] = VIEWS[view];
  const isNew = view === "shared" && Object.values(state.asked.constraints).some((each) => each.difficulty > 1);
  const covered = answer ? found(state, view) : [];
  return h("div", { class: `strip ${answer && isOld(state, view) ? "old" : ""}`, id: `strip-${view}`, key: view },
    h("span", { class: "what", title: note }, title),
    h("span", { class: "cells", role: "group", "aria-label": `${title}: who finds their best option on the list`, onkeydown: walk },
      covered.map((each, i) => h("button", { type: "button", key: String(i), class: each ? "with" : "without",
        tabindex: i === (state.person?.view === view ? state.person.i : 0) ? "0" : "-1",
        "aria-pressed": String(state.person?.view === view && state.person.i === i),
        "aria-label": `Person ${i + 1}: ${each ? "finds" : "does not find"} their best option on the list`,
        onclick: () => show(view, i) }, each ? "✓" : "×"))),
    h("span", { class: "count" }, answer ? `${sum(covered)}/${answer.people}` : state.failed[view] ? "–" : "…"),
    waiting(state, view, isNew ? "Learning the lists anew, with your difficulties: that takes some seconds …" : "Explaining 20 people …"));
}

// One stop of the tab key for all people; the arrow keys go from one to the next.
function walk(event) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const all = [...event.currentTarget.children];
  const next = by && all[(all.indexOf(event.target) + by + all.length) % all.length];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

function show(view, i) {
  look({ person: { view, i } });
  queueMicrotask(() => document.getElementById("person-heading")?.focus());
}

function close({ view, i }) {
  look({ person: null });
  queueMicrotask(() => document.querySelectorAll(`#strip-${view} .cells button`)[i]?.focus());
}

// One of the people beside the case: how they differ, and what each is offered.
function person(state) {
  const answer = state.person && state.nearby[state.person.view];
  const one = answer?.each[state.person.i];
  if (!one) return null;
  const { view, i } = state.person;
  const own = view === "nearest" ? optionsShown(state) : answer.options;
  const theirs = new Set(one.offered.map((each) => each.same));
  const step = (by) => show(view, (i + by + answer.people) % answer.people);
  return h("section", { class: `person ${isOld(state, view) ? "old" : ""}`, key: "person", id: "person", "aria-labelledby": "person-heading",
    onkeydown: (event) => { if (event.key === "Escape") close({ view, i }); } },
  h("div", { class: "head" }, h("h3", { id: "person-heading", tabindex: "-1" }, `Person ${i + 1} of ${answer.people}, beside `, data(caseOf(state))),
    h("span", { class: "buttons" },
      h("button", { type: "button", "aria-label": "The person before", onclick: () => step(-1) }, "‹"),
      h("button", { type: "button", "aria-label": "The next person", onclick: () => step(1) }, "›"),
      h("button", { type: "button", id: "close-person", onclick: () => close({ view, i }) }, "Close"))),
  h("p", { class: "note" }, one.differs.length ? `They differ in ${counted(one.differs.length, "value")}; all others are the same.` : "They do not differ: each number is rounded to its step."),
  one.differs.length > 0 && h("table", { class: "differs" },
    h("thead", {}, h("tr", {}, ["Feature", caseOf(state), `Person ${i + 1}`].map((each) => h("th", { scope: "col" }, data(each))))),
    h("tbody", {}, one.differs.map((each) => h("tr", { key: each.label }, h("th", { scope: "row" }, data(each.label)),
      h("td", {}, data(each.own)), h("td", {}, data(each.other)))))),
  h("div", { class: "beside" },
    h("div", {}, h("h4", {}, data(caseOf(state)), " is offered"),
      h("ol", {}, own.map((option) => h("li", { key: String(option.rank) }, marker(option.rank), h("span", {}, option.sentence,
        !theirs.has(option.rank) && h("em", {}, ` – person ${i + 1} is not offered this`)))))),
    h("div", {}, h("h4", {}, `Person ${i + 1} is offered`),
      h("ol", {}, one.offered.map((each, k) => {
        const same = own.some((option) => option.rank === each.same) ? each.same : null;
        return h("li", { key: String(k) }, same ? marker(same, `the same as option ${same}`) : h("span", { class: "mark none", title: "not on the list", "aria-label": "not on the list", role: "img" }, "–"),
          h("span", {}, each.sentence));
      })))));
}

function caseOf(state) {
  return state.asked.case === null ? caseName(state) : `Case ${caseName(state)}`;
}
