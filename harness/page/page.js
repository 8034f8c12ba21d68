
"use strict";
// What reading needs no script for is done without: this sorts, filters and opens what a link leads to.
const all = (selector, of = document) => [...of.querySelectorAll(selector)];

// Tables are sorted by a column: a tbody is a row of ours with the paper's below it.
for (const table of all("table.numbers")) {
  const heads = all("thead tr:last-child th", table), rows = all("tbody", table);
  const value = (body, at) => {
    const text = body.rows[0].cells[at]?.textContent.trim() ?? "";
    const number = parseFloat(text);
    return at === 0 ? text : Number.isNaN(number) ? null : number;
  };
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const first = at === 0 ? "ascending" : "descending", second = at === 0 ? "descending" : "ascending";
      const now = head.getAttribute("aria-sort"), next = now === null ? first : now === first ? second : null;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      table.classList.toggle("sorted", next !== null);
      let order = rows;
      if (next !== null) {
        head.setAttribute("aria-sort", next);
        const sign = next === "ascending" ? 1 : -1;
        order = rows.filter((body) => !body.classList.contains("section")).sort((a, b) => {
          const x = value(a, at), y = value(b, at);
          if (x === null || y === null) return (x === null) - (y === null);
          return sign * (at === 0 ? x.localeCompare(y) : x - y);
        });
      }
      table.append(...order);
    });
  });
}

// A sign says by hovering what it says to a screen reader.
for (const mark of all(".mark[data-scale]")) mark.title = mark.querySelector(".sr").textContent.trim();

// Sentences are filtered by their words and verdicts.
const verdicts = document.getElementById("filter-verdicts");
if (verdicts) {
  verdicts.hidden = false;
  const apply = () => {
    const text = verdicts.elements.text.value.trim().toLowerCase(), verdict = verdicts.elements.verdict.value, scale = verdicts.elements.scale.value;
    let shown = 0;
    for (const sentence of all(".sentence")) {
      const said = sentence.querySelector(".says").textContent.toLowerCase();
      const marks = all("summary .mark[data-scale]", sentence).filter((m) => scale === "" || m.dataset.scale === scale);
      const fits = said.includes(text) && (scale === "" || marks.length > 0) && (verdict === "" || marks.some((m) => m.title.endsWith(": " + verdict + ".")));
      sentence.hidden = !fits;
      if (fits) shown++;
    }
    for (const part of all(".sentences")) part.hidden = !part.querySelector(".sentence:not([hidden])");
    verdicts.querySelector("output").textContent = shown + " sentences";
  };
  verdicts.addEventListener("input", apply);
  verdicts.addEventListener("submit", (event) => event.preventDefault());
}

// What a link leads to is opened, and what is printed.
const open = () => {
  const id = decodeURIComponent(location.hash.slice(1));
  for (let at = id && document.getElementById(id); at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
};
addEventListener("hashchange", open);
open();
addEventListener("beforeprint", () => all("details").forEach((d) => { d.open = true; }));
