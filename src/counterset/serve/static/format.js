// Numbers, values and marks as people read them.

import { h } from "./dom.js";

const plain = new Intl.NumberFormat("en-US", { maximumFractionDigits: 12, maximumSignificantDigits: 15 });

export function number(value) {
  const size = Math.abs(value);
  if (size && (size < 1e-9 || size >= 1e16)) return String(value);
  return plain.format(value);
}

// A share, as letters and reports write it: only 0 is 0%, and only 1 is 100%.
export function percent(share) {
  const whole = Math.round(share * 100);
  if (share > 0 && whole === 0) return "less than 1%";
  return share < 1 && whole === 100 ? "more than 99%" : `${whole}%`;
}

export function withUnit(feature, text, value) {
  const unit = value === 1 ? feature.unit_of_one : feature.unit;
  if (!unit) return text;
  if (unit.includes("{}")) return unit.replace("{}", text);
  return /^[%°]/.test(unit) ? text + unit : `${text} ${unit}`;
}

// The number that stands for a value of JSON: the position of a choice, the microseconds of a time
// since 1970, a number itself. Null where it is missing.
export function codeOf(feature, value) {
  if (value === null || value === undefined) return null;
  if (feature.choices) {
    const text = JSON.stringify(value);
    return feature.choices.findIndex((each) => JSON.stringify(each.value) === text);
  }
  if (!feature.is_time) return value;
  const { value: text } = value;
  const hasZone = text.length > 19 && /[+-]\d\d:\d\d$/.test(text);
  return Date.parse(hasZone || text.length === 10 ? text : `${text}Z`) * 1000;
}

// The value of JSON that a number stands for.
export function valueOf(feature, code) {
  if (code === null) return null;
  if (feature.choices) return feature.choices[code].value;
  if (!feature.is_time) return code;
  const text = new Date(code / 1000).toISOString();
  const { type, zone } = feature.example;
  if (type === "date") return { ...feature.example, value: text.slice(0, 10) };
  return { ...feature.example, value: zone ? `${text.slice(0, 19)}+00:00` : text.slice(0, 19) };
}

// A value of a feature, in words.
export function valueText(feature, value) {
  return codeText(feature, codeOf(feature, value));
}

export function codeText(feature, code) {
  if (code === null) return feature.missing;
  if (feature.choices) return feature.choices[code]?.text ?? "?";
  if (feature.is_time) return moment(feature, code).replace("T", " ");
  return withUnit(feature, number(code), code);
}

// Why a value is unlike all training data; empty if it is not.
export function outside(feature, code) {
  if (code === null || code === undefined) return "";
  if (feature.choices) {
    return feature.unseen.includes(code) ? "outside the training data: nobody there has this value" : "";
  }
  const { least, most } = feature;
  if (least === undefined || (least <= code && code <= most)) return "";
  const first = feature.is_time || feature.unit.includes("{}") ? codeText(feature, least) : number(least);
  const range = `outside the training data: ${first} to ${codeText(feature, most)}`;
  return code < 0 && least >= 0 && !feature.is_time ? `${range}; nothing there is below 0` : range;
}

const DAY = 86_400_000_000; // in microseconds

export function hasHours(feature) {
  return feature.step < DAY;
}

// A time as a field takes it, with hours if it has some.
export function moment(feature, code) {
  return new Date(code / 1000).toISOString().slice(0, hasHours(feature) ? 19 : 10);
}

export function readMoment(feature, text) {
  return Date.parse(hasHours(feature) ? `${text}Z` : text) * 1000;
}

// The mark of an option: its number, on a colour of Okabe and Ito.
export function marker(rank, title) {
  return h("span", { class: `mark ${optionClass(rank)}`, title, role: title ? "img" : null,
    "aria-label": title ?? null, "aria-hidden": title ? null : "true" }, String(rank));
}

// The colour of an option.
export function optionClass(rank) {
  return `option-${(rank - 1) % 7}`;
}

export function counted(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}
