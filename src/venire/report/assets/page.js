"use strict";
// Tables: click a heading to sort, show all rows, save as CSV.  Without this script everything is still there to read.
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
    const lines = [Array.from(table.tHead.rows[0].cells).map((cell) => quote(safe(cell.textContent.trim())))];
    for (const row of table.tBodies[0].rows) lines.push(Array.from(row.cells).map((cell) => quote(safe(raw(cell)))));
    return lines.map((line) => line.join(",")).join("\n") + "\n";
  }

  function button(text, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", () => act(made));
    return made;
  }

  for (const table of document.querySelectorAll("table[data-name]")) {
    const body = table.tBodies[0];
    Array.from(table.tHead.rows[0].cells).forEach((header, place) => {
      const act = button(header.textContent, () => sort(table, place, header));
      header.replaceChildren(act);
      if (header.classList.contains("number")) for (const row of body.rows) row.cells[place].classList.add("number");
    });
    const tools = document.createElement("div");
    tools.className = "tools";
    const save = button("Save as CSV", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv" }));
      link.download = table.dataset.name + ".csv";
      link.click();
      URL.revokeObjectURL(link.href);
    });
    save.setAttribute("aria-label", "Save as CSV: " + table.dataset.name.replace(/_/g, " "));
    tools.append(save);
    if (body.rows.length > Number(table.dataset.shown)) {
      const words = () => (table.dataset.all === "yes" ? "Show fewer rows" : "Show all " + body.rows.length + " rows");
      tools.append(button(words(), (made) => {
        table.dataset.all = table.dataset.all === "yes" ? "no" : "yes";
        limit(table);
        made.textContent = words();
      }));
      limit(table);
    }
    table.closest("figure").append(tools);
  }

  // What does not fit scrolls sideways: say so, and let the keyboard do it.
  function mark() {
    for (const box of document.querySelectorAll(".canvas, .scroll")) {
      const wide = box.scrollWidth > box.clientWidth + 1;
      box.closest("figure").classList.toggle("wide", wide);
      if (box.classList.contains("canvas")) wide ? box.setAttribute("tabindex", "0") : box.removeAttribute("tabindex");
    }
  }
  mark();
  window.addEventListener("resize", mark);
})();
