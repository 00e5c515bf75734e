// The three views of the page: one case, two cases side by side, and all cases.

import { h } from "./dom.js";
import { set } from "./actions.js";
import { loadCase, loadOther } from "./asking.js";
import { fallible } from "./failures.js";

const VIEWS = { case: "One case", compare: "Two cases", group: "All cases" };

export function views({ asked }) {
  return h("div", { class: "tabs", role: "group", "aria-label": "What is shown" },
    Object.entries(VIEWS).map(([name, text]) => h("button", { type: "button", key: name, id: `show-${name}`,
      "aria-pressed": String(name === asked.view), onclick: () => set({ view: name }) }, text)));
}

// Show a case by itself. The focus goes to its options.
export function openCase(position) {
  fallible("case", async () => {
    await loadCase(position);
    set({ view: "case" });
    queueMicrotask(() => { window.scrollTo(0, 0); document.querySelector("#options h2")?.focus({ preventScroll: true }); });
  });
}

// Show a case beside the one that is picked.
export function openBeside(position) {
  fallible("case", async () => {
    await loadOther(position);
    set({ view: "compare" });
    queueMicrotask(() => { window.scrollTo(0, 0); document.querySelector("#compare h2")?.focus({ preventScroll: true }); });
  });
}
