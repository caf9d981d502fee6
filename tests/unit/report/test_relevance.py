"""The lowest relevant label: where people agree best, neither rare nor everywhere."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from venire import read_judgments, read_runs
from venire.agreement.alpha import alpha
from venire.data.scale import Scale
from venire.report.evidence import Evidence
from venire.report.question import Question
from venire.report.relevance import RARE, _alpha, relevance_note

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")


def evidence(label, *, assessors=("ann", "bob"), n_docs=20, **how):
    """Ten topics; label(number of the document, number of the assessor) is their label."""
    topics, docs = [f"t{n}" for n in range(10)], [f"d{n}" for n in range(n_docs)]
    rows = [
        (t, d, who, str(label(n, k))) for t in topics for n, d in enumerate(docs) for k, who in enumerate(assessors)
    ]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    runs = {
        name: {t: {d: float((n * m) % 23) for n, d in enumerate(docs)} for t in topics}
        for name, m in (("x", 5), ("y", 7))
    }
    return Evidence(Question(read_judgments(frame, scale="0<1<2<3"), read_runs(runs), n_draws=20, **how))


def test_it_is_the_label_on_which_people_agree():
    """They agree on what has 2 or more; one of them gives 1 for 0, and 3 for 2."""
    found = evidence(lambda n, k: (n % 4) // 2 * 2 + (k if n % 3 else 0))
    assert found.relevant == "2"


def test_a_label_that_few_results_have_is_not_chosen_even_if_people_agree_on_it():
    found = evidence(lambda n, k: 3 if n == 19 else (n % 2 if (n + k) % 5 else 1 - n % 2), n_docs=60)
    assert (found.own.label == 3).mean() < RARE
    assert found.relevant == "1"


def test_one_assessor_has_the_second_lowest_label():
    assert evidence(lambda n, _: n % 4, assessors=("ann",)).relevant == "1"


def test_the_named_label_counts_and_a_rare_one_is_pointed_out():
    found = evidence(lambda n, k: 3 if n == 18 and k == 0 else n % 2, relevant="3", n_docs=60)
    assert found.relevant == "3"
    assert "that is rare" in note(found)
    common = evidence(lambda n, k: (n + k) % 4, relevant="1")
    assert "rare" not in note(common)
    assert "label 1 or higher" in note(common)


def note(found):
    return relevance_note(found.own, found.facts, relevant=found.relevant, judge=found.judge)


def test_agreement_on_two_values_is_krippendorffs_alpha():
    rng = np.random.default_rng(4)
    rows = [
        (f"t{n % 7}", f"d{n}", who, str(rng.integers(0, 4))) for n in range(80) for who in "abc" if rng.random() < 0.7
    ]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    labels = read_judgments(frame, scale="0<1<2<3")
    for level in (1, 2, 3):
        binary = frame.with_columns(label=(pl.col("label").cast(int) >= level).cast(int).cast(str))
        expected = alpha(read_judgments(binary, scale=Scale.parse("0<1")), "nominal", n_draws=2).value
        assert _alpha(labels, level) == pytest.approx(expected)
