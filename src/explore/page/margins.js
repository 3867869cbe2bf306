// The margins of the user's own table: levels, queries and their noise, and the release that follows.

import { columns, columnsForm, isUnsure, used } from "./columns.js";
import { choice, el, id, labelled, redraw } from "./dom.js";
import { change, state } from "./state.js";
import { open } from "./subject.js";

const LAWS = [["discrete-gaussian", "discrete Gaussian"], ["discrete-laplace", "discrete Laplace"]];
const FIRST_LEVEL = "nation";
const MOST = 300;

/** A query of the state; null if a link says something else. */
function query(text) {
  try {
    const [level, kept, law, by, amount] = JSON.parse(text);
    const isKnown = [level, law, by, amount].every((part) => typeof part === "string") && Array.isArray(kept) && kept.every((name) => typeof name === "string");
    return isKnown ? { level, columns: kept, law, by, amount } : null;
  } catch {
    return null;
  }
}

const text = (one) => JSON.stringify([one.level, one.columns, one.law, one.by, one.amount]);
const queries = () => state.asked.map(query).filter(Boolean);
const levels = () => (state.area.length ? state.area : [FIRST_LEVEL]);
const shown = (one) => `${one.level}: ${one.columns.join(" * ") || "total"}`;
const key = (one) => JSON.stringify([one.level, one.columns]);

/** The noise of a new query. */
const fresh = { law: LAWS[0][0], by: "share", amount: "1" };

/** Sets the queries, in the order of the levels. */
function set(list) {
  const place = (one) => levels().indexOf(one.level);
  change({ asked: [...list].sort((one, other) => place(one) - place(other) || one.columns.length - other.columns.length).map(text) });
}

/** Queries of columns that are no longer used are removed. */
function prune() {
  const names = used().map((one) => one.name);
  const isLeft = (one) => levels().includes(one.level) && one.columns.every((name) => names.includes(name));
  if (!queries().every(isLeft)) set(queries().filter(isLeft));
}

/** The kinds of queries, each with the sets of columns that it keeps. */
function kinds() {
  const names = used().map((one) => one.name);
  const pairs = names.flatMap((one, at) => names.slice(at + 1).map((other) => [one, other]));
  return [
    ["total", "the total", [[]]],
    ["each", "each column", names.map((name) => [name])],
    ["pairs", names.length === 2 ? "both columns crossed" : "each pair of columns", pairs],
    ["all", "all columns crossed", names.length > 2 ? [names] : []],
  ].filter(([, , sets]) => sets.length > 0);
}

function levelForm(at, refresh, ask) {
  const now = levels()[at];
  const name = el("input", { type: "text", name: "area", value: now, autocomplete: "off" });
  name.addEventListener("change", () => {
    const [before, after] = [levels()[at], name.value.trim()];
    const asked = queries().map((one) => text(one.level === before ? { ...one, level: after } : one));
    change({ area: levels().map((one, place) => (place === at ? after : one)), asked });
    ask();
  });
  const remove = levels().length > 1 ? el("button", {
    type: "button", name: "remove-area", "aria-label": `Remove the level ${now}`,
    click: () => { change({ area: levels().filter((_, place) => place !== at) }); refresh(); },
  }, "Remove") : null;
  return el("div", { class: "row", role: "group", "aria-label": `Level ${at + 1}` }, labelled(at === 0 ? "Level, the largest areas first" : "Level", name, { kind: "field" }), remove);
}

function levelsForm(refresh, ask) {
  const list = el("div", {});
  const draw = () => redraw(list, levels().map((_, at) => levelForm(at, () => { draw(); refresh(); }, ask)));
  const free = () => { let other = levels().length + 1; while (levels().includes(`level ${other}`)) other += 1; return `level ${other}`; };
  const add = el("button", { type: "button", name: "add-area", click: () => { change({ area: [...levels(), free()] }); draw(); refresh(); } }, "Add a level");
  draw();
  return el("fieldset", {}, el("legend", {}, "Levels"), list, add);
}

/** The law, how the noise is given, and the number. */
function noiseOf(one, changed) {
  const amount = el("input", { type: "text", class: "number", name: "amount", value: one.amount, inputmode: "decimal", autocomplete: "off" });
  amount.addEventListener("change", () => changed({ amount: amount.value.trim() }));
  const own = one.law === LAWS[1][0] ? "epsilon" : "sigma2";
  const by = choice("by", [["share", "share of the budget"], ["own", own]], one.by, (value) => changed({ by: value }));
  const law = choice("law", LAWS, one.law, (value) => {
    by.lastChild.textContent = value === LAWS[1][0] ? "epsilon" : "sigma2";
    changed({ law: value });
  });
  return [labelled("Noise", law, { kind: "field" }), labelled("Given as", by, { kind: "field" }), labelled("Number", amount, { kind: "field" })];
}

