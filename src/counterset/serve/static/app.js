// The page: loads what is known from the start, and shows the state after every change.

import { arrive, fromAddress, remember } from "./address.js";
import { alikePanel } from "./alike.js";
import { Failure } from "./api.js";
import { askWhatChanged, loadCase, loadStart } from "./asking.js";
import { casePanel } from "./case.js";
import { comparePanel } from "./compare.js";
import { h, patch } from "./dom.js";
import { failure, fallible } from "./failures.js";
import { groupPanel } from "./group.js";
import { header } from "./header.js";
import { optionsPanel } from "./options.js";
import { picturePanel } from "./pictures.js";
import { shakePanel } from "./shake.js";
import { announce, change, firstConstraints, onChange, state } from "./state.js";
import { askGroup } from "./survey.js";

const PAUSE = 1000; // ms until a server that still learns is asked again

const place = (id) => document.getElementById(id);
const panels = { case: casePanel, alike: alikePanel, options: optionsPanel, picture: picturePanel, shake: shakePanel,
  compare: comparePanel, group: groupPanel };

function show(now) {
  const focus = document.activeElement;
  const next = focus.dataset?.then;
  const inside = focus.closest?.("section, header");
  patch(place("header"), header(now));
  if (now.start && now.isLoaded) {
    remember(now);
    for (const [id, panel] of Object.entries(panels)) patch(place(id), panel(now));
    document.body.classList.toggle("trial", now.asked.tried !== null);
    document.body.dataset.view = now.asked.view;
  } else {
    patch(place("case"), [failure(now, "start", "case", begin)
      ?? h("p", { class: "note" }, "Loading …")]);
  }
  place("announce").textContent = now.notice;
  patch(place("toast"), [now.toast]);
  document.body.dataset.busy = Object.keys(now.busy).join(" ");
  refocus(focus, next, inside);
}

// A control that is gone hands its focus on: to what it names, or to the heading of its section.
function refocus(focus, next, inside) {
  if (document.activeElement === focus && !focus.disabled) return;
  if (focus === document.body || focus === null) return;
  if (focus.isConnected && !focus.disabled) {
    focus.focus({ preventScroll: true }); // it moved
    return;
  }
  const found = (next && document.querySelector(next)) || inside?.querySelector("h1, h2");
  if (!found) return;
  if (found.tabIndex < 0) found.tabIndex = -1;
  found.focus();
}

// The first case to show: that of the link, or the first whose decision is not the goal.
async function begin() {
  const held = fromAddress(location.hash);
  if (!held && location.hash.length > 1) announce("The link could not be read. The page starts afresh.");
  try {
    const start = await loadStart();
    change((now) => {
      delete now.failed.start;
      now.start = start;
      Object.assign(now.asked, { target: start.target, interval: start.interval,
        probability: start.probability, options: start.options, constraints: firstConstraints(start) });
    });
    await loadFirst(start, held);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.status === 503 && !state.start) setTimeout(begin, PAUSE); // the server still learns
    change((now) => {
      now.failed.start = error.message;
      now.needsToken ||= error.status === 401;
    });
  }
}

async function loadFirst(start, held) {
  const { decisions } = start.cases;
  const isWanted = (each) => (start.interval
    ? start.interval[0] <= each && each <= start.interval[1] : each === start.target);
  const readable = decisions.findIndex((each) => each !== null);
  const other = decisions.findIndex((each) => each !== null && !isWanted(each));
  // Without a case that can be read, there are still people to type in.
  const first = other >= 0 ? other : readable >= 0 ? readable : null;
  if (!held || held.c === undefined) return loadCase(first);
  try {
    await loadCase(held.c, held);
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 422) throw error;
    announce(error.message);
    await loadCase(first);
  }
  return null;
}

// Undo, and the browser's Back and Forward: the state that the address holds.
window.addEventListener("popstate", () => {
  const held = fromAddress(location.hash);
  if (!held || !state.start) return;
  fallible("case", () => loadCase(held.c ?? null, held)).finally(arrive);
});

place("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address holds the state
  const heading = place("options").querySelector("h2");
  heading?.focus();
  heading?.scrollIntoView();
});

onChange(show);
onChange(askWhatChanged);
onChange(askGroup);
show(state);
begin();
