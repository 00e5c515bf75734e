// The options: what each changes, how far it gets, and those that are kept.

import { data, h } from "./dom.js";
import { bringBack, dropOption, isKept, isTried, keepOption, keyOf, lift, look, optionsShown, rejectOption, set, tryOption } from "./actions.js";
import { isOld, isShort } from "./asking.js";
import { counted, marker, number, optionClass, percent } from "./format.js";
import { failure, waiting } from "./failures.js";
import { feature } from "./state.js";

const MOST_IN_SENTENCE = 5; // changes: a sentence with more has them in a list below it

export function optionsPanel(state) {
  const { answer } = state;
  return [
    h("div", { class: "head" }, h("h2", { tabindex: "-1" }, heading(state)), rangesButton(state), why(state)),
    state.hasReasons && reasons(state),
    failure(state, "explain", "report"),
    answer && notUpToDate(state),
    waiting(state, "explain", "Looking for options: the model is being asked …"),
    !answer && !state.failed.explain && h("ol", { class: "options" },
      [0, 1, 2].map((i) => h("li", { key: `empty ${i}`, class: "option empty" }))),
    answer && h("div", { class: isOld(state, "explain") ? "old" : "", "aria-busy": String(Boolean(state.busy.explain)) }, content(state)),
    state.asked.kept.length > 0 && kept(state),
  ];
}

function heading(state) {
  const { answer } = state;
  if (!answer) return "Options";
  if (answer.status === "already_reached") return "Nothing to change";
  const count = optionsShown(state).length;
  return [`${counted(count, "option")} that ${count === 1 ? "leads" : "lead"} to `, data(answer.wanted_text)];
}

// An old answer is dimmed, and words say why it has not been replaced.
function notUpToDate(state) {
  const faults = state.asked.tried ? [] : Object.keys(state.invalid);
  if (!faults.length && !state.failed.explain) return null;
  const named = faults.map((name) => [data(feature(name).label), " cannot be read. "]);
  return h("p", { class: "stale", key: "stale", role: "status" }, "⚠ ", named, "The options below are for the values before.");
}

// Between which values one may choose: that is looked for only when somebody wants to know.
function rangesButton(state) {
  if (!state.answer?.options.length) return null;
  return h("button", { type: "button", id: "ranges", "aria-pressed": String(state.asked.ranges),
    onclick: () => set({ ranges: !state.asked.ranges }) }, "Ranges");
}

// Why the model decides as it does, when somebody wants to know.
function why(state) {
  if (!state.answer || state.answer.status === "already_reached") return null;
  return h("button", { type: "button", id: "why", "aria-expanded": String(state.hasReasons),
    onclick: () => look({ hasReasons: !state.hasReasons }) }, "Why ", data(state.answer.label_text), "?");
}

function reasons(state) {
  const found = state.reasons;
  return h("div", { class: `reasons ${found && isOld(state, "reasons") ? "old" : ""}`, key: "reasons" },
    failure(state, "reasons"),
    found ? [h("p", {}, found.lines.length ? found.heading : "There are no reasons to name."),
      h("ol", {}, found.lines.map((each) => h("li", {}, each)))]
      : h("p", { class: "note" }, state.failed.reasons ? "" : "…"));
}

function content(state) {
  const { answer, asked } = state;
  if (answer.status === "already_reached") {
    return h("p", { class: "note" },
      "The model says “", data(answer.label_text), "”, which is the goal. Pick another case, or another goal.");
  }
  const options = optionsShown(state);
  const nearest = Math.min(...answer.options.map((option) => option.distance));
  return [
    isShort(state) && shortfall(state, options.length),
    h("ol", { class: "options" }, options.map((option) => optionItem(state, option, nearest))),
    asked.rejected.length > 0 && h("p", { class: "aside", key: "aside" },
      `Set aside: ${asked.rejected.map((each) => each.sentence).join("; ")}. `,
      h("button", { type: "button", id: "bring-back", "data-then": "#options h2", onclick: bringBack }, "Bring back")),
    options.length > 0 && h("details", { class: "sure", key: "sure" },
      h("summary", {}, "What is checked, and what is proved"),
      h("ul", {}, answer.notes.map((each) => h("li", {}, each)))),
  ];
}

function shortfall(state, count) {
  const { asked, lift: found, busy } = state;
  const others = asked.rejected.length ? " No other is left besides those set aside." : "";
  return h("div", { class: "short-of", key: "short", role: "status" },
    h("p", {}, count ? `${asked.options} were asked for, and ${count === 1 ? "1 is" : `${count} are`} shown.${others} ` : `No option was found within these constraints.${others} `,
      found ? found.sentence : busy.lift ? "Looking for the constraint that prevents more …" : ""),
    found?.button && h("button", { type: "button", id: "lift", "data-then": "#options h2", onclick: () => lift(found) }, found.button));
}

