"""Slopes: the score with a top gain at a rank, less that with none, over the top gain."""

from __future__ import annotations

import numpy as np
import pytest

from venire import evaluate, read_judgments, read_runs
from venire.io.runs import scan
from venire.measures.evaluate import Case
from venire.measures.scoring import Scoring
from venire.measures.slopes import rank_slopes

LABELS = {"t": {"a": 2, "b": 0, "c": 1, "d": 2, "e": 0}}
RUNS = {"x": {"t": {"a": 6.0, "new": 5.0, "b": 4.0, "c": 3.0}}, "y": {"t": {"d": 6.0, "c": 5.0, "b": 4.0, "e": 3.0}}}

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")


def slopes(measure, depth=3):
    labels, scoring = read_judgments(LABELS, scale="0<1<2"), Scoring()
    runs = scan(read_runs(RUNS), labels.items)
    found = rank_slopes(runs.facts, Case.of(labels, runs, scoring).panel, scoring.plan([measure], labels.scale), depth)
    order = [runs.facts.systems[n] for n in runs.facts.system.tolist()]
    return dict(zip(order, found, strict=True))


@pytest.mark.parametrize(("measure", "top"), [("DCG@3", 2), ("P@3", 1), ("RR", 1), ("ERR@3", 0.75), ("RBP(p=0.8)", 1)])
def test_slopes_are_differences_of_scores_with_another_label(measure, top):
    def score(system, doc, label):
        changed = read_judgments({"t": LABELS["t"] | {doc: label}}, scale="0<1<2")
        return evaluate(changed, {system: RUNS[system]}, measure).values[0, 0, 0]

    found = slopes(measure)
    for system, docs in {"x": [("a", 1), ("b", 3)], "y": [("d", 1), ("c", 2), ("b", 3)]}.items():
        for doc, rank in docs:
            expected = (score(system, doc, 2) - score(system, doc, 0)) / top
            assert found[system][rank - 1] == pytest.approx(expected), (system, doc)


def test_a_normalised_sum_has_its_discount_over_the_best_sum():
    best = 2 + 2 / np.log2(3) + 1 / np.log2(4)
    np.testing.assert_allclose(slopes("nDCG@3")["y"], 1 / np.log2([2, 3, 4]) / best)


def test_average_precision_counts_the_results_around_it():
    """y ranks relevant d and c first, of three: at rank 3, precision there; at rank 1, also what it adds at rank 2."""
    np.testing.assert_allclose(slopes("AP")["y"], [(1 + 1 / 2) / 3, (2 / 2) / 3, (3 / 3) / 3])


def test_a_rank_that_nobody_judged_has_none():
    assert np.isnan(slopes("nDCG@3")["x"]).tolist() == [False, True, False]
