"""People who answer through HTTP as a browser does, many at once, for tests."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

import httpx

from studies_on_disk import pages, write_pages
from venire.judging.store import Store
from venire.judging.study_files import read_study

FIELD = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')
JSON = {"Accept": "application/json"}


@dataclass
class Work:
    """What assessors did: seconds of every POST of an answer, receipts by status, and what went wrong."""

    posts: list[float] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


def crowded(folder: Path, *, n_people: int, n_tasks: int, judgments: int) -> Path:
    """Write a study of many people, and return its file."""
    return write_pages(folder, pages(n_tasks), judgments=judgments, people=[f"a{n}" for n in range(n_people)])


def invited(path: Path, n_people: int, database: str | None = None) -> dict[str, str]:
    """Invite the people; return their tokens."""
    with Store.open(*read_study(path), database) as store:
        return {f"a{n}": store.invite(f"a{n}") for n in range(n_people)}


def at_work(root: str, tokens: Mapping[str, str], *, every: float = 0.0, until: float = float("inf")) -> Work:
    """Let all people judge at once, each until nothing is left or the time is over; ``every``: seconds a judgment."""
    work = Work()
    asyncio.run(_all(root, tokens, every, until, work))
    return work


async def _all(root: str, tokens: Mapping[str, str], every: float, until: float, work: Work) -> None:
    context = httpx.create_ssl_context()  # made once, since it takes long
    clients = [httpx.AsyncClient(base_url=root, verify=context, timeout=60) for _ in tokens]
    try:
        people = zip(clients, tokens.values(), strict=True)
        await asyncio.gather(*(_one(client, token, every, until, work) for client, token in people))
    finally:
        for client in clients:
            await client.aclose()


async def _one(client: httpx.AsyncClient, token: str, every: float, until: float, work: Work) -> None:
    joined = await client.post("/join", data={"token": token})
    if joined.status_code != 303:
        work.errors.append(f"join: {joined.status_code}")
        return
    while time.monotonic() < until:
        began = time.monotonic()
        following = await client.get("/next?n=1", headers=JSON)
        if following.status_code != 200:
            work.errors.append(f"next: {following.status_code}")
            return
        tasks = following.json()["tasks"]
        if not tasks:
            return
        form = {name: unescape(value) for name, value in FIELD.findall(tasks[0]["html"])}
        sent = time.monotonic()
        answer = await client.post("/answer", data={**form, "label": str(len(work.posts) % 3)}, headers=JSON)
        work.posts.append(time.monotonic() - sent)
        if answer.status_code != 200:
            work.errors.append(f"answer: {answer.status_code} {answer.text[:100]}")
            return
        status = answer.json()["status"]
        work.statuses[status] = work.statuses.get(status, 0) + 1
        await asyncio.sleep(max(0.0, every - (time.monotonic() - began)))
