"""Assignment and the status of answers, compared step by step with a slow model of the rules.

Two stores are open on one database, as two processes would have it, so that what one remembers must follow what the
other writes.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sqlalchemy import select

from people import LEASE, Clock, said
from studies import label_tasks, study_of
from venire.judging import schema
from venire.judging.answers import COUNTED, REFUSED, SURPLUS
from venire.judging.store import Store

PEOPLE = ("ann", "bob", "cy")
EVERYONE = (*PEOPLE, "gpt")
NEEDED = (1, 1, 2, 2, 3)


@dataclass
class Chain:
    """An answer and its changes: the last label (None: withdrawn), and whether it counts."""

    assessor: str
    task: int
    status: str
    label: str | None
    keys: list[str]


@dataclass
class Model:
    """The rules, written down without regard to cost."""

    now: float
    paused: bool = False
    revoked: set[str] = field(default_factory=set)
    leases: dict[tuple[str, int], float] = field(default_factory=dict)
    held: dict[tuple[str, int], Chain] = field(default_factory=dict)
    chains: list[Chain] = field(default_factory=list)

    def live(self, name: str, task: int) -> bool:
        return self.leases.get((name, task), 0.0) > self.now

    def counts(self, name: str, task: int) -> bool:
        chain = self.held.get((name, task))
        return chain is not None and chain.status == COUNTED

    def has_place(self, name: str, task: int) -> bool:
        others = [other for other in PEOPLE if other != name]
        taken = sum(self.counts(other, task) or self.live(other, task) for other in others)
        return name == "gpt" or taken < NEEDED[task]

    def may_get(self, name: str) -> set[int]:
        if self.paused or name in self.revoked:
            return set()
        new = {n for n in range(len(NEEDED)) if (name, n) not in self.held and self.has_place(name, n)}
        return new | {n for n in range(len(NEEDED)) if self.live(name, n)}

    def status(self, name: str, task: int) -> str:
        if (name, task) in self.held or self.paused:
            return SURPLUS
        return COUNTED if self.live(name, task) or self.has_place(name, task) else SURPLUS

    def place(self, chain: Chain) -> None:
        """A new answer holds the place, unless an earlier one does."""
        where = (chain.assessor, chain.task)
        if where not in self.held:
            self.held[where] = chain
            self.leases.pop(where, None)


class Judging(RuleBasedStateMachine):
    """What assessors and the organiser do, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
        study = study_of(Path(self.folder.name), people=PEOPLE, n_docs=len(NEEDED))
        tasks = [label_tasks(study, needed=needed)[n] for n, needed in enumerate(NEEDED)]
        self.clock = Clock()
        self.stores = [Store.open(study, tasks, clock=self.clock) for _ in range(2)]
        self.tasks = tasks
        self.model = Model(self.clock.now)
        self.n_keys = 0

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        self.folder.cleanup()

    def key(self) -> str:
        self.n_keys += 1
        return f"k{self.n_keys}"

    @rule(store=st.integers(0, 1), name=st.sampled_from(EVERYONE), n=st.integers(1, 6))
    def ask(self, store, name, n):
        may, now = self.model.may_get(name), self.clock.now
        mine = [task for task in range(len(NEEDED)) if self.model.live(name, task)]
        leases = self.stores[store].next_tasks(name, n=n)
        got = [self.tasks.index(lease.task) for lease in leases]
        assert len(got) == len(set(got)) == min(n, len(may))
        assert set(got) <= may
        assert set(got[: len(mine)]) <= set(mine)
        if any(self.model.leases[name, task] - now < LEASE / 2 for task in got if task in mine):
            self.model.leases.update({(name, task): now + LEASE for task in mine})
        self.model.leases.update({(name, task): now + LEASE for task in got if task not in mine})

    @rule(store=st.integers(0, 1), name=st.sampled_from(EVERYONE), task=st.integers(0, 4), label=st.sampled_from("012"))
    def answer(self, store, name, task, label):
        key = self.key()
        receipt = self.stores[store].answer(name, said(self.tasks[task], label, key=key))
        if name in self.model.revoked:
            assert receipt.status == REFUSED
            return
        chain = Chain(name, task, self.model.status(name, task), label, [key])
        assert receipt.status == chain.status
        self.model.chains.append(chain)
        self.model.place(chain)

    @precondition(lambda self: self.model.chains)
    @rule(store=st.integers(0, 1), data=st.data(), label=st.sampled_from(("0", "1", "2", None)))
    def change(self, store, data, label):
        chain = data.draw(st.sampled_from(self.model.chains))
        key, replaced = self.key(), data.draw(st.sampled_from(chain.keys))
        answer = said(self.tasks[chain.task], label, key=key, replaces=replaced)
        receipt = self.stores[store].answer(chain.assessor, answer)
        if chain.assessor in self.model.revoked:
            assert receipt.status == REFUSED
            return
        where = (chain.assessor, chain.task)
        holds = self.model.held.get(where) is chain
        if label is None and holds:
            del self.model.held[where]
            if chain.status == COUNTED:
                self.model.leases[where] = self.clock.now + LEASE
        elif label is not None and not holds:
            chain.status = self.model.status(*where)
            self.model.place(chain)
        if label is not None or holds:
            assert receipt.status == chain.status
        chain.label = label
        chain.keys.append(key)

    @precondition(lambda self: self.model.chains)
    @rule(store=st.integers(0, 1), data=st.data())
    def send_again(self, store, data):
        chain = data.draw(st.sampled_from(self.model.chains))
        key = data.draw(st.sampled_from(chain.keys))
        receipt = self.stores[store].answer(chain.assessor, said(self.tasks[chain.task], "0", key=key))
        assert receipt.again != (chain.assessor in self.model.revoked)

    @rule(share=st.sampled_from((0.1, 0.4, 0.6, 1.1)))
    def wait(self, share):
        self.clock.move(share * LEASE)
        self.model.now = self.clock.now

    @rule(store=st.integers(0, 1), on=st.booleans())
    def pause(self, store, on):
        self.stores[store].pause(on)
        self.model.paused = on

    @rule(store=st.integers(0, 1), name=st.sampled_from(EVERYONE))
    def revoke(self, store, name):
        self.stores[store].revoke(name)
        self.model.revoked.add(name)
        self.model.leases = {where: end for where, end in self.model.leases.items() if where[0] != name}

    @rule(store=st.integers(0, 1), name=st.sampled_from(EVERYONE))
    def invite(self, store, name):
        self.stores[store].invite(name, again=True)
        self.model.revoked.discard(name)

    @invariant()
    def counted_answers_are_those_of_the_model(self):
        expected = {
            (name, task, chain.label) for (name, task), chain in self.model.held.items() if chain.status == COUNTED
        }
        stored = self.stores[0].stored()
        assert {(each.assessor, self.tasks.index(each.task), each.value["label"]) for each in stored} == expected
        assert len(stored) == len(expected)
        n_there = sum(chain.label is not None for chain in self.model.chains)
        assert len(self.stores[1].stored(surplus=True)) == n_there

    @invariant()
    def never_more_than_needed(self):
        by_people = [each for each in self.stores[0].stored() if each.kind == "person"]
        taken = [sum(each.task == task for each in by_people) for task in self.tasks]
        assert all(n <= needed for n, needed in zip(taken, NEEDED, strict=True))
        with self.stores[0].database.read() as connection:
            kept = connection.execute(select(schema.task.c.taken).order_by(schema.task.c.id)).scalars()
            assert list(kept) == taken


TestJudging = Judging.TestCase
TestJudging.settings = settings(max_examples=max(10, settings.default.max_examples // 4), stateful_step_count=30)
