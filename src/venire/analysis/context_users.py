r"""Users who compare two result lists side by side, and prefer one to a degree.

The utility of a list for a user who reads ``depth`` documents is a mean of grades,

    U = sum_i v_i / log2(i + 1)  /  sum_i 1 / log2(i + 1),    v_i = (1 - context) u(d_i) + context u(d_i|d_(i-1))

with v of Eq. (1) of Golbus et al. (2014), doi:10.1145/2566486.2568015, and ``context`` its alpha: at 0 each document
counts as if it were alone.  User a sees the difference D = U_left - U_right as D + noise e, e ~ N(0, 1), and says

    0  if that is at most tau_1,   a slight preference (1) up to tau_2,   a strong one (2) beyond,   signed as it is.

The two thresholds are set so that the *modal* direction over the users is a preference on a share ``weak`` of the
topics, and on a share ``strong`` where slight preferences count as ties: Section 4.2, which finds 91 % and 23 %.  Where
two directions have the most votes, the mode is a tie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.analysis.context_worth import Contents
from venire.data.ids import Category, Ids
from venire.data.preferences import Preferences
from venire.kernels.direction_ties import directions, modes
from venire.types import Floats, Ints

_STEPS = 60


class Strengths(NamedTuple):
    """How strongly users prefer the left list (topic, user), from -2 to 2; and tau_1, tau_2."""

    strength: Floats
    thresholds: tuple[float, float]


def utilities(contents: Contents, lists: Ints, context: float, *, depth: int) -> Floats:
    """U of each list; lists (topic, list, rank) -> (topic, list)."""
    shown = lists[..., :depth]
    weight = 1 / np.log2(np.arange(shown.shape[-1]) + 2)
    return np.asarray(contents.along(shown, context) @ (weight / weight.sum()))


def strengths(seen: Floats, weak: float, strong: float) -> Strengths:
    """Turn what users see (topic, user) into strengths, with these shares of modal preferences over topics."""
    slight = _threshold(seen, weak)
    clear = max(_threshold(seen, strong), slight)
    size = np.abs(seen)
    return Strengths(np.sign(seen) * ((size > slight) * 1.0 + (size > clear)) + 0.0, (slight, clear))


def _threshold(seen: Floats, share: float) -> float:
    """Find the highest threshold that leaves a modal preference on this share of the topics; seen (topic, user)."""
    low, high = 0.0, float(np.abs(seen).max(initial=0.0))
    topic = np.repeat(np.arange(len(seen)), seen.shape[1])
    for _ in range(_STEPS):
        middle = (low + high) / 2
        modal, _split = modes(directions(seen, middle).ravel(), topic, len(seen))
        low, high = (middle, high) if (modal != 0).mean() >= share else (low, middle)
    return low


def side_by_side(strength: Floats, topics: Ids) -> Preferences:
    """Lay the preferences out between the systems ``left`` and ``right``; strength (topic, user), rows by topic."""
    n_topics, n_users = strength.shape
    width = len(str(n_users))
    return Preferences(
        topics=topics,
        docs=Ids.of(["left", "right"]),
        topic=np.repeat(np.arange(n_topics, dtype=np.int32), n_users),
        left=np.zeros(strength.size, dtype=np.int32),
        right=np.ones(strength.size, dtype=np.int32),
        assessor=Category(
            np.tile(np.arange(n_users, dtype=np.int32), n_topics),
            Ids.of(f"u{number:0{width}d}" for number in range(1, n_users + 1)),
        ),
        strength=strength.ravel(),
    )
