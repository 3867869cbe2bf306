// A slider over exact numbers, with a field in which any number can be typed.

import { el, id } from "./dom.js";

/** 1e-20, 2e-20, 5e-20, ... 1e-1. */
export const DELTAS = [];
for (let power = -20; power <= -1; power += 1) {
  for (const digit of power === -1 ? [1] : [1, 2, 5]) DELTAS.push(`${digit}e${power}`);
}

/** 0.01, 0.02, ... 0.99 and closer to both ends. */
export const PRIORS = ["0.0001", "0.001", "0.005"];
for (let percent = 1; percent <= 99; percent += 1) PRIORS.push(String(percent / 100));
PRIORS.push("0.995", "0.999", "0.9999");

/** 0.1, ... 1, ... 10: a budget times this. */
export const WEIGHTS = ["0.1", "0.15", "0.2", "0.25", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "0.95", "1", "1.05", "1.1", "1.2", "1.35", "1.5",
  "1.75", "2", "2.5", "3", "4", "5", "6", "8", "10"];

const decades = (from, to) => {
  const steps = [];
  for (let power = from; power <= to; power += 1) for (const digit of [1, 2, 3, 5, 7]) steps.push(String(Number(`${digit}e${power}`)));
  return steps;
};

/** 0, 1, 2, 3, 5, 7, 10, ... 7000000. */
export const COUNTS = ["0", ...decades(0, 6)];
/** 0.001, ... 7. */
export const BUDGETS = decades(-3, 0);
/** 1, 2, 3, ... 30, 40, ... 500. */
export const MARGINS = [...Array.from({ length: 30 }, (_, k) => String(k + 1)), ...decades(1, 2).filter((text) => Number(text) > 30)];
/** 0.01, 0.02, ... 0.99. */
export const SHARES = Array.from({ length: 99 }, (_, k) => String((k + 1) / 100));

/** 0.001, ... 0.01, ... 0.99, 0.999: a probability that is bounded from above. */
export const PROBABILITIES = [...["0.001", "0.002", "0.005"], ...SHARES, "0.995", "0.999"];
/** 0.001, ... 0.99: the error of a test. */
export const ERRORS = ["0.001", "0.002", "0.005", ...SHARES];

/** A number as a double, for the place on a slider. */
export function double(text) {
  const [top, bottom = "1"] = String(text).split("/");
  return Number(top) / Number(bottom);
}

/** The place of a number among the steps. */
function place(steps, text) {
  const value = double(text);
  const away = (step) => Math.abs(Math.log(double(step) || 1e-300) - Math.log(value || 1e-300));
  let best = 0;
  steps.forEach((step, at) => { if (away(step) < away(steps[best])) best = at; });
  return best;
}

/** A labelled slider; `moved(text, isFinal)` is called at each step. */
export function slider({ name, label, hint, steps, value, moved }) {
  const range = el("input", {
    type: "range", id: id("slider"), name: `${name}-slider`, min: 0, max: steps.length - 1, step: 1, value: place(steps, value),
    "aria-valuetext": value, "aria-describedby": hint ? id("hint") : null,
  });
  const field = el("input", {
    type: "text", name, id: id("number"), class: "number", value, inputmode: "decimal", autocomplete: "off", spellcheck: "false",
    "aria-label": `${label}, as a number`,
  });
  // A value outside of the slider's range has no place on it: the slider stays where it was.
  const hasPlace = (text) => text !== "" && (double(text) > 0 || double(text) === double(steps[0]));
  const set = (text, isFinal) => {
    range.setAttribute("aria-valuetext", text);
    moved(text, isFinal);
  };
  range.addEventListener("input", () => {
    field.value = steps[range.value];
    set(field.value, false);
  });
  range.addEventListener("change", () => set(field.value, true));
  field.addEventListener("change", () => {
    const text = field.value.trim();
    if (hasPlace(text)) range.value = place(steps, text);
    set(text, true);
  });
  const show = (text) => {
    if (document.activeElement !== field) field.value = text;
    if (document.activeElement !== range && hasPlace(text)) range.value = place(steps, text);
    range.setAttribute("aria-valuetext", text);
  };
  const element = el("div", { class: "control" },
    el("label", { for: range.id }, label),
    el("div", { class: "pair" }, range, field),
    hint ? el("p", { class: "hint", id: range.getAttribute("aria-describedby") }, hint) : null);
  return { element, show };
}
