// The state in the address: only what differs from the case as it was picked.

import { firstConstraints } from "./state.js";

export function toAddress(state) {
  const { asked, start, original } = state;
  const held = { c: asked.case };
  put(held, "v", differences(asked.values, original));
  const constraints = {};
  const first = firstConstraints(start);
  for (const [name, constraint] of Object.entries(asked.constraints)) {
    if (JSON.stringify(constraint) !== JSON.stringify(first[name])) constraints[name] = constraint;
  }
  put(held, "l", constraints);
  if (asked.target !== start.target) held.t = asked.target;
  if (asked.interval && JSON.stringify(asked.interval) !== JSON.stringify(start.interval)) {
    held.i = asked.interval;
  }
  if (asked.probability !== start.probability) held.a = asked.probability;
  if (asked.options !== start.options) held.n = asked.options;
  if (asked.tried) held.w = differences(asked.tried, asked.values);
  if (asked.kept.length) held.k = asked.kept;
  if (asked.picture !== "changes") held.p = asked.picture;
  if (asked.noise !== 0.03) held.s = asked.noise;
  if (asked.seed) held.r = asked.seed;
  if (asked.filter !== null) held.f = asked.filter;
  return `#${encodeURIComponent(JSON.stringify(held))}`;
}

// What an address holds; null if there is nothing, or nothing that can be read.
export function fromAddress(hash) {
  try {
    const held = JSON.parse(decodeURIComponent(hash.slice(1)));
    return held && typeof held === "object" ? held : null;
  } catch {
    return null;
  }
}

// Put what an address holds into the state, after the case was loaded.
export function restore(asked, held, start, original) {
  const names = new Set(start.features.map((each) => each.name));
  const known = (values) => Object.fromEntries(
    Object.entries(values ?? {}).filter(([name]) => names.has(name)));
  asked.values = { ...original, ...known(held.v) };
  asked.constraints = { ...firstConstraints(start), ...known(held.l) };
  asked.target = held.t === undefined ? start.target : held.t;
  asked.interval = held.i ?? start.interval;
  asked.probability = held.a === undefined ? start.probability : held.a;
  asked.options = Number.isInteger(held.n) ? held.n : start.options;
  asked.tried = held.w ? { ...asked.values, ...known(held.w) } : null;
  asked.kept = Array.isArray(held.k) ? held.k.map(known) : [];
  asked.picture = ["changes", "map", "menu"].includes(held.p) ? held.p : "changes";
  asked.noise = typeof held.s === "number" ? held.s : 0.03;
  asked.seed = Number.isInteger(held.r) ? held.r : 0;
  asked.filter = Number.isInteger(held.f) ? held.f : null;
}

function differences(values, others) {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(others[name])));
}

function put(held, key, values) {
  if (Object.keys(values).length) held[key] = values;
}
