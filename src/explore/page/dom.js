// Elements from names, attributes and children. Text is never interpreted as markup.

/** An element: `el("p", { class: "about" }, "text")`. Attributes that are functions are listeners. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(key, value);
    else if (key === "value") element.value = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined));
  return element;
}

/** A control below its label, with a hint if there is one. */
export function labelled(label, control, { kind = "control", hint } = {}) {
  control.id ||= id("field");
  return el("div", { class: kind }, el("label", { for: control.id }, label), control, hint ? el("p", { class: "hint" }, hint) : null);
}

/** Replaces the content of `root`, and keeps the focus on the control of the same place. */
export function redraw(root, children) {
  const controls = "input, select, button, textarea";
  const focused = document.activeElement;
  const at = focused && root.contains(focused) ? [...root.querySelectorAll(controls)].indexOf(focused) : -1;
  root.replaceChildren(...children.flat(9).filter(Boolean));
  const all = root.querySelectorAll(controls);
  if (at >= 0) all[Math.min(at, all.length - 1)]?.focus();
}

/** A choice among `options`, each a value with its text. */
export function choice(name, options, chosen, changed) {
  const select = el("select", { name, change: () => changed(select.value) },
    options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
  return select;
}

/** A drawing of the server as an element. */
export function svg(text) {
  const holder = new DOMParser().parseFromString(text, "text/html").querySelector("svg");
  return document.importNode(holder, true);
}

let ids = 0;

/** A new id. */
export function id(name) {
  ids += 1;
  return `${name}-${ids}`;
}
