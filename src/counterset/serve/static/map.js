// The map: the case in the middle, the ways around it, and where the model decides otherwise.

import { h } from "./dom.js";
import { keyOf } from "./actions.js";

const SIZE = 420; // of the drawing, in its own units

export function map(state) {
  const { map: drawn, answer } = state;
  if (!drawn) return h("p", { class: "note" }, "The model is asked about points of the map …");
  const { limits, cells, options, dots, sides } = drawn;
  const [[left, right], [low, high]] = limits;
  const x = (value) => ((value - left) / (right - left)) * SIZE;
  const y = (value) => ((high - value) / (high - low)) * SIZE;
  const place = (way) => answer.ways.findIndex((each) => keyOf(each) === keyOf(way));
  const marks = options.map((at, i) => ({ at, i: place(drawn.ways[i]) })).filter(({ i }) => i >= 0);
  return h("figure", { class: "map" },
    h("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img",
      "aria-label": `A map of the ${marks.length} ways around the case. ${drawn.note}` },
    h("defs", {}, h("pattern", { id: "hatch", width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      h("rect", { class: "other", width: 8, height: 8 }), h("line", { class: "hatch", x1: 0, y1: 0, x2: 0, y2: 8 }))),
    h("rect", { class: "stays", width: SIZE, height: SIZE }),
    runs(cells).map(([row, from, to]) => h("rect", { fill: "url(#hatch)",
      x: (from * SIZE) / cells.length, y: ((cells.length - 1 - row) * SIZE) / cells.length,
      width: ((to - from) * SIZE) / cells.length, height: SIZE / cells.length + 0.3 })),
    h("path", { class: "boundary", d: boundary(cells) }),
    dots.map(([a, b]) => h("circle", { class: "dot", cx: x(a), cy: y(b), r: 1.6 })),
    marks.map(({ at: [a, b], i }) => h("line", { class: `path way-${i % 7}`, x1: x(0), y1: y(0), x2: x(a), y2: y(b) })),
    marks.map(({ at: [a, b], i }) => h("g", { class: `mark way-${i % 7}` },
      h("circle", { cx: x(a), cy: y(b), r: 10 }),
      h("text", { x: x(a), y: y(b), "text-anchor": "middle", "dominant-baseline": "central" }, String(i + 1)))),
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
