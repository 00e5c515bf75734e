// The picture of the ways, in three views.

import { h } from "./dom.js";
import { set } from "./actions.js";
import { dumbbells } from "./dumbbells.js";
import { map } from "./map.js";
import { menu } from "./menu.js";
import { failure, waiting } from "./failures.js";

const VIEWS = { changes: ["Changes", dumbbells], map: ["Map", map], menu: ["Menu", menu] };

export function picturePanel(state) {
  const { answer, asked, busy } = state;
  const [, view] = VIEWS[asked.picture];
  return [
    h("div", { class: "head" }, h("h2", {}, "Picture"),
      h("div", { class: "tabs", role: "group", "aria-label": "Which picture" },
        Object.entries(VIEWS).map(([name, [text]]) => h("button", { type: "button", key: name,
          id: `picture-${name}`, "aria-pressed": String(name === asked.picture),
          onclick: () => set({ picture: name }) }, text)))),
    failure(state, "map"),
    asked.picture === "map" && waiting(state, "map", "The model is asked about points of the map …"),
    answer?.ways.length
      ? h("div", { class: `picture ${busy.explain || (asked.picture === "map" && busy.map) ? "old" : ""}`, key: asked.picture }, view(state))
      : h("p", { class: "note" }, answer ? "There is no way to draw." : "…"),
  ];
}
