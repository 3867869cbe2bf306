// The mechanism: a release and its levels, a dropped file, or counts of the user's own.

import { choice, el, id, labelled, redraw } from "./dom.js";
import { filePlace } from "./file.js";
import { LAWS, OF_RELEASE, change, cut, state } from "./state.js";
import { post } from "./ask.js";

let releases = [];

/** The releases that the program knows. */
export function know(list) {
  releases = list;
}

/** A release by its name. */
export function release(name = state.release) {
  return releases.find((one) => one.name === name);
}

/** The mechanism, in a line. */
export function inWords() {
  const own = state.counts.map((one) => cut(one)[1]).join(" + ");
  const levels = state.level.length ? `, ${state.level.join(", ")}` : "";
  const from = state.opened ? `, from ${state.opened}` : "";
  return [state.release && `${state.release}${levels}${from}`, own].filter(Boolean).join(" + ") || "nothing yet";
}

const field = (label, control) => labelled(label, control, { kind: "field" });

function chooser(problem) {
  const known = releases.filter((one) => !one.budget_only).map((one) => [one.name, one.bundled ? one.name : `${one.name} (yours)`]);
  return field("Release", choice("release", [...known, ["", "no release, only counts"]], state.release,
    (name) => { problem(""); change({ ...OF_RELEASE, release: name }); }));
}

function levels() {
  const chosen = release();
  if (!chosen) return null;
  const box = (level) => {
    const input = el("input", { type: "checkbox", name: "level", value: level.name, id: id("level") });
    input.checked = state.level.length === 0 || state.level.includes(level.name);
    input.addEventListener("change", () => {
      const all = chosen.levels.map((one) => one.name);
      const before = state.level.length ? state.level : all;
      const after = all.filter((name) => (name === level.name ? input.checked : before.includes(name)));
      change({ level: after.length === all.length ? [] : after });
    });
    return el("span", { class: "box" }, input, el("label", { for: input.id }, level.name));
  };
  return el("fieldset", {}, el("legend", {}, "Levels"), chosen.levels.map(box));
}

/** A law by its name: one of a link may be unknown. */
function lawOf(key) {
  return LAWS.find((law) => law.key === key) ?? { key, name: key, parameters: [{ name: "parameter", first: "" }] };
}

/** A count in its parts: `law:5x10@2`, `law:1/2:40x10@2`. */
function parts(text) {
  const [law, rest] = cut(text);
  const [, parameters = rest, count = "1", shift = "1"] = rest.match(/^([^x@]*)(?:x([^@]*))?(?:@(.*))?$/) ?? [];
  return { law, parameters: parameters.split(":"), count, shift };
}

function written({ law, parameters, count, shift }) {
  const numbers = parameters.map((one) => one.trim()).filter((one, at) => at === 0 || one).join(":");
  return `${law}:${numbers}${count.trim() === "1" ? "" : `x${count.trim()}`}${shift.trim() === "1" ? "" : `@${shift.trim()}`}`;
}

/** The same counts with another law: parameters of the same name stay. */
function withLaw(one, key) {
  const before = lawOf(one.law).parameters;
  const value = (parameter) => {
    const at = before.findIndex((known) => known.name === parameter.name);
    return (at >= 0 && one.parameters[at]) || parameter.first;
  };
  return { ...one, law: key, parameters: lawOf(key).parameters.map(value) };
}

function row(text, at) {
  const one = parts(text);
  const replace = (make) => {
    const counts = [...state.counts];
    counts[at] = written(make(parts(counts[at])));
    change({ counts });
  };
  const input = (key, label, value, put) => {
    const box = el("input", { type: "text", class: "number", name: `count-${key}`, value, autocomplete: "off" });
    box.addEventListener("change", () => replace((now) => put(now, box.value)));
    return field(label, box);
  };
  const part = (key, label) => input(key, label, one[key], (now, value) => ({ ...now, [key]: value }));
  const parameter = ({ name }, index) => input(index ? `parameter-${index + 1}` : "parameter", name, one.parameters[index] ?? "",
    (now, value) => ({ ...now, parameters: lawOf(now.law).parameters.map((_, other) => (other === index ? value : now.parameters[other] ?? "")) }));
  const names = [...LAWS, ...(LAWS.some((law) => law.key === one.law) ? [] : [lawOf(one.law)])].map((law) => [law.key, law.name]);
  const law = choice("count-law", names, one.law, (key) => replace((now) => withLaw(now, key)));
  const remove = el("button", {
    type: "button", click: () => change({ counts: state.counts.filter((_, other) => other !== at) }),
  }, "Remove");
  return el("div", { class: "row", role: "group", "aria-label": `Counts ${at + 1}` },
    field("Noise", law), lawOf(one.law).parameters.map(parameter), part("count", "how many counts"), part("shift", "changed by"), remove);
}

function counts() {
  const add = el("button", {
    type: "button", name: "add-counts",
    click: () => change({ counts: [...state.counts, "discrete-gaussian:5x10"] }),
  }, "Add counts of your own");
  return el("fieldset", {}, el("legend", {}, "Counts of your own, composed with the release"), state.counts.map(row), add);
}

function relation() {
  const own = release()?.neighbors;
  const neighbors = choice("neighbors", [["", own ? `as the release says: ${own}` : "add-remove"],
    ["add-remove", "add-remove: one record more or less"], ["bounded", "bounded: one record changed"]],
  state.neighbors, (name) => change({ neighbors: name, ...((name || own) === "bounded" ? {} : { given: "" }) }));
  const group = el("input", { type: "number", name: "group", min: 1, max: 1000, value: state.group });
  group.addEventListener("change", () => change({ group: group.value || "1" }));
  const relations = [field("Neighbors", neighbors), field("People who act together", group)];
  if (state.counts.length && (state.neighbors || own) === "bounded") {
    const given = choice("given", [["", "counted twice: a record leaves one and enters another"], ["yes", "as given: those that differ already"]],
      state.given, (name) => change({ given: name }));
    relations.push(field("Counts of your own", given));
  }
  return el("div", { class: "row" }, relations);
}

/** Reads a TOML file as a release, and opens it; `opened` is the release from which it was made, if any. */
export async function open(name, text, problem, opened = "") {
  try {
    const kept = await post("api/release", { name, text });
    releases = [kept, ...releases.filter((one) => one.name !== kept.name)];
    problem("");
    change({ release: "" });
    change({ ...OF_RELEASE, opened, release: kept.name });
  } catch (error) {
    problem(error.message);
  }
}

function file(problem) {
  const take = (name, text) => open(name, text, problem);
  return filePlace({ name: "file", accept: ".toml", label: "A release of your own, as TOML: choose a file or drop it here", take },
    el("p", { class: "hint" }, "It stays on this machine. `assay releases --new` prints one to start from."));
}

/** Draws the form again, and keeps the focus. */
export function draw(form, problem) {
  redraw(form, [chooser(problem), levels(), counts(), relation(), file(problem)]);
}
