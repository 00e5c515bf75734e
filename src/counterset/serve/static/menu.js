// The menu: which way changes which feature, and to what.

import { data, h } from "./dom.js";
import { marker } from "./marks.js";
import { told } from "./format.js";

export function menu(state) {
  const { ways } = state.answer;
  const used = state.start.features.filter((each) =>
    ways.some((way) => way.changes.some((change) => change.name === each.name)));
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Ways and features" },
    h("table", { class: "menu" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Feature"), h("th", { scope: "col" }, "The case"),
        ways.map((_, i) => h("th", { scope: "col", key: String(i) }, marker(i, `way ${i + 1}`))))),
      h("tbody", {}, used.map((each) => h("tr", { key: each.name },
        h("th", { scope: "row" }, data(each.label)),
        h("td", {}, data(told(each, state.asked.values[each.name]))),
        ways.map((way, i) => cell(way.changes.find((change) => change.name === each.name), i)))))));
}

function cell(change, i) {
  return change
    ? h("td", { class: `changed way-${i % 7}`, key: String(i) }, data(change.after))
    : h("td", { class: "same", key: String(i) }, h("span", { "aria-label": "unchanged" }, "·"));
}
