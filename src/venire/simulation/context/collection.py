r"""Collections in context: labels in isolation and in condition, side-by-side preferences and clicks over one truth.

The kind of data that Golbus et al. (2014), doi:10.1145/2566486.2568015, collected and could not publish:

    contents      what documents are worth alone and after another         ``venire.simulation.context.truth``
    lists         two engines, and which documents are labelled            ``venire.simulation.context.truth``
    labels        grades as assessors see them                             ``venire.simulation.context.labels``
    preferences   five users compare the two lists                         ``venire.simulation.context.users``
    clicks        sessions on either list                                  ``venire.simulation.context.users``
    aspects       topicality, novelty and so on, on request                ``venire.simulation.context.aspects``

Which engine is ``left`` is drawn for each topic (Section 4.2).  Every part draws from a stream of its own, so that
other users, clicks or aspects change no label, and another redundancy changes neither lists nor errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from venire.data.ids import Ids
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.data.runs import Runs
from venire.randomness import copied, seed_of
from venire.results import Records, Tabular, counted
from venire.simulation.context.aspects import aspect_levels, aspect_table
from venire.simulation.context.labels import Names, Seen, labels_of, seen_by, share_of
from venire.simulation.context.setting import ContextSetting as ContextSetting
from venire.simulation.context.truth import SIDES, Contents, drawn_facets, drawn_worth, labelled_rows, ranked, run_table
from venire.simulation.context.users import click_log, sessions_of, side_by_side, strengths, utilities
from venire.simulation.perceived import numbered
from venire.types import Bools, Floats, Ints, RNGLike

if TYPE_CHECKING:
    import polars as pl

PARTS = ("contents", "lists", "sides", "design", "judges", "opinions", "labels", "preferences", "clicks", "aspects")
"""What has a stream of its own; new ones last."""


@dataclass(frozen=True, eq=False)
class ContextTruth:
    """What is true of a collection.

    Parameters
    ----------
    contents
        What every document is worth and covers; ``contents.worth_given`` is its worth after another.
    docs
        Names of the documents of a topic, judged or not, in the order of ``contents``.
    lists
        Documents of both lists (topic, side, rank), places in ``docs``; sides are left, right.
    engine
        Which engine stands on the left (topic,).
    fifth
        Whether ranks 1 to 4 were judged given rank 5 (topic,).
    utility
        What the two lists are worth to users (topic, side), in grades.
    thresholds
        Differences of utility, as users see them, beyond which a preference is slight, and strong.
    """

    contents: Contents
    docs: Ids
    lists: Ints
    engine: Ints
    fifth: Bools
    utility: Floats
    thresholds: tuple[float, float]


@dataclass(frozen=True, eq=False, repr=False)
class ContextCollection(Tabular):
    """A simulated collection and its truth; ``generate_context(setting, rng=seed)`` makes it again.

    Parameters
    ----------
    judgments
        Labels in isolation and in condition; facet ``given`` names the document read before, if any.
    runs
        Two systems, left and right.
    preferences
        Of each user between the systems left and right, strength -2 to 2, positive: left is better.
    clicks
        A row per document shown: session, topic, rank, doc, clicked (0 or 1), dwell (seconds, null without a click).
    aspects
        Labels by aspect: topic, doc, given, assessor, aspect, label; None unless asked for.
    """

    setting: ContextSetting
    seed: np.random.SeedSequence
    judgments: Judgments
    runs: Runs
    preferences: Preferences
    clicks: pl.DataFrame
    aspects: pl.DataFrame | None
    truth: ContextTruth

    def __repr__(self) -> str:
        return f"<ContextCollection: {self.sentence()}>"

    def sentence(self) -> str:
        """Say in one line what is there."""
        held = f"{self.judgments.summary().sentence()}; {counted(len(self.preferences), 'preference')}"
        n_sessions = self.setting.n_topics * self.setting.clicks.sessions
        held += f" between two lists; {counted(n_sessions, 'click session')}"
        return held if self.aspects is None else f"{held}; {counted(self.aspects.height, 'label')} by aspect"

    def records(self) -> Records:
        """Return one row per table: how many rows it has."""
        sizes = {
            "judgments": len(self.judgments),
            "preferences": len(self.preferences),
            "clicks": self.clicks.height,
            "aspects": None if self.aspects is None else self.aspects.height,
        }
        return [{"table": name, "rows": size} for name, size in sizes.items()]


def generate_context(setting: ContextSetting | None = None, *, rng: RNGLike = 0) -> ContextCollection:
    """Make a collection of labels in context; the same setting and rng make the same.

    Cost: linear in labels and click rows, and topics x docs x facets.

    Each document depends on the one before and on no earlier one, as in the paper; where redundancy with all that was
    read is the question, this is not the generator for it.

    Examples
    --------
    >>> collection = generate_context(ContextSetting(n_topics=50, labelled="left", redundancy=0.8), rng=7)
    >>> collection.judgments
    <Judgments: 750 labels on 350 items of 50 topics by 17 assessors, scale bad<fair<good<excellent<perfect>
    >>> collection.runs, collection.preferences
    (<Runs: left, right (2 sources)>, <Preferences: 250 choices (39 ties) on 50 pairs of 50 topics by 5 assessors>)
    """
    setting, seed = setting or ContextSetting(), seed_of(rng)
    seeds = copied(seed).spawn(len(PARTS))
    streams = {part: np.random.default_rng(each) for part, each in zip(PARTS, seeds, strict=True)}
    contents, names = _contents(setting, streams["contents"]), _names(setting)
    engine, lists = _lists(setting, contents, streams)
    fifth = share_of(setting.n_topics, setting.fifth, streams["design"])
    asked = labelled_rows(lists if setting.labelled == "both" else lists[:, :1], fifth, setting.design)
    seen = seen_by(setting, contents, asked, streams)
    utility = utilities(contents, lists, setting.context, depth=setting.depth)
    preferred = strengths(_differences(setting, utility, streams["preferences"]), setting.weak, setting.strong)
    value = contents.along(lists, setting.context) / setting.top
    sessions = sessions_of(value, setting.clicks, rng=streams["clicks"])
    return ContextCollection(
        setting=setting,
        seed=seed,
        judgments=labels_of(setting, seen, names),
        runs=Runs(tuple(run_table(side, lists[:, n], names.topics, names.docs) for n, side in enumerate(SIDES))),
        preferences=side_by_side(preferred.strength, names.topics),
        clicks=click_log(sessions, lists, names.topics, names.docs),
        aspects=_aspects(setting, seen, contents, names, streams["aspects"]),
        truth=ContextTruth(contents, names.docs, lists, engine, fifth, utility, preferred.thresholds),
    )


def _contents(setting: ContextSetting, rng: np.random.Generator) -> Contents:
    worth = drawn_worth((setting.n_topics, setting.docs_per_topic), setting.shape, setting.top, rng=rng)
    covers = drawn_facets(worth / setting.top, setting.n_facets, setting.rarity, setting.breadth, rng=rng)
    return Contents(worth, covers, setting.top, setting.redundancy, setting.complementarity)


def _names(setting: ContextSetting) -> Names:
    """Name topics 1, 2, ..., documents d0001, d0002, ..., and assessors a01, a02, ..."""
    return Names(
        Ids.of(str(number) for number in range(1, setting.n_topics + 1)),
        Ids.of(numbered("d", setting.docs_per_topic, least=4)),
        Ids.of(numbered("a", setting.n_assessors, least=2)),
    )


def _lists(setting: ContextSetting, contents: Contents, streams: dict[str, np.random.Generator]) -> tuple[Ints, Ints]:
    """Rank by both engines, sides at random -> which engine is left (topic,), lists (topic, side, rank)."""
    of_engines = np.stack([ranked(engine, contents, rng=streams["lists"]) for engine in setting.engines], axis=1)
    left = streams["sides"].integers(2, size=setting.n_topics)
    return left, of_engines[np.arange(setting.n_topics)[:, None], np.stack([left, 1 - left], axis=1)]


def _differences(setting: ContextSetting, utility: Floats, rng: np.random.Generator) -> Floats:
    """Return what users see of the difference of both lists; utility (topic, side) -> (topic, user)."""
    noise = rng.standard_normal((setting.n_topics, setting.n_users))
    return np.asarray(utility[:, :1] - utility[:, 1:] + setting.preference_noise * noise)


def _aspects(
    setting: ContextSetting, seen: Seen, contents: Contents, names: Names, rng: np.random.Generator
) -> pl.DataFrame | None:
    if setting.aspects is None:
        return None
    level = aspect_levels(setting.aspects, seen, contents, rng=rng)
    return aspect_table(setting.aspects, level, seen, setting.scale, names)
