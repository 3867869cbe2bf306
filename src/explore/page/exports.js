// An answer elsewhere: its command line, a release file and a notebook cell, each to copy and to download.

import { el } from "./dom.js";
import { saveText } from "./downloads.js";

const KINDS = { command: ["txt", "text/plain"], alone: ["alone.txt", "text/plain"], release: ["toml", "application/toml"], cell: ["ipynb", "application/x-ipynb+json"] };

/** A notebook with one cell. */
function notebook(source) {
  const cell = { cell_type: "code", execution_count: null, metadata: {}, outputs: [], source: source.trimEnd() };
  const kernel = { display_name: "Python 3", language: "python", name: "python3" };
  return `${JSON.stringify({ cells: [cell], metadata: { kernelspec: kernel }, nbformat: 4, nbformat_minor: 4 }, null, 1)}\n`;
}

/** The kinds whose text is unfolded: they stay so in the next answer. */
const opened = new Set();

/** Copies a text, and says so on the button and to screen readers. */
async function copy(button, text) {
  const label = button.textContent;
  let said = "Copied";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    said = "Not copied: select the text";
  }
  button.textContent = said;
  document.getElementById("spoken").textContent = said;
  setTimeout(() => { button.textContent = label; }, 1500);
}

function buttons(one, question) {
  const [ending, type] = KINDS[one.kind];
  const copying = el("button", { type: "button", "data-copy": one.kind, "aria-label": `Copy: ${one.title}`, click: () => copy(copying, one.text.replace(/\n$/, "")) }, "Copy");
  const saving = el("button", {
    type: "button", "data-download": `${question}.${ending}`, "aria-label": `Download: ${one.title}`, 
    click: () => saveText(one.name, type, one.kind === "cell" ? notebook(one.text) : one.text),
  }, `Download ${one.name}`);
  return el("div", { class: "downloads" }, copying, saving);
}

function element(one, question) {
  if (one.kind === "none") return el("p", { class: "hint" }, `${one.title}: ${one.note}`);
  const block = (text) => el("pre", { tabindex: "0", "data-export": one.kind, role: "group", "aria-label": one.title }, text);
  const title = el("p", {}, `${one.title}:`);
  if (one.kind === "command") return [title, el("pre", { tabindex: "0", role: "group", "aria-label": one.title }, el("code", {}, one.text.trim())), buttons(one, question)];
  if (one.kind === "alone") return [title, block(one.text.trim()), buttons(one, question)];
  const reads = one.kind === "release" && one.note ? [el("p", {}, `This command reads ${one.name}:`), el("pre", { tabindex: "0", role: "group", "aria-label": "The command that reads the file" }, one.note)] : [];
  const details = el("details", { open: opened.has(one.kind), toggle: () => { opened[details.open ? "add" : "delete"](one.kind); } },
    el("summary", {}, `${one.title}: ${one.name}`), block(one.text), reads);
  return [details, buttons(one, question)];
}

/** All exports of the answers; one that is in several answers is shown once. */
export function exported(answers) {
  const known = new Set();
  const fresh = (one) => {
    const key = `${one.kind} ${one.text ?? one.note}`;
    return !known.has(key) && known.add(key);
  };
  return answers.flatMap((answer) => (answer.exports ?? []).filter(fresh).map((one) => element(one, answer.question)));
}
