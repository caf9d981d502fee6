"""Every measure against plain loops over a list, and what must not change a score."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from strategies import SCALE, Run, evaluate, ranking, run, write
from venire import Judgments, Measure, VenireError, parse_measure, read_judgments
from venire.measures.names import KINDS

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")

CLOSE = 1e-12
ASSESSORS = ("ann", "bob", "cy")
COPIES = (("a", "ab"), ("b", "D1", "d1"))
COPIED = {doc for group in COPIES for doc in group}
Labels = Mapping[str, Mapping[str, Mapping[str, int]]]  # topic, doc, assessor


# --- the slow way: one list, one judge, one loop per measure -----------------------------------------------------


class Seen(NamedTuple):
    """What stands at one rank."""

    judged: bool
    gain: float


class Topic(NamedTuple):
    """A list of one topic down to the cut-off, its whole depth, and the judged gains, best first."""

    top: Sequence[Seen]
    depth: int
    best: Sequence[float]

    @property
    def relevant(self) -> float:
        return sum(self.best)


def precision(t: Topic, k: int | None, _: Measure) -> float:
    return sum(each.gain for each in t.top) / (k or 1)


def recall(t: Topic, *_: object) -> float:
    return share(sum(each.gain for each in t.top), t.relevant)


def success(t: Topic, *_: object) -> float:
    return 1 - math.prod(1 - each.gain for each in t.top)


def stopping(gains: Sequence[float]) -> float:
    total, going = 0.0, 1.0
    for rank, gain in enumerate(gains, 1):
        total += going * gain / rank
        going *= 1 - gain
    return total


def err(t: Topic, *_: object) -> float:
    return stopping([each.gain for each in t.top])


def normalised_err(t: Topic, k: int | None, _: Measure) -> float:
    return share(err(t), stopping(t.best[:k]))


def average_precision(t: Topic, *_: object) -> float:
    total, above = 0.0, 0.0
    for rank, each in enumerate(t.top, 1):
        total += each.gain / rank * (1 + above)
        above += each.gain
    return share(total, t.relevant)


def r_precision(t: Topic, *_: object) -> float:
    inside = [min(max(t.relevant - rank, 0), 1) for rank in range(len(t.top))]
    return share(sum(each.gain * part for each, part in zip(t.top, inside, strict=True)), t.relevant)


def binary_preference(t: Topic, *_: object) -> float:
    other = sum(1 - gain for gain in t.best)
    total, above = 0.0, 0.0
    for each in t.top:
        total += each.gain * (1 - share(min(above, t.relevant), min(t.relevant, other)))
        above += (1 - each.gain) * each.judged
    return share(total, t.relevant)


def cumulated(t: Topic, *_: object) -> float:
    return sum(each.gain for each in t.top)


def discounted(gains: Sequence[float], dcg: str) -> float:
    return sum(gain / (rank if dcg == "zipf" else math.log2(rank + 1)) for rank, gain in enumerate(gains, 1))


def dcg(t: Topic, _: int | None, measure: Measure) -> float:
    return discounted([each.gain for each in t.top], measure.dcg)  # type: ignore[attr-defined]


def ndcg(t: Topic, k: int | None, measure: Measure) -> float:
    return share(dcg(t, k, measure), discounted(t.best[:k], measure.dcg))  # type: ignore[attr-defined]


def ccg(t: Topic, k: int | None, _: Measure) -> float:
    return eq_6([each.gain for each in t.top], k or 0)


def eq_6(utility: Sequence[float], k: int) -> float:
    return sum(sum(utility[:i]) / math.log2(i + 1) for i in range(1, k + 1))


def ccg_single(t: Topic, k: int | None, _: Measure) -> float:
    return sum(((k or 0) - i + 1) * each.gain / math.log2(i + 1) for i, each in enumerate(t.top, 1))


def normalised_ccg(t: Topic, k: int | None, measure: Measure) -> float:
    return share(ccg(t, k, measure), eq_6(t.best[:k], k or 0))


def graded_ap(t: Topic, *_: object) -> float:
    gains = [each.gain for each in t.top]
    return share(
        sum(sum(min(above, gain) for above in gains[:rank]) / rank for rank, gain in enumerate(gains, 1)), t.relevant
    )


def q_measure(t: Topic, k: int | None, measure: Measure) -> float:
    beta, total, count, gained = measure.beta, 0.0, 0, 0.0  # type: ignore[attr-defined]
    for rank, each in enumerate(t.top, 1):
        gained += each.gain
        if each.gain > 0:
            count += 1
            total += (count + beta * gained) / (rank + beta * sum(t.best[:rank]))
    relevant = sum(gain > 0 for gain in t.best)
    return share(total, min(relevant, k or relevant))


def rank_biased(t: Topic, _: int | None, measure: Measure) -> float:
    p = measure.p  # type: ignore[attr-defined]
    return (1 - p) * sum(p**rank * each.gain for rank, each in enumerate(t.top))


def residual(t: Topic, _: int | None, measure: Measure) -> float:
    p = measure.p  # type: ignore[attr-defined]
    return 1 - (1 - p) * sum(p**rank for rank, each in enumerate(t.top) if each.judged)


def judged(t: Topic, k: int | None, _: Measure) -> float:
    return share(sum(each.judged for each in t.top), min(t.depth, k or t.depth))


def share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


SLOW: dict[str, Callable[[Topic, int | None, Measure], float]] = {
    **{"P": precision, "R": recall, "Success": success, "RR": err, "AP": average_precision, "Rprec": r_precision},
    **{"bpref": binary_preference, "CG": cumulated, "DCG": dcg, "nDCG": ndcg, "GAP": graded_ap, "Q": q_measure},
    **{"ERR": err, "nERR": normalised_err, "RBP": rank_biased, "RBPResidual": residual, "Judged": judged},
    **{"CCG": ccg, "CCGsingle": ccg_single, "nCCG": normalised_ccg},
}


class Worth(NamedTuple):
    """Gains as ``evaluate`` takes them, and what they come to for the labels 0, 1, 2, 3."""

    given: str | Mapping[str, float]
    values: Sequence[float]

    @property
    def unit(self) -> bool:
        return not isinstance(self.given, str) and max(self.values) <= 1

    @property
    def rises(self) -> bool:
        return list(self.values) == sorted(self.values) and self.values[-1] > 0


LINEAR, EXPONENTIAL = Worth("linear", (0, 1, 2, 3)), Worth("exponential", (0, 1, 3, 7))
BINARY = ("P", "R", "Success", "RR", "AP", "Rprec", "bpref")


def reading(measure: Measure, worth: Worth, unjudged: float) -> tuple[Sequence[float], float]:
    """What a measure reads from each label, and from an unjudged document, by the words of its docstring."""
    kind, rel, values = type(measure).__name__, getattr(measure, "rel", None), worth.values
    if rel is not None or (kind in BINARY and not worth.unit):
        least = int(rel or 1)
        enough = unjudged > 0 and unjudged >= min(values[least:])
        return [float(level >= least) for level in range(4)], float(enough)
    if kind == "GAP":
        return [0.0, *(value / values[-1] for value in values[1:])], unjudged / values[-1]
    if kind in (*BINARY, "ERR", "nERR", "RBP", "RBPResidual"):
        if kind in ("ERR", "nERR") and worth is LINEAR:
            values, unjudged = EXPONENTIAL.values, 2**unjudged - 1
        top = 1.0 if worth.unit else max(values) + (kind in ("ERR", "nERR"))
        return [value / top for value in values], min(unjudged / top, 1.0)
    return (EXPONENTIAL.values if getattr(measure, "dcg", "") == "exp-log2" else values), unjudged


def slow(measure: Measure, docs: Run, labels: Mapping[str, int], worth: Worth, rule: Rule) -> float:
    """Score one list: docs with their scores, one assessor's labels of the topic."""
    values, unknown = reading(measure, worth, 0.0 if rule.unjudged == "condensed" else float(rule.unjudged))
    group = {doc: number for number, copies in enumerate(COPIES if rule.copies else ()) for doc in copies}
    ranked, shown = [], set()
    for doc in ranking(docs):
        if doc in group and group[doc] in shown:
            ranked.append(Seen(True, 0.0))
        elif doc in labels:
            ranked.append(Seen(True, values[labels[doc]]))
        elif rule.unjudged != "condensed":
            ranked.append(Seen(False, unknown))
        shown.add(group.get(doc))
    best: dict[object, float] = {}
    for doc, label in labels.items():
        best[group.get(doc, doc)] = max(best.get(group.get(doc, doc), 0.0), values[label])
    ideal = sorted(best.values(), reverse=True)
    if unknown > 0:
        ideal = [max(gain, unknown) for gain in [*ideal, *[0.0] * (measure.k or 0)]]
    return SLOW[type(measure).__name__](Topic(ranked[: measure.k], len(ranked), ideal), measure.k, measure)


