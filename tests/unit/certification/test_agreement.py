"""A judge's labels beside those of the reference."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from venire import read_judgments
from venire.agreement import alpha
from venire.certification import reference_agreement
from venire.certification.agreement import last_labels, pairs_within, without_probes


def judged(labels, *, task=None, n_topics=6, keep="keep", scale="0<1<2"):
    """labels [(assessor, labels of items 0, 1, ...)], None where there is none; task: that of all further rows."""
    rows = [
        (f"q{n % n_topics}", f"d{n}", who, str(label), task or "")
        for who, own in labels
        for n, label in enumerate(own)
        if label is not None
    ]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label", "task"], orient="row")
    frame = frame if task else frame.drop("task")
    return read_judgments(frame, scale=scale, duplicate_labels=keep)


PEOPLE = [("ann", [0, 1, 2, 2, 1, 0, 0, 1, 2, 1, 0, 2]), ("bob", [0, 1, 2, 1, 1, 0, 1, 1, 2, 1, 0, 2])]
LLM = ("llm", [1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 1, 2])


def test_agreement_with_one_person_is_alpha_of_both():
    labels = judged([PEOPLE[0], LLM])
    found = reference_agreement(labels, "llm", ["ann"])
    assert found.found.alpha.value == pytest.approx(alpha(labels).value)
    assert found.found.raw.value == pytest.approx(6 / 12)
    assert found.ceiling is None
    assert [note.kind for note in found.notes] == ["no-ceiling"]
    assert found.record()["ceiling"] is None


def test_the_ceiling_is_agreement_between_people():
    found = reference_agreement(judged([*PEOPLE, LLM]), "llm", ["ann", "bob"])
    assert found.found.alpha.n_items == 24
    assert found.ceiling.raw.value == pytest.approx(10 / 12)
    assert found.ceiling.alpha.value == pytest.approx(alpha(judged(PEOPLE)).value)
    assert found.ceiling.alpha.value > found.found.alpha.value
    assert not found.notes
    assert "people agree with each other" in found.sentence()


def test_labels_that_are_never_or_nearly_always_given():
    found = reference_agreement(judged([*PEOPLE, LLM]), "llm", ["ann", "bob"])
    assert found.never == ("0",)
    assert found.nearly_always == ()
    always = reference_agreement(judged([*PEOPLE, ("llm", [2] * 12)]), "llm", ["ann"])
    assert always.nearly_always == ("2",)
    assert always.never == ("0", "1")
    assert "nearly always gives the label 2" in always.sentence()


def test_repeated_labels_tell_how_repeatable_a_judge_is():
    again = ("llm", [1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 0, 0])
    found = reference_agreement(judged([PEOPLE[0], LLM, again]), "llm", ["ann"])
    assert found.repeatability.raw.value == pytest.approx(10 / 12)
    assert found.found.alpha.n_items == 12  # the last label counts
    assert found.shares.tolist() == pytest.approx([2 / 12, 5 / 12, 5 / 12])
    assert reference_agreement(judged([PEOPLE[0], LLM]), "llm", ["ann"]).repeatability is None


def test_the_last_label_counts():
    labels = judged([("a", [0, 1]), ("a", [2, None])])
    assert len(last_labels(labels)) == 2
    assert last_labels(labels).label.tolist() == [2, 1]
    assert len(pairs_within(labels, np.arange(3)).one) == 1


def test_probes_count_for_nothing_else():
    rows = [(f"q{n % 3}", f"d{n}", who, "1", "judging") for n in range(9) for who in ("ann", "llm")]
    rows += [(f"q{n % 3}", f"empty{n}", "llm", "2" if n < 4 else "0", "probe-empty") for n in range(5)]
    labels = read_judgments(
        pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label", "task"], orient="row"), scale="0<1<2"
    )
    others, probes = without_probes(labels)
    assert (len(others), len(probes), "task" in others.facets) == (18, 5, False)
    (probe,) = reference_agreement(labels, "llm", ["ann"]).probes
    assert (probe.kind, probe.n, probe.share) == ("probe-empty", 5, 0.8)
    assert 0.3 < probe.low < 0.8 < probe.high < 1


def test_nothing_in_common():
    found = reference_agreement(judged([("ann", [1, 2, None, None]), ("llm", [None, None, 1, 2])]), "llm", ["ann"])
    assert found.found is None
    assert "not known" in found.sentence()
    assert found.record()["alpha"] is None
