"""The ledger: what a machine has said, and what it is being asked, in the store of a study."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from venire.judging.answers import Answer, Stored
from venire.judging.tasks import Task

if TYPE_CHECKING:
    from venire.judging.store import Store


@dataclass(frozen=True)
class Request:
    """One task to ask; repeat: how often it was asked before; swapped: ``other`` is shown as A."""

    task: Task
    repeat: int = 0
    swapped: bool = False


@dataclass(frozen=True)
class Unread:
    """A reply that is no answer; machine: model, prompt, and why it cannot be read."""

    text: str
    machine: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is stored at once: what came of the request that ended, and which one begins."""

    ended: Request | None = None
    answer: Answer | None = None
    unread: Unread | None = None
    begun: Request | None = None


@dataclass(frozen=True)
class Ledger:
    """The entries of one machine."""

    store: Store
    assessor: str

    def answers(self) -> list[Stored]:
        """Return the machine's answers as they stand."""
        return [each for each in self.store.stored(surplus=True) if each.assessor == self.assessor]

    def unread(self) -> list[str]:
        """Return the keys of the machine's replies that could not be read."""
        return [record["key"] for record in self.store.replies(self.assessor)]

    def begun(self) -> set[tuple[str, int]]:
        """Return the tasks, and the repeats, that were asked and not answered when asking ended last."""
        return self.store.in_hand(self.assessor)

    def commit(self, entries: Sequence[Entry]) -> None:
        """Store entries in one transaction."""
        self.store.exchange(self.assessor, entries)