function optionItem(state, option, nearest) {
  const { rank } = option;
  const [tried, isKeptNow] = [isTried(option, state), isKept(option, state)];
  return h("li", { class: `option ${optionClass(rank)} ${tried ? "tried" : ""}`, key: `option ${rank}`, "data-option": keyOf(option) },
    h("h3", {}, marker(rank), h("span", {}, option.sentence)),
    option.changes.length > MOST_IN_SENTENCE && h("ul", { class: "changes" }, option.lines.map((each) => h("li", {}, each))),
    chance(state, state.answer.chances?.then[rank - 1]),
    option.unusual_text && h("p", { class: "note" }, option.unusual_text),
    state.answer.rooms[rank - 1] && h("p", { class: "note" }, state.answer.rooms[rank - 1]),
    h("p", { class: "facts" },
      option.distance === nearest && h("span", { class: "tag" }, "nearest"),
      option.safe && h("span", { class: "tag", title: "More likely to work if the model is trained again" }, "safer"),
      tried && h("span", { class: "tag trying" }, "tried in the what-if"),
      offered(state, option)),
    h("div", { class: "buttons" },
      h("button", { type: "button", class: "try", "aria-label": `Try option ${rank}`, "aria-pressed": String(tried), onclick: () => tryOption(option) }, "Try it"),
      h("button", { type: "button", class: "keep", "aria-pressed": String(isKeptNow), "aria-label": `Keep option ${rank}`,
        onclick: () => (isKeptNow ? dropOption(option) : keepOption(option)) }, isKeptNow ? "Kept ✓" : "Keep"),
      h("button", { type: "button", class: "reject", "aria-label": `Not option ${rank}`, "data-then": "#options h2",
        onclick: () => rejectOption(option) }, "Not this one")));
}

// From the probability now to that of an option, against what is needed.
function chance(state, then) {
  const { chances: found, wanted_text: wanted } = state.answer;
  if (!found || then === undefined || then === null || found.now === null) return null;
  const [low, high] = found.scale;
  const at = (value) => `${(100 * Math.min(1, Math.max(0, (value - low) / (high - low || 1)))).toFixed(2)}%`;
  const text = found.kind === "number" ? (value) => number(Number(value.toPrecision(4))) : percent;
  const needed = found.least === null ? "" : `${text(found.least)} ${found.most === null ? "is needed" : `to ${text(found.most)} is wanted`}`;
  const [from, to] = [Math.min(found.now, then), Math.max(found.now, then)];
  return h("p", { class: "chance" },
    h("svg", { class: "bar", "aria-hidden": "true" },
      h("rect", { class: "all", x: 0, y: 5, width: "100%", height: 8 }),
      h("rect", { class: "gain", x: at(from), y: 5, width: `${parseFloat(at(to)) - parseFloat(at(from))}%`, height: 8 }),
      [found.least, found.most].map((end) => end !== null && h("line", { class: "needed", x1: at(end), x2: at(end), y1: 0, y2: 18 })),
      h("circle", { class: "now", cx: at(found.now), cy: 9, r: 4 }),
      h("circle", { class: "then", cx: at(then), cy: 9, r: 5 })),
    h("span", { title: needed && `${needed} for ${wanted}` },
      h("span", { class: "hidden" }, found.kind === "number" ? "Prediction: " : "Probability of what is wanted: "),
      text(found.now), " → ", h("strong", {}, text(then)),
      needed && h("span", { class: "hidden" }, `; ${needed}`)));
}

// How many of the people almost like this one are offered the option too.
function offered(state, option) {
  const { nearest } = state.nearby;
  const at = nearest ? nearest.options.findIndex((each) => keyOf(each) === keyOf(option)) : -1;
  if (at < 0) return h("span", { class: "stability" }, state.busy.nearest ? "asking people alike …" : "");
  const count = nearest.kept[at].reduce((sum, each) => sum + each, 0);
  return h("span", { class: `stability ${isOld(state, "nearest") ? "old" : ""}`, title: "How many of the people almost like this one are offered the same option" },
    `${count} of ${nearest.people} people alike are offered it too`);
}

function kept(state) {
  const options = state.answer?.kept ?? [];
  return h("section", { class: "kept", key: "kept", "aria-labelledby": "kept-heading" },
    h("h2", { id: "kept-heading", tabindex: "-1" }, "Kept, to take home"),
    h("ul", { class: `options ${isOld(state, "explain") ? "old" : ""}` }, options.map((option, i) => {
      const { rank } = option; // the number on the sheet, none if it is left out
      return h("li", { class: `option ${rank ? optionClass(rank) : ""}`, key: `kept ${i}` },
        h("h3", {}, rank && marker(rank), h("span", {}, option.sentence)),
        chance(state, option.chance),
        h("p", { class: "facts" }, h("span", {}, "leads to ", data(option.label_text)),
          !option.reaches_goal && h("strong", {}, "no longer the goal: left out of the sheet")),
        h("div", { class: "buttons" },
          h("button", { type: "button", onclick: () => tryOption(option), "aria-label": `Try kept option ${i + 1}` }, "Try it"),
          h("button", { type: "button", "aria-label": `Drop kept option ${i + 1}`, "data-then": "#kept-heading, #options h2",
            onclick: () => dropKept(state, i) }, "Drop")));
    })));
}

function dropKept(state, i) {
  const changed = Object.entries(state.asked.kept[i]);
  dropOption({ changes: changed.map(([name, after]) => ({ name, after })) });
}
