// The columns of the user's own table: names and sizes, from a file that stays in the browser, or typed.

import { readCsv } from "./csv.js";
import { el, id, labelled, redraw } from "./dom.js";
import { filePlace } from "./file.js";
import { change, cover, state } from "./state.js";

/** A column: its name, its size as text, whether it is used, and whether the size was counted in a file. */
function column(text) {
  try {
    const [name, size, used, counted] = JSON.parse(text);
    return typeof name === "string" && typeof size === "string" ? { name, size, used: used === true, counted: counted === true } : null;
  } catch {
    // A link may say anything.
    return null;
  }
}

/** All columns of the state. */
export function columns() {
  return state.column.map(column).filter(Boolean);
}

/** Those that are used. */
export function used() {
  return columns().filter((one) => one.used);
}

const text = ({ name, size, used: is, counted }) => JSON.stringify([name, size, is, counted]);

/** Sets the columns; a size that was counted has to be confirmed again. */
function set(list) {
  change({ column: list.map(text) });
}

/** Whether a size was counted in the user's data, and nobody said that it is public. */
export function isUnsure() {
  return state.sure !== "yes" && used().some((one) => one.counted);
}

// A link names used columns only, and no number that was counted in the data until it is said to be public.
cover((key, value) => {
  if (key === "column") return isUnsure() ? [] : used().map(text);
  if (key === "asked" && isUnsure()) return [];
  return value;
});

/** Why a column was left out at first, by its name; what the last file was; and what is read at present. */
const reasons = new Map();
let about = [];
let reading = null;

/** More distinct values are no categories for a table. */
const MOST = 1000;
/** In a file of so many records or more, a column with a value for every second record is one of identifiers or continuous numbers. */
const FEW = 50;

/** Why a column of a file is left out at first. */
function reason({ size, isMore }, { records, isList }) {
  if (isList) return size > MOST ? `${size} values are many for the margins of a table.` : null;
  const many = isMore ? `more than ${size}` : size;
  if (size > MOST) return `It has ${many} distinct values: it looks like an identifier or a continuous number.`;
  if (records >= FEW && size > records / 2) return `It has ${many} distinct values in ${records} records: it looks like an identifier or a continuous number.`;
  return null;
}

/** Takes the columns of a file in place of the present ones. */
function take(file, found) {
  reasons.clear();
  const list = found.columns.map((one) => {
    const why = reason(one, found);
    if (why) reasons.set(one.name, why);
    return { name: one.name, size: one.size ? String(one.size) : "", used: !why, counted: !found.isList && one.size > 0 };
  });
  const what = found.isList ? `a table of ${found.columns.length} columns with their sizes` : `${found.records} records with ${found.columns.length} columns`;
  about = [`${file.name}: ${what}, separated by ${found.separatedBy}. It was read in the browser, and was not sent.`, ...found.notes,
    ...(found.records === 0 ? ["There is no record, so that the sizes are unknown: type them."] : [])];
  change({ sure: "", asked: [], column: list.map(text) });
}

function fileForm(refresh, problem) {
  const bar = el("progress", { max: 1, value: 0, id: id("progress"), name: "progress" });
  const cancel = el("button", { type: "button", name: "cancel", click: () => reading?.abort() }, "Cancel");
  const shown = el("div", { class: "row reading", hidden: true }, el("label", { for: bar.id }, "Reading"), bar, cancel);
  const hold = async (file) => {
    reading?.abort();
    const own = new AbortController();
    reading = own;
    shown.hidden = false;
    problem("");
    try {
      const found = await readCsv(file, { progress: (share) => { bar.value = share; }, signal: own.signal });
      take(file, found);
      refresh();
    } catch (error) {
      if (reading === own) problem(error.name === "AbortError" ? `${file.name}: reading was cancelled.` : error.message);
    } finally {
      if (reading === own) {
        reading = null;
        shown.hidden = true;
      }
    }
  };
  return filePlace({ name: "table-file", accept: ".csv,.tsv,.txt,text/csv", label: "Your own table, as CSV: choose a file or drop it here", hold },
    el("p", { class: "hint" }, "The browser reads it and sends nothing of it: only the names of the columns that you use, and their sizes, are sent to the program on this machine, and are in exported files. A table of columns (name,size) is read as well; or type names and sizes below."),
    shown);
}

/** A row of the form; `renamed(before, after)` is called after its name was changed. */
function row(at, { renamed, resized, refresh }) {
  const one = columns()[at];
  const replace = (changes) => set(columns().map((other, place) => (place === at ? { ...other, ...changes } : other)));
  const box = el("input", { type: "checkbox", name: "use", id: id("use") });
  box.checked = one.used;
  box.addEventListener("change", () => { replace({ used: box.checked }); refresh(); });
  const name = el("input", { type: "text", name: "column", value: one.name, autocomplete: "off" });
  name.addEventListener("change", () => {
    const before = columns()[at].name;
    replace({ name: name.value.trim() });
    renamed(before, name.value.trim());
  });
  const size = el("input", { type: "text", class: "number", name: "size", value: one.size, inputmode: "numeric", autocomplete: "off" });
  size.addEventListener("change", () => { replace({ size: size.value.trim(), counted: false }); resized(); });
  const remove = el("button", { type: "button", name: "remove-column", "aria-label": `Remove the column ${one.name}`, click: () => { set(columns().filter((_, place) => place !== at)); refresh(); } }, "Remove");
  const why = one.used ? null : reasons.get(one.name);
  return el("div", { class: "row", role: "group", "aria-label": `Column ${at + 1}` },
    el("span", { class: "box" }, box, el("label", { for: box.id }, "Use")),
    labelled("Name", name, { kind: "field" }), labelled("Number of values", size, { kind: "field" }), remove,
    why ? el("p", { class: "hint why" }, `Left out: ${why}`) : null,
    one.counted && one.used ? el("p", { class: "hint counted" }, "Counted in your data.") : null);
}

/** The confirmation that all sizes are public. */
function confirmation(refresh) {
  if (!used().some((one) => one.counted)) return null;
  const box = el("input", { type: "checkbox", name: "sure", id: id("sure") });
  box.checked = state.sure === "yes";
  box.addEventListener("change", () => { change({ sure: box.checked ? "yes" : "" }); refresh(); });
  return el("div", { class: "drop" },
    el("p", {}, "Sizes that are counted in your data are themselves facts about the data: how many answers occur can say that somebody gave a rare one. Take the sizes from the questionnaire or a code book, with all answers that are possible, and type them over the counted ones before anything is exported."),
    el("span", { class: "box" }, box, el("label", { for: box.id }, "The sizes above are public: they do not come from the data alone")));
}

/** The form of the columns; `changed()` draws what depends on them, and asks again. */
export function columnsForm({ changed, renamed, problem }) {
  const list = el("div", {});
  const refresh = () => {
    draw();
    changed();
  };
  const add = el("button", {
    type: "button", name: "add-column", click: () => { set([...columns(), { name: "", size: "", used: true, counted: false }]); refresh(); },
  }, "Add a column");
  const sure = el("div", {});
  const drawSure = () => redraw(sure, [confirmation(refresh)]);
  const resized = () => {
    drawSure();
    changed();
  };
  function draw() {
    redraw(list, [about.map((one) => el("p", { class: "hint" }, one)), columns().map((_, at) => row(at, { renamed, resized, refresh }))]);
    drawSure();
  }
  draw();
  return [fileForm(refresh, problem), el("fieldset", {}, el("legend", {}, "Columns"), list, add), sure];
}
