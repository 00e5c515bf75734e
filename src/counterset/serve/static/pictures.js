// Pictures of the options, in three views: changes, a map, and a menu.

import { data, h } from "./dom.js";
import { keyOf, optionsShown, set } from "./actions.js";
import { isOld } from "./asking.js";
import { failure, waiting } from "./failures.js";
import { codeOf, marker, optionClass, valueText } from "./format.js";
import { feature } from "./state.js";

const VIEWS = { changes: ["Changes", changes], map: ["Map", map], menu: ["Menu", menu] };

export function picturePanel(state) {
  const { answer, asked } = state;
  const [, view] = VIEWS[asked.picture];
  const dimmed = isOld(state, "explain") || (asked.picture === "map" && state.map && isOld(state, "map"));
  return [
    h("div", { class: "head" }, h("h2", {}, "Picture"),
      h("div", { class: "tabs", role: "group", "aria-label": "Which picture" },
        Object.entries(VIEWS).map(([name, [text]]) => h("button", { type: "button", key: name,
          id: `picture-${name}`, "aria-pressed": String(name === asked.picture),
          onclick: () => set({ picture: name }) }, text)))),
    failure(state, "map"),
    asked.picture === "map" && waiting(state, "map", "The model is asked about points of the map …"),
    answer && optionsShown(state).length
      ? h("div", { class: `picture ${dimmed ? "old" : ""}`, key: asked.picture }, view(state))
      : h("p", { class: "note" }, answer ? "There is no option to draw." : "…"),
  ];
}

// What each option changes: a line for each feature, from a ring (the case) to a dot (the option).
function changes(state) {
  const counts = new Map();
  for (const option of optionsShown(state)) {
    for (const { name } of option.changes) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const names = state.start.features.map((each) => each.name).filter((name) => counts.has(name));
  names.sort((a, b) => counts.get(b) - counts.get(a));
  return h("div", { class: "dumbbells" }, names.map((name) => lanes(state, feature(name))));
}

function lanes(state, each) {
  const own = codeOf(each, state.asked.values[each.name]);
  const drawn = optionsShown(state).flatMap(({ rank, changes: all }) => all
    .filter((change) => change.name === each.name)
    .map((change) => ({ rank, change })));
  return h("div", { class: "lanes", key: each.name },
    h("h3", {}, data(each.label)),
    h("ul", {}, drawn.map(({ rank, change }) => h("li", { key: String(rank) },
      marker(rank, `option ${rank}`),
      lane(each, own, codeOf(each, change.after), rank),
      h("span", { class: "values" }, data(change.before_text), " → ",
        h("strong", {}, data(change.after_text)))))));
}

// Without an order there is nothing between two values: then only the words are shown.
function lane(each, from, to, rank) {
  const place = placeOn(each);
  if (!place || from === null || to === null) return h("span", { class: "lane none" });
  const [start, end] = [place(from), place(to)];
  return h("svg", { class: `lane ${optionClass(rank)}`, "aria-hidden": "true", height: 22 },
    h("line", { class: "range", x1: "3%", x2: "97%", y1: 11, y2: 11 }),
    h("line", { class: "move", x1: `${start}%`, x2: `${end}%`, y1: 11, y2: 11 }),
    h("circle", { class: "from", cx: `${start}%`, cy: 11, r: 5 }),
    h("circle", { class: "to", cx: `${end}%`, cy: 11, r: 6 }));
}

// Where a value stands, in percent of the width.
function placeOn(each) {
  if (!each.has_order) return null;
  const [low, high] = each.choices ? [0, each.choices.length - 1] : [each.low, each.high];
  if (!(high > low)) return null;
  return (code) => 3 + 94 * Math.min(1, Math.max(0, (code - low) / (high - low)));
}

// Which option changes which feature, and to what.
function menu(state) {
  const options = optionsShown(state);
  const used = state.start.features.filter((each) =>
    options.some((option) => option.changes.some((change) => change.name === each.name)));
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Options and features" },
    h("table", { class: "menu" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Feature"), h("th", { scope: "col" }, "The case"),
        options.map(({ rank }) => h("th", { scope: "col", key: String(rank) }, marker(rank, `option ${rank}`))))),
      h("tbody", {}, used.map((each) => h("tr", { key: each.name },
        h("th", { scope: "row" }, data(each.label)),
        h("td", {}, data(valueText(each, state.asked.values[each.name]))),
        options.map(({ rank, changes: all }) => cell(all.find((change) => change.name === each.name), rank)))))));
}

