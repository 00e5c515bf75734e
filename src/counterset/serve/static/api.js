// Questions to the server. A new question of a kind cancels the one before it.

// An answer that is not one: the sentence of the server, or what went wrong on the way.
export class Failure extends Error {
  constructor(sentence, status) {
    super(sentence);
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
  if (!response.ok) throw new Failure(await sentenceOf(response), response.status);
  return response;
}

async function sentenceOf(response) {
  try {
    const body = await response.json();
    const told = body.error ?? body.detail ?? body.message;
    if (typeof told === "string") return told;
    if (Array.isArray(told)) return told.map((each) => each.message ?? each.msg ?? each).join(" ");
  } catch {
    // What is no JSON has no sentence for people.
  }
  return `The server answered ${response.status} without saying why.`;
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
