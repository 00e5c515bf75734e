// All cases without the wanted result: how far each is from it, who has no option, and why.

import { data, h } from "./dom.js";
import { set } from "./actions.js";
import { failure } from "./failures.js";
import { codeText, counted, number, percent } from "./format.js";
import { caseName, change } from "./state.js";
import { retryGroup } from "./survey.js";
import { openBeside, openCase } from "./views.js";

const ROWS = 25; // on a page
const WIDTH = 1000; // of the strip, in its own units: more columns than that are not seen
const HEIGHT = 100;
const SORTED = {
  far: ["the farthest first", (a, b) => farness(b) - farness(a) || a.case - b.case],
  near: ["the nearest first", (a, b) => farness(a) - farness(b) || a.case - b.case],
  file: ["as in the file", (a, b) => a.case - b.case],
};

const far = (distance) => number(Number(distance.toPrecision(2)));

// Who has no option is farther than all others.
const farness = ({ distance }) => distance ?? Infinity;

export function groupPanel(state) {
  const { asked, group } = state;
  if (asked.view !== "group") return [];
  return [
    h("div", { class: "head" }, h("h2", { tabindex: "-1" }, "All cases")),
    failure(state, "group", "case", retryGroup),
    !group || group.total === null
      ? !state.failed.group && h("p", { class: "note" }, "The model is asked about all cases …")
      : h("div", { key: "known" }, lead(state), progress(state),
        group.rows.length > 0 && [strip(state), reasons(state), byFeature(state), list(state)]),
  ];
}

function lead(state) {
  const { rows, people, total, left_out: leftOut } = state.group;
  const none = rows.filter((row) => !row.options).length;
  return h("div", { key: "lead" },
    h("p", { class: "lead" }, h("strong", {}, number(total)), ` of ${counted(people, "case")} ${total === 1 ? "is" : "are"} not `, wanted(state), "."),
    rows.length > 0 && h("p", {}, none
      ? `${number(none)} of the ${number(rows.length)} that are explained ${none === 1 ? "has" : "have"} no option.`
      : `${rows.length === total ? "All of them have" : "All that are explained have"} an option.`),
    leftOut > 0 && h("p", { class: "note" }, `Only the first ${number(people)} cases that can be read are looked at; ${number(leftOut)} more are left out.`));
}

// What is wanted, in words that follow "is not".
function wanted({ asked: { target, interval, probability }, start }) {
  if (!start.classes) return `predicted from ${number(interval[0])} to ${number(interval[1])}`;
  if (target === null) return "of another class than their own"; // so all are listed
  return [data(start.classes[target].text), probability !== null && ` with a probability of at least ${percent(probability)}`];
}

function progress(state) {
  const { rows, total } = state.group;
  if (rows.length >= total) return null;
  const text = `${number(rows.length)} of ${number(total)} explained`;
  return h("p", { class: "progress", key: "progress" },
    h("progress", { max: String(total), value: String(rows.length), "aria-label": text }), " ", text);
}

// The distance of each case from its nearest option, side by side.
function strip(state) {
  const rows = sorted(state.group.rows, "near");
  const known = rows.filter((row) => row.options);
  const most = known.at(-1)?.distance ?? 1;
  const bars = binned(known).map(({ distance }, i, all) => {
    const width = (WIDTH * known.length) / rows.length / all.length;
    const height = (HEIGHT * distance) / (most || 1);
    return `M${(i * width).toFixed(2)} ${HEIGHT}v${(-height).toFixed(2)}h${width.toFixed(2)}v${height.toFixed(2)}z`;
  });
  const end = (WIDTH * known.length) / rows.length; // where those without an option begin
  const middle = known[Math.floor((known.length - 1) / 2)];
  return h("figure", { class: "survey", key: "strip" },
    h("figcaption", {}, "How far the nearest option of each case is, from the nearest to the farthest.", end < WIDTH && " Hatched: no option.", " A click opens the case."),
    h("div", { class: "plot" },
      h("span", { class: "most" }, far(most)), h("span", { class: "least" }, "0"),
      h("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img",
        "aria-label": middle ? `The nearest options of ${number(known.length)} cases are up to ${far(most)} away, half of them up to ${far(middle.distance)}. ${number(rows.length - known.length)} cases have none.` : "No case has an option.",
        onclick: (event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const at = Math.floor((rows.length * (event.clientX - box.left)) / box.width);
          openCase(rows[Math.min(rows.length - 1, Math.max(0, at))].case);
        } },
      h("defs", {}, h("pattern", { id: "no-option", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
        h("line", { x1: 0, y1: 0, x2: 0, y2: 6 }))),
      h("path", { class: "bars-of-all", d: bars.join("") }),
      end < WIDTH && h("rect", { class: "none-of-all", x: end, y: 0, width: WIDTH - end, height: HEIGHT, fill: "url(#no-option)" }))),
    h("p", { class: "note" }, middle && `Half of those with an option are at most ${far(middle.distance)} away from it. `, state.start.scale));
}

// At most as many rows as there is room for: of each stretch the last, which is the farthest.
function binned(rows) {
  if (rows.length <= WIDTH) return rows;
  return Array.from({ length: WIDTH }, (_, i) => rows[Math.ceil(((i + 1) * rows.length) / WIDTH) - 1]);
}

// Why cases have no option, the most frequent reason first.
function reasons(state) {
  const { rows, why } = state.group;
  const counts = why.map((_, i) => rows.filter((row) => row.why === i).length);
  const order = why.map((_, i) => i).sort((a, b) => counts[b] - counts[a]);
  return why.length > 0 && h("section", { class: "part", key: "why" }, h("h3", {}, "Who has no option, and why"),
    h("ul", { class: "whys" }, order.map((i) => h("li", { key: why[i] },
      h("strong", {}, counted(counts[i], "case")), ": ", why[i], " ",
      h("button", { type: "button", onclick: () => show({ which: i }) }, "Show")))));
}

