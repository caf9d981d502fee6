"""Asking: a machine answers the tasks of a study, several at once, and what it said is stored before more is asked.

Each of ``concurrency`` slots holds one request at a time.  When its reply has come, one transaction stores the answer
and notes which request the slot sends next; only when that is on disk is it sent.  After a kill, the requests that are
noted without an answer, at most one per slot, are sent again and counted as repeated.  Transactions of slots that wait
at the same time are one.

What is stored for (task, model, prompt, repeat) is not asked again, unreadable replies neither.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from venire.errors import SettingError, UnknownName, Way
from venire.judging.answers import Answer, Stored, Unread
from venire.judging.assignment import is_swapped
from venire.judging.machines.client import Client, Endpoint, NoReply, PromptRefused
from venire.judging.machines.prompts import Prompts, fields_of
from venire.judging.machines.replies import Reply, UnreadableReply, distributions, read_reply
from venire.judging.store import Store
from venire.judging.study import IMAGE, LISTS, MACHINE, PAGE, PREFERENCE, Study
from venire.judging.tasks import Task
from venire.results import counted

CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for English; the forecast is corrected by the tokens that the server counts."""
TOKENS_PER_FIELD = 10
SAMPLE = 1_000
"""Prompts that are made for a forecast; of more tasks, every so many."""
LONGEST_KEPT = 100_000
"""Characters that are kept of a reply that cannot be read."""
FEWEST_FAILURES = 3
"""Requests in a row that fail before asking stops, or as many as run at once if that is more."""


@dataclass(frozen=True)
class Request:
    """One task to ask; repeat: how often it was asked before; swapped: ``other`` is shown as A."""

    task: Task
    repeat: int = 0
    swapped: bool = False

    @property
    def turn(self) -> tuple[str, int]:
        """The key of the task, and the repeat."""
        return self.task.key, self.repeat


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Who answers: the assessor's name in the study, the model, and the prompts."""

    assessor: str
    model: str
    prompts: Prompts

    def __post_init__(self) -> None:
        study = self.prompts.study
        kinds = {each.name: each.kind for each in study.assessors}
        if self.assessor not in kinds:
            raise UnknownName("assessor", self.assessor, study.machines)
        if kinds[self.assessor] != MACHINE:
            raise SettingError(
                f"{self.assessor} is a person, and a machine never answers in a person's place",
                hint=f'declare the machine in {study.path.name}: [[assessors]] with a name and kind = "machine"',
            )

    def gave(self, record: Mapping[str, Any] | None) -> bool:
        """Return whether an answer or a reply is of this model, by these prompts."""
        return record is not None and (record.get("model"), record.get("prompt")) == (self.model, self.prompts.hash)

    def key(self, request: Request, replaces: str = "") -> str:
        """Return what identifies an answer: the same request has the same key whenever it is asked."""
        parts = (self.assessor, self.model, self.prompts.hash, request.task.key, str(request.repeat), replaces)
        return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def machine_name(study: Study, assessor: str | None) -> str:
    """Return the name of the machine that answers: the one that is meant, or the only one of the study."""
    if assessor is not None:
        return assessor
    if len(study.machines) == 1:
        return study.machines[0]
    raise SettingError(
        f"the study has {len(study.machines)} machines"
        + (f": {', '.join(study.machines)}" if study.machines else " among its assessors"),
        hint=[Way("say which one answers", assessor="NAME")]
        if study.machines
        else f'declare one in {study.path.name}: [[assessors]] with a name and kind = "machine"',
    )


@dataclass(frozen=True)
class Agenda:
    """What is to be asked.

    known: requests whose replies are stored; repeated: those sent before without a reply that was stored
    images: tasks that show an image; replaced: task and repeat -> key of the answer that a new one replaces
    """

    machine: Machine
    requests: tuple[Request, ...]
    known: int = 0
    repeated: int = 0
    images: int = 0
    replaced: Mapping[tuple[str, int], str] = field(default_factory=dict)


def agenda(
    machine: Machine,
    tasks: Sequence[Task],
    store: Store,
    *,
    repeats: int = 1,
    limit: int | None = None,
    replace: bool = False,
    again: bool = False,
) -> Agenda:
    """Return what is left to ask: each task of the study ``repeats`` times, at most ``limit`` requests.

    replace: answers by another model or prompt are replaced; without it they are an error
    again: tasks whose replies could not be read are asked again
    """
    study = machine.prompts.study
    own = [*_own(tasks, machine.assessor)]
    readable = [task for task in own if not _has_image(study, task)]
    every = [Request(task, n, _swapped(study, task, machine.assessor, n)) for n in range(repeats) for task in readable]
    given = [each for each in store.stored(surplus=True) if each.assessor == machine.assessor]
    unread = [] if again else store.unread(machine.assessor)
    done = {(each.task.key, each.repeat) for each in given if machine.gave(each.machine)}
    done |= {(each.task, each.repeat) for each in unread if machine.gave(each.machine)}
    left = [each for each in every if each.turn not in done]
    sent, begun = left[:limit], store.in_hand(machine.assessor)
    return Agenda(
        machine,
        tuple(sent),
        known=len(every) - len(left),
        repeated=sum(each.turn in begun for each in sent),
        images=len(own) - len(readable),
        replaced=_replaced(machine, given, sent, replace=replace),
    )


