// Questions to the server. While one is being answered only the newest of those that follow is remembered; one that takes long is
// broken off for it, which the server notices, and stops.

const page = Math.random().toString(36).slice(2);
let steps = 0;

/** So many milliseconds a question may take once another one waits: a slider that moves shows answers on its way. */
const PATIENCE = 300;

/** Sends JSON, and returns the answer; throws what the server says is wrong. `signal` breaks it off. */
export async function post(path, body, signal = undefined) {
  const response = await fetch(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal,
  });
  const answer = await response.json().catch(() => ({ error: `the server answered ${response.status}` }));
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status });
  return answer;
}

/** Whether what the one works out is remembered for the other: the points of a drawing, whatever delta it marks. */
function lasts(one, other) {
  const key = ({ question, options }) => JSON.stringify([question, { ...options, delta: null }]);
  return one.question === "drawing" && key(one) === key(other);
}

/** A place for the answers of one question: a later one takes the place of an earlier one. */
export class Line {
  #running = null;
  #next = null;
  #shown;

  /** `shown(answer, problem, isLast)` is called for each answer that is still wanted. */
  constructor(shown) {
    this.#shown = shown;
  }

  /** Asks; a question that waits is forgotten. */
  ask(question, options, moving = false, file = null) {
    this.#next = { question, options, moving, file };
    if (this.#running === null) this.#go();
    else if (!lasts(this.#running, this.#next)) this.#breakOff(this.#running);
  }

  /** Forgets what waits, and breaks off what runs. */
  forget() {
    this.#next = null;
    this.#shown = () => {};
    this.#running?.control.abort();
  }

  /** Ends a question as soon as its time is over. */
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
        // An error of a question that is no longer asked is nobody's.
        if (error.status !== 409 && error.name !== "AbortError" && this.#next === null) this.#shown(null, gone, true);
      } finally {
        clearTimeout(running.timer);
      }
    }
    this.#running = null;
  }
}
