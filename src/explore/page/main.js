// The page: one view at a time, requested again after every change.

import { Line } from "./ask.js";
import { el } from "./dom.js";
import { downloads } from "./downloads.js";
import { exported } from "./exports.js";
import { panel } from "./panel.js";
import { LAWS, change, declare, fragment, onChange, restore, state } from "./state.js";
import { draw, inWords, know, release } from "./subject.js";
import { begin as beginSafetab } from "./safetab.js";
import { begin as beginTown } from "./town.js";
import { MOVING, RESTING, VIEWS } from "./views.js";

const at = (id) => document.getElementById(id);

/** The view that is open: its lines, its last answers, its sliders. */
let open = null;

/** Marks the fields of an error, by the option with which it begins; removes earlier marks. */
function mark(option) {
  for (const field of document.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-errormessage");
  }
  if (!option) return;
  const isLaw = LAWS.some((law) => law.key === option);
  const ofLaw = (row) => [...row.querySelectorAll("input")].filter(() => row.querySelector("[name='count-law']")?.value === option);
  const fields = isLaw
    ? [...document.querySelectorAll("#subject-form [role='group']")].flatMap(ofLaw)
    : [...document.querySelectorAll(`#controls [name="${option}"], #subject-form [name="${option}"]`)];
  for (const field of fields) {
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-errormessage", "problem");
  }
}

/** Shows an error, or removes it; `messages` is shown beside the answer until the next one. */
function problem(text, messages = []) {
  at("problem").textContent = text;
  at("problem").hidden = !text;
  if (messages.length) at("message").textContent = messages.join(" ");
}

function navigation() {
  at("views").replaceChildren(...VIEWS.map((view) => el("li", {}, el("a", {
    href: `#${view.id}`, "aria-current": view.id === state.view ? "page" : null,
    click: (event) => { event.preventDefault(); change({ view: view.id }); },
  }, view.title))));
}

/** Opens the view that the state names. */
function enter() {
  open?.lines.forEach((line) => line.forget());
  const view = VIEWS.find((one) => one.id === state.view) ?? VIEWS[0];
  at("view-title").textContent = view.title;
  at("subject").hidden = view.isAlone === true;
  at("answer").replaceChildren();
  at("message").textContent = "";
  clear();
  problem("");
  mark(null);
  open = { view, lines: [], waiting: new Set(), answers: [], wrong: [], sliders: {}, began: 0 };
  open.sliders = Object.fromEntries(Object.entries(view.sliders).map(([name, make]) => [name, make((isFinal) => ask(isFinal))]));
  ask.anew = () => { enter(); at("controls").querySelector("select, input")?.focus(); };
  const own = view.controls ? view.controls(ask, problem) : [];
  at("controls").replaceChildren(...Object.values(open.sliders).map((one) => one.element), ...own);
  navigation();
  ask(true);
}

/** Sends all requests of the view: with few digits while a slider moves. */
function ask(isFinal) {
  const here = open;
  const digits = isFinal ? RESTING : MOVING;
  const missing = here.view.needs?.();
  if (missing) {
    problem("");
    clear();
    mark(null);
    at("message").textContent = missing;
    at("answer").replaceChildren();
    here.misses = true;
    return;
  }
  if (here.misses) at("message").textContent = "";
  here.misses = false;
  here.began = performance.now();
  at("view").setAttribute("aria-busy", "true");
  const asked = here.view.questions(digits);
  // Answers that are no longer requested are no longer shown.
  here.lines.splice(asked.length).forEach((line) => line.forget());
  here.answers.splice(asked.length);
  here.wrong.splice(asked.length);
  here.waiting = new Set([...here.waiting].filter((place) => place < asked.length));
  asked.forEach(([question, options, file], place) => {
    here.lines[place] ??= new Line((answer, wrong, isLast) => show(here, place, answer, wrong, isLast));
    here.digits = options.digits ?? here.view.digits ?? digits;
    here.moves = !isFinal;
    here.waiting.add(place);
    here.lines[place].ask(question, options, !isFinal, file);
  });
}

function show(here, place, answer, wrong, isLast) {
  if (here !== open) return;
  if (isLast) here.waiting.delete(place);
  const rests = here.waiting.size === 0;
  if (rests) at("view").removeAttribute("aria-busy");
  // The error of one request stays while others are answered.
  here.wrong[place] = wrong ? wrong.message : null;
  const problems = here.wrong.filter(Boolean);
  problem((problems[0] ?? "").replace(/^--/, ""));
  mark(problems[0]?.match(/^--([a-z-]+)/)?.[1]);
  here.answers[place] = wrong ? null : answer;
  // An answer to an earlier request does not belong to the present one.
  if (wrong) here.waiting.forEach((other) => { here.answers[other] = null; });
  const answers = here.answers.filter(Boolean);
  const root = at("answer");
  if (answers.length === 0) {
    root.replaceChildren();
    here.view.forget?.();
    clear();
    return;
  }
  const parts = here.view.compose(here.answers);
  root.replaceChildren(...panel(parts));
  root.append(...files(root, answers));
  if (problems.length) clear();
  if (!rests || problems.length) return;
  const time = Math.round(performance.now() - here.began);
  at("state").textContent = `Certified to ${here.digits} digits${here.moves ? " while the slider moves" : ""}, in ${time} ms.`;
  if (!here.moves) at("spoken").textContent = parts.said[0] ?? "";
}

/** Removes the notes on an answer that is no longer shown. */
function clear() {
  at("state").textContent = "";
  at("spoken").textContent = "";
}

/** The same answer elsewhere: by a link, on the command line, as a file and in a notebook. */
function tail(answers) {
  return el("section", { class: "elsewhere", "aria-label": "The same elsewhere" },
    el("p", {}, el("a", { class: "restore", href: fragment() }, "A link to exactly this")), exported(answers));
}

/** Files of the answers, unless the view keeps them back: then the reason. */
function files(root, answers) {
  const why = open.view.withheld?.();
  return why ? [el("p", { class: "downloads withheld" }, why)] : [downloads(root, answers), tail(answers)];
}

function title() {
  const view = VIEWS.find((one) => one.id === state.view) ?? VIEWS[0];
  const ofRelease = state.release ? release()?.title ?? state.release : "Counts of your own";
  at("subject-name").textContent = inWords();
  at("title").textContent = view.about ?? ofRelease;
  document.title = `${view.title} ${view.about ?? inWords()}`;
}

async function begin() {
  const start = await (await fetch("api/start")).json();
  know(start.releases);
  LAWS.push(...start.laws);
  beginSafetab(start);
  beginTown(start);
  declare({ release: start.first });
  at("program").textContent = `assay ${start.version}, commit ${start.commit}. Everything is computed on this machine.`;
  restore(location.hash);
  onChange((changed) => {
    title();
    if (changed.includes("view")) enter();
    const ofSubject = ["release", "level", "counts", "neighbors", "given", "group"].some((key) => changed.includes(key));
    if (ofSubject) {
      draw(at("subject-form"), problem);
      if (!changed.includes("view")) enter();
    }
    for (const [name, one] of Object.entries(open.sliders)) one.show(state[name]);
  });
  addEventListener("hashchange", () => {
    // The link to the answer moves the focus, and changes nothing else.
    if (location.hash === "#answer") {
      history.replaceState(null, "", fragment());
      return;
    }
    restore(location.hash);
    enter();
  });
  at("controls").addEventListener("submit", (event) => event.preventDefault());
  title();
  draw(at("subject-form"), problem);
  enter();
}

begin().catch((error) => problem(error.message));
