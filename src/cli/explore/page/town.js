// What does it mean for my town? Margins of one count, and of all.

import { COUNTS, slider } from "./slider.js";
import { change, state, subject } from "./state.js";

/** The view; its choice of a count is that of the others. */
export function town({ delta, oneCount, chosen, together }) {
  const count = (moved) => slider({
    name: "count", label: "True count", steps: COUNTS, value: state.count, hint: "How many there really are.",
    moved: (text, isFinal) => { change({ count: text }); moved(isFinal); },
  });
  return {
    id: "town",
    title: "What does it mean for my town?",
    sliders: { count, delta },
    controls: oneCount,
    questions: (digits) => {
      const one = chosen();
      const which = one ? { place: one.level, query: one.name } : {};
      return [["margins", { ...subject(), ...which, count: state.count, delta: state.delta, match: "zcdp", digits }]];
    },
    compose: together,
  };
}