// The same figures for each group of people.
function byFeature(state) {
  const { asked, start, group } = state;
  const found = group.groups?.by === asked.by ? group.groups : null;
  return h("section", { class: "part", key: "groups" }, h("h3", {}, "By group"),
    h("label", {}, "By ", h("select", { id: "by", value: asked.by ?? "",
      onchange: (event) => set({ by: event.target.value || null }) },
    h("option", { value: "" }, "choose a feature"),
    start.features.map((feature) => h("option", { value: feature.name }, feature.label)))),
    asked.by !== null && (found ? table(state, found) : h("p", { class: "note" }, "…")));
}

function table(state, { shown, hidden, hidden_people: people }) {
  const note = hidden > 0 && h("p", { class: "note" },
    hidden === 1
    ? "1 group with fewer than 10 such cases is not shown: its figures would say little about the group, and much about its people."
    : `${number(hidden)} groups with fewer than 10 such cases (${number(people)} together) are not shown: their figures would say little about the groups, and much about their people.`);
  if (!shown.length) return note || h("p", { class: "note" }, "There is no group to show.");
  return [
    h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Figures by group" },
      h("table", { class: "menu figures" },
        h("thead", {}, h("tr", {}, ["Group", "Cases", ["Not ", wanted(state)], "Of these, with an option", "Nearest option, median distance"]
          .map((text, i) => h("th", { scope: "col", key: String(i) }, text)))),
        h("tbody", {}, shown.map((each) => h("tr", { key: each.text },
          h("th", { scope: "row" }, data(each.text)), h("td", {}, number(each.people)),
          h("td", {}, `${number(each.open)} (${percent(each.open / each.people)})`),
          h("td", {}, each.with_an_option === null ? "…" : percent(each.with_an_option)),
          h("td", {}, each.median_distance === null ? "–" : far(each.median_distance))))))),
    note,
  ];
}

// All cases as a list, some on a page.
function list(state) {
  const { group, listed } = state;
  const found = sorted(group.rows.filter((row) => isWanted(row, listed)), listed.sort);
  const pages = Math.max(1, Math.ceil(found.length / ROWS));
  const page = Math.min(listed.page, pages - 1);
  const most = Math.max(...group.rows.map((row) => row.distance ?? 0)) || 1;
  return h("section", { class: "part", key: "list" }, h("h3", { id: "list", tabindex: "-1" }, "Case by case"),
    h("div", { class: "controls" },
      h("label", {}, "Show ", h("select", { id: "which", value: String(listed.which),
        onchange: (event) => show({ which: /^\d+$/.test(event.target.value) ? Number(event.target.value) : event.target.value }) },
      h("option", { value: "all" }, "all"), h("option", { value: "some" }, "with an option"), h("option", { value: "none" }, "without an option"),
      typeof listed.which === "number" && h("option", { value: String(listed.which) }, "one reason"))),
      h("label", {}, "in the order ", h("select", { id: "sort", value: listed.sort,
        onchange: (event) => show({ sort: event.target.value }) },
      Object.entries(SORTED).map(([name, [text]]) => h("option", { value: name }, text)))),
      pages > 1 && h("span", { class: "pages" },
        h("button", { type: "button", id: "page-before", "data-then": "#page-after", "aria-label": "The page before", disabled: page === 0, onclick: () => show({ page: page - 1 }) }, "‹"),
        ` page ${number(page + 1)} of ${number(pages)} `,
        h("button", { type: "button", id: "page-after", "data-then": "#page-before", "aria-label": "The next page", disabled: page === pages - 1, onclick: () => show({ page: page + 1 }) }, "›"))),
    found.length
      ? h("ol", { class: "cases" }, found.slice(page * ROWS, (page + 1) * ROWS).map((row) => item(state, row, most)))
      : h("p", { class: "note" }, "There is none."));
}

function item(state, row, most) {
  const names = (row.changes ?? []).map((at) => state.start.features[at].label);
  return h("li", { key: String(row.case) },
    h("button", { type: "button", class: "open", "aria-label": `Open case ${row.number}`, onclick: () => openCase(row.case) }, data(row.number)),
    row.options
      ? [h("svg", { class: "bar", "aria-hidden": "true" },
        h("rect", { class: "all", x: 0, y: 5, width: "100%", height: 8 }),
        h("rect", { class: "gain", x: 0, y: 5, width: `${(100 * row.distance) / most}%`, height: 8 })),
      h("span", { class: "far" }, h("span", { class: "hidden" }, "distance "), far(row.distance)),
      h("span", { class: "what" }, names.map((name, i) => [i > 0 && ", ", data(name)])),
      h("span", { class: "note" }, counted(row.options, "option"))]
      : h("span", { class: "why" }, "✗ no option. ", row.why === undefined ? "" : state.group.why[row.why]),
    row.case !== state.asked.case && h("button", { type: "button", class: "compare",
      "aria-label": `Compare case ${row.number} with case ${caseName(state)}`, onclick: () => openBeside(row.case) }, "Compare"));
}

function isWanted(row, { which }) {
  if (which === "all") return true;
  if (typeof which === "number") return row.why === which;
  return Boolean(row.options) === (which === "some");
}

// Another part of the list: from its first page, unless a page is asked for.
function show(part) {
  change((now) => { now.listed = { ...now.listed, page: 0, ...part }; });
  if (typeof part.which === "number") queueMicrotask(() => document.getElementById("list")?.scrollIntoView({ block: "nearest" }));
}

function sorted(rows, order) {
  return [...rows].sort(SORTED[order][1]);
}