function cell(change, rank) {
  return change
    ? h("td", { class: `changed ${optionClass(rank)}`, key: String(rank) }, data(change.after_text))
    : h("td", { class: "same", key: String(rank) }, h("span", { "aria-label": "unchanged" }, "·"));
}

const SIZE = 420; // of the drawing, in its own units

// The case in the middle, the options around it, and where the model decides otherwise.
function map(state) {
  const { map: drawn } = state;
  if (!drawn) return h("p", { class: "note" }, "The model is asked about points of the map …");
  const { bounds, cells, options, places, dots, sides } = drawn;
  const [[left, right], [low, high]] = bounds;
  const x = (value) => ((value - left) / (right - left)) * SIZE;
  const y = (value) => ((high - value) / (high - low)) * SIZE;
  const rankOf = (option) => optionsShown(state).find((each) => keyOf(each) === keyOf(option))?.rank;
  const marks = places.map((at, i) => ({ at, i: rankOf(options[i]) })).filter(({ i }) => i);
  return h("figure", { class: "map" },
    h("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img",
      "aria-label": `A map of the ${marks.length} options around the case. ${drawn.note}` },
    h("defs", {}, h("pattern", { id: "hatch", width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      h("rect", { class: "other", width: 8, height: 8 }), h("line", { class: "hatch", x1: 0, y1: 0, x2: 0, y2: 8 }))),
    h("rect", { class: "stays", width: SIZE, height: SIZE }),
    runs(cells).map(([row, from, to]) => h("rect", { fill: "url(#hatch)",
      x: (from * SIZE) / cells.length, y: ((cells.length - 1 - row) * SIZE) / cells.length,
      width: ((to - from) * SIZE) / cells.length, height: SIZE / cells.length + 0.3 })),
    h("path", { class: "boundary", d: boundary(cells) }),
    dots.map(([a, b]) => h("circle", { class: "dot", cx: x(a), cy: y(b), r: 1.6 })),
    marks.map(({ at: [a, b], i }) => h("line", { class: `path ${optionClass(i)}`, x1: x(0), y1: y(0), x2: x(a), y2: y(b) })),
    marks.map(({ at: [a, b], i }) => h("g", { class: `mark ${optionClass(i)}` },
      h("circle", { cx: x(a), cy: y(b), r: 10 }),
      h("text", { x: x(a), y: y(b), "text-anchor": "middle", "dominant-baseline": "central" }, String(i)))),
    h("circle", { class: "case", cx: x(0), cy: y(0), r: 8 })),
    h("figcaption", {},
      h("ul", { class: "legend" },
        h("li", {}, h("span", { class: "swatch ring" }), "the case"),
        h("li", {}, h("span", { class: "swatch stays" }), sides[0]),
        h("li", {}, h("span", { class: "swatch other" }), sides[1]),
        dots.length > 0 && h("li", {}, h("span", { class: "swatch dots" }), "people in the data")),
      h("p", { class: "note" }, drawn.note)));
}

// The runs of 1 in each row of the grid: [row, from, to].
function runs(cells) {
  const found = [];
  cells.forEach((row, r) => {
    for (const match of row.matchAll(/1+/g)) found.push([r, match.index, match.index + match[0].length]);
  });
  return found;
}

// The lines between cells that differ.
function boundary(cells) {
  const n = cells.length;
  const step = SIZE / n;
  const parts = [];
  for (let r = 0; r < n; r += 1) {
    for (let c = 0; c < n; c += 1) {
      const top = (n - 1 - r) * step;
      if (c + 1 < n && cells[r][c] !== cells[r][c + 1]) parts.push(`M${round((c + 1) * step)} ${round(top)}v${round(step)}`);
      if (r + 1 < n && cells[r][c] !== cells[r + 1][c]) parts.push(`M${round(c * step)} ${round(top)}h${round(step)}`);
    }
  }
  return parts.join("");
}

function round(value) {
  return Math.round(value * 100) / 100;
}
