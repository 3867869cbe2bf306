// Allocation: a slider for the budget of each level, and the optimum as a button.

import { post } from "./ask.js";
import { saveText } from "./downloads.js";
import { el, id } from "./dom.js";
import { WEIGHTS, slider } from "./slider.js";
import { OF_RELEASE, change, state } from "./state.js";
import { open, release } from "./subject.js";

/** The weight of a level. */
function weight(level) {
  const found = state.budget.find((one) => one.slice(0, one.lastIndexOf("=")) === level);
  return found ? found.slice(found.lastIndexOf("=") + 1) : "1";
}

function setWeight(level, value) {
  const others = state.budget.filter((one) => one.slice(0, one.lastIndexOf("=")) !== level);
  change({ budget: value === "1" ? others : [...others, `${level}=${value}`] });
}

/** The chosen levels. */
function levels() {
  return (release()?.levels ?? []).filter((level) => !state.level.length || state.level.includes(level.name));
}

function options(digits) {
  return {
    release: state.release, level: state.level, ...(state.neighbors ? { neighbors: state.neighbors } : {}),
    ...(state.opened ? { before: state.opened } : {}), budget: state.budget, "keep-total": state.keep === "yes", delta: state.delta, prior: state.prior, digits,
  };
}

/** The last answer, for the buttons. */
let last = null;

async function optimum(button, problem) {
  if (!last) return;
  button.disabled = true;
  try {
    const epsilon = String(last.answer.epsilon.upper);
    const answer = await post("api/allocate", {
      options: {
        release: state.release, level: state.level, ...(state.neighbors ? { neighbors: state.neighbors } : {}), epsilon, delta: state.delta,
      },
    });
    // The state before stays the release that was opened.
    const opened = state.opened || state.release;
    change({ budget: [] });
    await open(answer.file.name, answer.file.text, problem, opened);
    problem("", [answer.said.join(" ")]);
  } catch (error) {
    problem(error.message);
  } finally {
    button.disabled = false;
  }
}

/** Back to the release that was opened, with its own budgets. */
function goBack(ask) {
  const { opened } = state;
  change({ budget: [] });
  if (opened) change({ ...OF_RELEASE, release: opened });
  else ask.anew();
}

function controls(ask, problem) {
  const one = (level) => slider({
    name: `budget-${level.name}`, label: `Budget of ${level.name}, times`, steps: WEIGHTS, value: weight(level.name),
    moved: (text, isFinal) => { setWeight(level.name, text); ask(isFinal); },
  }).element;
  const keep = el("input", { type: "checkbox", id: id("keep"), name: "keep" });
  keep.checked = state.keep === "yes";
  keep.addEventListener("change", () => { change({ keep: keep.checked ? "yes" : "no" }); ask(true); });
  const best = el("button", { type: "button", name: "optimum", click: () => optimum(best, problem) }, "The least error for this epsilon");
  const save = el("button", {
    type: "button", name: "save", click: () => { if (last) saveText(last.file.name, "application/toml", last.file.text); },
  }, "Save as TOML");
  const reset = el("button", { type: "button", name: "reset", click: () => goBack(ask) }, "Reset");
  return [
    ...levels().map(one),
    el("div", { class: "control" },
      el("span", { class: "box" }, keep, el("label", { for: keep.id }, "Keep the sum of all budgets")),
      el("div", { class: "row" }, best, save, reset)),
  ];
}

/** The view; it shares its sliders of delta and prior with the others. */
export function allocation({ delta, prior, together }) {
  return {
    id: "allocate",
    title: "Where should the budget go?",
    sliders: { delta, prior },
    controls,
    needs: () => (state.release ? null : "Budgets are moved among the levels of a release: choose one above."),
    questions: (digits) => [["budget", options(digits)]],
    forget: () => { last = null; },
    compose: (answers) => {
      [last] = answers;
      return together(answers);
    },
  };
}
