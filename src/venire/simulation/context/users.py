r"""Users who compare two result lists side by side, and prefer one to a degree.

The utility of a list for a user who reads ``depth`` documents is a mean of grades,

    U = sum_i v_i / log2(i + 1)  /  sum_i 1 / log2(i + 1),    v_i = (1 - context) u(d_i) + context u(d_i|d_(i-1))

with v of Eq. (1) of Golbus et al. (2014), doi:10.1145/2566486.2568015, and ``context`` its alpha: at 0 each document
counts as if it were alone.  User a sees the difference D = U_left - U_right as D + noise e, e ~ N(0, 1), and says

    0  if that is at most tau_1,   a slight preference (1) up to tau_2,   a strong one (2) beyond,   signed as it is.

The two thresholds are set so that the *modal* direction over the users is a preference on a share ``weak`` of the
topics, and on a share ``strong`` where slight preferences count as ties: Section 4.2, which finds 91 % and 23 %.  Where
two directions have the most votes, the mode is a tie.

Click sessions: users go down a list, click what attracts them, and stop when they are satisfied.

A user examines rank 1.  At an examined rank with a document of utility v (as above, in context as far as the user's
weight goes) and the top T of the scale

    clicks       with probability  a_0 + (a_1 - a_0) v / T            ``attraction``
    is satisfied, once clicked,     v / T
    stays for    dwell = m exp(s e), e ~ N(0, 1), m one of two medians, the longer if satisfied    ``dwell``, ``spread``
    goes on      with probability  ``patience``, and never after a satisfying click

which is a cascade (Craswell et al. 2008, doi:10.1145/1341531.1341545) in which a click need not satisfy.  Each session
shows one of the two lists, at random.  Every document shown is a row, examined or not: an impression.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from venire.checks import need_at_least, need_share
from venire.data.ids import Category, Ids
from venire.data.preferences import Preferences
from venire.errors import SettingError
from venire.kernels.directions import directions, modes
from venire.simulation.context.truth import Contents
from venire.types import Bools, Floats, Ints

if TYPE_CHECKING:
    import polars as pl

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


DECIMALS = 1


@dataclass(frozen=True, kw_only=True)
class ClickModel:
    """How users click.

    Parameters
    ----------
    sessions
        Sessions of each topic; 0: no clicks.
    patience
        Probability to go on to the next rank.
    attraction
        Probability to click on an examined document: on a worthless one, and on one at the top of the scale.
    dwell
        Median seconds on a clicked document that does not satisfy, and on one that does.
    spread
        Standard deviation of the logarithm of the seconds.
    """

    sessions: int = 40
    patience: float = 0.85
    attraction: tuple[float, float] = (0.05, 0.9)
    dwell: tuple[float, float] = (12.0, 90.0)
    spread: float = 0.8

    def __post_init__(self) -> None:
        need_at_least(0, "sessions", self.sessions)
        need_share("patience", self.patience)
        need_at_least(0, "spread", self.spread)
        for name, ends in (("attraction", self.attraction), ("dwell", self.dwell)):
            if not 0 <= ends[0] <= ends[1] or (name == "attraction" and ends[1] > 1) or not np.isfinite(ends[1]):
                most = "up to 1" if name == "attraction" else "finite"
                message = f"{name} goes from {ends[0]:g} to {ends[1]:g}, expected numbers from 0, {most}"
                raise SettingError(message, hint="first for what is worthless, then for what is worth most")


@dataclass(frozen=True, eq=False)
class Sessions:
    """What happened: ``shown`` (topic, session), which list; the others (topic, session, rank); dwell NaN: no click."""

    shown: Ints
    clicked: Bools
    dwell: Floats


def sessions_of(share: Floats, clicks: ClickModel, *, rng: np.random.Generator) -> Sessions:
    """Draw sessions; share (topic, list, rank) is utility over the top of the scale.  O(rows)."""
    n_topics, n_lists, depth = share.shape
    shown = rng.integers(n_lists, size=(n_topics, clicks.sessions))
    value = share[np.arange(n_topics)[:, None], shown]
    low, high = clicks.attraction
    attracted = rng.random(value.shape) < low + (high - low) * value
    satisfied = rng.random(value.shape) < value
    going_on = (rng.random(value.shape) < clicks.patience) & ~(attracted & satisfied)
    examined = np.concatenate([np.ones_like(going_on[..., :1]), going_on[..., :-1]], axis=-1)
    clicked = attracted & np.logical_and.accumulate(examined, axis=-1)
    median = np.where(satisfied, clicks.dwell[1], clicks.dwell[0])
    dwell = np.round(median * np.exp(clicks.spread * rng.standard_normal((n_topics, clicks.sessions, depth))), DECIMALS)
    return Sessions(shown, clicked, np.where(clicked, dwell, np.nan))


def click_log(sessions: Sessions, lists: Ints, topics: Ids, docs: Ids) -> pl.DataFrame:
    """Lay sessions out as a log: session, topic, rank, doc, clicked (0 or 1), dwell (null: no click)."""
    import polars as pl

    n_topics, n_sessions, depth = sessions.clicked.shape
    doc = lists[np.arange(n_topics)[:, None], sessions.shown]
    return pl.DataFrame(
        {
            "session": np.repeat(np.arange(1, n_topics * n_sessions + 1), depth),
            "topic": _spelled(topics, np.repeat(np.arange(n_topics), n_sessions * depth)),
            "rank": np.tile(np.arange(1, depth + 1), n_topics * n_sessions),
            "doc": _spelled(docs, doc.ravel()),
            "clicked": sessions.clicked.ravel().astype(np.int8),
            "dwell": pl.Series(sessions.dwell.ravel(), dtype=pl.Float64).fill_nan(None),
        }
    )


def _spelled(names: Ids, codes: Ints) -> pl.Series:
    import polars as pl

    return pl.Series(list(names), dtype=pl.String).gather(codes)
