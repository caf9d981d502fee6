"""What users say of two result lists: a direction by topic, from the strengths that several assessors gave.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 4.2.  Strengths become directions in two ways: *weak*, any
preference counts, and *strong*, slight ones are ties.  The verdict on two lists is the direction that most assessors
have.  Where two directions or more are equally frequent the paper says nothing; here the verdict then is a tie, and
how often that happened is told.  An assessor who answered several times counts once, with the middle of the answers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from venire.data.preferences import Preferences
from venire.errors import FormatError, SettingError, known_names
from venire.kernels.directions import directions, modes
from venire.kernels.paired_tests import differences_of
from venire.measures.scores import Scores
from venire.results import Tabular, counted
from venire.types import Bools, Floats, Ints
from venire.users.preferences import per_assessor

STRENGTHS = ("weak", "strong")
UNSCORED = "every list that was compared needs a score; or pass over such cases: missing='skip', --missing skip"
NO_LISTS = "preferences between documents need no runs"


@dataclass(frozen=True, eq=False)
class UserVerdicts(Tabular):
    """Verdicts on cases, which are two lists for a topic: directions (weak or strong, case), 1 where left is better.

    table has a row per case, turned as it first stands; n_assessors (case,); split (weak or strong, case) marks cases
    whose most frequent direction is not one alone; slight is the largest strength that is none in strong preference.
    """

    table: Preferences
    directions: Ints
    split: Bools
    n_assessors: Ints
    slight: float
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.table)

    @property
    def topic(self) -> Ints:
        """The topic of each case, numbered from 0 without gaps -> (case,)."""
        return np.unique(self.table.topic, return_inverse=True)[1].astype(np.int64)

    @property
    def n_topics(self) -> int:
        """How many topics there are."""
        return len(np.unique(self.table.topic))

    @property
    def ties(self) -> Floats:
        """Share of cases that are tied -> (weak or strong,)."""
        return np.asarray((self.directions == 0).mean(axis=1))

    def take(self, cases: Ints | Bools) -> UserVerdicts:
        """Choose cases."""
        return replace(
            self,
            table=self.table.take(cases),
            directions=self.directions[:, cases],
            split=self.split[:, cases],
            n_assessors=self.n_assessors[cases],
        )

    def records(self) -> list[dict[str, Any]]:
        """Return a JSON object for weak and one for strong preference."""
        return [
            {
                "preference": name,
                "slight": self.slight if name == "strong" else 0.0,
                "cases": len(self),
                "left": int((found > 0).sum()),
                "ties": int((found == 0).sum()),
                "right": int((found < 0).sum()),
                "share_of_ties": float((found == 0).mean()),
                "modal_ties": int(split.sum()),
            }
            for name, found, split in zip(STRENGTHS, self.directions, self.split, strict=True)
        ]

    def sentence(self) -> str:
        """Say how often users prefer one of the lists."""
        weak, strong = 1 - self.ties
        split = " and ".join(f"{int(n)} ({name})" for name, n in zip(STRENGTHS, self.split.sum(axis=1), strict=True))
        return (
            f"Users have a weak preference on {weak:.0%} and a strong one (over {self.slight:g}) on {strong:.0%} of "
            f"{counted(len(self), 'case')} ({counted(self.n_topics, 'topic')}); without a majority, taken as ties: "
            f"{split}."
        )


def user_verdicts(preferences: Preferences, *, slight: float | None = None) -> UserVerdicts:
    """Settle what users say of each two lists.

    Parameters
    ----------
    slight : the largest strength that counts as slight; None: 1, or nothing where strengths go no further than 1

    Examples
    --------
    >>> rows = [("q1", "A", "B", s, who) for s, who in ((2, "ann"), (1, "bob"), (-1, "eve"))]
    >>> user_verdicts(Preferences.of(rows)).directions.tolist()
    [[1], [0]]
    """
    if len(preferences) == 0:
        raise SettingError("there are no preferences", hint="name a file with rows: topic, left, right, strength")
    slight, notes = _settled_slight(preferences, slight)
    once = per_assessor(preferences)
    group, first = once.pairs()[0], preferences.pairs()[1]
    table = preferences.take(first)
    turned = np.where(table.left > table.right, -1.0, 1.0)[group] * once.strength
    found = [modes(directions(turned, each), group, len(first)) for each in (0.0, slight)]
    return UserVerdicts(
        table=table,
        directions=np.stack([each for each, _ in found]),
        split=np.stack([each for _, each in found]),
        n_assessors=np.bincount(group, minlength=len(first)),
        slight=slight,
        notes=notes,
    )


def score_differences(scores: Scores, verdicts: UserVerdicts, *, missing: str = "error") -> tuple[Floats, UserVerdicts]:
    """Score of the left list less that of the right one -> (measure, case), and the verdicts on these cases.

    scores are by system, topic and measure.  A list without a score is an error that names the line of its preference,
    or, with missing="skip", its cases are left out.  Differences are rounded as those of systems are.
    """
    if sorted(scores.axes) != ["measure", "system", "topic"]:
        raise SettingError(f"scores are by {', '.join(scores.axes)}, expected by system, topic and measure")
    values = scores.values.transpose([scores.axes.index(axis) for axis in ("measure", "system", "topic")])
    table = verdicts.table
    system, topic = (_placed(scores.names[axis], names) for axis, names in _named(table))
    left, right, at = system[table.left], system[table.right], topic[table.topic]
    absent = [(left < 0) | (right < 0), at < 0]
    one = values[:, left, at]
    no_left, blank = (np.asarray(np.isnan(each).any(axis=0)) for each in (one, one + values[:, right, at]))
    unscored = absent[0] | absent[1] | blank
    if missing == "error" and unscored.any():
        _refuse(scores, verdicts, [*absent, no_left, blank], left)
    if unscored.all():
        raise SettingError("none of the compared lists has a score", hint="check names of systems and topics")
    if unscored.any():
        word = f"{counted(int(unscored.sum()), 'case')} without a score left out"
        verdicts = replace(verdicts.take(~unscored), notes=(*verdicts.notes, word))
    left, right, at = (each[~unscored] for each in (left, right, at))
    return np.stack([_differences(each, left, right, at) for each in values]), verdicts


def quiet_scores(score: Callable[[], Scores]) -> Scores:
    """Score without the warning on missing lists: the ones that matter are told with their lines."""
    from venire.errors import MissingTopicsWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingTopicsWarning)
        return score()


def _settled_slight(preferences: Preferences, slight: float | None) -> tuple[float, tuple[str, ...]]:
    largest = float(np.abs(preferences.strength).max())
    if slight is None:
        slight = 1.0 if largest > 1 else 0.0
    if not 0 <= slight < np.inf:
        raise SettingError(f"slight is {slight:g}, expected a strength from 0 on", hint="1 is usual on scales up to 2")
    if slight == 0:
        why = f"no strength is over {largest:g}" if largest <= 1 else "no strength counts as slight"
        return slight, (f"{why}: strong preference is the same as weak",)
    word = f"every strength is slight (at most {slight:g}): strong preference is a tie throughout"
    return slight, (word,) * (largest <= slight)


def _named(table: Preferences) -> list[tuple[str, tuple[str, ...]]]:
    return [("system", tuple(table.docs)), ("topic", tuple(table.topics))]


def _placed(known: tuple[str, ...], names: tuple[str, ...]) -> Ints:
    place = {name: number for number, name in enumerate(known)}
    return np.array([place.get(name, -1) for name in names], dtype=np.int64)


def _differences(values: Floats, left: Ints, right: Ints, at: Ints) -> Floats:
    """Rounded differences of one measure: values (system, topic) -> (case,)."""
    two = np.stack([values[left, at], values[right, at]])
    return differences_of(two, np.array([0]), np.array([1])).value[:, 0]


def _refuse(scores: Scores, verdicts: UserVerdicts, wrong: list[Bools], left: Ints) -> None:
    """Raise at the first case that lacks a score, on the line of its preference."""
    table = verdicts.table
    case = min(np.flatnonzero(np.logical_or.reduce(wrong)).tolist(), key=lambda each: table.place(each)[1])
    which = next(number for number, each in enumerate(wrong) if each[case])
    lacking = table.left if (left[case] < 0 if which == 0 else which == 2) else table.right
    name, topic = table.docs[int(lacking[case])], table.topics[int(table.topic[case])]
    words = (
        (f"there is no result list {name!r} in the runs", f"{known_names(name, scores.names['system'])}; {NO_LISTS}"),
        (f"topic {topic!r} has a preference and no judged documents", UNSCORED),
        *((f"the runs of {name!r} have no scored list for topic {topic!r}", UNSCORED),) * 2,
    )
    where, line = table.place(case)
    raise FormatError(where, line, words[which][0], hint=words[which][1])