# --- cases ---------------------------------------------------------------------------------------------------------


class Rule(NamedTuple):
    """How ``evaluate`` is to treat unjudged documents and copies."""

    unjudged: float | str
    copies: bool


@st.composite
def labels(draw: st.DrawFn) -> Labels:
    """Labels by several assessors: any of them for most documents, all of them for documents that have copies."""
    table: dict[str, dict[str, dict[str, int]]] = {}
    some = st.dictionaries(st.sampled_from(ASSESSORS), st.integers(0, 3), min_size=1)
    every = st.fixed_dictionaries({assessor: st.integers(0, 3) for assessor in ASSESSORS})
    for topic in draw(st.lists(st.sampled_from(("1", "2", "q")), unique=True, min_size=1)):
        others = draw(st.lists(st.sampled_from(("abc", "d10", "é", "prefix-8b", "x" * 17)), unique=True))
        table[topic] = {doc: draw(some) for doc in others} | {doc: draw(every) for doc in sorted(COPIED)}
    return table


def worths() -> st.SearchStrategy[Worth]:
    def stated(values: Sequence[float]) -> Worth:
        return Worth(dict(zip("0123", values, strict=True)), values)

    several = st.lists(st.floats(0.001, 1) | st.sampled_from((0.0, 0.5, 1.0)), min_size=4, max_size=4)
    some = several.filter(any) | several.filter(any).map(lambda values: [7 * value for value in values])
    return st.sampled_from((LINEAR, EXPONENTIAL)) | some.map(stated) | some.map(sorted).map(stated)


