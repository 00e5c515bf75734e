// One feature: its value, a lock, and what it may do.

import { data, h } from "./dom.js";
import { clearValue, optionsShown, refuseValue, setConstraint, setValue } from "./actions.js";
import { codeOf, codeText, hasHours, marker, moment, number, outside, readMoment, valueOf, withUnit } from "./format.js";
import { constraintOf, shown, state } from "./state.js";

export function featureRow(now, feature) {
  const { name, label } = feature;
  const constraint = constraintOf(name, now);
  const code = codeOf(feature, shown(now)[name]);
  const own = codeOf(feature, now.asked.values[name]);
  const picked = codeOf(feature, now.original[name]);
  const isLocked = Boolean(constraint.locked);
  const options = optionsShown(now);
  // What is not filled in has a typical value, and is shown as an empty field.
  const isTypical = Boolean(now.asked.entered && !now.asked.tried && !now.asked.entered[name]);
  const fault = now.invalid[name];
  const unlike = isTypical ? "" : outside(feature, code);
  return h("div", { class: `feature ${isLocked ? "locked" : ""}`, key: `feature ${name}`, "data-name": name },
    h("div", { class: "name" },
      h("label", { for: `value-${name}` }, data(label)),
      h("span", { class: "users" }, options.map((option) =>
        option.changes.some((each) => each.name === name) && marker(option.rank, `option ${option.rank} changes it`))),
      h("label", { class: "lock" },
        h("input", { type: "checkbox", checked: isLocked,
          "aria-label": `Lock: ${label}`,
          onchange: (event) => setConstraint(name, { locked: event.target.checked }) }),
        "lock")),
    h("div", { class: "entry" }, feature.choices
      ? choice(feature, code, isTypical) : [field(feature, code, isTypical, fault || unlike), slider(feature, code)]),
    (fault || unlike) && h("p", { class: "fault", id: faultId(feature) }, "⚠ ", data(fault || unlike)),
    code !== own && h("p", { class: "own" }, "in the case: ", data(codeText(feature, own))),
    code === own && own !== picked && !now.asked.entered && h("p", { class: "own" }, "as picked: ", data(codeText(feature, picked))),
    !isLocked && constraints(feature, constraint));
}

// Names may hold spaces, which would end an id.
function faultId({ name }) {
  return `fault-${encodeURIComponent(name)}`;
}

function setCode(feature, code) {
  setValue(feature.name, valueOf(feature, code));
}

function choice(feature, code, isTypical) {
  return h("select", { id: `value-${feature.name}`, value: isTypical ? "typical" : String(code),
    title: codeText(feature, code),
    onchange: (event) => (event.target.value === "typical" ? clearValue(feature.name)
      : setCode(feature, read(event.target.value))) },
  isTypical && h("option", { value: "typical" }, `typical: ${codeText(feature, code)}`),
  feature.can_be_missing && h("option", { value: "null" }, feature.missing),
  feature.choices.map((each, i) => h("option", { value: String(i) }, each.text)));
}

function field(feature, code, isTypical, fault) {
  const [before, after] = feature.unit.includes("{}") ? feature.unit.split("{}") : ["", feature.unit];
  const text = code === null ? "" : feature.is_time ? moment(feature, code) : String(code);
  const placeholder = isTypical ? text : feature.can_be_missing ? feature.missing : "";
  return h("span", { class: "field" },
    before.trim() && h("span", { class: "unit" }, before.trim()),
    h("input", { id: `value-${feature.name}`, type: !feature.is_time ? "number" : hasHours(feature) ? "datetime-local" : "date",
      step: feature.is_time || feature.any_number ? "any" : String(feature.step),
      value: isTypical ? "" : text,
      style: { "--digits": String(Math.max(text.length, placeholder.length)) },
      placeholder,
      "aria-invalid": fault ? "true" : null, "aria-describedby": fault ? faultId(feature) : null,
      oninput: (event) => typed(feature, event.target) }),
    after.trim() && h("span", { class: "unit" }, after.trim()));
}