def _replaced(
    machine: Machine, given: Sequence[Stored], sent: Sequence[Request], *, replace: bool
) -> dict[tuple[str, int], str]:
    """Return the answers that new ones replace; raise if there are any and they must not be."""
    asked = {each.turn for each in sent}
    found = {(each.task.key, each.repeat): each for each in given if (each.task.key, each.repeat) in asked}
    if found and not replace:
        record = next(iter(found.values())).machine or {}
        what = "model" if record.get("model") != machine.model else "prompt"
        raise SettingError(
            f"{machine.assessor} has answered {counted(len(found), 'task')} by another {what}"
            + (f", {record.get('model')}" if what == "model" else ""),
            hint=["declare another machine in the study for it", Way("replace the answers", replace="")],
        )
    return {where: each.key for where, each in found.items()}


def _own(tasks: Sequence[Task], assessor: str) -> Iterator[Task]:
    """Yield what a machine is asked: every question once, also where each person has a task of their own."""
    asked: set[tuple[str, ...]] = set()
    for task in sorted(tasks, key=lambda each: (each.judge != assessor, each.position)):
        question = (task.kind, task.topic, task.doc, task.other, task.given, task.view)
        if question not in asked:
            asked.add(question)
            yield task


def _has_image(study: Study, task: Task) -> bool:
    shown = [study.documents.get(doc) for doc in (task.doc, task.other, task.given) if task.kind != LISTS]
    return task.view == PAGE and any(each is not None and each.kind == IMAGE for each in shown)


