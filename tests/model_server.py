"""A small server that speaks the protocol of chat completions, for tests: it listens on loopback alone.

Its "model" reads the prompt as it is meant: it splits the data at the boundary and judges a result by the share of the
words of the query that occur in it.  So its labels are those of the texts, whatever the texts ask for.  Answers are
deterministic, failures too: whether the n-th request for a prompt fails is a hash of the prompt and n.

    python tests/model_server.py --failing 0.2 --log FILE

prints its base URL, and serves until it is killed; the log has a line for each reply that was sent whole.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import math
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

FORM = re.compile(r"nothing else: (\{.*\})\s*\Z")
PAIR = re.compile(r'("(?:[^"\\]|\\.)*"): ((?:"(?:[^"\\]|\\.)*")(?: or "(?:[^"\\]|\\.)*")*)')
WORD = re.compile(r"\w+")
CUT, TRUNCATED, MALFORMED = "cut", "truncated", "malformed"
"""Failures that are no status: the connection closed, half a body, a body that is no completion."""


@dataclass
class Reply:
    """A status, a body and headers; cut: how many bytes of it are sent before the connection is closed."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None


def completion(content: str | None, **more: Any) -> dict[str, Any]:
    """Return the body of a completion."""
    tokens = more.pop("tokens", None)
    logprobs = {} if tokens is None else {"logprobs": {"content": tokens}}
    message = {"role": "assistant", "content": content, **more.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": more.pop("finish", "stop"), **logprobs}
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
    return {"id": "1", "object": "chat.completion", "model": "toy-1", "choices": [choice], "usage": usage, **more}


def blocks(user: str) -> dict[str, str]:
    """Split the data of a prompt at its boundary."""
    boundary = re.match(r"The boundary is (\S+)\n", user)[1]
    found = re.findall(rf"^{boundary} (?!end of )(.*)\n(?s:(.*?))\n{boundary} end of \1$", user, re.M)
    return dict(found)


def overlap(query: str, text: str) -> float:
    wanted, there = ({*WORD.findall(each.lower())} for each in (query, text))
    return len(wanted & there) / max(1, len(wanted))


def choices_of(system: str) -> dict[str, list[str]]:
    """Read which choices the prompt offers, by field."""
    pairs = PAIR.findall(FORM.search(system)[1])
    return {json.loads(name): json.loads(f"[{words.replace(' or ', ', ')}]") for name, words in pairs}


def judged(request: dict[str, Any]) -> dict[str, str]:
    """Answer a prompt: the label by the words that query and result share, a preference by which has more."""
    system, user = (each["content"] for each in request["messages"])
    data, choices = blocks(user), choices_of(system)
    query = data["query"]
    if [*choices] == ["preference"]:
        a, b = (overlap(query, next(text for name, text in data.items() if name.endswith(s))) for s in "AB")
        words = choices["preference"]
        place = (b - a + 1) / 2
        return {"preference": words[min(len(words) - 1, int(place * len(words)))]}
    share = overlap(query, data["result"])
    return {name: words[min(_labels(words) - 1, int(share * _labels(words)))] for name, words in choices.items()}


def _labels(words: list[str]) -> int:
    return len([word for word in words if word != "N/A"])


def tokens_of(answer: dict[str, str], choices: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Return the tokens of an answer; at the token of a value, the other choices follow with falling probability."""
    found = [("{", {})]
    for n, (name, word) in enumerate(answer.items()):
        others = [each for each in choices[name] if each != word]
        rest = {other: math.log(0.2 / 2**k) for k, other in enumerate(others, 1)}
        found += [(f'{", " if n else ""}"{name}": "', {}), (word, {word: math.log(0.8), **rest, "!": -9.0}), ('"', {})]
    found.append(("}", {}))
    return [
        {
            "token": text,
            "logprob": top.get(text, 0.0),
            "top_logprobs": [{"token": each, "logprob": p} for each, p in top.items()],
        }
        for text, top in found
    ]


@dataclass
class Model:
    """What is answered: by ``script`` where it returns a reply, else by the words of the prompt.

    failing: share of the replies that fail, each by one of ``failures``; seen: how often a prompt came; answered: how
    often a whole answer to it was sent
    """

    failing: float = 0.0
    failures: tuple[int | str, ...] = (429, 500, 503, CUT, TRUNCATED, MALFORMED)
    script: Callable[[dict[str, Any], int], Reply | None] | None = None
    delay: float = 0.0
    refuses: tuple[str, ...] = ()
    seen: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    keep: bool = True

    def reply(self, request: dict[str, Any], headers: dict[str, str]) -> tuple[Reply, str]:
        """Return the reply to a request, and the name of its prompt."""
        user = request["messages"][1]["content"]
        name = sha256(user.encode()).hexdigest()
        self.seen[name] += 1
        if self.keep:
            self.requests.append(request)
            self.headers.append(headers)
        scripted = self.script(request, self.seen[name]) if self.script else None
        if scripted is not None:
            return scripted, name
        refused = self._refused(request)
        if refused:
            return Reply(400, json.dumps({"error": {"message": f"{refused} is not supported"}}).encode()), name
        failure = self._failure(name)
        if failure is not None:
            return failure, name
        answer = judged(request)
        content = json.dumps(answer, ensure_ascii=False)
        tokens = tokens_of(answer, choices_of(request["messages"][0]["content"])) if request.get("logprobs") else None
        return Reply(200, json.dumps(completion(content, tokens=tokens)).encode()), name

    def _refused(self, request: dict[str, Any]) -> str:
        form = request.get("response_format", {}).get("type")
        return next((each for each in self.refuses if each in request or each == form), "")

    def _failure(self, name: str) -> Reply | None:
        drawn = int(sha256(f"{name} {self.seen[name]}".encode()).hexdigest()[:12], 16) / 16**12
        if drawn >= self.failing:
            return None
        kind = self.failures[int(drawn / self.failing * len(self.failures))]
        if isinstance(kind, int):
            return Reply(kind, b'{"error": {"message": "not now"}}', {"Retry-After": "0"} if kind != 500 else {})
        bodies = {CUT: b"", TRUNCATED: b'{"choices": [{"mess', MALFORMED: b'{"choices": []}'}
        return Reply(200, bodies[kind], cut=0 if kind == CUT else None)


class ModelServer:
    """A server in a thread of its own, for ``with``."""

    def __init__(self, model: Model | None = None, *, log: str | None = None) -> None:
        self.model, self.log = model or Model(), log
        self._ready, self._loop = threading.Event(), asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> ModelServer:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self.serve())
        self._loop.close()

    async def serve(self) -> None:
        self._stop, self._open = asyncio.Event(), set()
        with open(self.log, "a", encoding="utf-8") if self.log else contextlib.nullcontext() as self._log:  # noqa: PTH123
            server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
            self.port = server.sockets[0].getsockname()[1]
            self._ready.set()
            await self._stop.wait()
            server.close()
            for task in self._open:
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(asyncio.current_task())
        try:
            while await self._exchange(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(asyncio.current_task())
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False when the connection ends."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.split(": ", 1) for line in head[1:] if line)
        headers = {name.lower(): value for name, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if not head[0].startswith("POST /v1/chat/completions "):
            reply, name = Reply(404, b'{"error": {"message": "no such address"}}'), ""
        else:
            reply, name = self.model.reply(json.loads(body), headers)
        if self.model.delay:
            await asyncio.sleep(self.model.delay)
        lines = {"Content-Type": "application/json", "Content-Length": str(len(reply.body)), **reply.headers}
        head = f"HTTP/1.1 {reply.status} .\r\n" + "".join(f"{each}: {text}\r\n" for each, text in lines.items())
        data = f"{head}\r\n".encode() + reply.body
        writer.write(data if reply.cut is None else data[: reply.cut])
        await writer.drain()
        if reply.status == 200 and reply.cut is None and reply.body.endswith(b"}") and b'"content"' in reply.body:
            self.model.answered[name] += 1
            if self._log:
                print(name, file=self._log, flush=True)
        return reply.cut is None


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--failing", type=float, default=0.0)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--log")
    told = parser.parse_args()
    with ModelServer(Model(failing=told.failing, delay=told.delay, keep=False), log=told.log) as server:
        print(server.url, flush=True)  # noqa: T201
        with contextlib.suppress(KeyboardInterrupt):
            while sys.stdin.read(1):  # until the process that started it ends
                time.sleep(0.1)


if __name__ == "__main__":
    main()
