// The page: loads what is known from the start, and shows the state after every change.

import { fromAddress, toAddress } from "./address.js";
import { Failure } from "./api.js";
import { askWhatChanged, loadCase, loadStart } from "./asking.js";
import { casePanel } from "./case.js";
import { h, patch } from "./dom.js";
import { failure } from "./failures.js";
import { header } from "./header.js";
import { optionsPanel } from "./options.js";
import { picturePanel } from "./pictures.js";
import { shakePanel } from "./shake.js";
import { announce, change, firstConstraints, onChange, state } from "./state.js";

const PAUSE = 1000; // ms until a server that still learns is asked again

const place = (id) => document.getElementById(id);

function show(now) {
  patch(place("header"), header(now));
  if (now.start && now.asked.case !== null) {
    patch(place("case"), casePanel(now));
    patch(place("options"), optionsPanel(now));
    patch(place("picture"), picturePanel(now));
    patch(place("shake"), shakePanel(now));
    history.replaceState(null, "", toAddress(now));
    document.body.classList.toggle("trial", now.asked.tried !== null);
  } else {
    patch(place("case"), [failure(now, "start", "case")
      ?? h("p", { class: "note" }, "Loading …")]);
  }
  place("announce").textContent = now.notice;
  patch(place("toast"), [now.toast]);
  document.body.dataset.busy = Object.keys(now.busy).join(" ");
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
        probability: start.probability,
        options: start.options, constraints: firstConstraints(start) });
    });
    const isWanted = (each) => (start.interval
      ? start.interval[0] <= each && each <= start.interval[1] : each === start.target);
    const other = start.cases.decisions.findIndex((each) => !isWanted(each));
    const position = Number.isInteger(held?.c) ? held.c : Math.max(0, other);
    await loadCase(position, held);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.status === 503 && !state.start) setTimeout(begin, PAUSE); // the server still learns
    change((now) => {
      now.failed.start = error.message;
      now.needsToken ||= error.status === 401;
    });
  }
}

onChange(show);
onChange(askWhatChanged);
window.addEventListener("hashchange", () => location.reload());
show(state);
begin();
