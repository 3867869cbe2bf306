// A file of the user: chosen, or dropped on its place.

import { el, id } from "./dom.js";

/** A place for a file, with more below it; `take(name, text)` gets the chosen or dropped file. */
export function filePlace({ name, accept, label, take }, ...more) {
  const read = async (files) => { if (files.length) take(files[0].name, await files[0].text()); };
  const input = el("input", { type: "file", name, accept, id: id("file"), change: () => read(input.files) });
  const place = el("div", { class: "drop" }, el("label", { for: input.id }, label), input, more);
  const over = (is) => place.classList.toggle("over", is);
  place.addEventListener("dragover", (event) => { event.preventDefault(); over(true); });
  place.addEventListener("dragleave", () => over(false));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    over(false);
    read(event.dataTransfer.files);
  });
  return place;
}
