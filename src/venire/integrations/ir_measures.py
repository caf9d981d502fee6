"""Measures of Venire in ir_measures, and so in PyTerrier's experiments.

``measure`` makes a measure that ``ir_measures`` computes like one of its own: with gains of a model, for simulated
users, by each assessor, or without unjudged documents.  ``ir_measures`` calls it by its provider of measures that are
defined at run time, so nothing needs to be registered.  ``provider`` is a provider of its own, which computes these and
the measures of ir_measures that both tools define alike.

Topics: as for all measures of ir_measures, those of the qrels count, and one without results has the score of an empty
list.  The second column of qrels (``iteration``) may name the assessor, and names the intent for measures by intent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any

import numpy as np

try:
    import ir_measures
except ImportError as error:
    raise ImportError('venire.integrations.ir_measures needs ir_measures: pip install "venire[ir_measures]"') from error

from venire.data.gains import GainsLike, names_model
from venire.data.judgments import Judgments
from venire.data.panel import Pool
from venire.disagreement.gains import fit_gains
from venire.errors import SettingError, UnknownName
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.measures.evaluate import evaluate
from venire.measures.measure import Measure
from venire.measures.random_users import evaluate_users
from venire.measures.scoring import MeasureLike, as_measure
from venire.types import RNGLike

ALIKE = ("AP", "Judged", "P", "R", "RR", "Rprec", "Success", "nDCG")
"""Measures of ir_measures that Venire computes as its usual providers do; all take a cut-off, and some ``rel``."""
RUN, QRELS = ("query_id", "doc_id", "score"), ("query_id", "doc_id", "relevance")


@dataclass(frozen=True)
class Settings:
    """How a measure is computed, as the parameters of ``measure`` state it."""

    judgments: Judgments | None = None
    gains: GainsLike = "linear"
    assessor: str | None = None
    per: str | None = None
    pool: str | Pool | None = None
    unjudged: float | str = 0.0
    users: int | None = None
    rng: RNGLike = 0
    assessors: bool = False

    def scores(self, own: Measure, qrels: Any, run: Any) -> dict[str, float]:
        """Score the topics of a run that the qrels have; one without a label to score it by is an error.

        In qrels, a topic with negative labels alone is one without relevant documents, as in trec_eval.
        """
        topics, labels = [str(topic) for topic in qrels["query_id"].unique()], self.labels(qrels, own)
        with_results = {str(topic) for topic in run["query_id"].unique()}
        judged = {labels.topics[n] for n in np.unique(labels.items.topic[labels.item]).tolist()}
        if self.judgments is None and self.assessor is None:
            topics = [topic for topic in topics if topic in judged]
        asked = [topic for topic in topics if topic in with_results]
        found = self._by_topic(labels, own, run[[*RUN]], asked) if asked else {}
        for topic in topics:
            if topic not in judged or (topic in with_results and isnan(found.get(topic, nan))):
                raise UnknownName("topic that was judged by those whose labels count", topic, judged)
        return found

    def labels(self, qrels: Any, own: Measure) -> Judgments:
        """Return the judgments that were stated, or else read the qrels."""
        if self.judgments is not None:
            return self.judgments
        second = "intent" if own.by_intent else "assessor"
        columns = [*QRELS, "iteration"] if self.assessors or own.by_intent else [*QRELS]
        return as_judgments(qrels[columns].rename(columns={"iteration": second}))

    def _by_topic(self, labels: Judgments, own: Measure, run: Any, topics: list[str]) -> dict[str, float]:
        """Score one run, by topic; means over users, and over the assessors of a topic."""
        whose: dict[str, Any] = {"gains": self.gains, "assessor": self.assessor, "pool": self.pool, "topics": topics}
        if self.users is not None:
            scores = evaluate_users(labels, run, own, users=self.users, rng=self.rng, unjudged=self.unjudged, **whose)
            found = scores.topics
        else:
            found = evaluate(labels, run, own, per=self.per, unjudged=self.unjudged, **whose)
        found = found.select(system=found.names["system"][0], measure=found.names["measure"][0])
        found = found.mean("assessor") if "assessor" in found.axes else found
        return dict(zip(found.names["topic"], found.values.tolist(), strict=True))


class VenireMeasure(ir_measures.Measure):  # type: ignore[misc]
    """A measure of Venire with its settings, for ir_measures and PyTerrier; ``measure`` makes it."""

    NAME = __name__ = "venire"
    RUN_INPUTS, QREL_INPUTS = list(RUN), list(QRELS)

    def __init__(self, own: Measure, settings: Settings, name: str) -> None:
        super().__init__()
        self.own, self.settings, self.name = own, settings, name
        self.DEFAULT = own.empty_score  # the score of a topic without results

    def __call__(self, *, cutoff: int) -> VenireMeasure:
        """Return the measure with a cut-off, as ``measure @ 10`` does."""
        own = replace(self.own, k=cutoff)
        return VenireMeasure(own, self.settings, self.name.replace(str(self.own), str(own), 1))

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VenireMeasure) and (self.name, self.settings) == (other.name, other.settings)

    def __hash__(self) -> int:
        """Differ from measures of ir_measures, which are equal to all of the same name: their means would be joined."""
        return hash((VenireMeasure, self.name))

    def runtime_impl(self, qrels: Any, run: Any) -> Iterator[Any]:
        """Yield the score of every topic of the qrels that has results; frames with the columns of ir_measures."""
        for topic, value in self.settings.scores(self.own, qrels, run).items():
            yield ir_measures.Metric(topic, self, value)


def measure(
    measure: MeasureLike,
    *,
    gains: GainsLike = "linear",
    judgments: JudgmentsLike | None = None,
    assessor: str | None = None,
    per: str | None = None,
    pool: str | Pool | None = None,
    unjudged: float | str = 0.0,
    users: int | None = None,
    rng: RNGLike = 0,
    assessors: bool = False,
    name: str | None = None,
) -> VenireMeasure:
    """Make a measure for ir_measures and for ``pyterrier.Experiment``.

    Parameters
    ----------
    measure : the name of a measure, such as "nDCG@10" or "Q@10", or anything that ``evaluate`` takes
    gains, assessor, pool, unjudged : as in ``evaluate``; a model ("prm:2", "udm:1/3") is fitted on ``judgments``
    judgments : labels that are used in place of the qrels, which hold one label per document; the qrels then only
        choose the topics
    per : "assessor": the mean of the scores by the labels of each assessor
    users, rng : score for so many simulated users, as ``evaluate_users`` does, and take their mean
    assessors : whether the second column of the qrels (``iteration``) names the assessor; for measures by intent, such
        as "alpha_nDCG@10", it names the intent
    name : the name in results; None: the measure, and the settings that are not the usual ones

    Examples
    --------
    >>> import ir_measures
    >>> q = measure("Q@10", gains={"0": 0, "1": 0.2, "2": 0.9})
    >>> found = ir_measures.calc_aggregate([ir_measures.nDCG @ 10, q], {"q1": {"d1": 2, "d2": 1}}, {"q1": {"d2": 1.0}})
    >>> round(found[q], 3)
    0.316
    """
    own = as_measure(measure)
    if assessors and own.by_intent:
        message = f"the second column of qrels cannot name the assessor for {own}, which reads the intent from it"
        raise SettingError(message, hint="give judgments= with columns intent and assessor")
    labels = None if judgments is None else as_judgments(judgments)
    told: dict[str, object] = {"assessor": assessor, "per": per, "pool": pool, "users": users}
    if isinstance(gains, str) and names_model(gains):
        if labels is None:
            hint = "give judgments=, or fit the gains on others before: gains=fit_gains(...)"
            raise SettingError(f"gains {gains!r} are those of a model, which is fitted on judgments", hint=hint)
        gains = fit_gains(gains, labels, rng=rng)
    if gains != "linear":
        told = {"gains": _named(gains), **told}
    told |= {"unjudged": unjudged} if unjudged != 0 else {}
    words = [f"{key}={value}" for key, value in told.items() if value is not None]
    name = name or " ".join([str(own), *([f"({', '.join(words)})"] if words else [])])
    settings = Settings(labels, gains, assessor, per, pool, unjudged, users, rng, assessors)
    return VenireMeasure(own, settings, name)


def _named(gains: GainsLike) -> str:
    if isinstance(gains, Mapping):
        return " ".join(f"{label}:{value:g}" for label, value in gains.items())
    return gains if isinstance(gains, str) else str(getattr(gains, "name", gains))


class VenireEvaluator(ir_measures.Evaluator):  # type: ignore[misc]
    """Scores of runs by measures, for one set of qrels."""

    def __init__(self, measures: Iterable[Any], qrels: Any) -> None:
        self.qrels = ir_measures.util.QrelsConverter(qrels).as_pd_dataframe()
        super().__init__(list(measures), {str(topic) for topic in self.qrels["query_id"].unique()})

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        frame = ir_measures.util.RunConverter(run).as_pd_dataframe()
        for each in self.measures:
            own, qrels = each if isinstance(each, VenireMeasure) else measure(str(each)), self.qrels
            if each.NAME == "Judged":  # for which negative labels count
                qrels = qrels.assign(relevance=qrels["relevance"].clip(lower=0))
            yield from (ir_measures.Metric(topic, each, value) for topic, _, value in own.runtime_impl(qrels, frame))


class VenireProvider(ir_measures.Provider):  # type: ignore[misc]
    """A provider of ir_measures that computes with Venire."""

    NAME = "venire"

    def supports(self, measure: Any) -> bool:
        """Return whether it is a measure of Venire, or one that both tools define alike."""
        measure.validate_params()
        if isinstance(measure, VenireMeasure):
            return True
        known = {"cutoff", "rel"} if measure.NAME not in ("Judged", "nDCG") else {"cutoff"}
        return measure.NAME in ALIKE and {*measure.params} <= known

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> VenireEvaluator:
        return VenireEvaluator(measures, qrels)


provider = VenireProvider()
