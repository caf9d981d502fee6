// Judging by keyboard.  Pages work without this script: it takes over forms that a browser could send by itself.
//
// An answer is put into the outbox (local storage, by study and assessor) before the next task is shown, and leaves it
// when the server has stored it.  The next tasks wait in the page, hidden, with their documents loaded.
"use strict";
(() => {
const { study, assessor } = document.body.dataset;
const AHEAD = 5, KEPT = 10, LONGEST_WAIT = 5000;
const find = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const stage = find("#stage"), nothing = find("#nothing");
const state = {
  csrf: document.body.dataset.csrf, done: +document.body.dataset.done, left: +document.body.dataset.left,
  since: +document.body.dataset.since, rest: +document.body.dataset.rest,
  given: [],          // answers of this page, the last one last: {article, key, said}
  began: 0, failures: 0, sending: false, asking: false, again: false, stopped: false, timer: 0, look: 0,
};

// ---- Outbox: one entry of local storage per answer, so that two tabs cannot overwrite each other's.
const OUTBOX = `venire outbox ${study}/${assessor}/`, REJECTED = `venire rejected ${study}/${assessor}/`;
let last = 0;
const outbox = {
  names: () => Object.keys(localStorage).filter((each) => each.startsWith(OUTBOX)).sort(),
  read: (name) => JSON.parse(localStorage.getItem(name)),
  put(fields) {
    last = Math.max(last + 1, Date.now(), ...outbox.names().slice(-1).map((each) => +each.slice(OUTBOX.length).split(" ")[0] + 1));
    localStorage.setItem(`${OUTBOX}${String(last).padStart(16, "0")} ${fields.key}`, JSON.stringify({ fields, at: Date.now() }));
  },
  remove: (name) => localStorage.removeItem(name),
  reject(name) {
    localStorage.setItem(name.replace(OUTBOX, REJECTED), localStorage.getItem(name));
    outbox.remove(name);
  },
  ids: () => outbox.names().map(outbox.read).filter((each) => !each.fields.withdraw).map((each) => `${each.fields.task}-${each.fields.repeat}`),
};

async function send() {
  if (state.sending || state.stopped) return;
  state.sending = true;
  clearTimeout(state.timer);
  try {
    if (navigator.locks) await navigator.locks.request(OUTBOX, sendAll);
    else await sendAll();
    state.failures = 0;
  } catch (error) {
    state.failures += 1;
    state.timer = setTimeout(send, Math.min(LONGEST_WAIT, 250 * 2 ** state.failures) * (0.75 + Math.random() / 2));
  } finally {
    state.sending = false;
    tellWaiting();
  }
  if (!state.failures && !state.stopped) outbox.names().length ? send() : fill();
}

async function sendAll() {
  for (const name of outbox.names()) {
    const entry = localStorage.getItem(name) && outbox.read(name);
    if (!entry) continue;                      // another tab sent it
    let reply = await post(entry);
    if (reply.status === 403 && await refresh()) reply = await post(entry);
    if (reply.status >= 500 || reply.status === 429 || reply.status === 403) throw new Error(reply.status);
    const told = await reply.json();
    if (reply.status === 401) return stop(`Not stored: your session has expired, or your access to this study was ended. ${kept()} An invitation sends them.`);
    if (reply.status === 409) return stop(`${told.error} ${kept()} They are sent when ${assessor} judges in this browser again.`);
    if (told.status === "refused") return stop(`Not stored: ${told.why || "your access to this study has ended."} ${kept()}`);
    if (!reply.ok) {
      outbox.reject(name);
      notify(`An answer was not accepted: ${told.error}`);
      continue;
    }
    outbox.remove(name);
    state.failures = 0;
    if (told.status === "surplus") notify("Your answer came late, when the task had been given to somebody else. It is stored beside those that count.");
    tellWaiting();
  }
}

const post = (entry) => ask("/answer", {
  method: "POST",
  body: new URLSearchParams({ ...entry.fields, assessor, csrf: state.csrf, ago: Math.max(0, (Date.now() - entry.at) / 1000).toFixed(1) }),
});

async function ask(path, options = {}) {
  const abort = new AbortController(), timer = setTimeout(() => abort.abort(), 15000);
  try {
    return await fetch(path, { ...options, headers: { Accept: "application/json" }, signal: abort.signal, cache: "no-store" });
  } finally { clearTimeout(timer); }
}

async function refresh() {                     // the secret of the forms changes with the session
  const reply = await ask("/next?n=0");
  const told = reply.ok ? await reply.json() : {};
  if (told.assessor !== assessor || told.csrf === state.csrf) return false;
  state.csrf = told.csrf;
  return true;
}

// ---- Tasks: the first one that is not hidden is on the screen.
const tasks = () => all("article.task", stage);
const shown = () => tasks().find((each) => !each.hidden);
const ahead = () => tasks().filter((each) => each.hidden && !each.dataset.answered);   // in the order in which they came

async function fill() {
  if (state.stopped || (state.again = state.asking)) return;   // asked again when the answer is there
  clearTimeout(state.look);
  const known = [...tasks().filter((each) => !each.dataset.answered).map((each) => each.dataset.id), ...outbox.ids()];
  if (ahead().length >= AHEAD - 2 && shown()) return;
  state.asking = true;
  try {
    const reply = await ask(`/next?n=${AHEAD}&have=${known.join(",")}`);
    if (reply.status === 401) return stop(`Your session has expired, or your access to this study was ended. ${kept()} Ask the organiser for an invitation.`);
    if (!reply.ok) throw new Error(reply.status);
    const told = await reply.json();
    if (told.assessor !== assessor) return stop(`This browser is now used by ${told.assessor}. ${kept()}`);
    state.csrf = told.csrf;
    if (state.failures) send();                // the server is there again
    count(told.standing);
    told.tasks.forEach(append);
    if (!shown()) advance();
    if (!shown() && !outbox.names().length) explain(told.standing);
  } catch (error) {
    // looked for again below
  } finally {
    state.asking = false;
    if (state.again) fill();
    else if (!shown()) state.look = setTimeout(fill, nothing.dataset.quiet ? 5000 : 1000);
  }
}

function append({ id, html }) {
  if (tasks().some((each) => each.dataset.id === id && !each.dataset.answered) || outbox.ids().includes(id)) return;
  tasks().filter((each) => each.dataset.id === id).forEach((each) => each.remove());
  const holder = document.createElement("template");
  holder.innerHTML = html;
  const article = find("article", holder.content);
  article.hidden = true;
  prepare(article);
  stage.insertBefore(article, nothing);
}

function prepare(article) {
  all("iframe", article).forEach((frame) => {
    const listen = () => frame.contentDocument?.addEventListener("keydown", pressed);
    frame.tabIndex = -1;
    frame.addEventListener("load", listen);
    listen();
  });
}

function advance() {
  const next = ahead()[0];
  nothing.hidden = Boolean(next);
  delete nothing.dataset.quiet;
  if (next) return show(next);
  find("h1", nothing).textContent = outbox.names().length ? "One moment: your answers are being sent." : "One moment.";
  find("p", nothing).textContent = outbox.names().length ? "They are kept in this browser until the server has stored them. The next task comes then." : "";
  nothing.hidden = false;
}

function show(article) {
  tasks().forEach((each) => { if (each !== article) each.hidden = true; });
  nothing.hidden = true;
  article.hidden = false;
  state.began = performance.now();
  find("h1", article).focus({ preventScroll: true });
}

function explain(standing) {
  const [title, words] = standing.revoked ? ["Your access to this study has ended.", "Nothing that you send is stored any more. Ask the organiser if that is a mistake."]
    : standing.paused ? ["The study is paused.", "What you have judged is stored. This page continues by itself when the study does."]
    : standing.left ? ["Nothing to judge right now.", "Others are working on the remaining tasks. This page continues by itself if one becomes free."]
    : ["All done. Thank you!", "You have judged everything that was meant for you. Press b to change your last answer."];
  find("h1", nothing).textContent = title;
  find("p", nothing).textContent = words;
  nothing.hidden = false;
  nothing.dataset.quiet = "1";
  say(title);
}

// ---- Answers.
function answer(form, button) {
  const article = form.closest("article"), fields = Object.fromEntries(new FormData(form));
  if (button && button.name) fields[button.name] = button.value;
  const change = Boolean(fields.replaces);
  fields.key = crypto.randomUUID ? crypto.randomUUID() : fields.key;
  fields.seconds = ((performance.now() - state.began) / 1000).toFixed(2);
  ["csrf", "assessor", "began"].forEach((each) => delete fields[each]);
  outbox.put(fields);                          // before anything else is shown
  article.dataset.answered = fields.key;
  mark(article, button);
  state.given = [...state.given.filter((each) => each.article !== article), { article, key: fields.key }];
  tasks().filter((each) => each.dataset.answered && !state.given.slice(-KEPT).some((kept) => kept.article === each)).forEach((each) => each.remove());
  if (!change) { count({ done: state.done + 1, left: Math.max(0, state.left - 1), since_rest: state.since + 1 }); }
  say(`${change ? "Changed" : "Saved"}: ${words(form, button)}`);
  forward(article);
  send();
}

function forward(article) {                    // to the task that comes next, also from an earlier one
  if (article.dataset.back) notify("");
  delete article.dataset.back;
  article.hidden = true;
  advance();
}

const words = (form, button) => {
  const label = button && find("b", button);
  return label ? label.textContent : button && button.value ? button.value : "answer";
};

function mark(article, button) {
  all("[aria-current]", article).forEach((each) => each.removeAttribute("aria-current"));
  if (button && button.matches(".choice")) button.setAttribute("aria-current", "true");
  all("details[open]", article).forEach((each) => { each.open = false; });
}

function back() {
  const current = shown();
  const before = current && current.dataset.back ? state.given.findIndex((each) => each.article === current) - 1 : state.given.length - 1;
  const entry = state.given[before];
  if (!entry || !entry.article.isConnected) { location.assign("/history"); return; }
  all("[name=replaces]", entry.article).forEach((each) => { each.value = entry.key; });
  entry.article.dataset.back = "1";
  show(entry.article);
  notify("You are back at an earlier task. Your answer is marked: another one changes it, Esc leaves it as it is.");
}

function undo() {
  const entry = state.given.pop();
  if (!entry || !entry.article.isConnected) { location.assign("/history"); return; }
  const fields = Object.fromEntries(new FormData(find("form.give", entry.article)));
  ["csrf", "assessor", "began", "comment", "label", "strength"].forEach((each) => delete fields[each]);
  outbox.put({ ...fields, key: crypto.randomUUID ? crypto.randomUUID() : `${fields.key}-u`, replaces: entry.key, withdraw: "1" });
  all("[name=replaces]", entry.article).forEach((each) => { each.value = ""; });
  delete entry.article.dataset.answered;
  delete entry.article.dataset.back;
  mark(entry.article);
  count({ done: Math.max(0, state.done - 1), left: state.left + 1, since_rest: Math.max(0, state.since - 1) });
  show(entry.article);
  say("Undone. Judge again.");
  send();
}

// ---- Words to the assessor.
const say = (text) => { find("#status").textContent = text; };
const kept = () => { const n = outbox.names().length; return n ? `${n} ${n === 1 ? "answer is" : "answers are"} kept in this browser.` : ""; };

function notify(text) {
  const notice = find("#notice");
  find("p", notice).textContent = text;
  notice.hidden = !text;
}

function stop(text) {
  state.stopped = true;
  notify(text.trim());
}

function tellWaiting() {
  const n = outbox.names().length, waiting = find("#waiting");
  waiting.hidden = !n || (!state.failures && n < AHEAD && !state.stopped);
  waiting.textContent = n ? `${n} ${n === 1 ? "answer waits" : "answers wait"} to be sent` : "";
}

function count(standing) {
  const waiting = standing.paused === undefined ? 0 : outbox.names().map(outbox.read).filter((each) => !each.fields.replaces).length;
  Object.assign(state, { done: standing.done + waiting, left: Math.max(0, standing.left - waiting), since: standing.since_rest + waiting });
  const sum = state.done + state.left;
  find("#progress").max = Math.max(1, sum);
  find("#progress").value = state.done;
  find("#count").textContent = `${state.done} of ${sum}`;
  rest();
}

function rest() {
  const due = state.rest ? Math.floor(state.since / state.rest) : 0;
  if (due > state.rested && state.left) notify(`You have judged ${state.since} tasks in a row. A few minutes away from the screen keep judgments steady.`);
  state.rested = due;
}

// ---- Keys.
const KEYS_OFF = "venire keys off";
const keysOn = find("#keys-on");
keysOn.checked = !localStorage.getItem(KEYS_OFF);
keysOn.addEventListener("change", () => keysOn.checked ? localStorage.removeItem(KEYS_OFF) : localStorage.setItem(KEYS_OFF, "1"));

const actions = { back, undo, guidelines: () => find("#guidelines").showModal(), help: () => find("#help").showModal(), close: () => notify("") };
const KEYS = { b: "back", u: "undo", g: "guidelines", "?": "help" };

function open(selector, field) {
  const details = shown() && find(selector, shown());
  if (!details) return;
  details.open = !details.open;
  if (details.open) find(field, details).focus();
}

function digit(key) {
  const article = shown(), cannot = find("details.cannot[open]", article);
  if (cannot) return press(find(`[data-key="${key}"]`, cannot));
  const rows = all("fieldset.row", article);
  return rows.length ? aspect(rows, key) : press(find(`.choices [data-key="${key}"]`, article));
}

function aspect(rows, key) {                   // of the row with the focus, or the first one that has no label yet
  const row = rows.find((each) => each.contains(document.activeElement)) || rows.find((each) => !find(":checked", each)) || rows[0];
  const option = find(`[data-key="${key}"]`, row), next = rows[rows.indexOf(row) + 1];
  if (!option) return false;
  option.checked = true;
  (next ? find(":checked", next) || find("input", next) : find("button.save", shown())).focus({ focusVisible: true });
  return true;
}

const press = (button) => { if (button) button.click(); return Boolean(button); };

function scrolled(event) {
  const [, by] = [["ArrowDown", 60], ["ArrowUp", -60], ["PageDown", "page"], ["PageUp", "-page"], [" ", "page"], ["Home", "top"], ["End", "bottom"]].find(([key]) => key === event.key) || [];
  if (by === undefined || event.target.closest?.("button, summary, input, .prose") && event.key === " ") return false;
  if (event.target.matches?.("input[type=radio]")) return false;
  const panes = all(".pane", shown()), first = shown().matches(".after") ? 1 : 0;   // the one that is judged
  const pane = panes[event.shiftKey ? panes.length - 1 - first : first];
  const inner = find("iframe, .scroller", pane), view = inner.contentWindow ? inner.contentDocument?.scrollingElement : inner;
  if (!view) return false;
  const height = inner.clientHeight * 0.85;
  if (by === "top" || by === "bottom") view.scrollTop = by === "top" ? 0 : view.scrollHeight;
  else view.scrollBy({ top: by === "page" ? height : by === "-page" ? -height : by });
  return true;
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || find("dialog[open]")) return;
  if (event.key === "Escape") return leaveField();
  if (!keysOn.checked || event.target.matches?.("textarea, input:not([type=radio]), select")) return;
  if (shown() && scrolled(event)) { event.preventDefault(); return; }
  if (event.repeat) return;
  const handled = KEYS[event.key] ? (actions[KEYS[event.key]](), true)
    : !shown() ? false
    : event.key === "c" ? (open("details.comment", "textarea"), true)
    : event.key === "x" ? (open("details.cannot", "button"), true)
    : /^[0-9n]$/.test(event.key) ? digit(event.key)
    : event.key === "Enter" && event.target === document.activeElement && !event.target.closest("button, a, summary") ? press(find("button.save", shown()))
    : false;
  if (handled) event.preventDefault();
}
document.addEventListener("keydown", pressed);

function leaveField() {
  const open = all("details[open]");
  open.forEach((each) => { each.open = false; });
  if (!open.length && shown()?.dataset.back) forward(shown());
  if (shown()) find("h1", shown()).focus({ preventScroll: true });
}

// A document that was clicked would take the keys: its frame hands them on, and the page takes them back.
window.addEventListener("blur", () => setTimeout(() => {
  if (document.activeElement?.matches("iframe") && shown()) find("h1", shown()).focus({ preventScroll: true });
}));

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.closest("article.task")) return;
  if (form.closest("article") !== shown()) { event.preventDefault(); return; }
  try { answer(form, event.submitter); } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return;                                    // no local storage, or it is full: the browser sends the form itself
  }
  event.preventDefault();
});

