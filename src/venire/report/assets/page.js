"use strict";
// Tables: sort by a heading, show all rows, save as CSV.  Figures: save as SVG.  Chapters: unfold where a link leads.
// Without this script everything is still there to read.
(function () {
  const raw = (cell) => (cell.dataset.value !== undefined ? cell.dataset.value : cell.textContent);

  function sort(table, place, header) {
    const up = header.getAttribute("aria-sort") === "descending";
    const rows = Array.from(table.tBodies[0].rows);
    const number = header.classList.contains("number");
    rows.sort((one, other) => {
      const a = raw(one.cells[place]), b = raw(other.cells[place]);
      if (a === "" || b === "") return (a === "") - (b === "");
      const order = number ? Number(a) - Number(b) : a.localeCompare(b, undefined, { numeric: true });
      return up ? order : -order;
    });
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", up ? "ascending" : "descending");
    table.tBodies[0].append(...rows);
    limit(table);
  }

  function limit(table) {
    const all = table.dataset.all === "yes", most = Number(table.dataset.shown);
    Array.from(table.tBodies[0].rows).forEach((row, n) => { row.hidden = !all && n >= most; });
  }

  function csv(table) {
    // A spreadsheet must not take a name for a formula.
    const formula = (text) => /^[=+\-@\uff1d\uff0b\uff0d\uff20\t]/.test(text) && text !== "-" && Number.isNaN(Number(text));
    const safe = (text) => (formula(text) ? "'" + text : text);
    const quote = (text) => (/[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text);
    const lines = [Array.from(table.tHead.rows[0].cells).map((cell) => quote(safe(raw(cell).trim())))];
    for (const row of table.tBodies[0].rows) lines.push(Array.from(row.cells).map((cell) => quote(safe(raw(cell).trim()))));
    return lines.map((line) => line.join(",")).join("\n") + "\n";
  }

  function save(text, type, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  function button(text, label, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    if (label) made.setAttribute("aria-label", text + ": " + label.replace(/_/g, " "));
    made.addEventListener("click", () => act(made));
    return made;
  }

  // A copy of a picture that needs no style sheet.
  const PAINT = ["fill", "stroke", "stroke-width", "opacity", "font-family", "font-size", "font-weight", "text-anchor"];
  function standalone(svg) {
    const copy = svg.cloneNode(true), originals = svg.querySelectorAll("*");
    copy.querySelectorAll("*").forEach((each, n) => {
      const seen = getComputedStyle(originals[n]);
      for (const name of PAINT) if (seen.getPropertyValue(name)) each.setAttribute(name, seen.getPropertyValue(name));
    });
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    return new XMLSerializer().serializeToString(copy);
  }

  function tools(figure) {
    const made = document.createElement("div");
    made.className = "tools";
    figure.append(made);
    return made;
  }

  function equip(root) {
    for (const table of root.querySelectorAll("table[data-name]")) {
      const body = table.tBodies[0], name = table.dataset.name;
      Array.from(table.tHead.rows[0].cells).forEach((header, place) => {
        if (header.classList.contains("number")) for (const row of body.rows) row.cells[place].classList.add("number");
        if (table.dataset.plain) return;
        header.replaceChildren(button(header.textContent, "", () => sort(table, place, header)));
      });
      const bar = tools(table.closest("figure"));
      bar.append(button("Save as CSV", name, () => save(csv(table), "text/csv", name + ".csv")));
      if (body.rows.length > Number(table.dataset.shown)) {
        const words = () => (table.dataset.all === "yes" ? "Show fewer rows" : "Show all " + body.rows.length + " rows");
        const more = button(words(), "", (made) => {
          table.dataset.all = table.dataset.all === "yes" ? "no" : "yes";
          limit(table);
          made.textContent = words();
        });
        bar.prepend(more);
        limit(table);
      }
    }
    for (const canvas of root.querySelectorAll("figure > .canvas")) {
      const figure = canvas.parentElement;
      tools(figure).append(button("Save as SVG", figure.id, () =>
        save(standalone(canvas.querySelector("svg")), "image/svg+xml", figure.id + ".svg")));
    }
  }

  // A tap on a row of the leaderboard names the judges whose marks are there.
  const board = document.querySelector("#leaderboard");
  if (board) {
    const readout = document.createElement("p");
    readout.className = "readout";
    readout.setAttribute("role", "status");
    readout.hidden = true;
    board.querySelector("figcaption").before(readout);
    board.addEventListener("click", (event) => {
      const svg = event.target.closest("tbody svg.row");
      if (!svg) return;
      const far = (each) => { const at = each.getBoundingClientRect(); return Math.abs(at.left + at.width / 2 - event.clientX); };
      const marks = Array.from(svg.querySelectorAll(".dot, .score")).filter((each) => far(each) < 9).sort((one, other) => far(one) - far(other));
      readout.textContent = svg.closest("tr").querySelector("th").textContent + ": " + (marks.slice(0, 5).map((each) => each.textContent).join("; ") || "no judge here");
      readout.hidden = false;
    });
  }

  // What does not fit scrolls sideways: say so, and let the keyboard do it.
  function mark() {
    for (const box of document.querySelectorAll(".canvas, .scroll")) {
      const wide = box.scrollWidth > box.clientWidth + 1;
      const figure = box.closest("figure, .list");
      if (figure) figure.classList.toggle("wide", wide);
      if (box.classList.contains("canvas")) wide ? box.setAttribute("tabindex", "0") : box.removeAttribute("tabindex");
    }
  }

  // A link to something folded unfolds it.
  function unfold() {
    const target = location.hash.length > 1 && !location.hash.includes("=") && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    if (target.matches("article.chapter")) target.querySelector("details").open = true;
    target.scrollIntoView();
    mark();
  }

  equip(document);
  mark();
  unfold();
  window.addEventListener("resize", mark);
  window.addEventListener("hashchange", unfold);
  document.addEventListener("toggle", mark, true);
  const folded = [];
  window.addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("details:not([open])")) { each.open = true; folded.push(each); }
  });
  window.addEventListener("afterprint", () => { for (const each of folded.splice(0)) each.open = false; });
})();