// A field is read while somebody types; an incomplete value is marked, and not asked about.
function typed(feature, element) {
  const isEmpty = element.value === "" && !element.validity.badInput;
  if (isEmpty && state.asked.entered && !state.asked.tried) {
    clearValue(feature.name);
    return;
  }
  const code = feature.is_time ? readMoment(feature, element.value) : Number(element.value);
  let fault = "";
  if (element.validity.badInput) fault = "Type a number.";
  else if (isEmpty && !feature.can_be_missing) fault = "Type a value.";
  else if (!isEmpty && !Number.isFinite(code)) fault = "Type a number.";
  else if (!isEmpty && feature.is_whole && !Number.isInteger(code)) fault = "Type a whole number.";
  if (fault) refuseValue(feature.name, `${fault} The answer is for ${codeText(feature, codeOf(feature, shown()[feature.name]))}.`);
  else setCode(feature, isEmpty ? null : code);
}

// The slider does what the field does with the arrow keys, so that the tab key passes over it.
function slider(feature, code) {
  return h("span", { class: "slider" },
    h("svg", { class: "bars", viewBox: `0 0 ${feature.bars.length} 1`, preserveAspectRatio: "none",
      "aria-hidden": "true" },
    feature.bars.map((share, i) => h("rect", { x: i + 0.08, y: 1 - share, width: 0.84, height: share }))),
    h("input", { type: "range", tabindex: "-1", "aria-label": `${feature.label}, as a slider`,
      min: String(feature.slider_low), max: String(feature.high), step: String(feature.step),
      value: String(code ?? feature.low),
      oninput: (event) => setCode(feature, Number(event.target.value)) }));
}

function constraints(feature, constraint) {
  const { name, label } = feature;
  return h("details", { class: "constraints" },
    h("summary", {}, summary(feature, constraint)),
    feature.has_order && buttons(`direction ${name}`, `${label} may go`, constraint.direction,
      [["any", "any direction"], ["up", "only up"], ["down", "only down"]],
      (direction) => setConstraint(name, { direction })),
    feature.has_order && !feature.is_time && h("div", { class: "ends" },
      end(feature, constraint, "low", "from"), end(feature, constraint, "high", "to")),
    buttons(`hard ${name}`, "Hard for me, from 1 (easy) to 5", String(constraint.difficulty),
      ["1", "2", "3", "4", "5"].map((each) => [each, each]),
      (difficulty) => setConstraint(name, { difficulty: Number(difficulty) })));
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

function end(feature, constraint, part, text) {
  const change = (event) => setConstraint(feature.name, { [part]: valueOf(feature, read(event.target.value)) });
  const value = String(codeOf(feature, constraint[part]));
  const named = { "aria-label": `${feature.label} ${text}` };
  return h("label", { class: "end" }, `${text} `, feature.choices
    ? h("select", { ...named, value, onchange: change }, h("option", { value: "null" }, "any"),
      feature.choices.map((each, i) => h("option", { value: String(i) }, each.text)))
    : h("input", { ...named, type: "number", class: "short", step: feature.any_number ? "any" : String(feature.step),
      placeholder: part === "low" ? "least" : "most", value: value === "null" ? "" : value,
      oninput: change }));
}

function summary(feature, constraint) {
  const parts = [];
  if (constraint.direction !== "any") parts.push(`only ${constraint.direction}`);
  const [low, high] = [codeOf(feature, constraint.low), codeOf(feature, constraint.high)];
  const text = (code) => (feature.choices ? codeText(feature, code) : number(code));
  const unit = (code) => (feature.choices ? text(code) : withUnit(feature, text(code), code));
  const first = feature.unit.includes("{}") ? unit : text; // a word is written once
  if (low !== null && high !== null) parts.push(`${first(low)} to ${unit(high)}`);
  else if (low !== null) parts.push(`at least ${unit(low)}`);
  else if (high !== null) parts.push(`at most ${unit(high)}`);
  if (constraint.difficulty > 1) parts.push(`hard: ${constraint.difficulty} of 5`);
  return h("span", {}, parts.length ? parts.join(" · ") : "may change");
}

function read(text) {
  return text === "null" || text === "" ? null : Number(text);
}