ISOLATED = st.just(0.0)
CUT = ("P", "CCG", "CCGsingle", "nCCG")


@st.composite
def measures(draw: st.DrawFn, name: str, *, alphas: st.SearchStrategy[float] = ISOLATED) -> Measure:
    """Any parameters of one kind of measure."""
    kind = KINDS[name]
    fields = [each.name for each in dataclasses.fields(kind)]
    alpha = draw(alphas) if "alpha" in fields else 0.0
    own = kind.by_intent
    cut = kind.needs_cutoff if own else name in CUT or alpha > 0
    parameters: dict[str, Any] = {"k": draw(st.integers(1, 12) if cut else st.none() | st.integers(1, 12))}
    choices = {
        "rel": st.none() | st.sampled_from("123"),
        "dcg": st.sampled_from(("log2", "zipf", "exp-log2")),
        "beta": st.floats(0.01, 0.99) if own else st.sampled_from((0.0, 1.0, 2.5)) | st.floats(0, 100),
        "p": st.sampled_from((0.5, 0.8, 0.95)) | st.floats(0.01, 0.99),
        "alpha": st.just(alpha),
        "gamma": st.floats(0, 1),
        "strict": st.booleans(),
    }
    parameters |= {field: draw(choices[field]) for field in fields if field != "k"}
    return kind(**parameters)


def judgments_of(table: Labels, folder: Any) -> Judgments:
    lines = [
        f"{topic} {assessor} {doc} {label}"
        for topic, docs in table.items()
        for doc, given_by in docs.items()
        for assessor, label in given_by.items()
    ]
    return read_judgments(write(folder / "labels", lines), scale=SCALE, second_column="assessor")


def seen_by(table: Labels, topic: str, assessor: str) -> dict[str, int]:
    return {doc: given_by[assessor] for doc, given_by in table[topic].items() if assessor in given_by}


UNBOUNDED = ("CG", "DCG", "CCG", "CCGsingle")


OF_DOCUMENTS = [name for name, kind in KINDS.items() if not (kind.by_intent or kind.of_sample)]
"""Measures by intent and of samples have formulas of their own, in other files."""


