
"use strict";
// What reading needs no script for is done without: this sorts, filters and opens what a link leads to.
const all = (selector, of = document) => [...of.querySelectorAll(selector)];

// Tables are sorted by a column: a tbody is a row of ours with the paper's below it.
for (const table of all("table.numbers")) {
  const heads = all("thead tr:last-child th", table), rows = all("tbody", table);
  const value = (body, at) => {
    const text = body.rows[0].cells[at]?.textContent.trim() ?? "";
    const number = parseFloat(text);
    return at > 0 && !Number.isNaN(number) ? number : text || null;
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
          if (typeof x !== typeof y) return typeof x === "string" ? 1 : -1;
          return sign * (typeof x === "string" ? x.localeCompare(y) : x - y);
        });
      }
      table.append(...order);
    });
  });
}

// A sign says by hovering what it says to a screen reader.
for (const mark of all(".mark[data-scale]")) mark.title = mark.ariaLabel;

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
      const fits = said.includes(text) && (scale === "" || marks.length > 0) && (verdict === "" || marks.some((m) => m.title.endsWith(": " + verdict)));
      sentence.hidden = !fits;
      if (fits) shown++;
    }
    for (const part of all(".sentences")) part.hidden = !part.querySelector(".sentence:not([hidden])");
    verdicts.querySelector("output").textContent = shown + " sentences";
  };
  verdicts.addEventListener("input", apply);
  verdicts.addEventListener("submit", (event) => event.preventDefault());
}

// Questions are filtered, and the choices of one row are outlined.
for (const part of all(".questions")) {
  const form = part.querySelector("form"), rows = all(".grid tbody tr", part);
  const { row, benchmark, expert, disagree } = form.elements;
  form.hidden = false;
  const cardOf = (line) => document.getElementById(decodeURIComponent(line.querySelector("a").hash.slice(1)));
  const apply = () => {
    const at = row.selectedIndex;
    const shown = rows.filter((line) => {
      const to = line.dataset.sent[at], choice = to === "-" ? -1 : parseInt(to, 36);
      all("td", line).forEach((cell, m) => cell.classList.toggle("to", m === choice));
      const fits = (benchmark.value === "" || line.dataset.benchmark === benchmark.value)
        && (expert.value === "" || Number(expert.value) === choice)
        && (!disagree.checked || line.classList.contains("disagree"));
      line.hidden = !fits;
      return fits;
    });
    shown.forEach((line, i) => {
      const steps = cardOf(line).querySelector(".steps");
      for (const [name, to] of [["before", shown[i - 1]], ["after", shown[i + 1]]]) {
        const link = steps.querySelector("." + name);
        if (!link) continue;
        link.hidden = !to;
        if (to) link.hash = to.querySelector("a").hash;
      }
    });
    form.querySelector("output").textContent = shown.length + " questions";
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  part.querySelector(".grid").addEventListener("click", (event) => {
    const line = event.target.closest("tbody tr");
    if (line && !event.target.closest("a")) line.querySelector("a").click();
  });
  for (const link of all("a[data-row]")) {
    if (link.hash !== "#" + part.id) continue;
    link.addEventListener("click", () => {
      row.value = link.dataset.row;
      benchmark.value = link.dataset.benchmark;
      expert.value = "";
      disagree.checked = false;
      apply();
    });
  }
  apply();
}

// What a link leads to is opened, and what is printed.
const open = () => {
  const id = decodeURIComponent(location.hash.slice(1));
  for (let at = id && document.getElementById(id); at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
};
addEventListener("hashchange", open);
open();
addEventListener("beforeprint", () => all("details").forEach((d) => { d.open = true; }));
