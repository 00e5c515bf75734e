// Questions to the server. A new question of a kind cancels the one before it.

// A request that failed: the message of the server, or why it was not reached.
export class Failure extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

const TOKEN = "counterset-token";

export function rememberToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

export async function ask(path, body, signal) {
  const headers = { Accept: "application/json" };
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const method = body === undefined ? "GET" : "POST";
  let response;
  try {
    response = await fetch(path, { method, headers, signal, body: body && JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure("The server cannot be reached. Is it still running?", 0);
  }
  if (!response.ok) throw new Failure(await messageOf(response), response.status);
  return response;
}

async function messageOf(response) {
  try {
    const body = await response.json();
    if (typeof body.error === "string") return body.error;
  } catch {
    // An answer that is not JSON has no message for people.
  }
  return `The server answered ${response.status} without a reason.`;
}

// Ask one kind of question: after a pause, and only the last one counts.
export class Asker {
  constructor(path) {
    this.path = path;
    this.last = null;
  }

  // Resolves to the answer, or to null if another question came in between.
  async ask(body, pause = 0) {
    this.cancel();
    const mine = new AbortController();
    this.last = mine;
    try {
      if (pause) await waited(pause, mine.signal);
      const response = await ask(this.path, body, mine.signal);
      const answer = await response.json();
      return mine.signal.aborted ? null : answer;
    } catch (error) {
      if (error.name === "AbortError") return null;
      throw error;
    }
  }

  cancel() {
    this.last?.abort();
  }
}

function waited(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("Another question came.", "AbortError"));
    });
  });
}
