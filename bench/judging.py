"""Is the judging application quick? `python bench/judging.py [--people 100] [--tasks 600] [--only PART,...]`.

sqlite      so many assessors at once, each as fast as they can, on SQLite: 95th percentile of the POST of an answer;
postgresql  and on PostgreSQL, if its programs are here.  Beside it, in turns: a bare handler of the same framework that
            makes one durable insert into the same database, with as many clients at once; and the ratio.
key         from a key to the next task in Chromium, while 50 others judge once a second each.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from people_online import at_work, crowded, invited  # noqa: E402
from postgresql_server import Server, why_not  # noqa: E402
from served_studies import Served  # noqa: E402

BARE = """
import sqlite3, sys, threading
from urllib.parse import parse_qsl
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import Route
import uvicorn

address, own, lock = sys.argv[1], threading.local(), threading.Lock()

def sqlite():
    found = sqlite3.connect(address, check_same_thread=False, isolation_level=None)
    found.execute("PRAGMA journal_mode=WAL")
    found.execute("PRAGMA synchronous=FULL")
    return found

def postgresql():
    import psycopg
    if not hasattr(own, "connection"):
        own.connection = psycopg.connect(address)
    return own.connection

if address.startswith("postgresql:"):
    postgresql().execute("CREATE TABLE bare (id serial PRIMARY KEY, task text, value text)")
    postgresql().commit()
    def insert(form):
        postgresql().execute("INSERT INTO bare (task, value) VALUES (%s, %s)", (form["task"], form["label"]))
        postgresql().commit()
else:
    one = sqlite()
    one.execute("CREATE TABLE bare (id integer PRIMARY KEY, task text, value text)")
    def insert(form):
        with lock:
            one.execute("BEGIN IMMEDIATE")
            one.execute("INSERT INTO bare (task, value) VALUES (?, ?)", (form["task"], form["label"]))
            one.execute("COMMIT")

async def answer(request):
    form = dict(parse_qsl((await request.body()).decode()))
    await run_in_threadpool(insert, form)
    return JSONResponse({"status": "counted"})

app = Starlette(routes=[Route("/answer", answer, methods=["POST"])])
config = uvicorn.Config(app, log_level="warning", access_log=False, port=0)
server = uvicorn.Server(config)
startup = server.startup

async def told(sockets=None):
    await startup(sockets)
    print(server.servers[0].sockets[0].getsockname()[1], flush=True)

server.startup = told
server.run()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=100, help="assessors at once")
    parser.add_argument("--tasks", type=int, default=600, help="tasks, each judged twice")
    parser.add_argument("--only", default="sqlite,postgresql,key")
    asked = parser.parse_args()
    for part in asked.only.split(","):
        with tempfile.TemporaryDirectory() as folder:
            if part == "key":
                print(f"key to next task: {key_to_next(Path(folder))}", flush=True)
            elif part == "postgresql" and why_not():
                print(f"postgresql: not run, {why_not()}")
            else:
                print(f"{part}: {compared(Path(folder), asked.people, asked.tasks, part)}", flush=True)


def compared(folder: Path, n_people: int, n_tasks: int, kind: str) -> str:
    """Measure both handlers, in turns."""
    ours, bare = [], []
    with databases(folder, kind) as address:
        for turn in range(3):
            place = folder / f"turn{turn}"
            place.mkdir()
            path = crowded(place, n_people=n_people, n_tasks=n_tasks // 3, judgments=2)
            database = address(f"turn{turn}")
            tokens = invited(path, n_people, database)
            with Served(path, *([] if database is None else ["--database", database])) as served:
                work = at_work(served.root, tokens)
            if work.errors:
                raise SystemExit(f"errors: {work.errors[:3]}")
            ours += work.posts
            bare += bare_posts(place, address(f"bare{turn}"), n_people, len(work.posts))
    p95, floor = (float(np.quantile(each, 0.95)) for each in (ours, bare))
    return f"p95 {1e3 * p95:.0f} ms, bare handler {1e3 * floor:.0f} ms, ratio {p95 / floor:.2f} ({len(ours):,} answers)"


@contextmanager
def databases(folder: Path, kind: str) -> Iterator[object]:
    """Yield a function that makes a database and returns its address; None: the one of the study."""
    if kind == "sqlite":
        yield lambda _: None
        return
    place = folder / "server"
    place.mkdir()
    server = Server(place)
    try:
        yield server.address
    finally:
        server.stop()


def bare_posts(folder: Path, address: str | None, n_people: int, n_posts: int) -> list[float]:
    """Return the seconds of POSTs to the bare handler."""
    words = [sys.executable, "-c", BARE, address or str(folder / "bare.db")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        port = int(process.stdout.readline())
        return asyncio.run(_posts(f"http://127.0.0.1:{port}", n_people, n_posts))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def _posts(root: str, n_people: int, n_posts: int) -> list[float]:
    seconds: list[float] = []
    form = dict.fromkeys(("csrf", "task", "shown", "key", "label"), "x" * 32)

    async def one() -> None:
        async with httpx.AsyncClient(base_url=root, verify=False, timeout=60) as client:
            for _ in range(n_posts // n_people):
                sent = time.monotonic()
                (await client.post("/answer", data=form)).raise_for_status()
                seconds.append(time.monotonic() - sent)

    await asyncio.gather(*(one() for _ in range(n_people)))
    return seconds


def key_to_next(folder: Path, *, n_people: int = 50, n_keys: int = 60) -> str:
    """Return the times from a key to the next task in a browser, while others judge once a second."""
    from chromium import launched

    path = crowded(folder, n_people=n_people, n_tasks=5000, judgments=1)
    tokens = invited(path, n_people)
    with Served(path) as served, launched() as browser:
        until = time.monotonic() + 5 + 1.1 * n_keys
        others = threading.Thread(target=at_work, args=(served.root, tokens), kwargs={"every": 1.0, "until": until})
        others.start()
        page = browser.new_context().new_page()
        page.goto(served.link("ann"))
        page.click("text=Start")
        times = []
        for _ in range(n_keys):
            page.wait_for_timeout(1000)
            times.append(page.evaluate(TIMED))
        others.join()
    return f"p95 {np.quantile(times, 0.95):.0f} ms, median {np.median(times):.0f} ms, {n_people} others"


TIMED = """() => new Promise((done) => {
    const shown = () => document.querySelector("article.task:not([hidden])")?.dataset.id ?? "";
    const last = shown(), began = performance.now();
    const look = () => {
        const now = shown();
        if (now && now !== last) requestAnimationFrame(() => done(performance.now() - began));
        else requestAnimationFrame(look);
    };
    document.dispatchEvent(new KeyboardEvent("keydown", {key: "1", bubbles: true}));
    look();
})"""


if __name__ == "__main__":
    main()
