r"""Users: simulated people, each of whom finds every item relevant or not.

A model of disagreement (Demeester et al. 2014, doi:10.1145/2556195.2556268; 2015, doi:10.1007/s10791-015-9275-x) gives
each label i the probability p(R|i) that a random user finds a result with that label relevant.  User u's relevance of
item d is then drawn as

.. math:: r_{ud} \sim \mathrm{Bernoulli}(p_d), \qquad p_d = \sum_i w_{di}\, p(R|i)

with w the weights of the labels that the item has.  Users judge for scoring as assessors do, on the scale
irrelevant < relevant.  Each user has a stream of random numbers of their own, made from the seed and their number, so
user 7 finds the same items relevant however many users there are and however they are divided into blocks.

When not to use them: given the labels, relevances are independent, from item to item and from user to user.  People
who are strict throughout, or of a mind about a topic, differ more from each other than these users do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from venire.data.gains import Gains
from venire.data.panel import Panel
from venire.data.scale import Scale
from venire.data.streams import stream
from venire.errors import AmbiguousLabels, GainsError, SettingError
from venire.types import Bools, Floats

if TYPE_CHECKING:  # numpy.random takes time to load
    from numpy.random import SeedSequence

RELEVANCE = Gains(Scale(("irrelevant", "relevant")), np.array([0.0, 1.0]), "users")
"""What a user's opinion is worth: 0 or 1, on a scale of two labels."""


@dataclass(frozen=True, eq=False)
class Users:
    """Users by number: p (item,), the probability that one finds an item relevant; judged (item,); seed of all."""

    p: Floats
    judged: Bools
    numbers: range
    seed: SeedSequence

    @classmethod
    def of(cls, panel: Panel, gains: Gains, n: int, *, seed: SeedSequence) -> Users:
        """Make n users from the labels of one judge, or of a pool, and gains that are probabilities of relevance.

        Examples
        --------
        >>> from venire import read_grid
        >>> from venire.data.panel import convene
        >>> from venire.data.gains import gains_for
        >>> labels = read_grid("0 1 2 2")
        >>> gains = gains_for({"0": 0.0, "1": 0.5, "2": 1.0}, labels.scale)
        >>> users = Users.of(convene(labels), gains, 3, seed=np.random.SeedSequence(0))
        >>> users.p.tolist(), len(users.judges)
        ([0.0, 0.5, 1.0, 1.0], 3)
        """
        if n < 1:
            raise SettingError(f"{n} users: expected 1 or more", hint="1000 give means to about two digits")
        refuse_other_than_probabilities(gains)
        if len(panel.judges) > 1:
            raise AmbiguousLabels(
                f"users are drawn from the labels of one judge, and there are {len(panel.judges)}",
                hint='name one (assessor="NAME", --assessor NAME) or pool them (pool="mean", --pool mean)',
            )
        p, judged = panel.gains(gains.values, 0, 1)
        return cls(np.clip(p[0], 0.0, 1.0), judged[0], range(n), seed)

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the users: their numbers, from 1."""
        return tuple(str(number + 1) for number in self.numbers)

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.p)

    def part(self, first: int, last: int) -> Users:
        """Users first..last-1 of these; what they find relevant does not change."""
        return replace(self, numbers=self.numbers[first:last])

    def relevant(self, first: int, last: int) -> Bools:
        """What users first..last-1 find relevant -> (user, item).  O(users x items)."""
        found = np.empty((last - first, self.n_items), dtype=np.bool_)
        for row, number in enumerate(self.numbers[first:last]):
            np.less(stream(self.seed, number).random(self.n_items), self.p, out=found[row])
        return found

    def gains(self, values: Floats, first: int, last: int) -> tuple[Floats, Bools]:
        """Gain of every item, and whether it was judged, for users first..last-1; both (user, item).

        values (2,): of an irrelevant and of a relevant item.
        """
        relevant = self.relevant(first, last)
        return np.where(relevant, values[1], values[0]), np.broadcast_to(self.judged, relevant.shape)


def refuse_other_than_probabilities(gains: Gains) -> None:
    """Refuse gains that do not say how likely a user is to find something relevant."""
    if not gains.unit:
        raise GainsError(
            f"users are drawn with probabilities of relevance, and {gains!r} are not such",
            hint="use the gains of a model (prm:LABEL, udm:M/N, a saved fit), or state gains within [0, 1]",
        )
