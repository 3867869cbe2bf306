// The questions of the page: what each one asks, and how its answers are put together.

import { DELTAS, PRIORS, slider } from "./slider.js";
import { change, state, subject } from "./state.js";

/** Digits while a slider moves, and when it rests. Both are certified. */
export const MOVING = 6;
export const RESTING = 12;

const delta = (moved) => slider({
  name: "delta", label: "delta", steps: DELTAS, value: state.delta, hint: "The probability mass that the bound may leave out.",
  moved: (text, isFinal) => { change({ delta: text }); moved(isFinal); },
});
const prior = (moved) => slider({
  name: "prior", label: "prior", steps: PRIORS, value: state.prior, hint: "What the adversary believes before they look.",
  moved: (text, isFinal) => { change({ prior: text }); moved(isFinal); },
});

/** All parts of several answers, in order. */
function together(answers) {
  const parts = { said: [], charts: [], tables: [], notes: [], assumed: [] };
  for (const answer of answers.filter(Boolean)) {
    for (const key of Object.keys(parts)) parts[key].push(...answer[key]);
  }
  return parts;
}

export const VIEWS = [
  {
    id: "private",
    title: "How private?",
    sliders: { delta },
    questions: (digits) => [
      ["epsilon", { ...subject(), delta: state.delta, digits }],
      ["drawing", { ...subject(), delta: state.delta }],
    ],
    compose: together,
  },
  {
    id: "learned",
    title: "What does an adversary learn?",
    sliders: { prior, delta },
    questions: (digits) => [["bound", { ...subject(), prior: state.prior, delta: state.delta, digits }]],
    compose: together,
  },
  {
    id: "spared",
    title: "How much noise could be spared?",
    sliders: { delta },
    questions: (digits) => [["calibrate", { ...subject(), delta: state.delta, match: "zcdp", digits }]],
    compose: together,
  },
];
