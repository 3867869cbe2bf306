// A file of the user: chosen, or dropped on its place.

import { el, id } from "./dom.js";

/** A place for a file, with more below it; `take(name, text)` gets the text of the chosen or dropped file, or `hold(file)` the file itself. */
export function filePlace({ name, accept, label, take, hold }, ...more) {
  const read = async (files) => {
    if (files.length === 0) return;
    if (hold) hold(files[0]);
    else take(files[0].name, await files[0].text());
  };
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
