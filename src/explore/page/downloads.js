// The shown answers as files: numbers as CSV and JSON, charts as SVG and PNG.

import { el } from "./dom.js";
import { state } from "./state.js";

function save(name, blob) {
  const address = URL.createObjectURL(blob);
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Text as a file. */
export function saveText(name, kind, text) {
  save(name, new Blob([text], { type: kind }));
}

/** A chart as a file of its own. */
export function svgText(element) {
  const copy = element.cloneNode(true);
  copy.removeAttribute("style");
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return `${new XMLSerializer().serializeToString(copy)}\n`;
}

/** A chart as pixels, at twice the resolution of the page. */
export async function png(element) {
  const address = URL.createObjectURL(new Blob([svgText(element)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const scale = 2;
    const canvas = el("canvas", {
      width: scale * Number(element.getAttribute("width")), height: scale * Number(element.getAttribute("height")),
    });
    const context = canvas.getContext("2d");
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => { canvas.toBlob(done, "image/png"); });
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Buttons for the answers and the charts that `root` shows. */
export function downloads(root, answers) {
  const stem = `assay-${state.view}`;
  const button = (label, name, act) => el("button", { type: "button", "data-download": name, click: act }, label);
  const files = answers.flatMap(({ question, csv, json }) => [
    csv && button(`${question}: CSV`, `${question}.csv`, () => saveText(`${stem}-${question}.csv`, "text/csv", csv)),
    json && button(`${question}: JSON`, `${question}.json`, () => saveText(`${stem}-${question}.json`, "application/json", json)),
  ].filter(Boolean));
  const charts = [...root.querySelectorAll("figure[data-chart]")].flatMap((figure) => {
    const name = figure.dataset.chart;
    const drawing = () => figure.querySelector("svg");
    return [
      button(`${name}: SVG`, `${name}.svg`, () => saveText(`${stem}-${name}.svg`, "image/svg+xml", svgText(drawing()))),
      button(`${name}: PNG`, `${name}.png`, async () => save(`${stem}-${name}.png`, await png(drawing()))),
    ];
  });
  return el("div", { class: "downloads", role: "group", "aria-label": "Downloads" }, files, charts);
}
