// All cases without the wanted result: asked for part by part, while somebody looks at them.

import { Asker, Failure } from "./api.js";
import { change, constraintsToSend, firstConstraints, goal, state } from "./state.js";
import { counted } from "./format.js";

const parts = new Asker("explorer/group");
const figures = new Asker("explorer/group");
let running = ""; // the question whose parts are asked for
let grouped = ""; // the question and the feature whose figures were asked for

// What is asked about all cases. What was chosen for one person does not belong to the others.
function question(now) {
  const constraints = constraintsToSend({ ...now, asked: { ...now.asked, constraints: firstConstraints(now.start) } });
  return { ...goal(now), constraints, options: now.asked.options };
}

// Ask for all cases as long as they are looked at.
export function askGroup(now) {
  if (now.asked.view !== "group" || !now.start) {
    if (running) stop();
    return;
  }
  const body = question(now);
  const key = JSON.stringify(body);
  if (now.group?.key !== key) {
    change((next) => { next.group = { key, rows: [], why: [], people: null, total: null, left_out: 0, groups: null }; });
    return;
  }
  if (running !== key && !now.failed.group) run(key, body);
  const wanted = `${key} ${now.asked.by}`;
  if (grouped === wanted || now.asked.by === null) return;
  grouped = wanted;
  if (now.group.groups?.by !== now.asked.by) askFigures(key, body, now.asked.by);
}

// Go on after a failure.
export function retryGroup() {
  running = "";
  grouped = "";
  change((now) => { delete now.failed.group; });
}

function stop() {
  running = "";
  parts.cancel();
  change((now) => { delete now.busy.group; });
}

async function run(key, body) {
  running = key;
  change((now) => { now.busy.group = "asked"; });
  const isOpen = () => running === key && state.group.key === key;
  await trying(async () => {
    while (isOpen()) {
      const answer = await parts.ask({ ...body, first: state.group.rows.length, by: state.asked.by });
      if (answer === null || !isOpen()) return;
      change((now) => add(now, answer));
      if (state.group.rows.length >= answer.total) return;
    }
  });
  if (running === key || running === "") change((now) => { delete now.busy.group; });
}

function askFigures(key, body, by) {
  return trying(async () => {
    const answer = await figures.ask({ ...body, first: null, by });
    if (answer && state.group.key === key && state.asked.by === by) {
      change((now) => { now.group.groups = answer.groups; });
    }
  });
}

function add(now, { rows, why, people, total, left_out: leftOut, groups }) {
  const { group } = now;
  group.rows.push(...rows);
  Object.assign(group, { why, people, total, left_out: leftOut });
  if (groups?.by === now.asked.by) group.groups = groups;
  if (group.rows.length === total) now.notice = `All ${counted(total, "case")} are explained.`;
}

async function trying(act) {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    change((now) => {
      now.failed.group = error.message;
      now.needsToken ||= error.status === 401;
      delete now.busy.group;
    });
  }
}
