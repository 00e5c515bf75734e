// The mark of a way: its number, on a colour of Okabe and Ito.

import { h } from "./dom.js";

export const COLOURS = 7;

export function marker(i, title) {
  return h("span", { class: `mark way-${i % COLOURS}`, title, role: title ? "img" : null,
    "aria-label": title ?? null, "aria-hidden": title ? null : "true" }, String(i + 1));
}
