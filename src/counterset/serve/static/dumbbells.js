// What each way changes: for each feature a line, from the own value (a ring) to the way's (a dot).

import { data, h } from "./dom.js";
import { marker } from "./marks.js";
import { feature } from "./state.js";

export function dumbbells(state) {
  const { answer } = state;
  const often = new Map();
  for (const way of answer.ways) {
    for (const { name } of way.changes) often.set(name, (often.get(name) ?? 0) + 1);
  }
  const names = state.start.features.map((each) => each.name).filter((name) => often.has(name));
  names.sort((a, b) => often.get(b) - often.get(a));
  return h("div", { class: "dumbbells" }, names.map((name) => group(state, feature(name))));
}

function group(state, each) {
  const lanes = state.answer.ways.flatMap((way, i) => way.changes
    .filter((change) => change.name === each.name)
    .map((change) => ({ i, change })));
  return h("div", { class: "lanes", key: each.name },
    h("h3", {}, data(each.label)),
    h("ul", {}, lanes.map(({ i, change }) => h("li", { key: String(i) },
      marker(i, `way ${i + 1}`),
      lane(each, state.asked.values[each.name], change.value, i),
      h("span", { class: "told" }, data(change.before), " → ", h("strong", {}, data(change.after)))))));
}

// Without an order there is nothing between two values: then the words say it all.
function lane(each, from, to, i) {
  const place = placeOn(each);
  if (!place || from === null || to === null) return h("span", { class: "lane none" });
  const [start, end] = [place(from), place(to)];
  return h("svg", { class: `lane way-${i % 7}`, "aria-hidden": "true", height: 22 },
    h("line", { class: "range", x1: "3%", x2: "97%", y1: 11, y2: 11 }),
    h("line", { class: "move", x1: `${start}%`, x2: `${end}%`, y1: 11, y2: 11 }),
    h("circle", { class: "from", cx: `${start}%`, cy: 11, r: 5 }),
    h("circle", { class: "to", cx: `${end}%`, cy: 11, r: 6 }));
}

// Where a value stands, in percent of the width.
function placeOn(each) {
  if (!each.has_order) return null;
  const [low, high] = each.options ? [0, each.options.length - 1] : [each.low, each.high];
  if (!(high > low)) return null;
  return (value) => 3 + 94 * Math.min(1, Math.max(0, (value - low) / (high - low)));
}
