// What went wrong, in the server's words, and a button to try again.

import { h } from "./dom.js";
import { Failure, rememberToken } from "./api.js";
import { change } from "./state.js";
import { retry } from "./asking.js";

// What is done again where something that may fail was tried.
const again = {};

// Do something that may fail, and show why it did.
export async function fallible(kind, act) {
  again[kind] = () => fallible(kind, act);
  try {
    await act();
    change((now) => { delete now.failed[kind]; });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    change((now) => {
      now.failed[kind] = error.message;
      now.needsToken ||= error.status === 401;
    });
  }
}

// Show the first failure of some kinds of questions; a function at the end tries again.
export function failure(state, ...kinds) {
  const begin = typeof kinds.at(-1) === "function" ? kinds.pop() : null;
  const kind = kinds.find((each) => state.failed[each]);
  if (!kind) return null;
  if (state.needsToken) {
    return h("div", { class: "failure", role: "alert", key: "token" },
      h("p", {}, "This server needs a token. Ask the person who runs it."), tokenForm());
  }
  return h("div", { class: "failure", role: "alert", key: `failed-${kind}` },
    h("p", {}, h("strong", {}, "That did not work. "), state.failed[kind]),
    h("button", { type: "button", onclick: begin ?? again[kind] ?? (() => retry(kind)) }, "Try again"));
}

function tokenForm() {
  return h("form", { class: "token", onsubmit: (event) => {
    event.preventDefault();
    rememberToken(event.target.elements.token.value.trim());
    location.reload();
  } },
  h("label", {}, "Token ", h("input", { type: "password", name: "token", autocomplete: "off" })),
  h("button", {}, "Use it"));
}

// A line that says what is waited for, after a second.
export function waiting(state, kind, text) {
  return state.busy[kind] === "slow" && h("p", { class: "waiting", role: "status" }, text);
}
