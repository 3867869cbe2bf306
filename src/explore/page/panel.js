// An answer for the reader: text, charts with their assumptions, tables.

import { el, svg } from "./dom.js";

/** A figure of the server with its caption. */
export function figure(chart) {
  const drawing = svg(chart.svg);
  // If it were narrower, its text could not be read: then it scrolls sideways.
  drawing.style.minWidth = `${Math.round(0.6 * Number(drawing.getAttribute("width")))}px`;
  return el("figure", { "data-chart": chart.name },
    el("div", { class: "card", tabindex: "0", role: "group", "aria-label": chart.label }, drawing),
    el("figcaption", {}, chart.caption));
}

/** A table whose first column names its rows; the rows in `red` are red. */
export function table({ caption, heading, rows, has_whole: hasWhole, red = [] }) {
  const cells = (row) => row.map((cell, column) => (column === 0
    ? el("th", { scope: "row" }, cell)
    : el("td", {}, cell)));
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption },
    el("table", {},
      el("caption", {}, el("span", {}, caption)),
      el("thead", {}, el("tr", {}, heading.map((cell) => (cell ? el("th", { scope: "col" }, cell) : el("td", {}))))),
      el("tbody", {}, rows.map((row, at) => el("tr", {
        class: [hasWhole && at + 1 === rows.length ? "whole" : "", red.includes(at) ? "red" : ""].join(" ").trim() || null,
      }, cells(row))))));
}

/** The assumptions. */
export function assumed(list) {
  return el("aside", { "aria-label": "Assumptions" }, el("h3", {}, "Assumptions"), el("ul", {}, list.map((one) => el("li", {}, one))));
}

/** Sentences, the first of them the answer. */
export function said(sentences) {
  return el("div", { class: "said" }, sentences.map((sentence) => el("p", {}, sentence)));
}

/** The parts of an answer, each in its place. */
export function panel(parts) {
  return [
    parts.said ? said(parts.said) : null,
    el("div", { class: "beside" },
      el("div", { class: "charts" }, (parts.charts ?? []).map(figure)),
      parts.assumed?.length ? assumed(parts.assumed) : null),
    (parts.tables ?? []).map(table),
    (parts.notes ?? []).map((note) => el("p", { class: "note" }, note)),
  ].flat().filter(Boolean);
}
