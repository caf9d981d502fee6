r"""Collections of labels in context: labels alone and conditional, preferences between lists, and clicks.

They have the form of the data that Golbus et al. (2014), doi:10.1145/2566486.2568015, collected and could not publish:
the worth of documents alone and after another, and the lists of two engines (``venire.simulation.context.truth``);
labels, aspects, preferences and clicks (``venire.simulation.context.observations``).  Which engine is ``left`` is drawn
for each topic (Section 4.2).  Every part draws from its own stream, so that other users, clicks or aspects change no
label, and another redundancy changes neither lists nor errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from venire.data.ids import Ids
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.data.runs import Runs
from venire.randomness import named_seeds, seed_of
from venire.results import Records, Tabular, counted
from venire.simulation.context.observations import (
    aspect_levels,
    aspect_table,
    click_log,
    labels_of,
    seen_by,
    sessions_of,
    share_of,
    side_by_side,
    strengths,
    utilities,
)
from venire.simulation.context.setting import ContextSetting as ContextSetting
from venire.simulation.context.truth import SIDES, Contents, draw_contents, labelled_rows, ranked, run_table
from venire.simulation.systems import doc_names, topic_names
from venire.types import Bools, Floats, Ints, RNGLike

if TYPE_CHECKING:
    import polars as pl

PARTS = ("contents", "lists", "sides", "design", "judges", "opinions", "labels", "preferences", "clicks", "aspects")
"""Parts with their own stream of random numbers; new ones are added last."""


@dataclass(frozen=True, eq=False)
class ContextTruth:
    """The truth of a collection.

    Parameters
    ----------
    contents : worth and facets of every document; ``contents.worth_given`` is its worth after another
    docs : names of the documents of a topic, judged or not, in the order of ``contents``
    lists : documents of both lists (topic, side, rank), positions in ``docs``; sides are left, right
    engine : number of the engine on the left (topic,)
    fifth : whether ranks 1 to 4 were judged given rank 5 (topic,)
    utility : utility of the two lists to users (topic, side), in grades
    thresholds : perceived differences of utility above which a preference is slight, and strong
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
    """A simulated collection and its truth; ``generate_context(setting, rng=seed)`` reproduces it.

    Parameters
    ----------
    judgments : labels in isolation and conditional labels; facet ``given`` names the document read before, if any
    runs : two systems, left and right
    preferences : preferences of each user between the systems left and right, strength -2 to 2, positive: left is
        better
    clicks : a row per document shown: session, topic, rank, doc, clicked (0 or 1), dwell (seconds, null without a
        click)
    aspects : labels by aspect: topic, doc, given, assessor, aspect, label; None unless requested
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
        """Summarise the collection in one line."""
        text = f"{self.judgments.summary().sentence()}; {counted(len(self.preferences), 'preference')}"
        n_sessions = self.setting.n_topics * self.setting.clicks.sessions
        text += f" between two lists; {counted(n_sessions, 'click session')}"
        return text if self.aspects is None else f"{text}; {counted(self.aspects.height, 'label')} by aspect"

    def records(self) -> Records:
        """Return one row per table, with its number of rows."""
        sizes = {
            "judgments": len(self.judgments),
            "preferences": len(self.preferences),
            "clicks": self.clicks.height,
            "aspects": None if self.aspects is None else self.aspects.height,
        }
        return [{"table": name, "rows": size} for name, size in sizes.items()]


def generate_context(setting: ContextSetting | None = None, *, rng: RNGLike = 0) -> ContextCollection:
    """Simulate a collection of labels in context; the same setting and rng give the same collection.

    Cost: linear in labels and click rows, and topics x docs x facets.

    The worth of a document depends on the previous one only, as in the paper.  Do not use this generator to study
    redundancy with all documents read before.

    Examples
    --------
    >>> collection = generate_context(ContextSetting(n_topics=50, labelled="left", redundancy=0.8), rng=7)
    >>> collection.judgments
    <Judgments: 750 labels on 350 items of 50 topics by 17 assessors, scale bad<fair<good<excellent<perfect>
    >>> collection.runs, collection.preferences
    (<Runs: left, right (2 sources)>, <Preferences: 250 choices (39 ties) on 50 pairs of 50 topics by 5 assessors>)
    """
    setting, seed = setting or ContextSetting(), seed_of(rng)
    streams = {part: np.random.default_rng(each) for part, each in named_seeds(seed, PARTS).items()}
    contents = draw_contents(setting, rng=streams["contents"])
    topics, docs = topic_names(setting.n_topics), doc_names(setting.docs_per_topic)
    engine, lists = _lists(setting, contents, streams)
    fifth = share_of(setting.n_topics, setting.fifth, streams["design"])
    rows = labelled_rows(lists if setting.labelled == "both" else lists[:, :1], fifth, setting.design)
    seen = seen_by(setting, contents, rows, streams)
    judgments, aspects = labels_of(setting, seen), None
    if setting.aspects is not None:
        level = aspect_levels(setting.aspects, seen, contents, rng=streams["aspects"])
        aspects = aspect_table(setting.aspects, level, judgments)
    utility = utilities(contents, lists, setting.context, depth=setting.depth)
    noise = streams["preferences"].standard_normal((setting.n_topics, setting.n_users))
    difference = utility[:, :1] - utility[:, 1:] + setting.preference_noise * noise
    strength, thresholds = strengths(difference, setting.weak, setting.strong)
    value = contents.along(lists, setting.context) / setting.top
    sessions = sessions_of(value, setting.clicks, rng=streams["clicks"])
    return ContextCollection(
        setting=setting,
        seed=seed,
        judgments=judgments,
        runs=Runs(tuple(run_table(side, lists[:, n], topics, docs) for n, side in enumerate(SIDES))),
        preferences=side_by_side(strength, topics),
        clicks=click_log(sessions, lists, topics, docs),
        aspects=aspects,
        truth=ContextTruth(contents, docs, lists, engine, fifth, utility, thresholds),
    )


def _lists(setting: ContextSetting, contents: Contents, streams: dict[str, np.random.Generator]) -> tuple[Ints, Ints]:
    """Rank by both engines, in random order -> the engine on the left (topic,), lists (topic, side, rank)."""
    of_engines = np.stack([ranked(engine, contents, rng=streams["lists"]) for engine in setting.engines], axis=1)
    left = streams["sides"].integers(2, size=setting.n_topics)
    return left, of_engines[np.arange(setting.n_topics)[:, None], np.stack([left, 1 - left], axis=1)]
