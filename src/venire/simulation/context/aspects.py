r"""Aspects of relevance: topicality, novelty, freshness, authority and quality beside the overall label.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 5.1, find two clusters: overall, topicality and novelty go
together, and so do authority, freshness and quality.  Here document d has a reliability r_d besides its worth u(d), and
judgment j of it (d given c by an assessor who sees the grade s_j) has on aspect k

    relevance_k s_j + novelty_k (1/4 - o(d|c)) + reliability_k (r_d + mood m_j + spill (s_j - u(d))) + noise_k e_jk
    r_d = link u(d) + (1 - link) top / 2 + own e_d

with e, m ~ N(0, 1) and the term of novelty in condition only.  The label is the nearest grade, or "N/A": aspect k is
covered with probability ``covered`` in isolation and in condition, by a normal variable that has correlation ``doubt``
between any two aspects of a judgment, so that who cannot say one thing often cannot say another.  A share ``spam`` of
the documents that are worth nothing (nearest grade 0) is spam: all its labels are N/A, the overall one too.  Everything
else under ``overall`` is the label of the judgments.

The defaults come near Table 1 (coverage), the complete coverage of 18.4 and 42.6 %, and Tables 2 and 3 (correlations).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from venire.checks import need_at_least, need_share
from venire.data.aspects import ABSENT
from venire.data.scale import NOT_APPLICABLE, Scale
from venire.errors import SettingError
from venire.simulation.context.labels import Names, Seen, graded_labels
from venire.simulation.context.truth import Contents
from venire.types import Bools, Codes, Floats

if TYPE_CHECKING:
    import polars as pl

OVERALL = "overall"


@dataclass(frozen=True, kw_only=True)
class Aspect:
    """One aspect: how often it is covered in isolation and in condition, its weights, and its noise in both."""

    name: str
    covered: tuple[float, float]
    relevance: float = 0.0
    novelty: float = 0.0
    reliability: float = 0.0
    noise: tuple[float, float] = (0.25, 0.25)

    def __post_init__(self) -> None:
        if not self.name or self.name == OVERALL:
            raise SettingError(f"{self.name!r} cannot name an aspect", hint=f"{OVERALL!r} is there anyway")
        for share in self.covered:
            need_share(f"coverage of {self.name}", share)
        for amount in self.noise:
            need_at_least(0, f"noise of {self.name}", amount)


GOLBUS_ASPECTS = (
    Aspect(name="topicality", covered=(0.994, 0.993), relevance=1.0, noise=(0.1, 0.2)),
    Aspect(name="novelty", covered=(0.227, 0.818), relevance=1.0, novelty=1.0, noise=(0.2, 0.7)),
    Aspect(name="freshness", covered=(0.749, 0.804), reliability=1.0),
    Aspect(name="authority", covered=(0.685, 0.550), reliability=1.0),
    Aspect(name="quality", covered=(0.887, 0.909), reliability=1.0),
)
"""The five aspects of the paper, covered as in Table 1."""


@dataclass(frozen=True, kw_only=True)
class AspectModel:
    """Which aspects are labelled, and how they hang together; see the module for the symbols."""

    aspects: tuple[Aspect, ...] = GOLBUS_ASPECTS
    link: float = 0.65
    own: float = 0.5
    mood: float = 0.2
    spill: float = 0.4
    doubt: tuple[float, float] = (0.45, 0.36)
    spam: float = 0.5

    def __post_init__(self) -> None:
        names = [aspect.name for aspect in self.aspects]
        if len(set(names)) < len(names) or not names:
            raise SettingError(f"the aspects {', '.join(names) or 'are none'}", hint="name one or more, each once")
        for name in ("link", "spam"):
            need_share(name, getattr(self, name))
        for name in ("own", "mood"):
            need_at_least(0, name, getattr(self, name))
        for share in self.doubt:
            need_share("doubt", share)


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
    """Draw which aspects somebody can say something about; condition (row,) -> (row, aspect)."""
    from scipy.special import ndtri

    where = condition.astype(np.int64)
    limit = ndtri(np.array([each.covered for each in model.aspects]).T)[where]
    shared = np.array(model.doubt)[where][:, None]
    one, own = rng.standard_normal((len(where), 1)), rng.standard_normal(limit.shape)
    return np.asarray(np.sqrt(shared) * one + np.sqrt(1 - shared) * own < limit)


def aspect_table(model: AspectModel, level: Codes, seen: Seen, scale: Scale, names: Names) -> pl.DataFrame:
    """Lay the labels out, a row per judgment and aspect: topic, doc, given, assessor, aspect, label."""
    import polars as pl

    n_rows, n_aspects = level.shape
    row = np.repeat(np.arange(n_rows), n_aspects)
    spelled = names.columns(seen)
    columns = {name: spelled[name].gather(row) for name in ("topic", "doc", "given", "assessor")}
    words = pl.Series([OVERALL, *(each.name for each in model.aspects)], dtype=pl.String)
    labels = pl.Series([NOT_APPLICABLE, *scale.labels], dtype=pl.String)
    columns |= {
        "aspect": words.gather(np.tile(np.arange(n_aspects), n_rows)),
        "label": labels.gather(level.ravel() + 1),
    }
    return pl.DataFrame(columns)
