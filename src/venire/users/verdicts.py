"""What users prefer, of two result lists or two documents: directions, and how far assessors agree on them.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 4.2.  Strengths become directions in two ways: *weak*, any
preference counts, and *strong*, slight ones are ties.  The verdict on two lists is the direction that most assessors
have.  Where two directions or more are equally frequent the paper says nothing; here the verdict then is a tie, and
such ties are counted.  An assessor who answered several times counts once, with the median of the answers.

``summarise_preferences`` adds the agreement of assessors and the share of the left side (``users.preferences``).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from venire.data.preferences import Preferences
from venire.errors import FormatError, SettingError, known_names
from venire.io.preferences import PreferencesLike, read_preferences
from venire.kernels.directions import directions, modes
from venire.kernels.paired_tests import differences_of
from venire.measures.scores import Scores
from venire.results import Note, Records, Tabular, counted, limits_of
from venire.types import Bools, Floats, Ints, RNGLike
from venire.users.preferences import (
    PositionBias,
    PreferenceAgreement,
    per_assessor,
    position_bias,
    preference_agreement,
)

STRENGTHS = ("weak", "strong")
UNSCORED = "every list that was compared needs a score; or leave such cases out: missing 'skip'"
NO_LISTS = "preferences between documents need no runs"


@dataclass(frozen=True, eq=False)
class UserVerdicts(Tabular):
    """Verdicts on cases, which are two lists for a topic: directions (weak or strong, case), 1 where left is better.

    table has a row per case, oriented as in its first row; n_assessors (case,); split (weak or strong, case) marks
    cases with several most frequent directions; slight is the largest strength that is a tie in strong preference.
    """

    table: Preferences
    directions: Ints
    split: Bools
    n_assessors: Ints
    slight: float
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return len(self.table)

    @property
    def topic(self) -> Ints:
        """Topic of each case, numbered from 0 without gaps -> (case,)."""
        return np.unique(self.table.topic, return_inverse=True)[1].astype(np.int64)

    @property
    def n_topics(self) -> int:
        """Number of topics."""
        return len(np.unique(self.table.topic))

    @property
    def ties(self) -> Floats:
        """Share of cases that are tied -> (weak or strong,)."""
        return np.asarray((self.directions == 0).mean(axis=1))

    def take(self, cases: Ints | Bools) -> UserVerdicts:
        """Choose cases."""
        table, directions, split = self.table.take(cases), self.directions[:, cases], self.split[:, cases]
        return UserVerdicts(table, directions, split, self.n_assessors[cases], self.slight, self.notes)

    def records(self) -> Records:
        """Return a row for weak and one for strong preference."""
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
        """Return how often users prefer one of the two."""
        weak, strong = 1 - self.ties
        return (
            f"Users have a weak preference in {weak:.0%} and a strong one (over {self.slight:g}) in {strong:.0%} of "
            f"{counted(len(self), 'case')} on {counted(self.n_topics, 'topic')}."
        )


def user_verdicts(preferences: PreferencesLike, *, slight: float | None = None) -> UserVerdicts:
    """Determine the verdict of users on each two lists.

    Parameters
    ----------
    slight : the largest strength that counts as slight; None: 1, or nothing where strengths go no further than 1

    Examples
    --------
    >>> rows = [("q1", "A", "B", s, who) for s, who in ((2, "ann"), (1, "bob"), (-1, "eve"))]
    >>> user_verdicts(Preferences.of(rows)).directions.tolist()
    [[1], [0]]
    """
    preferences = read_preferences(preferences)
    if len(preferences) == 0:
        raise SettingError("there are no preferences", hint="name a file with rows: topic, left, right, strength")
    slight, notes = _slight(preferences, slight)
    once = per_assessor(preferences)
    group, first = once.pairs()[0], preferences.pairs()[1]
    table = preferences.take(first)
    turned = np.where(table.left > table.right, -1.0, 1.0)[group] * once.strength
    found = zip(*(modes(directions(turned, each), group, len(first)) for each in (0.0, slight)), strict=True)
    modal, split = (np.stack(each) for each in found)
    return UserVerdicts(table, modal, split, np.bincount(group, minlength=len(first)), slight, notes)


def _slight(preferences: Preferences, slight: float | None) -> tuple[float, tuple[Note, ...]]:
    """Return the largest slight strength, and a note where weak and strong preference cannot differ."""
    largest = float(np.abs(preferences.strength).max())
    if slight is None:
        slight = 1.0 if largest > 1 else 0.0
    if not 0 <= slight < np.inf:
        raise SettingError(f"slight is {slight:g}, expected a strength from 0 on", hint="1 is usual on scales up to 2")
    if slight == 0:
        words = "no strength is slight (the largest is {largest:g}): strong preference is the same as weak"
        return slight, (Note("none-slight", words, largest=largest),)
    words = "every strength is slight (at most {slight:g}): strong preference is always a tie"
    return slight, (Note("all-slight", words, slight=slight),) * (largest <= slight)


def score_differences(scores: Scores, verdicts: UserVerdicts, *, missing: str = "error") -> tuple[Floats, UserVerdicts]:
    """Return the score of the left list less that of the right one -> (measure, case), and the verdicts on these cases.

    scores are by system, topic and measure.  A list without a score is an error that names the line of its preference,
    or, with missing="skip", its cases are left out.  Differences are rounded as those of systems are.
    """
    if sorted(scores.axes) != ["measure", "system", "topic"]:
        raise SettingError(f"scores are by {', '.join(scores.axes)}, expected by system, topic and measure")
    scores = scores.complete()
    values = scores.values.transpose([scores.axes.index(axis) for axis in ("measure", "system", "topic")])
    table = verdicts.table
    system, topic = _places(scores.names["system"], table.docs), _places(scores.names["topic"], table.topics)
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
        note = Note("unscored-cases", "{n:case} without a score left out", n=int(unscored.sum()))
        verdicts = replace(verdicts.take(~unscored), notes=(*verdicts.notes, note))
    left, right, at = (each[~unscored] for each in (left, right, at))
    sides = [np.stack([each[left, at], each[right, at]]) for each in values]
    return np.stack([differences_of(two, np.array([0]), np.array([1])).value[:, 0] for two in sides]), verdicts


def _places(known: tuple[str, ...], names: Any) -> Ints:
    """Return the place of each name among those known, -1 for none."""
    place = {name: number for number, name in enumerate(known)}
    return np.array([place.get(name, -1) for name in names], dtype=np.int64)


def _refuse(scores: Scores, verdicts: UserVerdicts, wrong: list[Bools], left: Ints) -> None:
    """Raise at the first case that lacks a score, on the line of its preference."""
    table = verdicts.table
    case = min(np.flatnonzero(np.logical_or.reduce(wrong)).tolist(), key=lambda each: table.place(each)[1])
    which = next(number for number, each in enumerate(wrong) if each[case])
    lacking = table.left if (left[case] < 0 if which == 0 else which == 2) else table.right
    name, topic = table.docs[int(lacking[case])], table.topics[int(table.topic[case])]
    messages = (
        (f"there is no result list {name!r} in the runs", f"{known_names(name, scores.names['system'])}; {NO_LISTS}"),
        (f"topic {topic!r} has a preference and no judged documents", UNSCORED),
        *((f"the runs of {name!r} have no scored list for topic {topic!r}", UNSCORED),) * 2,
    )
    where, line = table.place(case)
    raise FormatError(where, line, messages[which][0], hint=messages[which][1])


@dataclass(frozen=True, eq=False)
class PreferenceSummary(Tabular):
    """Preferences, the verdicts on every pair, agreement (weak or strong), and how often either side is preferred."""

    preferences: Preferences
    verdicts: UserVerdicts
    agreement: tuple[PreferenceAgreement, PreferenceAgreement]
    position: PositionBias
    notes: tuple[Note | str, ...] = ()

    def records(self) -> Records:
        """Return a row for weak and one for strong preference."""
        return [
            {
                **verdict,
                **limits_of("agreement", found.raw),
                **limits_of("alpha", found.alpha),
                "pairs": found.n_pairs,
                "topics": found.n_topics,
                "reason": found.reason,
            }
            for verdict, found in zip(self.verdicts.records(), self.agreement, strict=True)
        ]

    def assessor_records(self) -> Records:
        """Return a row per two assessors who compared the same pairs, for weak and for strong preference."""
        by_strength = zip(STRENGTHS, self.agreement, strict=True)
        return [{"preference": name, **asdict(each)} for name, found in by_strength for each in found.by_assessors]

    def position_record(self) -> dict[str, Any]:
        """Return how often the left one is preferred, over all and by assessor."""
        found = self.position
        sides = {"left": found.n_left, "ties": found.n_ties, "right": found.n_right}
        by_assessor = list(found.by_assessor)
        return {**sides, **limits_of("share", found.left), "by_assessor": by_assessor, "reason": found.reason}

    def sentence(self) -> str:
        """Return how often users prefer one of the two."""
        return self.verdicts.sentence()

    def sentences(self) -> list[str]:
        """Return what there is, what users prefer, and how far they agree."""
        parts = (self.verdicts, self.agreement[0], self.position)
        return [f"{self.preferences.sentence()}.", *(part.sentence() for part in parts)]


def summarise_preferences(
    preferences: PreferencesLike, *, slight: float | None = None, rng: RNGLike = 0
) -> PreferenceSummary:
    """Determine verdicts and measure agreement; slight as for ``user_verdicts``."""
    preferences = read_preferences(preferences)
    verdicts = user_verdicts(preferences, slight=slight)
    strength = np.where(np.abs(preferences.strength) <= verdicts.slight, 0.0, preferences.strength)
    generator = np.random.default_rng(rng)
    both = preferences, replace(preferences, strength=strength)
    weak, strong = (preference_agreement(each, rng=generator) for each in both)
    cell = preferences.pairs()[0] * max(len(preferences.assessors), 1) + preferences.assessor.codes
    n_repeated = len(cell) - len(np.unique(cell))
    words = "{n:repeated choice} of an assessor on a pair: the median of their choices counts"
    if len(preferences.assessors) == 1:
        words += "; if the name stands for several people, take every choice as another person's (anonymous)"
    repeated = [Note("repeated-choices", words, n=n_repeated)] * (n_repeated > 0)
    notes: tuple[Any, ...] = (*repeated, *preferences.notes)
    return PreferenceSummary(preferences, verdicts, (weak, strong), position_bias(preferences), notes)