@pytest.mark.parametrize("name", OF_DOCUMENTS)
@settings(max_examples=30)
@given(data=st.data(), table=labels(), lists=run(), worth=worths(), copies=st.booleans())
def test_every_measure_is_its_formula(tmp_path_factory, name, data, table, lists, worth, copies):
    asked = list({str(each): each for each in data.draw(st.lists(measures(name), min_size=1, max_size=3))}.values())
    open_ended = [each for each in asked if each.counts_relevant or (each.k is None and name in ("nDCG", "nERR"))]
    gain = st.just(0.0) if open_ended else st.just(0.0) | st.floats(0.01, 2)
    rule = Rule(data.draw(st.just("condensed") | gain), copies)
    judgments = judgments_of(table, tmp_path_factory.mktemp("case"))
    options = {"gains": worth.given, "unjudged": rule.unjudged, "duplicates": COPIES if copies else None}
    if (name == "GAP" and not worth.rises) or (name in ("RBP", "RBPResidual") and max(worth.values) <= 0):
        with pytest.raises(VenireError):
            evaluate(judgments, lists, asked, per="assessor", **options)
        return
    scores = evaluate(judgments, lists, asked, per="assessor", **options)
    missing = 1.0 if name == "RBPResidual" else 0.0
    for topic, assessor, measure in product(scores.names["topic"], scores.names["assessor"], asked):
        found = scores.select(system="run", topic=topic, assessor=assessor, measure=str(measure)).values
        expected = (
            slow(measure, lists[topic], seen_by(table, topic, assessor), worth, rule) if topic in lists else missing
        )
        assert found == pytest.approx(expected, rel=0, abs=CLOSE), (topic, assessor, str(measure))
        if name not in UNBOUNDED and rule.unjudged in (0.0, "condensed"):
            assert not found > 1 + CLOSE, (topic, assessor, str(measure))


@pytest.mark.parametrize("name", KINDS)
@given(data=st.data())
def test_names_read_back(name, data):
    measure = data.draw(measures(name, alphas=st.sampled_from((0.0, 0.5, 1.0)) | st.floats(0, 1)))
    assert parse_measure(str(measure)) == measure


@pytest.mark.parametrize("rel", ["HRel", "Highly relevant", "2.5", "-1", "key, best", "it's", "a(b)", "p=1", "é"])
@pytest.mark.parametrize("name", ["P", "RBP"])
def test_names_read_back_with_any_label(name, rel):
    measure = KINDS[name](k=5, rel=rel)
    assert parse_measure(str(measure)) == measure


# --- fractions are expectations -----------------------------------------------------------------------------------

EXPECTED = ("P@1", "P@3", "Success@2", "Success", "RR", "RR@2", "CG", "CG@2", "DCG", "DCG@3", "RBP(p=0.7)", "ERR@4")
RATIOS = ("AP", "AP@2", "R@2")


@settings(max_examples=40)
@given(lists=run(ties=False), chances=st.lists(st.floats(0, 1), min_size=4, max_size=4), data=st.data())
def test_gains_in_the_unit_interval_are_chances_of_relevance(tmp_path_factory, lists, chances, data):
    """Every outcome is judged by an assessor of its own and weighed by its probability, for independent documents."""
    (topic, docs), *_ = lists.items()
    some = st.dictionaries(st.sampled_from((*docs, "elsewhere")), st.integers(0, 3), min_size=1, max_size=5)
    labelled = data.draw(some)
    outcomes = list(product((0, 1), repeat=len(labelled)))
    names = [f"outcome{number:02}" for number in range(len(outcomes))]
    table = {
        topic: {
            doc: {name: way[place] for name, way in zip(names, outcomes, strict=True)}
            for place, doc in enumerate(labelled)
        }
    }
    chance = [chances[label] for label in labelled.values()]
    weight = [math.prod(c if on else 1 - c for c, on in zip(chance, way, strict=True)) for way in outcomes]
    judgments = judgments_of(table, tmp_path_factory.mktemp("outcomes"))
    asked = [*EXPECTED, *RATIOS]
    certain = {"0": 0, "1": 1, "2": 1, "3": 1}
    outcome = evaluate(judgments, {topic: docs}, asked, per="assessor", gains=certain)
    assert outcome.names["assessor"] == tuple(names)
    labels_only = read_judgments({topic: labelled}, scale=SCALE)
    whole = evaluate(labels_only, {topic: docs}, asked, gains=dict(zip("0123", chances, strict=True)))
    relevant = np.array([sum(way) for way in outcomes])
    for number, name in enumerate(asked):
        values = outcome.values[0, 0, number]
        expected = np.dot(weight, values)
        if name in RATIOS:
            expected = share(np.dot(weight, values * relevant), np.dot(weight, relevant))
        assert whole.values[0, 0, number] == pytest.approx(expected, rel=1e-9, abs=CLOSE), name
