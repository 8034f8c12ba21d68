
"use strict";
// What reading needs no script for is done without: this sorts, filters and opens what a link leads to.
const all = (selector, of = document) => [...of.querySelectorAll(selector)];

// An element with text and children in it.
const make = (name, properties, ...inside) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...inside);
  return element;
};

// Tables are sorted by a column: a tbody is a row of ours with the paper's below it.
for (const table of all("table.numbers")) {
  const heads = all("thead th:not([colspan])", table), rows = all("tbody", table);
  const value = (body, at) => {
    const text = body.rows[0].cells[at]?.textContent.trim() ?? "";
    const number = parseFloat(text);
    return at > 0 && !Number.isNaN(number) ? number : text || null;
  };
  heads.forEach((head, at) => {
    const button = make("button", { type: "button" }, ...head.childNodes);
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

// What a mark says when the pointer rests on it stands below the figure once it is clicked or touched; a button says one after the other.
for (const drawing of all(".drawing:has(circle)")) {
  const marks = all("circle", drawing), said = make("span", { ariaLive: "polite" }), next = make("button", { type: "button" }, "Next mark");
  drawing.querySelector("figcaption").before(make("p", { className: "worth" }, next, " ", said));
  let told = -1;
  drawing.addEventListener("click", (event) => {
    const at = event.target === next ? (told + 1) % marks.length : marks.indexOf(event.target.closest("circle"));
    if (at < 0) return;
    told = at;
    said.textContent = marks[at].textContent;
    marks.forEach((mark, i) => mark.classList.toggle("told", i === at));
  });
}

// In a plane of cost and accuracy a point of accuracy is worth what the slider says, and the row is best that has most left after its costs.
// A mark that would hide another is drawn beside its place, which data-x and data-y say.
for (const form of all(".worth:has(input)")) {
  const slider = form.querySelector("input"), said = form.querySelector("output");
  const rows = all("circle[data-row]", form.parentElement).map((at) => ({ at, name: at.dataset.row, cost: Number(at.dataset.cost), accuracy: Number(at.dataset.accuracy), x: Number(at.dataset.x ?? at.getAttribute("cx")), y: Number(at.dataset.y ?? at.getAttribute("cy")) }));
  const edge = (key, sign) => rows.reduce((a, b) => (sign * (b[key] - a[key]) > 0 ? b : a));
  const cheap = edge("cost", -1), dear = edge("cost", 1), low = edge("accuracy", -1), high = edge("accuracy", 1);
  // Prices of a point at which another row becomes the best, from nothing on.
  const turns = [];
  for (let at = rows.filter((r) => r.cost === cheap.cost).reduce((a, b) => (b.accuracy > a.accuracy ? b : a)); ;) {
    const price = (r) => (r.cost - at.cost) / (r.accuracy - at.accuracy);
    const better = rows.filter((r) => r.accuracy > at.accuracy);
    if (better.length === 0) break;
    const next = better.reduce((a, b) => (price(b) < price(a) ? b : a));
    turns.push(price(next));
    at = next;
  }
  if (turns.length === 0 || turns[0] <= 0) continue; // the cheapest is the best at any price
  const least = turns[0] / 2, most = 2 * turns[turns.length - 1];
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  line.setAttribute("class", "iso");
  rows[0].at.before(line);
  const apply = () => {
    const worth = least * (most / least) ** (slider.value / slider.max);
    const left = (r) => r.accuracy - r.cost / worth;
    const [best, second] = [...rows].sort((a, b) => left(b) - left(a));
    for (const r of rows) r.at.classList.toggle("best", r === best);
    // All that are as good as the best lie on a line, of which the part between the lowest and the highest row is drawn.
    const x = (cost) => cheap.x + (cost - cheap.cost) * (dear.x - cheap.x) / (dear.cost - cheap.cost);
    const y = (accuracy) => low.y + (accuracy - low.accuracy) * (high.y - low.y) / (high.accuracy - low.accuracy);
    const from = Math.max(cheap.cost, best.cost - (best.accuracy - low.accuracy) * worth), to = Math.min(dear.cost, best.cost + (high.accuracy - best.accuracy) * worth);
    for (const [end, cost] of [["1", from], ["2", to]]) {
      line.setAttribute("x" + end, x(cost));
      line.setAttribute("y" + end, y(best.accuracy + (cost - best.cost) / worth));
    }
    const unit = slider.dataset.unit, price = Number(worth.toPrecision(3));
    const priced = unit.startsWith("$") ? "$" + price + unit.slice(1) : price + unit;
    said.textContent = priced + ": best is " + best.name + ", which leaves " + left(best).toFixed(1) + " points of its " + best.accuracy.toFixed(1) + " after costs" + (second ? "; next is " + second.name + " with " + (left(best) - left(second)).toFixed(2) + " less" : "") + ". That is by the marks alone, without their intervals.";
    slider.setAttribute("aria-valuetext", priced + ", best is " + best.name);
  };
  slider.addEventListener("input", apply);
  form.hidden = false;
  apply();
}

// A sign says by hovering what it says to a screen reader.
for (const mark of all(".mark[role=img]")) mark.title = mark.ariaLabel;

// Sentences are filtered by their words and verdicts.
const verdicts = document.getElementById("filter-verdicts");
if (verdicts) {
  verdicts.hidden = false;
  const apply = () => {
    const text = verdicts.elements.text.value.trim().toLowerCase(), verdict = verdicts.elements.verdict.value, scale = verdicts.elements.scale.value;
    let shown = 0;
    for (const sentence of all(".sentence")) {
      const said = sentence.querySelector(".says").textContent.toLowerCase();
      const marks = all("summary .mark[role=img]", sentence).filter((m) => scale === "" || m.ariaLabel.startsWith(scale + ": "));
      const fits = said.includes(text) && (scale === "" || marks.length > 0) && (verdict === "" || marks.some((m) => m.ariaLabel.endsWith(": " + verdict)));
      sentence.hidden = !fits;
      if (fits) shown++;
    }
    for (const part of all(".sentences")) part.hidden = !part.querySelector(".sentence:not([hidden])");
    verdicts.querySelector("output").textContent = shown + " sentences";
  };
  verdicts.addEventListener("input", apply);
  verdicts.addEventListener("submit", (event) => event.preventDefault());
}

// Cards of questions are packed: a list of JSON, compressed, in base64.
const unpacked = async (packed) => {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  return JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
};

// All questions of a set are packed by column: glances makes one of each.
const glances = (all, part) => all.ids.map((id, q) => ({
  id, anchor: ("q-" + part.id.slice(2) + "-" + id).trim().split(/\s+/).join("-"),
  benchmark: all.benchmarks[all.of[q]],
  sent: all.sent.map((row) => row[q]).join(""),
  cells: all.experts.map((x) => ({ mark: all.signs[parseInt(x.sign[q], 36)], right: x.right[q], of: x.of[q], usd: x.usd[q],
    rightAs: (x.read_right[q] ?? []).map((text) => text || all.gold[q]), othersAs: x.read_others[q] ?? [] })),
}));

// A line of the grid, like those that the page has from the start.
const lineOf = (glance) => {
  const line = make("tr", { id: glance.anchor }, make("th", { scope: "row" }, make("a", { href: "#" + encodeURIComponent(glance.anchor) }, make("bdi", {}, glance.id))),
    ...glance.cells.map(({ mark, right, of }) => mark
      ? make("td", {}, make("i", { className: "mark " + mark.Class, ariaHidden: "true" }, mark.Sign), make("span", { className: "sr" }, mark.Word), ...of > 1 ? [" ", make("small", {}, right + "/" + of)] : [])
      : make("td")));
  Object.assign(line.dataset, { benchmark: glance.benchmark, sent: glance.sent });
  line.classList.toggle("disagree", new Set(glance.cells.filter((c) => c.of).map((c) => 2 * c.right > c.of)).size === 2);
  return line;
};

// A card of what is known of a question at a glance, and the command that shows the rest.
const glanceCard = (glance, part, at) => {
  const names = all(".grid thead th", part).slice(1).map((th) => th.textContent), rows = all("[name=row] option", part).map((o) => o.textContent);
  const table = (kind, head, lines) => make("table", { className: "words " + kind },
    make("thead", {}, make("tr", {}, ...head.map((h) => make("th", { scope: "col" }, h)))),
    make("tbody", {}, ...lines.map(([first, ...rest]) => make("tr", {}, make("th", { scope: "row" }, first), ...rest.map((x) => make("td", {}, x))))));
  const steps = [make("a", { className: "before", href: "#" }, "previous"), " ", make("a", { className: "after", href: "#" }, "next"), " ", make("a", { className: "close", href: "#" + part.id }, "close")];
  if (at.dataset.answers) steps.push(" ", make("a", { href: at.dataset.answers + encodeURIComponent(glance.id) }, "whole answers"));
  return make("article", { className: "card", tabIndex: -1 },
    make("h4", {}, make("bdi", {}, glance.id), " ", make("small", {}, glance.benchmark)),
    make("p", { className: "steps" }, ...steps),
    table("answers", ["Expert", "Verdict", "Right", "Dollars per answer", "Right ones read as", "Others read as"], glance.cells.map((c, m) => [names[m], c.mark?.Word ?? "", c.right + " of " + c.of, String(c.usd), c.rightAs.join(" | "), c.othersAs.join(" | ")])),
    table("decisions", ["Row", "Sends it to most"], rows.map((r, i) => [r, glance.sent[i] === "-" ? "" : names[parseInt(glance.sent[i], 36)]])),
    make("p", { className: "where" }, "Its text, every answer and every decision:"),
    make("pre", { className: "commands" }, at.dataset.show + glance.id));
};

// Questions are filtered, the choices of one row are outlined, and a card is opened for the address.
const cards = all(".questions").map((part) => {
  const form = part.querySelector("form"), body = part.querySelector(".grid tbody"), at = part.querySelector(".cards");
  const { row, benchmark, expert, disagree, every } = form.elements, sample = all("tr", body);
  let of = null, known = null, lines = null, rows = sample, shown = rows, opened = null;
  form.hidden = false;
  const steps = () => {
    const here = shown.indexOf(opened);
    for (const [name, to] of [["before", shown[here - 1]], ["after", here < 0 ? undefined : shown[here + 1]]]) {
      const link = at.querySelector("." + name);
      if (!link) continue;
      link.hidden = !to;
      if (to) link.hash = "#" + encodeURIComponent(to.id);
    }
  };
  const apply = () => {
    const index = row.selectedIndex;
    shown = rows.filter((line) => {
      const to = line.dataset.sent[index], choice = to === "-" ? -1 : parseInt(to, 36);
      all("td", line).forEach((cell, m) => cell.classList.toggle("to", m === choice));
      const fits = (benchmark.value === "" || line.dataset.benchmark === benchmark.value)
        && (expert.value === "" || Number(expert.value) === choice)
        && (!disagree.checked || line.classList.contains("disagree"));
      line.hidden = !fits;
      return fits;
    });
    steps();
    form.querySelector("output").textContent = shown.length + " questions";
  };
  // The sample, or all questions in the order of the set, those that are scored for nobody last.
  const list = async (whole) => {
    if (whole && !lines) {
      known = new Map(glances(await unpacked(at.dataset.every), part).map((g) => [g.anchor, g]));
      const here = new Map(sample.map((line) => [line.id, line]));
      lines = [...[...known.values()].map((g) => here.get(g.anchor) ?? lineOf(g)), ...sample.filter((line) => !known.has(line.id))];
      for (const line of lines) {
        if (![...benchmark.options].some((o) => o.textContent === line.dataset.benchmark)) benchmark.append(make("option", {}, line.dataset.benchmark));
      }
    }
    if (rows === (whole ? lines : sample)) return;
    rows = whole ? lines : sample;
    body.replaceChildren(...rows);
  };
  form.addEventListener("input", async () => {
    if (every) await list(every.checked);
    apply();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  part.querySelector(".grid").addEventListener("click", (event) => {
    const line = event.target.closest("tbody tr");
    if (line && !event.target.closest("a")) line.querySelector("a").click();
  });
  for (const line of all("tr[data-row]")) {
    const heads = all("thead th:not([colspan])", line.closest("table"));
    for (const link of all("a", line)) {
      if (link.hash !== "#" + part.id) continue;
      link.addEventListener("click", () => {
        row.value = line.dataset.row;
        benchmark.value = heads[link.closest("td, th").cellIndex].dataset.benchmark ?? "";
        if (benchmark.selectedIndex < 0) benchmark.value = ""; // an average
        expert.value = "";
        disagree.checked = false;
        apply();
      });
    }
  }
  apply();
  return async (id) => {
    if (every && !rows.some((r) => r.id === id) && id.startsWith("q-" + part.id.slice(2) + "-")) {
      every.checked = true; // an address of one that the sample does not have
      await list(true);
      apply();
    }
    const line = rows.find((r) => r.id === id) ?? null;
    opened?.classList.remove("opened");
    opened = line;
    at.hidden = line === null;
    if (line === null) return at.replaceChildren();
    line.classList.add("opened");
    of ??= unpacked(at.dataset.cards).then((list) => new Map(list));
    const card = (await of).get(id);
    if (opened !== line) return; // another was opened meanwhile
    if (card) at.innerHTML = card; // escaped when the page was made, and the page's policy runs nothing of it
    else at.replaceChildren(glanceCard(known.get(id), part, at));
    steps();
    line.scrollIntoView({ block: "nearest" });
    at.scrollIntoView({ block: "nearest" });
    at.querySelector(".card").focus({ preventScroll: true });
  };
});

// Keys lead to the question before and the one after, and close a card.
addEventListener("keydown", (event) => {
  const name = { ArrowLeft: ".before", ArrowRight: ".after", Escape: ".close" }[event.key];
  const link = name && document.querySelector(".card " + name + ":not([hidden])");
  if (!link || event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, select, .scroll")) return;
  event.preventDefault();
  link.click();
});

// A menu closes behind what was chosen of it, on Escape and when something else is clicked.
for (const menu of all(".menu")) {
  menu.addEventListener("click", (event) => { if (event.target.closest("a")) menu.open = false; });
  addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

// What was not laid out yet on the way to where a link leads changes its height, which not every browser allows for: it is led there again.
const follow = (hash, times = 10) => requestAnimationFrame(() => {
  const to = location.hash === hash && document.getElementById(decodeURIComponent(hash.slice(1))); // the address may not be there at once
  if (to && to.tagName !== "TR") to.scrollIntoView(); // a question has a card that is led to
  if (times > 1) follow(hash, times - 1);
});
addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link) follow(link.hash);
});
if (location.hash && performance.getEntriesByType("navigation")[0].type === "navigate") follow(location.hash);

// What a link leads to is opened.
const open = () => {
  const id = decodeURIComponent(location.hash.slice(1));
  for (let at = id && document.getElementById(id); at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  for (const show of cards) show(id);
};
addEventListener("hashchange", open);
open();