def _swapped(study: Study, task: Task, assessor: str, repeat: int) -> bool:
    """Return whether ``other`` is shown as A; a repeat shows the sides the other way round."""
    return is_swapped(study, task, assessor, repeat // 2) != (task.kind in (PREFERENCE, LISTS) and repeat % 2 == 1)


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        """Return what so many tokens cost."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6


@dataclass(frozen=True)
class Forecast:
    """Requests, and the tokens that they will take, as estimated before or while they are sent."""

    requests: int
    tokens_in: float
    tokens_out: float

    def refined(self, tally: Tally) -> Forecast:
        """Return the forecast by what was measured so far: the mean of the replies, for all requests."""
        if not tally.measured:
            return self
        scale = self.requests / tally.measured
        return Forecast(self.requests, tally.tokens_in * scale, tally.tokens_out * scale)


def forecast(asked: Agenda) -> Forecast:
    """Estimate the tokens of all requests: four characters each, and ten for each field of an answer."""
    n = len(asked.requests)
    sample = asked.requests[:: max(1, n // SAMPLE)]
    prompts = [asked.machine.prompts.prompt(each.task, swapped=each.swapped) for each in sample]
    scale = n / max(1, len(sample))
    characters, fields = sum(each.characters for each in prompts), sum(len(each.fields) for each in prompts)
    return Forecast(n, scale * characters / CHARACTERS_PER_TOKEN, scale * fields * TOKENS_PER_FIELD)


@dataclass
class Tally:
    """What happened so far.

    asked: requests that ended; stored: answers; unreadable: replies that are no answer, by reason; failed: requests
    without a reply; retries: attempts that failed before a reply came; cut: prompts in which a document was cut;
    measured: replies with a count of tokens
    """

    asked: int = 0
    stored: int = 0
    failed: int = 0
    retries: int = 0
    cut: int = 0
    measured: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    unreadable: Counter[str] = field(default_factory=Counter)

    def measure(self, reply: Reply) -> None:
        """Add the usage of a reply."""
        self.retries += reply.attempts - 1
        if reply.tokens_in is not None and reply.tokens_out is not None:
            self.measured += 1
            self.tokens_in += reply.tokens_in
            self.tokens_out += reply.tokens_out


async def ask(
    asked: Agenda,
    store: Store,
    endpoint: Endpoint,
    *,
    concurrency: int = 8,
    tally: Tally | None = None,
    advance: Callable[[], None] = lambda: None,
) -> Tally:
    """Send all requests, store what comes, and count it; ``tally`` is up to date also if this is cancelled."""
    tally = Tally() if tally is None else tally
    async with Client(endpoint) as client:
        most = max(FEWEST_FAILURES, concurrency)
        desk = _Desk(asked.machine, client, store, tally, advance, most_failures=most, replaced=asked.replaced)
        writer = asyncio.create_task(desk.write())
        waiting = iter(asked.requests)
        slots = [asyncio.create_task(desk.serve(waiting)) for _ in range(min(concurrency, len(asked.requests)))]
        try:
            await asyncio.gather(*slots)
        finally:
            for each in slots:
                each.cancel()
            await asyncio.gather(*slots, return_exceptions=True)
            desk.close()
            await writer
    return tally


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """What is stored at once for a slot: what came of the request that ended, and which one begins."""

    ended: Request | None = None
    answer: Answer | None = None
    unread: Unread | None = None
    begun: Request | None = None


@dataclass
class _Desk:
    """Where slots hand in what came; ``failures`` counts requests in a row without a reply."""

    machine: Machine
    client: Client
    store: Store
    tally: Tally
    advance: Callable[[], None]
    most_failures: int
    replaced: Mapping[tuple[str, int], str]
    entries: asyncio.Queue[tuple[_Entry, asyncio.Future[None]] | None] = field(default_factory=asyncio.Queue)
    failures: int = 0

    async def serve(self, waiting: Iterator[Request]) -> None:
        """Send one request after the other, each when what came before is on the disk."""
        request = next(waiting, None)
        await self._store(_Entry(begun=request))
        while request is not None:
            answer, unread = await self._asked(request)
            following = next(waiting, None)
            await self._store(_Entry(ended=request, answer=answer, unread=unread, begun=following))
            self.advance()
            request = following

    async def _asked(self, request: Request) -> tuple[Answer | None, Unread | None]:
        """Return the answer, or what could not be read, or neither if no reply came."""
        prompt = self.machine.prompts.prompt(request.task, swapped=request.swapped)
        self.tally.cut += prompt.cut
        begun, reply = time.time(), None
        try:
            reply = await self.client.ask(prompt)
            self.tally.measure(reply)
            self.failures = 0
            chosen = read_reply(reply, prompt.fields)
        except (UnreadableReply, PromptRefused) as error:
            return None, self._unread(request, reply, error)
        except NoReply as error:
            self._failed(error)
            return None, None
        return self._answer(request, reply, chosen, begun), None

    def _answer(self, request: Request, reply: Reply, chosen: Mapping[str, str], begun: float) -> Answer:
        prompts, task, swapped = self.machine.prompts, request.task, request.swapped
        replaces = self.replaced.get(request.turn, "")
        shares = distributions(reply, fields_of(prompts.study, task.kind))
        return Answer(
            key=self.machine.key(request, replaces),
            task=task.key,
            value=prompts.value(task, chosen, swapped=swapped),
            shown=self.store.shown(task),
            at=time.time(),
            repeat=request.repeat,
            swapped=swapped,
            seconds=time.time() - begun,
            replaces=replaces,
            machine=self._record(reply, distribution=prompts.distribution(task, shares, swapped=swapped)),
        )

    def _record(self, reply: Reply, **more: object) -> dict[str, object]:
        tokens = {"in": reply.tokens_in, "out": reply.tokens_out}
        about = {"model": self.machine.model, "served": reply.model, "prompt": self.machine.prompts.hash}
        return {**about, "tokens": tokens, "temperature": self.client.temperature, **more}

    def _unread(self, request: Request, reply: Reply | None, error: Exception) -> Unread:
        why = str(error) if isinstance(error, UnreadableReply) else "refused by the server"
        self.tally.unreadable[why] += 1
        reply = reply or Reply(content=str(error))
        record = self._record(reply, why=why, finish=reply.finish)
        return Unread(*request.turn, (reply.refusal or reply.content)[:LONGEST_KEPT], record)

    def _failed(self, error: NoReply) -> None:
        self.tally.failed += 1
        self.failures += 1
        if self.failures >= self.most_failures:
            raise error

    async def _store(self, entry: _Entry) -> None:
        """Wait until an entry is on the disk."""
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.entries.put_nowait((entry, stored))
        await stored

    def close(self) -> None:
        """Let the writer end when it has stored what was handed in."""
        self.entries.put_nowait(None)

    async def write(self) -> None:
        """Store what is handed in; what waits at the same time is one transaction."""
        while True:
            batch = [await self.entries.get()]
            while not self.entries.empty():
                batch.append(self.entries.get_nowait())
            handed_in = [each for each in batch if each is not None]
            await self._commit(handed_in)
            if len(handed_in) < len(batch):
                return

    async def _commit(self, handed_in: Sequence[tuple[_Entry, asyncio.Future[None]]]) -> None:
        failure = None
        try:
            await asyncio.to_thread(self._exchange, [entry for entry, _ in handed_in])
        except Exception as error:  # each slot raises it
            failure = error
        for _, stored in handed_in:
            if stored.done():  # its slot was cancelled
                continue
            if failure is None:
                stored.set_result(None)
            else:
                stored.set_exception(failure)

    def _exchange(self, entries: Sequence[_Entry]) -> None:
        paused = self.store.exchange(
            self.machine.assessor,
            answers=[each.answer for each in entries if each.answer],
            unread=[each.unread for each in entries if each.unread],
            ended=[each.ended.turn for each in entries if each.ended],
            begun=[each.begun.turn for each in entries if each.begun],
        )
        self.tally.asked += sum(each.ended is not None for each in entries)
        self.tally.stored += sum(each.answer is not None for each in entries)
        if paused:
            raise SettingError("the study is paused", hint="ask again when the organiser has resumed it")
