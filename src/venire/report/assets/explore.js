// Two systems, topic by topic, and the labels of their documents, from the data in the page.  The address of a view is
// #pair=a,b&topic=t&doc=d, with percent-encoded ids, so that it can be shared, and the browser's back button works.
(function () {
  const held = document.getElementById("data");
  const place = document.getElementById("explorer");
  if (!held || !place) return;
  const data = JSON.parse(held.textContent);
  const [ID, JUDGES, DOCS, LABELS, LISTS, SCORES, SLOPES, TEXT] = [0, 1, 2, 3, 4, 5, 6, 7];
  for (const topic of data.topics) topic[LABELS] = topic[LABELS].map((each) => each.replace(/\((\d+)\)/g, (_, n) => ".".repeat(n)));
  const MOST_NAMED = 5, MOST_COLUMNS = 12, MOST_LISTED = 5;
  const SVG = "http://www.w3.org/2000/svg";

  // Elements.  Names are only ever set as text.
  function add(parent, tag, attributes, text) {
    const made = tag.startsWith("svg:") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.append(made);
    return made;
  }

  // Addresses.
  const ids = encodeURIComponent;
  function address(view) {
    let text = "#pair=" + view.pair.map((n) => ids(data.systems[n])).join(",");
    if (view.topic !== undefined) text += "&topic=" + ids(data.topics[view.topic][ID]);
    if (view.doc !== undefined) text += "&doc=" + ids(view.doc);
    return text;
  }

  function decoded(text) {
    try { return decodeURIComponent(text); } catch { return text; }
  }

  function parse(hash) {
    const parts = {};
    for (const each of hash.replace(/^#/, "").split("&")) {
      const at = each.indexOf("=");
      if (at > 0) parts[each.slice(0, at)] = each.slice(at + 1);
    }
    if (parts.pair === undefined && parts.topic === undefined) return null;
    const view = { pair: data.pair.map((name) => data.systems.indexOf(name)), missing: [] };
    const names = parts.pair === undefined ? [] : parts.pair.split(",").map(decoded);
    names.slice(0, 2).forEach((name, n) => {
      const found = data.systems.indexOf(name);
      if (found < 0) view.missing.push(name); else view.pair[n] = found;
    });
    if (view.pair[0] === view.pair[1]) view.pair[1] = view.pair[0] ? 0 : 1;
    if (parts.topic !== undefined) {
      const name = decoded(parts.topic), found = data.topics.findIndex((each) => each[ID] === name);
      if (found < 0) view.missing.push(name); else view.topic = found;
    }
    if (parts.doc !== undefined) view.doc = decoded(parts.doc);
    return view;
  }

  // Numbers.
  const signed = (value) => (value > 0 ? "+" : value < 0 ? "\u2212" : "") + Math.abs(value).toFixed(3);
  function gap(topic, judge, [a, b]) {
    const scores = topic[SCORES][judge];
    return scores[a] === null || scores[b] === null ? null : (scores[a] - scores[b]) / 10000;
  }

  function gaps(pair) {
    return data.topics
      .map((topic, n) => ({ n, topic, gap: gap(topic, 0, pair) }))
      .filter((each) => each.gap !== null)
      .sort((one, other) => other.gap - one.gap || one.n - other.n);
  }

  function summary(rows, [a, b]) {
    const n = rows.length, values = rows.map((each) => each.gap);
    if (values.every((each) => each === 0)) return data.systems[a] + " and " + data.systems[b] + " score the same on every topic, by the labels of " + data.scored[0] + ".";
    const mean = values.reduce((sum, each) => sum + each, 0) / n;
    const sd = Math.sqrt(values.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (n - 1));
    const half = data.t * sd / Math.sqrt(n);
    const between = n > 1 && data.t !== null ? " [" + signed(mean - half) + ", " + signed(mean + half) + "]" : "";
    const better = values.filter((each) => each > 0).length, worse = values.filter((each) => each < 0).length;
    return data.systems[a] + " minus " + data.systems[b] + ": " + signed(mean) + between + " " + data.measure + " over " + n +
      (n === 1 ? " topic" : " topics") + ", by the labels of " + data.scored[0] + "; better on " + better + ", worse on " +
      worse + ", equal on " + (n - better - worse) + ". " + tested([a, b]);
  }

  // The same tests as in the leaderboard.
  function tested([a, b]) {
    const adjusted = ![a, b].some((n) => data.unadjusted.includes(data.systems[n]));
    return data.tests[(data.differ[a][b] === "1" ? 0 : 1) + (adjusted ? 0 : 2)];
  }

  // Who judged a topic is said where it differs between topics, and the labels are not pooled.
  const everyone = JSON.stringify((data.topics[0] || [])[JUDGES]);
  const pooled = !data.judges.some((each) => each[0] === data.scored[0]);
  const alike = pooled || data.topics.every((topic) => JSON.stringify(topic[JUDGES]) === everyone);
  function judged(topic) {
    if (alike) return "";
    const names = topic[JUDGES].map((n) => data.judges[n][0]);
    const shown = names.slice(0, MOST_NAMED).join(", ");
    return "; judged by " + shown + (names.length > MOST_NAMED ? " and " + (names.length - MOST_NAMED) + " more" : "");
  }

  const levels = (text) => Array.from(text).map((each) => (each === "." ? null : each.codePointAt(0) - 48));
  const given = (text) => levels(text).filter((each) => each !== null);
  const range = (text) => { const all = given(text); return all.length ? Math.max(...all) - Math.min(...all) : 0; };
  // What a gain at a rank adds to the score of a system on a topic, and how far the gains of two judges are apart.
  const slope = (topic, system, rank) => (rank > 0 ? topic[SLOPES][topic[SLOPES].length > 1 ? system : 0][rank - 1] / 100000 : 0);
  function apart(text) {
    const all = given(text).map((level) => data.gains[level]).sort((a, b) => a - b), n = all.length;
    return n < 2 ? 0 : all.reduce((sum, each, k) => sum + (2 * k - n + 1) * each, 0) * 2 / (n * (n - 1));
  }

  function disputed(topics, [a, b]) {
    const found = [];
    for (const n of topics) {
      const topic = data.topics[n];
      topic[DOCS].forEach((doc, d) => {
        const ranks = [a, b].map((system) => topic[LISTS][system].indexOf(d) + 1);
        const weight = Math.abs(slope(topic, a, ranks[0]) - slope(topic, b, ranks[1])) * apart(topic[LABELS][d]);
        if ((ranks[0] || ranks[1]) && range(topic[LABELS][d]) > 0) found.push({ topic: n, doc, d, weight });
      });
    }
    return found.sort((one, other) => other.weight - one.weight);
  }

  const span = (text) => {
    const all = given(text);
    return data.scale[Math.min(...all)] + "\u2013" + data.scale[Math.max(...all)];
  };

  // The view of a pair.
  function pick(view) {
    const box = add(place, "div", { class: "pick" });
    ["System", "compared with"].forEach((words, n) => {
      const label = add(box, "label", {}, words);
      const select = add(label, "select", { id: "pick-" + "ab"[n] });
      data.systems.forEach((name, k) => {
        const option = add(select, "option", { value: k }, name);
        option.selected = k === view.pair[n];
        option.disabled = k === view.pair[1 - n];
      });
      select.addEventListener("change", () => {
        const pair = view.pair.slice();
        pair[n] = Number(select.value);
        go({ pair, topic: view.topic }, select.id);
      });
    });
    const swap = add(box, "button", { type: "button", id: "pick-swap" }, "Swap");
    const topic = add(add(box, "label", {}, "Topic"), "input", { id: "pick-topic", list: "topic-ids", placeholder: "all topics" });
    topic.value = view.topic === undefined ? "" : data.topics[view.topic][ID];
    const choices = add(box, "datalist", { id: "topic-ids" });
    data.topics.forEach((each) => add(choices, "option", { value: each[ID] }));
    // A topic that is chosen from the list, or typed so that it can be no other, opens at once.
    topic.addEventListener("input", (event) => {
      const same = data.topics.filter((each) => each[ID].startsWith(topic.value.trim()));
      if (same.some((each) => each[ID] === topic.value.trim()) && (same.length === 1 || !/^(insertText|delete)/.test(event.inputType))) choose();
    });
    topic.addEventListener("change", choose);
    function choose() {
      const found = data.topics.findIndex((each) => each[ID] === topic.value.trim());
      topic.setCustomValidity(found < 0 && topic.value ? "This page holds no such topic." : "");
      if (topic.reportValidity()) go({ pair: view.pair, topic: found < 0 ? undefined : found });
    }
    swap.addEventListener("click", () => go({ pair: [view.pair[1], view.pair[0]], topic: view.topic }, swap.id));
  }

  function chart(view, rows) {
    const box = add(place, "div", { class: "chart" });
    const most = Math.max(...rows.map((each) => Math.abs(each.gap)), 1e-9), width = 1000 / rows.length, middle = 90;
    const tall = (value) => Math.max(Math.abs(value) / most * 84, 0.8);
    const svg = add(box, "svg:svg", { viewBox: "0 0 1000 180", preserveAspectRatio: "none", role: "group",
      "aria-label": "Difference by topic, largest first; arrow keys move, Enter opens a topic" });
    add(svg, "svg:line", { class: "zero", x1: 0, x2: 1000, y1: middle, y2: middle });
    add(box, "p", { class: "end above" }, data.systems[view.pair[0]] + " better \u2191 " + signed(most));
    add(box, "p", { class: "end below" }, data.systems[view.pair[1]] + " better \u2193");
    const others = data.scored.length > 1 ? "; short lines: other judges" : "";
    add(place, "p", { class: "soft" }, "Bars: " + data.scored[0] + others + ". Choose a bar, or a topic above, to see " + (data.documents ? "its documents." : "its difference."));
    const readout = add(place, "p", { class: "readout" });
    const tell = (each) => {
      const others = data.scored.slice(1, MOST_NAMED).map((name, n) => [name, gap(each.topic, n + 1, view.pair)]).filter((row) => row[1] !== null);
      readout.textContent = "Topic " + each.topic[ID] + (each.topic[TEXT] ? " (" + each.topic[TEXT] + ")" : "") + ": " + signed(each.gap) +
        (others.length ? "; " + others.map(([name, value]) => name + " " + signed(value)).join(", ") : "") + judged(each.topic) + ".";
    };
    const bars = rows.map((each, k) => {
      const link = add(svg, "svg:a", { href: address({ pair: view.pair, topic: each.n }), tabindex: -1,
        "aria-label": "Topic " + each.topic[ID] + ": " + signed(each.gap) + judged(each.topic) });
      if (each.n === view.topic) link.setAttribute("aria-current", "true");
      add(link, "svg:rect", { class: "hit", x: k * width, y: 0, width, height: 180 });
      add(link, "svg:rect", { class: "bar " + (each.gap > 0 ? "better" : "worse"), x: (k + 0.1) * width,
        y: each.gap > 0 ? middle - tall(each.gap) : middle, width: 0.8 * width, height: tall(each.gap) });
      data.scored.slice(1).forEach((_, n) => {
        const value = gap(each.topic, n + 1, view.pair);
        if (value === null) return;
        const y = Math.min(Math.max(middle - value / most * 84, 1), 178);
        add(link, "svg:rect", { class: "bar other", x: (k + 0.2) * width, y: y - 0.8, width: 0.6 * width, height: 1.6 });
      });
      link.addEventListener("focus", () => tell(each));
      link.addEventListener("mouseenter", () => tell(each));
      link.addEventListener("keydown", (event) => {
        const to = { ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: bars.length - 1 }[event.key];
        if (to === undefined || !bars[to]) return;
        event.preventDefault();
        link.setAttribute("tabindex", -1);
        bars[to].setAttribute("tabindex", 0);
        bars[to].focus();
      });
      return link;
    });
    // Ids of topics below the bars, where there is room.
    const room = box.clientWidth / rows.length, longest = Math.max(...rows.map((each) => each.topic[ID].length));
    if (room >= 13 && longest <= 12) {
      const names = document.createElement("div");
      names.className = "topics" + (longest * 7 > room ? " turned" : "");
      names.setAttribute("aria-hidden", "true");
      rows.forEach((each) => add(names, "span", {}, each.topic[ID]));
      box.after(names);
    }
    const at = Math.max(rows.findIndex((each) => each.n === view.topic), 0);
    if (bars.length) { bars[at].setAttribute("tabindex", 0); tell(rows[at]); }
  }

  function topicsTable(view, rows) {
    const box = add(place, "details", { class: "more" });
    add(box, "summary", {}, "Table of " + rows.length + (rows.length === 1 ? " topic" : " topics"));
    const table = add(add(box, "div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Differences by topic" }), "table");
    const head = add(add(table, "thead"), "tr");
    for (const words of ["topic", "difference"].concat(alike ? [] : "judged by")) add(head, "th", { scope: "col" }, words);
    const body = add(table, "tbody");
    for (const each of rows) {
      const row = add(body, "tr");
      add(add(row, "th", { scope: "row" }), "a", { href: address({ pair: view.pair, topic: each.n }) },
        each.topic[ID] + (each.topic[TEXT] ? ": " + each.topic[TEXT] : ""));
      add(row, "td", { class: "number" }, signed(each.gap));
      if (!alike) add(row, "td", {}, judged(each.topic).slice("; judged by ".length));
    }
  }

  function listDisputed(view) {
    if (!data.documents) return;
    const found = disputed(view.topic === undefined ? data.topics.keys() : [view.topic], view.pair);
    const line = add(place, "p", { class: "differ" });
    if (!found.length) { line.textContent = "Judges give no document here different labels."; return; }
    const many = "Judges differ on " + found.length + (found.length === 1 ? " document" : " documents");
    if (!found[0].weight) { line.textContent = many + ", none of which changes the difference."; return; }
    add(line, "b", {}, many + ", by weight on the difference: ");
    const links = add(line, "span");
    const more = add(line, "button", { type: "button", class: "more" });
    let shown = 0;
    function extend(step) {
      found.slice(shown, shown + step).forEach((each, n) => {
        if (shown + n) links.append(", ");
        const link = add(links, "a", { href: address({ pair: view.pair, topic: each.topic, doc: each.doc }) }, each.doc);
        links.append(" ");
        add(links, "span", { class: "whole" }, "(" + (view.topic === undefined ? "topic " + data.topics[each.topic][ID] + ", " : "") + span(data.topics[each.topic][LABELS][each.d]) + ")");
        if (shown && !n) link.focus();
      });
      shown += step;
      if (shown < found.length) more.textContent = "and " + (found.length - shown) + " more"; else more.remove();
    }
    extend(MOST_LISTED);
    more.addEventListener("click", () => extend(4 * MOST_LISTED));
  }

  // The view of a topic: both lists, with the labels of every judge.
  function topicView(view, rows) {
    const topic = data.topics[view.topic], at = rows.findIndex((each) => each.n === view.topic);
    const crumbs = add(place, "nav", { class: "crumbs", "aria-label": "Where you are" });
    add(crumbs, "a", { href: "#first" }, "Verdict");
    crumbs.append(" \u203a ");
    add(crumbs, "a", { href: address({ pair: view.pair }) }, view.pair.map((n) => data.systems[n]).join(" and "));
    crumbs.append(" \u203a topic " + topic[ID]);
    [["previous", -1], ["next", 1]].forEach(([words, step]) => {
      if (at < 0 || !rows[at + step]) return;
      crumbs.append(" \u00b7 ");
      add(crumbs, "a", { href: address({ pair: view.pair, topic: rows[at + step].n }) }, words + " topic");
    });
    const title = add(place, "h3", { id: "topic-title", tabindex: -1, class: "text" }, "Topic " + topic[ID] + (topic[TEXT] ? ": " + topic[TEXT] : ""));
    const value = gap(topic, 0, view.pair);
    view.columns = columnsOf(topic, view.pair);
    const many = view.columns.length > MOST_COLUMNS;
    view.crowd = many && isSparse(topic, view);
    view.counts = many && !view.crowd && !grid;
    add(place, "p", {}, view.pair.map((n) => data.systems[n]).join(" minus ") + ": " + (value === null ? "not known" : signed(value)) + judged(topic) + ".");
    if (!data.documents) {
      const each = data.scored.map((name, n) => [name, gap(topic, n, view.pair)]).filter((row) => row[1] !== null);
      if (each.length > 1) add(place, "p", {}, "By judge: " + each.map(([name, value]) => name + " " + signed(value)).join(", ") + ".");
      return [title, crumbs];
    }
    listDisputed(view);
    if (many && !view.crowd) {
      const words = grid ? "Show how many judges gave each label" : "Show the labels of all " + view.columns.length + " judges";
      const turn = add(add(place, "div", { class: "tools" }), "button", { type: "button", id: "turn" }, words);
      turn.addEventListener("click", () => { grid = !grid; wanted = "turn"; show(view, true); });
    }
    const box = add(place, "div", { class: "lists" });
    const wide = box.clientWidth / (getComputedStyle(box).gridTemplateColumns.split(" ").length || 1);
    const taken = view.crowd ? 138 : view.counts ? 170 : 23 * view.columns.length;
    view.letters = Math.max(wide < 450 ? 17 : 25, Math.floor((wide - 260 - taken) / 8));
    view.pair.forEach((system, n) => list(box, view, topic, system, view.pair[1 - n]));
    return [title, crumbs];
  }

  // Judges with a label in one of the lists, those with most labels first; people are before machines among equals.
  function columnsOf(topic, pair) {
    const docs = new Set(pair.flatMap((system) => topic[LISTS][system]).filter((d) => d >= 0));
    const count = topic[JUDGES].map((_, n) => Array.from(docs).filter((d) => topic[LABELS][d][n] !== ".").length);
    return topic[JUDGES].map((_, n) => n).filter((n) => count[n]).sort((a, b) => count[b] - count[a] || a - b);
  }

  // Of a crowd most judges label few of these documents: their labels are side by side, not in columns.
  function isSparse(topic, view) {
    const docs = Array.from(new Set(view.pair.flatMap((system) => topic[LISTS][system]).filter((d) => d >= 0)));
    const n = docs.reduce((sum, d) => sum + given(topic[LABELS][d]).length, 0);
    return 3 * n < docs.length * view.columns.length;
  }

  function list(box, view, topic, system, other) {
    const about = data.systems[system] + ": first " + data.depth + " results";
    const part = add(box, "div", { class: "list" });
    const scroll = add(part, "div", { class: "scroll", tabindex: 0, role: "region", "aria-label": about });
    const table = add(scroll, "table");
    add(table, "caption", {}, about);
    const head = add(add(table, "thead"), "tr");
    for (const words of ["rank", "document", "here / there", "labels"]) add(head, "th", { scope: "col" }, words === "here / there" ? "rank in " + data.systems[other] : words);
    const together = view.crowd || view.counts;
    if (together) add(head, "th", { scope: "col" }, view.crowd ? "by judge" : "label \u00d7 judges");
    else for (const n of view.columns.map((k) => topic[JUDGES][k])) {
      const cell = add(head, "th", { scope: "col", class: "judge", title: data.judges[n].filter(Boolean).join(", ") });
      add(cell, "span", {}, data.judges[n][0]);
    }
    const body = add(table, "tbody"), columns = 4 + (together ? 1 : view.columns.length);
    topic[LISTS][system].forEach((d, k) => entry(body, view, topic, { d, rank: k + 1, there: d < 0 ? 0 : topic[LISTS][other].indexOf(d) + 1, columns, system }));
    if (!topic[LISTS][system].length) add(add(body, "tr"), "td", { colspan: columns }, "no list for this topic");
  }

  function entry(body, view, topic, { d, rank, there, columns, system }) {
    const judged = d >= 0 && given(topic[LABELS][d]).length > 0;
    const row = add(body, "tr", judged ? {} : { class: "unjudged" });
    add(row, "td", { class: "number" }, rank);
    const name = add(row, "th", { scope: "row" });
    if (!judged) {
      name.textContent = d < 0 ? "not judged" : short(topic[DOCS][d], view.letters);
      if (d >= 0) name.title = topic[DOCS][d];
      add(row, "td", { class: "number" }, there || "\u2013");
      add(row, "td", { colspan: columns - 3 }, "not judged");
      return;
    }
    const doc = topic[DOCS][d], labels = topic[LABELS][d], wide = range(labels);
    const open = add(name, "button", { type: "button", "aria-expanded": "false", title: doc }, short(doc, view.letters));
    add(row, "td", { class: "number" }, there || "\u2013");
    add(row, "td", { class: wide ? (2 * wide >= data.scale.length - 1 ? "apart" : "slight") : "slight" }, wide ? "\u2260 " + span(labels) : "=");
    const all = levels(labels), named = (level) => topic[JUDGES].filter((_, n) => all[n] === level).map((n) => data.judges[n][0]);
    const crowd = view.crowd || view.counts ? add(row, "td", { class: "crowd" }) : null;
    const used = Array.from(new Set(given(labels))).sort((a, b) => b - a);
    if (view.counts) for (const level of used) {
      const names = named(level), both = add(crowd, "span", { class: "whole", title: data.scale[level] + ": " + names.join(", ") });
      add(both, "span", { class: "lab l" + shade(level) }, data.scale[level]);
      both.append("\u00d7" + names.length);
      crowd.append(" ");
    }
    const chips = view.counts ? [] : crowd ? view.columns.filter((n) => all[n] !== null).sort((a, b) => all[b] - all[a]) : view.columns;
    chips.forEach((n) => {
      const level = all[n];
      const judge = data.judges[topic[JUDGES][n]][0], text = level === null ? "\u00b7" : data.scale[level];
      const cell = add(crowd || row, crowd ? "span" : "td", { class: "lab" + (level === null ? "" : " l" + shade(level)), title: judge + ": " + (level === null ? "no label" : text) });
      cell.textContent = text.length > 2 ? level : text;
    });
    const detail = add(body, "tr", { class: "open" });
    detail.hidden = true;
    const cell = add(detail, "td", { colspan: columns });
    if (data.texts[doc]) add(cell, "p", { class: "text", dir: "auto" }, data.texts[doc]);
    const said = view.columns.length > MOST_COLUMNS ? used.map((level) => data.scale[level] + ": " + named(level).join(", ")).join("; ") :
      all.map((level, n) => (level === null ? null : data.judges[topic[JUDGES][n]][0] + ": " + data.scale[level])).filter(Boolean).join(", ");
    add(cell, "p", {}, doc + " \u2014 " + said);
    const toggle = (shown) => {
      detail.hidden = !shown;
      open.setAttribute("aria-expanded", String(shown));
      if (shown) opened = open;
    };
    open.addEventListener("click", () => toggle(detail.hidden));
    if (view.doc === doc) {
      row.classList.add("chosen");
      toggle(true);
      if (!view.focused || system === view.pair[0]) view.focused = open;
    }
  }

  // Long ids often differ at their ends.
  const short = (id, most) => (id.length > most ? id.slice(0, most - 15) + "\u2026" + id.slice(-14) : id);
  const shade = (level) => (data.scale.length < 2 ? 0 : Math.round(level / (data.scale.length - 1) * 4));

  // Showing a view, and going from one to another.
  let wanted = null, opened = null, grid = false;
  // Escape closes the document that was opened last.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !opened || opened.getAttribute("aria-expanded") !== "true") return;
    opened.click();
    opened.focus();
  });

  function go(view, focus) {
    wanted = focus;
    location.hash = address(view);
  }

  function show(view, move) {
    place.replaceChildren();
    pick(view);
    if (view.missing && view.missing.length) add(place, "p", { class: "warning" }, "This page does not hold " + view.missing.join(", ") + ".");
    const rows = gaps(view.pair);
    if (!rows.length) { add(place, "p", {}, "These systems have no topic in common."); return; }
    add(place, "p", {}, summary(rows, view.pair));
    if (rows.some((each) => each.gap !== 0)) chart(view, rows);
    topicsTable(view, rows);
    let target = document.getElementById("compare-title"), seen = target;
    if (view.topic === undefined) listDisputed(view); else [target, seen] = topicView(view, rows);
    window.dispatchEvent(new Event("resize"));
    if (!move) return;
    if (wanted) { document.getElementById(wanted).focus(); wanted = null; return; }
    seen.scrollIntoView();
    (view.focused || target).focus({ preventScroll: !view.focused });
  }

  // A cell of the map is a pair; rows and columns are the systems, best first.  One link lies on the chosen cell: the
  // pointer moves it, and so do the arrow keys.
  function map() {
    const box = document.querySelector("#stability_map .cells");
    if (!box || !data.all) return;
    const svg = box.ownerSVGElement, n = data.systems.length;
    const [left, top, wide] = ["x", "y", "width"].map((name) => Number(box.getAttribute(name)));
    const shares = (box.dataset.shares || "").split(" ");
    const cell = wide / n, caption = document.querySelector("#stability_map figcaption");
    svg.setAttribute("role", "group");
    const link = add(svg, "svg:a", { class: "cell" });
    const mark = add(link, "svg:rect", { width: cell, height: cell });
    caption.append(" Choose a cell to compare its two systems; arrow keys move.");
    const readout = add(caption, "p", { class: "readout", "aria-live": "polite" });
    let at = [0, 1];
    function move(row, column) {
      at = [row, column].map((each) => Math.min(Math.max(each, 0), n - 1));
      const [one, other] = at.map((each) => data.systems[each]);
      mark.setAttribute("x", left + at[1] * cell);
      mark.setAttribute("y", top + at[0] * cell);
      const share = shares[at[0] * n + at[1]];
      link.setAttribute("aria-label", "Compare " + one + " with " + other);
      if (one === other) link.removeAttribute("href"); else link.setAttribute("href", address({ pair: at }));
      link.setAttribute("tabindex", 0);
      readout.textContent = one === other ? one : one + " is ahead of " + other + " with probability " + share + ".";
    }
    svg.addEventListener("pointermove", (event) => {
      const seen = box.getBoundingClientRect();
      const [row, column] = [(event.clientY - seen.top) / seen.height, (event.clientX - seen.left) / seen.width];
      if (Math.min(row, column) >= 0 && Math.max(row, column) < 1) move(Math.floor(row * n), Math.floor(column * n));
    });
    link.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      move(at[0] + step[0], at[1] + step[1]);
    });
    move(0, 1);
  }
  document.getElementById("another_judge").addEventListener("toggle", function once(event) {
    event.currentTarget.removeEventListener("toggle", once, true);
    map();
  }, true);

  const first = { pair: data.pair.map((name) => data.systems.indexOf(name)) };
  place.hidden = false;
  document.getElementById("pair").hidden = true;
  show(parse(location.hash) || first, location.hash.includes("="));
  window.addEventListener("hashchange", () => {
    const view = parse(location.hash);
    if (view) show(view, true);
  });
})();
