r"""Observations of assessors and users: labels alone and conditional, aspects, preferences and clicks.

*Labels.*  An assessor a perceives document d given c (or given nothing) as

    u(d|c) + disagreement e_ad + noise e_adc,    e ~ N(0, 1),

and gives the nearest grade.  e_ad is the assessor's opinion of the document, the same in isolation and in any
condition; e_adc is drawn for every label.  One assessor judges all of a topic (Golbus et al. 2014,
doi:10.1145/2566486.2568015, Section 4.1), so that a conditional label differs from the one in isolation only by context
and by e_adc; on a share of the topics other assessors judge as well.

*Aspects.*  Golbus et al., Section 5.1, find two clusters: overall, topicality and novelty are correlated, and so are
authority, freshness and quality.  Here document d has a reliability r_d besides its worth u(d), and judgment j of it (d
given c by an assessor who perceives the grade s_j) has on aspect k

    relevance_k s_j + novelty_k (1/4 - o(d|c)) + reliability_k (r_d + mood m_j + spill (s_j - u(d))) + noise_k e_jk
    r_d = link u(d) + (1 - link) top / 2 + own e_d

with e, m ~ N(0, 1) and the term of novelty in conditional labels only.  The label is the nearest grade, or "N/A":
aspect k is covered with probability ``covered`` in isolation and in conditional labels, by a normal variable that has
correlation ``doubt`` between any two aspects of a judgment.  A share ``spam`` of the worthless documents (nearest grade
0) is spam: all its labels are N/A, including the overall one.  All other labels under ``overall`` are those of the
judgments.  The defaults approximate Table 1 (coverage), the complete coverage of 18.4 and 42.6 %, and Tables 2 and 3
(correlations).

*Preferences.*  The utility of a list for a user who reads ``depth`` documents is a mean of grades,

    U = sum_i v_i / log2(i + 1)  /  sum_i 1 / log2(i + 1),    v_i = (1 - context) u(d_i) + context u(d_i|d_(i-1))

with v of Eq. (1), and ``context`` its alpha: at 0 each document counts as if it were alone.  User a perceives the
difference D = U_left - U_right as D + noise e, e ~ N(0, 1), and gives

    0  if that is at most tau_1,   a slight preference (1) up to tau_2,   a strong one (2) beyond,   with its sign.

The two thresholds are such that the *modal* direction over the users is a preference on a share ``weak`` of the topics,
and on a share ``strong`` where slight preferences count as ties: Section 4.2, which finds 91 % and 23 %.  Where two
directions have the most votes, the mode is a tie.

*Clicks.*  A user examines rank 1.  At an examined rank with a document of utility v and the top T of the scale

    clicks       with probability  a_0 + (a_1 - a_0) v / T            ``attraction``
    is satisfied, once clicked,     v / T
    stays for    dwell = m exp(s e), e ~ N(0, 1), m one of two medians, the longer if satisfied    ``dwell``, ``spread``
    continues    with probability  ``patience``, and never after a satisfying click

which is a cascade (Craswell et al. 2008, doi:10.1145/1341531.1341545) in which a click need not satisfy.  Each session
shows one of the two lists, at random.  Every document shown is a row, examined or not: an impression.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from venire.data.aspects import ABSENT
from venire.data.ids import Category, Ids
from venire.data.judgments import Items, Judgments
from venire.data.preferences import Preferences
from venire.data.scale import NOT_APPLICABLE
from venire.kernels.directions import directions, modes
from venire.simulation.context.setting import OVERALL, AspectModel, ClickModel, ContextSetting
from venire.simulation.context.truth import Contents
from venire.simulation.systems import doc_names, numbered, topic_names
from venire.types import Bools, Codes, Floats, Ints

if TYPE_CHECKING:
    import polars as pl

_STEPS = 60
DWELL_DECIMALS = 1


class Seen(NamedTuple):
    """Perceived grades before rounding, all (row,): topic, doc, given (-1: none), assessor, grade.

    Rows are sorted by topic, document, given and assessor, which are numbers.
    """

    topic: Ints
    doc: Ints
    given: Ints
    assessor: Ints
    grade: Floats


def share_of(number: int, share: float, rng: np.random.Generator) -> Bools:
    """Draw a mask that is true for a share of ``number``, rounded -> (number,)."""
    return rng.permutation(number) < round(share * number)


def seen_by(
    setting: ContextSetting, contents: Contents, rows: tuple[Ints, Ints, Ints], streams: dict[str, np.random.Generator]
) -> Seen:
    """Draw the grades that assessors perceive for rows (topic, doc, given).  O(rows + topics x docs)."""
    n_places = 1 + (setting.again_by if setting.judged_again else 0)
    who = streams["judges"].random((setting.n_topics, setting.n_assessors)).argsort(axis=1)[:, :n_places]
    who[:, 1:][~share_of(setting.n_topics, setting.judged_again, streams["judges"])] = -1  # nobody judges again
    opinion = streams["opinions"].standard_normal((who.shape[1], *contents.worth.shape))
    slip = streams["labels"].standard_normal((len(rows[0]), who.shape[1]))
    row, place = np.nonzero(who[rows[0]] >= 0)
    topic, doc, given = (column[row] for column in rows)
    grade = contents.worth_given(topic, doc, given)
    grade = grade + setting.disagreement * opinion[place, topic, doc] + setting.noise * slip[row, place]
    assessor = who[topic, place]
    order = np.lexsort([assessor, row])
    return Seen(topic[order], doc[order], given[order], assessor[order], grade[order])


def graded_labels(grade: Floats, top: int) -> Codes:
    """Round to the nearest level from 0 to the top; any shape."""
    return np.clip(np.rint(grade), 0, top).astype(np.int32)


def labels_of(setting: ContextSetting, seen: Seen) -> Judgments:
    """Return the judgments; items are the documents that were judged."""
    topics, docs = topic_names(setting.n_topics), doc_names(setting.docs_per_topic)
    found, item = np.unique(seen.topic * len(docs) + seen.doc, return_inverse=True)
    topic, doc = (each.astype(np.int32) for each in np.divmod(found, len(docs)))
    assessors = Ids.of(numbered("a", setting.n_assessors, width=2))
    every = np.arange(len(item))
    return Judgments(
        scale=setting.scale,
        items=Items(topics, topic, docs.take(doc)),
        item=item.astype(np.int32),
        assessor=Category(seen.assessor.astype(np.int32), assessors).take(every),
        label=graded_labels(seen.grade, setting.top),
        facets={"given": Category((seen.given + 1).astype(np.int32), Ids.of(["", *docs])).take(every)},
    )


def aspect_levels(model: AspectModel, seen: Seen, contents: Contents, *, rng: np.random.Generator) -> Codes:
    """Draw the level of every aspect, overall first -> (row, 1 + aspect); -1: not applicable.  O(rows x aspects)."""
    grade = _grades(model, seen, contents, rng)
    level = graded_labels(np.column_stack([seen.grade, grade]), contents.top)
    level[:, 1:][~_covered(model, seen.given >= 0, rng)] = ABSENT
    spam = (rng.random(contents.worth.shape) < model.spam) & (np.rint(contents.worth) == 0)
    level[spam[seen.topic, seen.doc]] = ABSENT
    return level


def _grades(model: AspectModel, seen: Seen, contents: Contents, rng: np.random.Generator) -> Floats:
    """Draw the grade of every aspect before it is rounded -> (row, aspect)."""
    own = rng.standard_normal(contents.worth.shape)[seen.topic, seen.doc]
    mood = rng.standard_normal(len(seen.topic))
    alone, condition = contents.worth[seen.topic, seen.doc], seen.given >= 0
    reliability = model.link * alone + (1 - model.link) * contents.top / 2 + model.own * own
    reliability += model.mood * mood + model.spill * (seen.grade - alone)
    new = np.where(condition, 0.25 - contents.overlap(seen.topic, seen.doc, np.maximum(seen.given, 0)), 0.0)
    weights = np.array([(each.relevance, each.novelty, each.reliability) for each in model.aspects])
    noise = np.array([each.noise for each in model.aspects]).T[condition.astype(np.int64)]
    fresh = rng.standard_normal(noise.shape)
    return np.asarray(np.stack([seen.grade, new, reliability], axis=1) @ weights.T + noise * fresh)


def _covered(model: AspectModel, condition: Bools, rng: np.random.Generator) -> Bools:
    """Draw which aspects are covered; condition (row,) -> (row, aspect)."""
    from scipy.special import ndtri

    where = condition.astype(np.int64)
    limit = ndtri(np.array([each.covered for each in model.aspects]).T)[where]
    shared = np.array(model.doubt)[where][:, None]
    one, own = rng.standard_normal((len(where), 1)), rng.standard_normal(limit.shape)
    return np.asarray(np.sqrt(shared) * one + np.sqrt(1 - shared) * own < limit)


def aspect_table(model: AspectModel, level: Codes, judgments: Judgments) -> pl.DataFrame:
    """Return the labels, a row per judgment and aspect: topic, doc, given, assessor, aspect, label."""
    n_rows, n_aspects = level.shape
    rows = judgments.to_polars().select("topic", "doc", "given", "assessor")[np.repeat(np.arange(n_rows), n_aspects)]
    aspects = [OVERALL, *(each.name for each in model.aspects)]
    return rows.with_columns(
        aspect=as_text(aspects, np.tile(np.arange(n_aspects), n_rows)),
        label=as_text([NOT_APPLICABLE, *judgments.scale.labels], level.ravel() + 1),
    )


def utilities(contents: Contents, lists: Ints, context: float, *, depth: int) -> Floats:
    """Return U of each list; lists (topic, list, rank) -> (topic, list)."""
    shown = lists[..., :depth]
    weight = 1 / np.log2(np.arange(shown.shape[-1]) + 2)
    return np.asarray(contents.along(shown, context) @ (weight / weight.sum()))


def strengths(seen: Floats, weak: float, strong: float) -> tuple[Floats, tuple[float, float]]:
    """Return strengths of preferences for the left list (topic, user), from -2 to 2, and the thresholds tau_1, tau_2.

    seen : perceived differences (topic, user);  weak, strong : shares of topics with such modal preferences
    """
    slight = _threshold(seen, weak)
    clear = max(_threshold(seen, strong), slight)
    size = np.abs(seen)
    return np.sign(seen) * ((size > slight) * 1.0 + (size > clear)) + 0.0, (slight, clear)


def _threshold(seen: Floats, share: float) -> float:
    """Return the highest threshold with a modal preference on this share of the topics; seen (topic, user)."""
    low, high = 0.0, float(np.abs(seen).max(initial=0.0))
    topic = np.repeat(np.arange(len(seen)), seen.shape[1])
    for _ in range(_STEPS):
        middle = (low + high) / 2
        modal, _split = modes(directions(seen, middle).ravel(), topic, len(seen))
        low, high = (middle, high) if (modal != 0).mean() >= share else (low, middle)
    return low


def side_by_side(strength: Floats, topics: Ids) -> Preferences:
    """Return the preferences between the systems ``left`` and ``right``; strength (topic, user), rows by topic."""
    n_topics, n_users = strength.shape
    return Preferences(
        topics=topics,
        docs=Ids.of(["left", "right"]),
        topic=np.repeat(np.arange(n_topics, dtype=np.int32), n_users),
        left=np.zeros(strength.size, dtype=np.int32),
        right=np.ones(strength.size, dtype=np.int32),
        assessor=Category(np.tile(np.arange(n_users, dtype=np.int32), n_topics), Ids.of(numbered("u", n_users))),
        strength=strength.ravel(),
    )


@dataclass(frozen=True, eq=False)
class Sessions:
    """Click sessions: the list ``shown`` (topic, session); the others (topic, session, rank); dwell NaN: no click."""

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
    noise = rng.standard_normal((n_topics, clicks.sessions, depth))
    dwell = np.round(median * np.exp(clicks.spread * noise), DWELL_DECIMALS)
    return Sessions(shown, clicked, np.where(clicked, dwell, np.nan))


def click_log(sessions: Sessions, lists: Ints, topics: Ids, docs: Ids) -> pl.DataFrame:
    """Return sessions as a log: session, topic, rank, doc, clicked (0 or 1), dwell (null: no click)."""
    import polars as pl

    n_topics, n_sessions, depth = sessions.clicked.shape
    doc = lists[np.arange(n_topics)[:, None], sessions.shown]
    return pl.DataFrame(
        {
            "session": np.repeat(np.arange(1, n_topics * n_sessions + 1), depth),
            "topic": as_text(topics, np.repeat(np.arange(n_topics), n_sessions * depth)),
            "rank": np.tile(np.arange(1, depth + 1), n_topics * n_sessions),
            "doc": as_text(docs, doc.ravel()),
            "clicked": sessions.clicked.ravel().astype(np.int8),
            "dwell": pl.Series(sessions.dwell.ravel(), dtype=pl.Float64).fill_nan(None),
        }
    )


def as_text(names: Iterable[str], codes: Codes | Ints) -> pl.Series:
    """Return a column of text; names (name,), codes (row,) -> (row,)."""
    import polars as pl

    return pl.Series(list(names), dtype=pl.String).gather(pl.Series(codes))
