// Requests to the server. While one is being answered only the newest of the later ones is kept; one that takes long is
// aborted for it, which the server notices, and stops.

const page = Math.random().toString(36).slice(2);
let steps = 0;

/** The time in milliseconds that a request may take once another one waits: a moving slider shows answers on its way. */
const PATIENCE = 300;

/** Sends JSON, and returns the answer; throws the error of the server. `signal` aborts it. */
export async function post(path, body, signal = undefined) {
  const response = await fetch(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal,
  });
  const answer = await response.json().catch(() => ({ error: `the server answered ${response.status}` }));
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status });
  return answer;
}

/** Whether both need the same cached work: the points of a drawing, for example, serve every delta. */
function lasts(one, other) {
  const key = ({ question, options }) => JSON.stringify([question, { ...options, delta: null }]);
  return one.question === "drawing" && key(one) === key(other);
}

/** A place for the answers of one request: a later one replaces an earlier one. */
export class Line {
  #running = null;
  #next = null;
  #shown;

  /** `shown(answer, problem, isLast)` is called for each answer that is still needed. */
  constructor(shown) {
    this.#shown = shown;
  }

  /** Sends a request; one that waits is dropped. */
  ask(question, options, moving = false, file = null) {
    this.#next = { question, options, moving, file };
    if (this.#running === null) this.#go();
    else if (!lasts(this.#running, this.#next)) this.#breakOff(this.#running);
  }

  /** Drops the waiting request, and aborts the running one. */
  forget() {
    this.#next = null;
    this.#shown = () => {};
    this.#running?.control.abort();
  }

  /** Aborts a request as soon as its time is over. */
  #breakOff(running) {
    clearTimeout(running.timer);
    running.timer = setTimeout(() => running.control.abort(), Math.max(0, running.began + PATIENCE - performance.now()));
  }

  async #go() {
    while (this.#next) {
      const { question, options, moving, file } = this.#next;
      const running = { question, options, control: new AbortController(), began: performance.now(), timer: 0 };
      [this.#running, this.#next] = [running, null];
      try {
        const body = { options, moving, view: page, step: ++steps, ...(file ? { file } : {}) };
        const answer = await post(`api/${question}`, body, running.control.signal);
        this.#shown(answer, null, this.#next === null);
      } catch (error) {
        const gone = error instanceof TypeError ? new Error("The program does not answer: was it ended?") : error;
        // An error of a request that is no longer needed is ignored.
        if (error.status !== 409 && error.name !== "AbortError" && this.#next === null) this.#shown(null, gone, true);
      } finally {
        clearTimeout(running.timer);
      }
    }
    this.#running = null;
  }
}
