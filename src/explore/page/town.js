// What does it mean for my town? Margins of one count, and of all.

import { el, labelled } from "./dom.js";
import { COUNTS, slider } from "./slider.js";
import { change, state, subject } from "./state.js";

let hasPlaces = false;

/** The initial state of the program. */
export function begin(start) {
  hasPlaces = start.has_places;
}

/** A search for places, if there are some. */
function search(ask) {
  if (!hasPlaces) return [];
  const input = el("input", { type: "search", name: "search", value: state.search, autocomplete: "off" });
  input.addEventListener("input", () => { change({ search: input.value }); ask(true); });
  return [labelled("A place, by name or GEOID", input)];
}

/** The view; it shares its choice of a count with the others. */
export function town({ delta, oneCount, chosen, together }) {
  const count = (moved) => slider({
    name: "count", label: "True count", steps: COUNTS, value: state.count, hint: "How many there really are.",
    moved: (text, isFinal) => { change({ count: text }); moved(isFinal); },
  });
  return {
    id: "town",
    title: "What does it mean for my town?",
    sliders: { count, delta },
    controls: (ask) => [...oneCount(ask), ...search(ask)],
    questions: (digits) => {
      const one = chosen();
      const which = one ? { place: one.level, query: one.name } : {};
      const margins = ["margins", { ...subject(), ...which, count: state.count, delta: state.delta, digits,
        ...(state.opened ? { before: state.opened } : {}) }];
      return [margins, ...(hasPlaces && state.search.trim() ? [["places", { search: state.search }]] : [])];
    },
    compose: together,
  };
}
