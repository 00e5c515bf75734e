// One feature: its value, a lock, and what it may do.

import { data, h } from "./dom.js";
import { setLimit, setValue } from "./actions.js";
import { hasHours, moment, number, readMoment, told, withUnit } from "./format.js";
import { limitOf, shown } from "./state.js";
import { marker } from "./marks.js";

export function featureRow(state, feature) {
  const { name, label } = feature;
  const limit = limitOf(name, state);
  const value = shown(state)[name];
  const own = state.asked.values[name];
  const picked = state.original[name];
  const isLocked = limit.locked || feature.fixed;
  const users = state.answer?.ways ?? [];
  return h("div", { class: `feature ${isLocked ? "locked" : ""}`, key: `feature ${name}`, "data-name": name },
    h("div", { class: "name" },
      h("label", { for: `value-${name}` }, data(label)),
      h("span", { class: "users" }, users.map((way, i) =>
        way.changes.some((each) => each.name === name) && marker(i, `way ${i + 1} changes it`))),
      h("label", { class: "lock" },
        h("input", { type: "checkbox", checked: Boolean(isLocked), disabled: Boolean(feature.fixed),
          "aria-label": `Lock: ${label}`,
          onchange: (event) => setLimit(name, { locked: event.target.checked }) }),
        "lock")),
    h("div", { class: "entry" }, feature.options
      ? choice(feature, value) : [field(feature, value), slider(feature, value)]),
    value !== own && h("p", { class: "own" }, "in the case: ", data(told(feature, own))),
    value === own && own !== picked && h("p", { class: "own" }, "as picked: ", data(told(feature, picked))),
    !isLocked && limits(feature, limit));
}

function choice(feature, value) {
  return h("select", { id: `value-${feature.name}`, value: String(value),
    onchange: (event) => setValue(feature.name, read(event.target.value)) },
  feature.can_be_missing && h("option", { value: "null" }, feature.missing),
  feature.options.map((each) => h("option", { value: String(each.value) }, each.text)));
}

function field(feature, value) {
  const [before, after] = feature.unit.includes("{}") ? feature.unit.split("{}") : ["", feature.unit];
  return h("span", { class: "field" },
    before.trim() && h("span", { class: "unit" }, before.trim()),
    h("input", { id: `value-${feature.name}`, type: !feature.is_time ? "number" : hasHours(feature) ? "datetime-local" : "date",
      step: feature.is_time || feature.any_number ? "any" : String(feature.step),
      value: value === null ? "" : feature.is_time ? moment(feature, value) : String(value),
      placeholder: feature.can_be_missing ? feature.missing : "",
      oninput: (event) => typed(feature, event.target) }),
    after.trim() && h("span", { class: "unit" }, after.trim()));
}

// A field is read while somebody types; what is no value yet is marked, and not asked about.
function typed(feature, element) {
  const isEmpty = element.value === "";
  const value = feature.is_time ? readMoment(feature, element.value) : Number(element.value);
  let fault = "";
  if (isEmpty && !feature.can_be_missing) fault = "Type a value.";
  else if (!isEmpty && !Number.isFinite(value)) fault = "Type a number.";
  else if (!isEmpty && feature.is_whole && !Number.isInteger(value)) fault = "Type a whole number.";
  element.setAttribute("aria-invalid", fault ? "true" : "false");
  element.title = fault;
  if (!fault) setValue(feature.name, isEmpty ? null : value);
}

// The slider does what the field does with the arrow keys, so that the tab key passes over it.
function slider(feature, value) {
  return h("span", { class: "slider" },
    h("svg", { class: "bars", viewBox: `0 0 ${feature.bars.length} 1`, preserveAspectRatio: "none",
      "aria-hidden": "true" },
    feature.bars.map((share, i) => h("rect", { x: i + 0.08, y: 1 - share, width: 0.84, height: share }))),
    h("input", { type: "range", tabindex: "-1", "aria-label": `${feature.label}, as a slider`,
      min: String(feature.slider_low), max: String(feature.high), step: String(feature.step),
      value: String(value ?? feature.low),
      oninput: (event) => setValue(feature.name, Number(event.target.value)) }));
}

function limits(feature, limit) {
  const { name, label } = feature;
  return h("details", { class: "limits" },
    h("summary", {}, summary(feature, limit)),
    feature.has_order && buttons(`way ${name}`, `${label} may go`, limit.way,
      [["any", "any way"], ["up", "only up"], ["down", "only down"]],
      (way) => setLimit(name, { way })),
    feature.has_order && !feature.is_time && h("div", { class: "ends" },
      end(feature, limit, "low", "from"), end(feature, limit, "high", "to")),
    buttons(`hard ${name}`, "Hard for me, from 1 (easy) to 5", String(limit.difficulty),
      ["1", "2", "3", "4", "5"].map((each) => [each, each]),
      (difficulty) => setLimit(name, { difficulty: Number(difficulty) })));
}

// One of a few: radio buttons that look like a row of buttons.
function buttons(group, legend, chosen, choices, choose) {
  return h("fieldset", { class: "choices" },
    h("legend", {}, legend),
    choices.map(([value, text]) => h("label", { key: value },
      h("input", { type: "radio", name: group, value, checked: value === chosen,
        onchange: () => choose(value) }),
      h("span", {}, text))));
}

function end(feature, limit, part, text) {
  const change = (event) => setLimit(feature.name, { [part]: read(event.target.value) });
  const value = limit[part] === null ? "null" : String(limit[part]);
  const named = { "aria-label": `${feature.label} ${text}` };
  return h("label", {}, `${text} `, feature.options
    ? h("select", { ...named, value, onchange: change }, h("option", { value: "null" }, "any"),
      feature.options.map((each) => h("option", { value: String(each.value) }, each.text)))
    : h("input", { ...named, type: "number", class: "short", step: feature.any_number ? "any" : String(feature.step),
      placeholder: part === "low" ? "least" : "most", value: value === "null" ? "" : value,
      oninput: change }));
}

function summary(feature, limit) {
  const parts = [];
  if (limit.way !== "any") parts.push(`only ${limit.way}`);
  const text = (value) => (feature.options ? told(feature, value) : number(value));
  const unit = (value) => (feature.options ? text(value) : withUnit(feature, text(value), value));
  const first = feature.unit.includes("{}") ? unit : text; // a word is written once
  if (limit.low !== null && limit.high !== null) parts.push(`${first(limit.low)} to ${unit(limit.high)}`);
  else if (limit.low !== null) parts.push(`at least ${unit(limit.low)}`);
  else if (limit.high !== null) parts.push(`at most ${unit(limit.high)}`);
  if (limit.difficulty > 1) parts.push(`hard: ${limit.difficulty} of 5`);
  return h("span", {}, parts.length ? parts.join(" · ") : "may change");
}

function read(text) {
  return text === "null" || text === "" ? null : Number(text);
}
