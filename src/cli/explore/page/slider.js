// A slider over exact numbers beside a field in which any number can be typed.

import { el, id } from "./dom.js";

/** 1e-20, 2e-20, 5e-20, ... 1e-1. */
export const DELTAS = [];
for (let power = -20; power <= -1; power += 1) {
  for (const digit of power === -1 ? [1] : [1, 2, 5]) DELTAS.push(`${digit}e${power}`);
}

/** 0.01, 0.02, ... 0.99 and nearer to both ends. */
export const PRIORS = ["0.0001", "0.001", "0.005"];
for (let percent = 1; percent <= 99; percent += 1) PRIORS.push(String(percent / 100));
PRIORS.push("0.995", "0.999", "0.9999");

/** A number as a double, for the place on a slider. */
export function double(text) {
  const [top, bottom = "1"] = String(text).split("/");
  return Number(top) / Number(bottom);
}

/** Where a number stands among the steps. */
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
    type: "range", id: id(name), name: `${name}-slider`, min: 0, max: steps.length - 1, step: 1, value: place(steps, value),
    "aria-valuetext": value, "aria-describedby": id(`${name}-hint`),
  });
  const field = el("input", {
    type: "text", name, id: id(name), class: "number", value, inputmode: "decimal", autocomplete: "off", spellcheck: "false",
    "aria-label": `${label}, as a number`,
  });
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
    if (Number.isFinite(double(text)) && double(text) > 0) range.value = place(steps, text);
    set(text, true);
  });
  const show = (text) => {
    if (document.activeElement !== field) field.value = text;
    if (document.activeElement !== range) range.value = place(steps, text);
    range.setAttribute("aria-valuetext", text);
  };
  const element = el("div", { class: "control" },
    el("label", { for: range.id }, label),
    el("div", { class: "pair" }, range, field),
    el("p", { class: "hint", id: range.getAttribute("aria-describedby") }, hint));
  return { element, show };
}
