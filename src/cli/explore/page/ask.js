// Questions to the server. While one is being answered only the newest of those that follow is remembered.

const page = Math.random().toString(36).slice(2);
let steps = 0;

/** Sends JSON, and returns the answer; throws what the server says is wrong. */
export async function post(path, body) {
  const response = await fetch(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  const answer = await response.json().catch(() => ({ error: `the server answered ${response.status}` }));
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status });
  return answer;
}

/** A place for the answers of one question: a later one takes the place of an earlier one. */
export class Line {
  #busy = false;
  #next = null;
  #shown;

  /** `shown(answer, problem, isLast)` is called for each answer that is still wanted. */
  constructor(shown) {
    this.#shown = shown;
  }

  /** Asks; a question that waits is forgotten. */
  ask(question, options, moving = false, file = null) {
    this.#next = { question, options, moving, file };
    if (!this.#busy) this.#go();
  }

  /** Forgets what waits. */
  forget() {
    this.#next = null;
    this.#shown = () => {};
  }

  async #go() {
    this.#busy = true;
    while (this.#next) {
      const { question, options, moving, file } = this.#next;
      this.#next = null;
      try {
        const answer = await post(`api/${question}`, { options, moving, view: page, step: ++steps, ...(file ? { file } : {}) });
        this.#shown(answer, null, this.#next === null);
      } catch (error) {
        const gone = error instanceof TypeError ? new Error("The program does not answer: was it ended?") : error;
        // An error of a question that is no longer asked is nobody's.
        if (error.status !== 409 && this.#next === null) this.#shown(null, gone, true);
      }
    }
    this.#busy = false;
  }
}