document.addEventListener("click", (event) => {
  const action = event.target.closest("[data-do]")?.dataset.do;
  if (action && actions[action]) { event.preventDefault(); actions[action](); }
  all("details.narrative[open], details.cannot[open], details.who[open]").forEach((each) => {
    if (!each.contains(event.target)) each.open = false;
  });
});

window.addEventListener("storage", (event) => {   // another tab has answered a task that is here too
  if (!event.key?.startsWith(OUTBOX) || !event.newValue) return;
  const { fields } = JSON.parse(event.newValue);
  const article = tasks().find((each) => each.dataset.id === `${fields.task}-${fields.repeat}` && !each.dataset.answered);
  if (fields.replaces || !article) return;
  article.remove();
  if (!shown()) { advance(); fill(); }
});
window.addEventListener("online", () => { state.failures = 0; send(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) send(); });

// ---- Start: what is in the outbox has been answered, even if the server does not know it yet.
document.documentElement.classList.add("script");
tasks().forEach(prepare);
const waiting = outbox.ids(), first = shown();
if (first && !find("[name=replaces]", first).value && waiting.includes(first.dataset.id)) first.remove();
state.began = performance.now();
if (!shown()) advance();
else find("h1", shown()).focus({ preventScroll: true });
state.rested = state.rest ? Math.floor(state.since / state.rest) : 0;
tellWaiting();
send();
fill();
})();
