// The views of the page: the requests of each one, and how its answers are put together.

import { choice, labelled } from "./dom.js";
import { allocation } from "./budget.js";
import { ownTable } from "./margins.js";
import { safetab } from "./safetab.js";
import { DELTAS, PRIORS, slider } from "./slider.js";
import { change, state, subject } from "./state.js";
import { release } from "./subject.js";
import { accuracy, risk } from "./targets.js";
import { town } from "./town.js";

/** Digits while a slider moves, and when it rests. Both are certified. */
export const MOVING = 6;
export const RESTING = 12;

const delta = (moved) => slider({
  name: "delta", label: "delta", steps: DELTAS, value: state.delta, hint: "Probability that the epsilon bound may fail.",
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

/** The counts of the present release, each by its level and query. */
function counts() {
  const levels = (release()?.levels ?? []).filter((level) => !state.level.length || state.level.includes(level.name));
  return levels.flatMap((level) => level.queries.filter((query) => query.sigma2).map((query) => ({ level: level.name, ...query })));
}

/** The count of the question about one person: the one of the state, or the last of the release. */
function chosen(all = counts()) {
  return all.find((one) => one.level === state.place && one.name === state.query) ?? all.at(-1);
}

/** A choice among the counts of the release. */
function oneCount(ask) {
  const all = counts();
  if (!all.length) return [];
  const now = chosen(all);
  const named = all.map((one, at) => [String(at), `${one.level}: ${one.name}`]);
  const select = choice("one-count", named, String(all.indexOf(now)), (at) => {
    change({ place: all[at].level, query: all[at].name });
    ask(true);
  });
  return [labelled("One count of the release", select)];
}

export const VIEWS = [
  risk({ prior, together }),
  accuracy({ delta, together }),
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
    controls: oneCount,
    questions: (digits) => {
      const one = chosen();
      const single = one && { release: state.release, level: [one.level], query: one.name, prior: state.prior, digits };
      return [["bound", { ...subject(), prior: state.prior, delta: state.delta, digits }], ...(one ? [["single", single]] : [])];
    },
    compose: together,
  },
  {
    id: "spared",
    title: "How much noise could be spared?",
    sliders: { delta },
    questions: (digits) => [["calibrate", { ...subject(), delta: state.delta, crossings: digits === RESTING, digits }]],
    compose: together,
  },
  town({ delta, oneCount, chosen, together }),
  allocation({ delta, prior, together }),
  ownTable({ delta, together }),
  safetab({ delta, together }),
];
