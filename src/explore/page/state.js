// The state of the page, as in the fragment of the address: a link restores it.

// `target` is the kind of risk that is bounded, and `margin` has the levels whose margin of error is changed, as LEVEL=MARGIN.
// `opened` is the release from which the present one was made, if it was changed; `place` and `query` name one count of a release; `budget` has the levels whose budget is changed, as LEVEL=WEIGHT; the
// keys from `how` to `set` belong to SafeTab, which shares `relation` with the columns of the user: `column`, `area` (levels) and `asked` (queries) are
// JSON, `spend` is the budget that queries share, `called` the name, and `sure` says that all sizes are public.
const DEFAULTS = {
  view: "risk", target: "posterior", right: "0.6", advantage: "0.1", alpha: "0.05", beta: "0.8", margin: [], release: "", level: [], counts: [], neighbors: "", given: "", group: "1", delta: "1e-10", prior: "1/2",
  opened: "", place: "", query: "", budget: [], keep: "yes", count: "100", search: "",
  how: "rho", rho: "0.159", moe: "11", gamma: "0.1", codes: "8", suppress: "0.9999", sizes: "", relation: "add-remove", set: "",
  column: [], area: [], asked: [], spend: "1", called: "my-table", sure: "",
};

export const state = { ...DEFAULTS };

const listeners = [];

/** Calls `listener` after each change, with the names of the changed keys. */
export function onChange(listener) {
  listeners.push(listener);
}

/** Changes a part of the state. */
export function change(changes) {
  const changed = Object.keys(changes).filter((key) => String(state[key]) !== String(changes[key]));
  if (changed.length === 0) return;
  Object.assign(state, changes);
  history.replaceState(null, "", fragment());
  for (const listener of listeners) listener(changed);
}

/** Other defaults of a view, or of the initial release of the program. */
export function declare(defaults) {
  for (const [key, value] of Object.entries(defaults)) {
    DEFAULTS[key] = value;
    state[key] = value;
  }
}

let veil = (key, value) => value;

/** `cover(key, value)` returns what a link may say of a value. */
export function cover(covered) {
  veil = covered;
}

/** The fragment that restores the state. */
export function fragment() {
  const words = new URLSearchParams();
  for (const [key, whole] of Object.entries(state)) {
    const value = veil(key, whole);
    if (key === "view" || String(value) === String(DEFAULTS[key])) continue;
    if (Array.isArray(value)) value.forEach((one) => words.append(key, one));
    else words.set(key, value);
  }
  // The release is included even if it is the first: another program may begin with another.
  if (state.release) words.set("release", state.release);
  const tail = words.toString();
  return `#${state.view}${tail ? `?${tail}` : ""}`;
}

/** Reads a fragment; missing keys have their defaults. */
export function restore(text) {
  const [view, tail = ""] = text.replace(/^#/, "").split("?");
  const words = new URLSearchParams(tail);
  const next = {};
  for (const [key, value] of Object.entries(DEFAULTS)) {
    if (key === "view") continue;
    if (Array.isArray(value)) next[key] = words.getAll(key).slice(0, 300);
    else next[key] = words.get(key) ?? value;
  }
  if (view && view !== "answer") next.view = view;
  change(next);
}

/** The keys that are reset when another release is chosen. */
export const OF_RELEASE = { opened: "", level: [], neighbors: "", given: "", place: "", query: "", budget: [], margin: [] };

/** The laws that the program knows: the name of the option, its name in words, and its parameters. */
export const LAWS = [];

/** A text before and after its first colon: the law and the rest of `pure:1/2x10`. */
export function cut(text) {
  const at = text.indexOf(":");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** The options that describe the mechanism. */
export function subject() {
  const options = {};
  if (state.release) options.release = state.release;
  if (state.release && state.level.length) options.level = state.level;
  for (const [key, rest] of state.counts.map(cut)) {
    // The program refuses a law that it does not know.
    const name = LAWS.some((law) => law.key === key) ? key : `law ${key}`;
    (options[name] ??= []).push(rest);
  }
  if (state.neighbors) options.neighbors = state.neighbors;
  if (state.counts.length && state.given) options["counts-as-given"] = true;
  if (state.group !== "1") options.group = state.group;
  return options;
}
