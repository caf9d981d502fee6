"""Favoured systems in the report: in the headline, in the JSON, and only where a reference is declared."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from two_judges import judged, lists, table
from venire import read_runs
from venire.comparison import favoured_systems
from venire.errors import SettingError, UnknownName
from venire.report import evidence as evidence_of_report
from venire.report.evidence import MOST_TESTED, Evidence
from venire.report.favour import favour_note, finders
from venire.report.making import make_report, report_on
from venire.report.question import Question

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")


def asked(frame=None, **options):
    return Question(judged(table() if frame is None else frame), read_runs(lists()), n_draws=50, **options)


def verdict_of(question):
    return make_report(question).chapters[0]


def test_a_favoured_system_is_in_the_headline_and_in_the_json():
    question = asked(reference=("expert",), assessor="llm")
    note = favour_note(finders(Evidence(question)))
    assert note.kind == "favoured-system"
    assert (note.fields["judge"], note.fields["systems"], note.fields["reference"]) == ("llm", ("L",), "expert")
    chapter = verdict_of(question)
    assert f"{note}." in chapter.finding
    (row,) = chapter.numbers["favoured"]
    alone = favoured_systems(judged(table()), lists(), "nDCG@10", judge="llm", reference="expert")
    expected = next(each for each in alone.records() if each["system"] == "L")
    assert row == {"judge": "llm", **expected}
    shown = next(part for part in chapter.parts if getattr(part, "name", "") == "favoured")
    assert shown.rows[0][1] == "L"
    assert len(shown.rows) == 3


def test_a_reference_who_scores_the_runs_tests_the_other_judges():
    chapter = verdict_of(asked(reference=("expert",)))
    assert chapter.numbers["verdict"]["judge"] == "expert"
    assert [row["judge"] for row in chapter.numbers["favoured"]] == ["llm"]


def test_nothing_is_computed_where_no_reference_is_declared(monkeypatch):
    monkeypatch.setattr(evidence_of_report, "favoured_on", None)
    chapter = verdict_of(asked())
    assert chapter.numbers["favoured"] == []
    assert "favours" not in chapter.finding
    assert not [part for part in chapter.parts if getattr(part, "about", "") in ("no-favour", "favour-unknown")]


def test_identical_judges_favour_nobody():
    chapter = verdict_of(asked(table(identical=True), reference=("expert",)))
    assert chapter.numbers["favoured"] == []
    (words,) = [part for part in chapter.parts if getattr(part, "about", "") == "no-favour"]
    assert words.text == "Compared with expert, llm favours no system significantly."


def test_a_family_named_like_the_judge_is_its_own():
    question = asked(reference=("expert",), families={"LLM": ["L"]})
    note = favour_note(finders(Evidence(question)))
    assert note.fields["family"] == "LLM"
    assert "its own family LLM" in str(note)
    rows = verdict_of(question).numbers["favoured"]
    assert [row.get("family") or row["system"] for row in rows] == ["LLM", "L"]


def test_a_family_needs_a_reference_and_known_systems():
    with pytest.raises(SettingError) as error:
        report_on(judged(table()), lists(), families={"llm": ["L"]})
    assert "reference" in str(error.value.hint)
    with pytest.raises(UnknownName):
        report_on(judged(table()), lists(), reference="expert", families={"llm": ["nothing"]})


def test_the_winner_of_a_judge_who_favours_it_is_not_recommended():
    """The expert labelled a part: enough to show that the judge favours L, whatever it says of the winner."""
    frame = table()
    few = frame.filter((pl.col("assessor") == "llm") | pl.col("doc").is_in(["L0", "L1", "C0", "C1", "x0", "x1"]))
    chapter = verdict_of(asked(few, reference=("expert",)))
    assert chapter.numbers["verdict"]["judge"] == "llm"
    assert [row["system"] for row in chapter.numbers["favoured"]] == ["L"]
    told = [part.about for part in chapter.parts if getattr(part, "kind", "") == "todo"]
    assert "favoured-leader" in told
    assert "choose" not in told


def several(n_judges):
    """The labels of the llm, by as many judges, each with some labels of its own."""
    frame, rng = table(), np.random.default_rng(1)
    own = frame.filter(pl.col("assessor") == "llm")
    parts = [frame.filter(pl.col("assessor") == "expert")]
    for number in range(n_judges):
        changed = pl.Series(rng.random(len(own)) < 0.1)
        label = pl.when(changed).then(pl.lit("1")).otherwise(pl.col("label")).alias("label")
        parts.append(own.with_columns(label, pl.lit(f"llm{number}").alias("assessor")))
    return pl.concat(parts)


def test_few_judges_are_tested_and_p_is_adjusted_for_their_number():
    found = Evidence(asked(several(7), reference=("expert",)))
    first, *others = found.judges_to_test
    kappa = dict(zip(found.profiles.assessors, found.profiles.kappa.value, strict=True))
    assert [first, *others] == sorted(set(kappa) - {"expert"}, key=lambda name: -kappa[name])[:MOST_TESTED]
    alone = favoured_systems(found.judgments, lists(), "nDCG@10", judge=first, reference="expert")
    both = (each.by_system.p_adjusted for each in (found.favoured[first], alone))
    np.testing.assert_allclose(next(both), np.minimum(MOST_TESTED * next(both), 1))
    assert favour_note(finders(found)).fields["others"] == tuple(others)
    declared = found.judgments.declare(machines=["llm6"])
    assert Evidence(Question(declared, lists(), n_draws=50)).judges_to_test == ("llm6",)


def test_a_declared_reference_of_the_judgments_counts():
    made = report_on(judged(table()).declare(reference="expert"), lists(), n_draws=50)
    assert made.content()["verdict"]["favoured"][0]["judge"] == "llm"
