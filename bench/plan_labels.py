"""Second judgments planned for p(R|i), on the crowd labels of TREC 2010 Relevance Feedback, or pairs of judges.

    python bench/plan_labels.py DATA [--samples N] [--budgets B ...] [--rare SHARE] [--pilot N]
                                     [--collections | --pairs-of-judges]

DATA holds ``rf10_crowd``.  Each sample keeps one label of every item with two labels or more, chosen at random, plans
second judgments, and reveals another label of the items asked for.  The truth is p(R|i) of all pairs of labels, every
item with the same weight.  ``planned`` draws items by their label, ``uniform`` with equal probabilities; both estimates
use either label as the first.  The half-width is that of the widest interval, ``forecast`` what the plan expected; the
calibration compares the probability of a forecast with how often it came true, for half-widths from .03 to .15.

--rare keeps this share of the items with a top label among their two, as in a collection with few of them.  --pilot
asks for so many second labels first, by the same way; the forecast is for the budget after these.

--collections draws another part of the crowd labels for each sample: 10 to 50 of the 100 topics, a tenth to six tenths
of the workers, and labels that are relevant from 1 or from 2 on.

--pairs-of-judges takes pairs of NIST and 23 language models in ``dl21_full``, with relevant labels from 1, 2 or 3 on:
of every item, the label of one of both, drawn at random, is the first, and that of the other the second.  Each pair has
a p(R|i) of its own, so the calibration is that of many collections; all samples of the crowd labels have the same one,
unless they are divided into collections.
--samples is the number of such cases of each budget, drawn at random.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from venire import Judgments, PredictedRelevance, read_judgments
from venire.planning.labels import LabelPairs
from venire.planning.second_judgments import Candidates, candidates, sampled
from venire.types import Bools, Floats, Ints

WITHIN = np.arange(0.03, 0.155, 0.01)
BINS = np.linspace(0, 1, 6)


def main() -> None:
    """Print errors, coverage, half-widths and the calibration of the forecast."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--budgets", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--rare", type=float, default=1.0)
    parser.add_argument("--pilot", type=int, default=0)
    parts = parser.add_mutually_exclusive_group()
    parts.add_argument("--collections", action="store_true")
    parts.add_argument("--pairs-of-judges", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    labels = judges(asked.data / "dl21_full") if asked.pairs_of_judges else crowd(asked.data / "rf10_crowd")
    print(labels.sentence())
    drawn = pairs_of_judges if asked.pairs_of_judges else collections if asked.collections else whole(asked.rare)
    kept = []
    for budget in asked.budgets:
        streams = np.random.default_rng(budget).spawn(asked.samples)
        pairs = zip(drawn(labels, streams), streams, strict=True)
        found = [
            {way: study(each, (asked.pilot, budget), way, rng) for way in WAYS}
            for each, rng in pairs
            if len(each.first) >= asked.pilot + budget
        ]
        print_errors(budget, found)
        kept += [each["planned"] for each in found]
    print_calibration(kept)


def judges(folder: Path) -> Judgments:
    """Read the labels of NIST and of the language models that labelled (nearly) everything."""
    labels = read_judgments(folder / "judges.tsv.gz")
    return labels.where(assessor=[name for name in labels.assessors if not name.startswith("gpt4o")])


def crowd(folder: Path) -> Judgments:
    """Read the labels, one by each worker and item, without broken links; items with two labels or more."""
    table = pl.read_csv(folder / "trec-rf10-data.tsv.gz", separator="\t").filter(pl.col("label") >= 0)
    columns = {"topicID": "topic", "docID": "doc", "workerID": "assessor"}
    table = table.rename(columns).select("topic", "doc", "assessor", "label")
    return read_judgments(table, scale="0<1<2", duplicate_labels="first").labelled(at_least=2)


class Sample(NamedTuple):
    """All labels, the row of the first and of the second label of each item used, relevant labels, and p(R|i)."""

    labels: Judgments
    first: Ints
    second: Ints
    relevant: int
    truth: Floats

    @classmethod
    def drawn(cls, labels: Judgments, rare: float, rng: np.random.Generator) -> Sample:
        """Choose two labels of every item at random, and leave out most items whose first label is the top one."""
        first, second = two_of_each(labels, rng)
        kept = (labels.label[first] < 2) & (labels.label[second] < 2) | (rng.random(len(first)) < rare)
        return cls.of(labels, first[kept], second[kept], 2)

    @classmethod
    def of(cls, labels: Judgments, first: Ints, second: Ints, relevant: int) -> Sample:
        """Find p(R|i) of all double judgments, either label first; labels are relevant from this one on."""
        a, b = labels.label[np.append(first, second)], labels.label[np.append(second, first)]
        truth = [(b[a == level] >= relevant).mean() for level in range(len(labels.scale))]
        return cls(labels, first, second, relevant, np.array(truth))

    def judged(self, again: Ints, probability: Floats) -> Judgments:
        """Labels of all items, and second ones of some."""
        rows = np.concatenate([self.first, again])
        return replace(self.labels.take(rows), probability=np.append(np.full(len(self.first), np.nan), probability))


def two_of_each(labels: Judgments, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Rows of two labels of every item, drawn at random."""
    order = np.lexsort((rng.random(len(labels)), labels.item))
    start = np.flatnonzero(np.append(True, np.diff(labels.item[order]) > 0))
    return order[start], order[start + 1]


def whole(rare: float) -> Callable[[Judgments, Sequence[np.random.Generator]], Iterator[Sample]]:
    """Yield a sample of all crowd labels by each stream."""
    return lambda labels, streams: (Sample.drawn(labels, rare, rng) for rng in streams)


def collections(labels: Judgments, streams: Sequence[np.random.Generator]) -> Iterator[Sample]:
    """Yield some topics and workers of the crowd labels by each stream, and relevant labels."""
    for rng in streams:
        topics = rng.choice(labels.items.topics, int(rng.integers(10, 51)), replace=False).tolist()
        own = labels.where(topic=topics)
        workers = np.array(own.assessors)[rng.random(len(own.assessors)) < rng.uniform(0.1, 0.6)].tolist()
        own = own.where(assessor=workers).labelled(at_least=2)
        yield Sample.of(own, *two_of_each(own, rng), int(rng.integers(1, len(own.scale))))


def pairs_of_judges(labels: Judgments, streams: Sequence[np.random.Generator]) -> Iterator[Sample]:
    """Yield a pair of judges by each stream, and the items that both labelled; who was first is random."""
    for rng in streams:
        own = labels.where(assessor=rng.choice(labels.assessors, 2, replace=False).tolist()).labelled(at_least=2)
        rows = np.lexsort((rng.random(len(own)), own.item)).reshape(-1, 2)
        yield Sample.of(own, *rows.T, int(rng.integers(1, len(own.scale))))


class Study(NamedTuple):
    """Error and coverage by label, the widest half-width, its forecast, and the probability of each of ``WITHIN``."""

    error: Floats
    covered: Bools
    half_width: float
    forecast: float
    p_decided: Floats


def study(sample: Sample, numbers: tuple[int, int], way: str, rng: np.random.Generator) -> Study:
    """Plan and reveal second judgments, a pilot first; what p(R|i) comes to."""
    row = np.full(len(sample.labels.items), -1)
    row[sample.labels.item[sample.second]] = sample.second
    relevant = [sample.labels.scale.labels[level] for level in range(sample.relevant, len(sample.labels.scale))]
    again, chances, widths = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(1)
    for n in (n for n in numbers if n):
        found = candidates(sample.judged(again, chances), None, "another")
        case = LabelPairs.of(found, relevant)
        widths = case.half_widths([n], rng)[0]
        probability, drawn = sampled(found, WAYS[way](case, found, n), n, rng)
        again, chances = np.append(again, row[found.item[drawn]]), np.append(chances, probability[drawn])
    fit = PredictedRelevance(relevant=relevant, estimator="labels").fit(sample.judged(again, chances))
    low, high = fit.spread.low[0], fit.spread.high[0]
    covered = (low <= sample.truth) & (sample.truth <= high)
    decided = (widths[:, None] <= WITHIN).mean(axis=0)
    half_width = ((high - low) / 2)[case.counted].max(initial=0.0)
    return Study(fit.p[0] - sample.truth, covered, float(half_width), float(np.median(widths)), decided)


def by_label(case: LabelPairs, _: Candidates, budget: int) -> Floats:
    """Sizes of the plan."""
    return case.item_sizes(budget)


def alike(_: LabelPairs, found: Candidates, __: int) -> Floats:
    """Equal sizes."""
    return np.ones(len(found))


WAYS = {"planned": by_label, "uniform": alike}


def print_errors(budget: int, found: list[dict[str, Study]]) -> None:
    """Print how far estimates are from the truth."""
    for way in WAYS:
        each = [study[way] for study in found]
        error = np.array([one.error for one in each])
        rmse, covered = np.sqrt((error**2).mean(axis=0)), np.mean([one.covered for one in each], axis=0)
        half, forecast = (np.median([getattr(one, name) for one in each]) for name in ("half_width", "forecast"))
        expected = f", forecast {forecast:.3f}" if way == "planned" else ""
        print(
            f"{budget} second labels, {way}: error {rmse.round(4)}, mean {rmse.mean():.4f}, largest {rmse.max():.4f}; "
            f"coverage {covered.round(2)}; half-width {half:.3f}{expected}"
        )


def print_calibration(found: list[Study]) -> None:
    """Print how often goals were decided, by the probability of the forecast."""
    p = np.array([each.p_decided for each in found])
    decided = np.array([each.half_width for each in found])[:, None] <= WITHIN
    for low, high in pairwise(BINS.tolist()):
        some = (p >= low) & ((p < high) | (high == 1))
        if some.any():
            share, mean = decided[some].mean(), p[some].mean()
            print(f"p {low:.1f} to {high:.1f}: {some.sum()} goals, mean p {mean:.3f}, decided {share:.3f}")


if __name__ == "__main__":
    main()
