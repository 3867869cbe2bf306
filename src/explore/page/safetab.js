// SafeTab: one level of population groups, a plan of levels, or a config.json.

import { choice, el, id, labelled } from "./dom.js";
import { saveText } from "./downloads.js";
import { filePlace } from "./file.js";
import { BUDGETS, MARGINS, SHARES, slider } from "./slider.js";
import { change, state } from "./state.js";

/** The chosen files; a link does not include them. */
const files = { plan: null, config: null };
let hasSpec = false;
let last = null;

/** The initial state of the program. */
export function begin(start) {
  files.plan = start.plan;
  hasSpec = start.has_spec;
}

const HOW = [
  ["rho", "one level, from its rho"], ["moe", "one level, for a margin of error"], ["plan", "all levels of a plan (TOML)"],
  ["config", "a config.json of the Bureau"],
];

const chosen = (name, label, options, ask) => labelled(label,
  choice(name, options, state[name], (value) => { change({ [name]: value }); ask(true); }));

function sliding(name, label, steps, ask, hint) {
  return slider({ name, label, steps, value: state[name], hint, moved: (text, isFinal) => { change({ [name]: text }); ask(isFinal); } }).element;
}

function written(name, label, hint, ask) {
  const input = el("input", { type: "text", name, value: state[name], autocomplete: "off" });
  input.addEventListener("change", () => { change({ [name]: input.value.trim() }); ask(true); });
  return labelled(label, input, { hint });
}

/** A file to choose, to drop and to edit. */
function fileForm(kind, { what, accept, first }, ask) {
  const area = el("textarea", { id: id("text"), name: "text", rows: 14, spellcheck: "false", wrap: "off" });
  area.value = files[kind]?.text ?? "";
  const hold = (name, text) => { files[kind] = { name, text }; ask(true); };
  area.addEventListener("change", () => hold(files[kind]?.name ?? first, area.value));
  const take = (name, text) => { area.value = text; hold(name, text); };
  return filePlace({ name: "safetab-file", accept, label: `${what}: choose a file or drop it here`, take },
    el("label", { for: area.id }, "Its text"), area);
}

function controls(ask) {
  // Another kind of input has other controls.
  const anew = () => ask.anew();
  const how = chosen("how", "What is given", HOW, anew);
  if (state.how === "plan") {
    const save = el("button", { type: "button", name: "save", click: () => saveText(files.plan.name, "application/toml", files.plan.text) }, "Save the plan");
    return [how, el("div", { class: "wide" }, fileForm("plan", { what: "A plan", accept: ".toml", first: "plan.toml" }, ask), save)];
  }
  if (state.how === "config") {
    const save = el("button", {
      type: "button", name: "save", click: () => { if (last) saveText(last.file.name, "application/json", last.file.text); },
    }, "Save config.json");
    const set = written("set", "Other budgets", "TYPE,LEVEL=BUDGET or TYPE,LEVEL=moe:M; several, separated by spaces.", ask);
    return [how, set, el("div", { class: "wide" }, fileForm("config", { what: "A config.json", accept: ".json", first: "config.json" }, ask), save)];
  }
  return [
    how,
    state.how === "moe"
      ? sliding("moe", "Margin of error of a cell", MARGINS, ask, "The least budget with it is found.")
      : sliding("rho", "rho of the level", BUDGETS, ask, "What the level spends."),
    sliding("gamma", "Share of stage 1", SHARES, ask, "For the total that chooses the table."),
    chosen("codes", "Race codes of a person, at most", [1, 2, 3, 4, 5, 6, 7, 8].map((n) => [String(n), String(n)]), ask),
    written("suppress", "An empty group is suppressed with, if its total alone is published", "A probability.", ask),
    written("sizes", "Sizes to look at", "Separated by commas; some are chosen where none are given.", ask),
    chosen("relation", "Neighbors", [["add-remove", "add-remove: one record more or less"], ["bounded", "bounded: one record changed"]], ask),
  ];
}

function question(digits) {
  if (state.how === "plan") return ["plan", { delta: state.delta, digits: Math.min(digits, 6) }, files.plan];
  if (state.how === "config") return ["config", { delta: state.delta, set: state.set.split(/\s+/).filter(Boolean) }, files.config];
  const given = state.how === "moe" ? { moe: state.moe } : { rho: state.rho };
  const sizes = state.sizes ? { sizes: state.sizes } : {};
  return ["tune", {
    ...given, gamma: state.gamma, "race-codes": state.codes, suppress: state.suppress, ...sizes, neighbors: state.relation, delta: state.delta, digits,
  }];
}

/** The view. */
export function safetab({ delta, together }) {
  return {
    id: "safetab",
    title: "SafeTab",
    // Its levels are not levels of a release.
    isAlone: true,
    about: "Counts of detailed population groups in two stages: a noisy total chooses the table",
    sliders: { delta },
    controls,
    needs: () => {
      if (state.how === "plan" && !files.plan) return "Choose or drop a plan. data/examples/safetab-plan.toml is one, and so is what `assay tune --plan` reads.";
      if (state.how === "config" && !hasSpec) {
        return "A config.json needs the four files of races, ethnicities and iterations: start the page with assay explore --spec DIR.";
      }
      return state.how === "config" && !files.config ? "Choose or drop a config.json." : null;
    },
    questions: (digits) => [question(digits)],
    forget: () => { last = null; },
    compose: (answers) => {
      [last] = answers;
      return together(answers);
    },
  };
}
