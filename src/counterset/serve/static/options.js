// The options: what each changes, what is certain about them, and those that are kept.

import { data, h } from "./dom.js";
import { dropOption, isKept, keepOption, keyOf, lift, tryOption } from "./actions.js";
import { isShort } from "./asking.js";
import { counted, distance, marker, optionClass } from "./format.js";
import { failure, waiting } from "./failures.js";
import { feature } from "./state.js";

export function optionsPanel(state) {
  const { answer, busy } = state;
  return [
    h("div", { class: "head" }, h("h2", {}, heading(state))),
    failure(state, "explain", "report"),
    waiting(state, "explain", "Looking for options: the model is being asked …"),
    !answer && !state.failed.explain && h("ol", { class: "options" },
      [0, 1, 2].map((i) => h("li", { key: `empty ${i}`, class: "option empty" }))),
    answer && h("div", { class: busy.explain ? "old" : "" }, content(state)),
    state.asked.kept.length > 0 && kept(state),
  ];
}

function heading({ answer }) {
  if (!answer) return "Options";
  if (answer.status === "already_reached") return "Nothing to change";
  return `${counted(answer.options.length, "option")} to ${answer.wanted_text}`;
}

function content(state) {
  const { answer } = state;
  if (answer.status === "already_reached") {
    return h("p", { class: "note" },
      `The model says “${answer.label_text}”, which is the goal. Pick another case, or another goal.`);
  }
  const near = Math.min(...answer.options.map((option) => option.distance));
  return [
    isShort(state) && shortfall(state),
    h("ol", { class: "options" },
      answer.options.map((option, i) => optionItem(state, option, i, option.distance === near))),
    answer.options.length > 0 && h("details", { class: "sure" },
      h("summary", {}, "What is checked, and what is proved"),
      h("ul", {}, answer.notes.map((each) => h("li", {}, each)))),
  ];
}

function shortfall(state) {
  const { answer, asked, lift: found, busy } = state;
  const count = answer.options.length;
  return h("div", { class: "short-of", role: "status" },
    h("p", {}, count ? `${asked.options} were asked for, and ${count === 1 ? "1 was" : `${count} were`} found. ` : "No option was found within these constraints. ",
      found ? found.sentence : busy.lift ? "Looking for the constraint that prevents more …" : ""),
    found?.button && h("button", { type: "button", id: "lift", onclick: () => lift(found) }, found.button));
}

function optionItem(state, option, i, isNearest) {
  return h("li", { class: `option ${optionClass(i)}`, key: `place ${i}`, "data-option": keyOf(option) },
    h("h3", {}, marker(i), option.sentence),
    changes(option),
    h("p", { class: "facts" }, [
      isNearest && h("span", { class: "tag" }, "nearest"),
      h("span", { title: "1 is one number moved across its usual range" }, `distance ${distance(option.distance)}`),
      stability(state, option)]),
    h("div", { class: "buttons" },
      h("button", { type: "button", class: "try", "aria-label": `Try option ${i + 1}`, onclick: () => tryOption(option) }, "Try it"),
      h("button", { type: "button", class: "keep", "aria-pressed": String(isKept(option, state)),
        "aria-label": `Keep option ${i + 1}`,
        onclick: () => (isKept(option, state) ? dropOption(option) : keepOption(option)) },
      isKept(option, state) ? "Kept ✓" : "Keep")));
}

function changes(option) {
  return h("ul", { class: "changes" }, option.changes.map((each) =>
    h("li", { key: each.name }, h("span", { class: "what" }, data(feature(each.name).label)), " ",
      h("span", { class: "from" }, data(each.before_text)), h("span", { "aria-label": "to" }, " → "),
      h("strong", {}, data(each.after_text)))));
}

// How many of the people almost like this one are offered the option too.
function stability(state, option) {
  const { nearest } = state.nearby;
  const at = nearest ? nearest.options.findIndex((each) => keyOf(each) === keyOf(option)) : -1;
  if (at < 0) return h("span", { class: "stability" }, state.busy.nearest ? "kept by …" : "");
  const count = nearest.kept[at].reduce((sum, each) => sum + each, 0);
  return h("span", { class: "stability", title: "How many people almost like this one are offered it too" },
    `kept by ${count} of ${nearest.people} people alike`);
}

function kept(state) {
  const options = state.answer?.kept ?? [];
  return h("section", { class: "kept", "aria-labelledby": "kept-heading" },
    h("h2", { id: "kept-heading" }, "Kept"),
    h("ul", { class: "options" }, options.map((option, i) =>
      h("li", { class: "option", key: `kept ${i}` },
        h("h3", {}, option.sentence),
        h("p", { class: "facts" }, `leads to ${option.label_text} · distance ${distance(option.distance)}`,
          !option.reaches_goal && h("strong", {}, " · no longer the goal")),
        h("div", { class: "buttons" },
          h("button", { type: "button", onclick: () => tryOption(option), "aria-label": `Try kept option ${i + 1}` }, "Try it"),
          h("button", { type: "button", "aria-label": `Drop kept option ${i + 1}`,
            onclick: () => dropKept(state, i) }, "Drop"))))));
}

function dropKept(state, i) {
  const changed = Object.entries(state.asked.kept[i]);
  dropOption({ changes: changed.map(([name, after]) => ({ name, after })) });
}