function queryRow(one, refresh, ask) {
  const own = key(one);
  const replace = (changes) => {
    set(queries().map((other) => (key(other) === own ? { ...other, ...changes } : other)));
    ask();
  };
  const remove = el("button", {
    type: "button", name: "remove-query", "aria-label": `Remove the query ${shown(one)}`,
    click: () => { set(queries().filter((other) => key(other) !== own)); refresh(); },
  }, "Remove");
  return el("div", { class: "row query", role: "group", "aria-label": shown(one) }, el("p", { class: "field name" }, shown(one)), noiseOf(one, replace), remove);
}

function kindBox(level, [name, label, sets], refresh, problem) {
  const known = new Set(queries().map(key));
  const own = sets.map((kept) => key({ level, columns: kept }));
  const box = el("input", { type: "checkbox", name: `ask-${name}`, value: level, id: id("ask") });
  box.checked = own.every((one) => known.has(one));
  box.addEventListener("change", () => {
    const others = queries().filter((one) => !own.includes(key(one)));
    const kept = queries().filter((one) => own.includes(key(one)));
    const more = sets.filter((_, at) => !known.has(own[at])).map((names) => ({ level, columns: names, ...fresh }));
    const next = box.checked ? [...others, ...kept, ...more] : others;
    const isTooMany = next.length > MOST;
    if (!isTooMany) set(next);
    refresh();
    if (isTooMany) problem(`These would be ${next.length} queries, and the page has at most ${MOST}: use fewer columns.`);
  });
  return el("span", { class: "box" }, box, el("label", { for: box.id }, label));
}

function queriesForm(refresh, ask, problem) {
  const boxes = levels().map((level) => el("fieldset", {}, el("legend", {}, `Queries of ${level}`), kinds().map((kind) => kindBox(level, kind, refresh, problem))));
  const all = queries();
  const give = el("button", { type: "button", name: "give", click: () => { set(queries().map((one) => ({ ...one, ...fresh }))); refresh(); } }, "Give it to all queries");
  const first = el("div", { class: "row", role: "group", "aria-label": "Noise of new queries" }, el("p", { class: "field name" }, "New queries"), noiseOf(fresh, (changes) => Object.assign(fresh, changes)), all.length ? give : null);
  return [boxes, el("fieldset", {}, el("legend", {}, "Noise"), first, all.map((one) => queryRow(one, refresh, ask)))];
}

function written(name, label, ask) {
  const input = el("input", { type: "text", name, value: state[name], autocomplete: "off" });
  input.addEventListener("change", () => { change({ [name]: input.value.trim() }); ask(); });
  return labelled(label, input, { kind: "field" });
}

/** The last answer, for the button. */
let last = null;

function controls(ask, problem) {
  const now = () => ask(true);
  const list = el("div", {});
  const refresh = () => {
    prune();
    redraw(list, queriesForm(refresh, now, problem));
    now();
  };
  const renamed = (before, after) => {
    const rename = (name) => (name === before ? after : name);
    change({ asked: queries().map((one) => text({ ...one, columns: one.columns.map(rename) })) });
    refresh();
  };
  const relation = choice("relation", [["add-remove", "add-remove: one record more or less"], ["bounded", "bounded: one record changed"]], state.relation,
    (value) => { change({ relation: value }); now(); });
  const elsewhere = el("button", {
    type: "button", name: "elsewhere", click: async () => {
      if (!last) return;
      const { name, text: toml } = last.file;
      await open(name, toml, problem);
      change({ view: "private" });
    },
  }, "Open it in all views");
  prune();
  redraw(list, queriesForm(refresh, now, problem));
  return [el("div", { class: "wide" },
    columnsForm({ changed: refresh, renamed, problem }), levelsForm(refresh, () => { refresh(); }),
    el("div", { class: "row" }, written("spend", "Budget rho that shares divide", now),
      labelled("Neighbors", relation, { kind: "field" }), written("called", "Name of the release", now), elsewhere),
    list)];
}

/** The request: names and sizes of the used columns, and nothing else of them. */
function form() {
  const asked = queries().map((one) => ({ level: one.level, columns: one.columns, law: one.law, by_share: one.by === "share", amount: one.amount }));
  const names = used().map(({ name, size }) => ({ name, size }));
  return { name: state.called, neighbors: state.relation, rho: state.spend, columns: names, levels: levels(), queries: asked };
}

/** The view; it shares its slider of delta with the others. */
export function ownTable({ delta, together }) {
  return {
    id: "columns",
    title: "Your own columns",
    // Its release is made here.
    isAlone: true,
    about: "The margins of a table of your own, from the names and sizes of its columns",
    sliders: { delta },
    controls,
    needs: () => {
      if (queries().length) return null;
      return columns().length ? "Choose queries: the total, columns, pairs of columns, or all of them crossed." : "Choose a CSV file, or add a column and type its name and size. The total needs no column.";
    },
    withheld: () => (isUnsure() ? "Files, commands and links are made as soon as you have replaced the counted sizes by public ones, or confirmed above that they are public." : null),
    questions: (digits) => [["columns", { delta: state.delta, digits }, { name: "columns", text: JSON.stringify(form()) }]],
    forget: () => { last = null; },
    compose: (answers) => {
      [last] = answers;
      return together(answers);
    },
  };
}
