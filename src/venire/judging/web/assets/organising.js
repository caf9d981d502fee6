// The organiser's page shows new numbers when something was stored, and looks every half minute if events do not come.
"use strict";
(() => {
const PAUSE = 3000, WITHOUT_EVENTS = 30000;
const live = () => document.querySelector("#live");
let stored = +live().dataset.revision, last = 0, timer = 0;

const busy = () => document.querySelector("#live :is(button, a, select, summary):is(:focus, :active)");   // do not take it away

async function load() {
  clearTimeout(timer);
  if (busy() || Date.now() - last < PAUSE) { timer = setTimeout(load, PAUSE); return; }
  last = Date.now();
  try {
    const reply = await fetch("/organise", { cache: "no-store" });
    if (!reply.ok) throw new Error(reply.status);
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    if (busy()) { timer = setTimeout(load, PAUSE); return; }
    const open = [...document.querySelectorAll("#live details")].map((each) => each.open);
    live().replaceWith(page.querySelector("#live"));
    document.querySelectorAll("#live details").forEach((each, n) => { each.open = Boolean(open[n]); });
    say("");
    if (+live().dataset.revision < stored) timer = setTimeout(load, PAUSE);   // numbers take their time
  } catch (error) { say("The server cannot be reached; these are the last numbers."); }
}

function say(text) {
  const status = document.querySelector("#status");
  if (status.textContent !== text) status.textContent = text;
}

const events = new EventSource("/events");
events.onmessage = (event) => {
  stored = +event.data;
  if (+live().dataset.revision < stored) load();
};
setInterval(() => { if (events.readyState !== EventSource.OPEN) load(); }, WITHOUT_EVENTS);
})();
