// The targets that people set first: the risk of one record, and the margins of error that a use needs.

import { saveText } from "./downloads.js";
import { choice, el, labelled } from "./dom.js";
import { ERRORS, MARGINS, PROBABILITIES, slider } from "./slider.js";
import { change, state, subject } from "./state.js";
import { release } from "./subject.js";

const KINDS = [
  ["posterior", "right at most N times in 100"],
  ["advantage", "an advantage of any adversary"],
  ["errors", "both errors of every test"],
];

const sliding = (name, label, steps, hint) => (moved) => slider({
  name, label, steps, value: state[name], hint, moved: (text, isFinal) => { change({ [name]: text }); moved(isFinal); },
});

/** The options of the chosen target. */
function target() {
  if (state.target === "advantage") return { advantage: state.advantage };
  if (state.target === "errors") return { alpha: state.alpha, beta: state.beta };
  return { posterior: state.right, prior: state.prior };
}

/** The view of a risk; it shares its slider of the prior with the others. */
export function risk({ prior, together }) {
  const right = sliding("right", "Right with probability, at most", PROBABILITIES, "0.6 is 60 times in 100. Without any output an adversary is right as often as the prior allows.");
  const advantage = sliding("advantage", "Advantage, at most", PROBABILITIES, "How much more often the adversary decides yes if it is true than if it is not.");
  const alpha = sliding("alpha", "False alarms (type I error)", ERRORS, "The share of absent records that a test reports.");
  const beta = sliding("beta", "Missed records (type II error), at least", ERRORS, "The share of present records that every such test misses.");
  const view = {
    id: "risk",
    title: "Which risk is acceptable?",
    get sliders() {
      if (state.target === "advantage") return { advantage };
      return state.target === "errors" ? { alpha, beta } : { right, prior };
    },
    // Another kind of target has other sliders.
    controls: (ask) => [labelled("The target", choice("target", KINDS, state.target, (value) => { change({ target: value }); ask.anew(); }))],
    questions: (digits) => [["risk", { ...subject(), ...target(), "scale-all": true, digits }]],
    compose: together,
  };
  return view;
}

/** The margin of a level. */
function margin(level) {
  const found = state.margin.find((one) => one.slice(0, one.lastIndexOf("=")) === level);
  return found ? found.slice(found.lastIndexOf("=") + 1) : "10";
}

function setMargin(level, value) {
  const others = state.margin.filter((one) => one.slice(0, one.lastIndexOf("=")) !== level);
  change({ margin: value === "10" ? others : [...others, `${level}=${value}`] });
}

/** The chosen levels. */
function levels() {
  return (release()?.levels ?? []).filter((level) => !state.level.length || state.level.includes(level.name));
}

/** The last answer, for the button. */
let last = null;

/** The view of margins of error; it shares its slider of delta with the others. */
export function accuracy({ delta, together }) {
  const one = (ask) => (level) => slider({
    name: `margin-${level.name}`, label: `Margin of error of ${level.name}, 95 %`, steps: MARGINS, value: margin(level.name),
    moved: (text, isFinal) => { setMargin(level.name, text); ask(isFinal); },
  }).element;
  return {
    id: "accuracy",
    title: "How accurate must it be?",
    // Certified to these digits, whatever the slider does.
    digits: 8,
    sliders: { delta },
    controls: (ask) => {
      const save = el("button", {
        type: "button", name: "save", click: () => { if (last) saveText(last.file.name, "application/toml", last.file.text); },
      }, "Save the queries as TOML");
      return [...levels().map(one(ask)), el("div", { class: "control" }, save)];
    },
    needs: () => (state.release ? null : "Margins are set for the levels of a release: choose one above."),
    questions: () => [["accuracy", {
      release: state.release, level: state.level, ...(state.neighbors ? { neighbors: state.neighbors } : {}),
      margin: state.margin.filter((text) => levels().some((level) => text.slice(0, text.lastIndexOf("=")) === level.name)), delta: state.delta,
    }]],
    forget: () => { last = null; },
    compose: (answers) => {
      [last] = answers;
      return together(answers);
    },
  };
}
