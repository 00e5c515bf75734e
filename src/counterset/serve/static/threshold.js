// The threshold: how probable the model must find what is wanted, at least.

import { h } from "./dom.js";
import { percent } from "./format.js";
import { set } from "./actions.js";

const MOST = 99; // percent

export function threshold({ asked, start }) {
  if (!start.has_probabilities) return null;
  // The most probable of some classes has at least its share: below that, the model decides alone.
  const least = Math.ceil(100 / start.classes.length);
  const { probability } = asked;
  const text = probability === null ? "any" : `≥ ${percent(probability)}`;
  return h("label", { class: "threshold", title: "How probable the model must find what is wanted" }, "Probability ",
    h("input", { type: "range", id: "threshold", min: String(least), max: String(MOST), step: "1",
      value: String(probability === null ? least : Math.round(100 * probability)),
      "aria-valuetext": probability === null ? "as the model decides" : `at least ${percent(probability)}`,
      oninput: (event) => {
        const value = Number(event.target.value);
        set({ probability: value <= least ? null : value / 100 });
      } }),
    h("output", { for: "threshold" }, text));
}
