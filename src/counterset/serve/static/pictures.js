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
const ZERO = 86; // the letter of the boundary

// The case in the middle, the options around it, and where the model decides otherwise.
function map(state) {
  const { map: drawn } = state;
  if (!drawn) return h("p", { class: "note" }, "The model is asked about points of the map …");
  const { bounds, depth, options, places, dots, sides, axes } = drawn;
  const [[left, right], [low, high]] = bounds;
  const x = (value) => ((value - left) / (right - left)) * SIZE;
  const y = (value) => ((high - value) / (high - low)) * SIZE;
  const rankOf = (option) => optionsShown(state).find((each) => keyOf(each) === keyOf(option))?.rank;
  const marks = places.map((at, i) => ({ at, rank: rankOf(options[i]) })).filter(({ rank }) => rank);
  const { area, line } = contour(depth);
  return h("figure", { class: "map" },
    h("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img",
      "aria-label": `A map of the ${marks.length} options around the case. ${drawn.note}` },
    h("defs", {}, h("pattern", { id: "hatch", width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      h("rect", { class: "other", width: 8, height: 8 }), h("line", { class: "hatch", x1: 0, y1: 0, x2: 0, y2: 8 }))),
    h("rect", { class: "stays", width: SIZE, height: SIZE }),
    h("path", { fill: "url(#hatch)", d: area }),
    h("path", { class: "boundary", d: line }),
    dots.map(([a, b]) => h("circle", { class: "dot", cx: x(a), cy: y(b), r: 1.6 })),
    marks.map(({ at: [a, b], rank }) => h("line", { class: `path ${optionClass(rank)}`, x1: x(0), y1: y(0), x2: x(a), y2: y(b) })),
    marks.map(({ at: [a, b], rank }) => h("g", { class: `mark ${optionClass(rank)}` },
      h("circle", { cx: x(a), cy: y(b), r: 10 }),
      h("text", { x: x(a), y: y(b), "text-anchor": "middle", "dominant-baseline": "central" }, String(rank)))),
    h("circle", { class: "case", cx: x(0), cy: y(0), r: 8 })),
    h("figcaption", {},
      h("ul", { class: "legend" },
        h("li", {}, h("span", { class: "swatch ring" }), "the case"),
        h("li", {}, h("span", { class: "swatch stays" }), data(sides[0])),
        h("li", {}, h("span", { class: "swatch other" }), data(sides[1])),
        dots.length > 0 && h("li", {}, h("span", { class: "swatch dots" }), "people in the data")),
      axes?.length === 2 && h("p", { class: "note" }, "To the right: ", data(axes[0]), ". Upwards: ", data(axes[1]), "."),
      h("p", { class: "note" }, drawn.note)));
}

// The area where the depth is above 0, and the line around it. Between the middles of four cells
// the depth is taken to change evenly; the cells at the edge go on outwards as they are.
function contour(rows) {
  const n = rows.length;
  const within = (i) => Math.min(n - 1, Math.max(0, i));
  const value = (r, c) => rows[within(r)].charCodeAt(within(c)) - ZERO;
  const place = (i) => (Math.min(n, Math.max(0, i + 0.5)) * SIZE) / n;
  const [areas, lines] = [[], []];
  for (let r = -1; r < n; r += 1) {
    for (let c = -1; c < n; c += 1) {
      const corners = [[r, c], [r, c + 1], [r + 1, c + 1], [r + 1, c]];
      const values = corners.map(([i, j]) => value(i, j));
      if (values.every((each) => each <= 0)) continue;
      const [polygon, crossings] = [[], []];
      corners.forEach(([i, j], k) => {
        const [a, b] = [values[k], values[(k + 1) % 4]];
        const [i2, j2] = corners[(k + 1) % 4];
        if (a > 0) polygon.push(point(place(j), place(i)));
        if ((a > 0) === (b > 0)) return;
        const share = a / (a - b);
        const cut = point(place(j) + share * (place(j2) - place(j)), place(i) + share * (place(i2) - place(i)));
        polygon.push(cut);
        crossings.push(cut);
      });
      areas.push(`M${polygon.join("L")}Z`);
      for (let k = 0; k + 1 < crossings.length; k += 2) lines.push(`M${crossings[k]}L${crossings[k + 1]}`);
    }
  }
  return { area: areas.join(""), line: lines.join("") };
}

// Rows are counted from below, and drawings from above.
function point(across, up) {
  return `${Math.round(across * 10) / 10} ${Math.round((SIZE - up) * 10) / 10}`;
}
