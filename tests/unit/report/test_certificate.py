"""The page of a certificate."""

from __future__ import annotations

import polars as pl
import pytest

from certified_judges import frame, judged, lists
from venire import certify
from venire.report.certificate import certificate_report
from venire.report.document import Grid, Picture, Words
from venire.report.page import page


@pytest.fixture(scope="module")
def several():
    return certify(
        judged(frame(labelled=0.3)), lists(), ["nDCG@10", "P@10"], reference=("ann", "bob", "eve"), n_draws=50
    )


def test_several_judges_have_a_ranking_and_a_chapter_each(several):
    report = certificate_report(several)
    assert [chapter.title for chapter in report.chapters[1:-1]] == [each.judge for each in several.judges]
    ranking = next(part for part in report.chapters[0].parts if isinstance(part, Grid))
    assert len(ranking.rows) == 6
    assert page(report).count("<svg") == 2  # one of three judges labelled too little


def test_one_judge_has_a_chapter_for_each_kind_of_evidence():
    found = certify(judged(frame(labelled=0.3)), lists(), judges="strong", reference=("ann", "bob", "eve"), n_draws=50)
    report = certificate_report(found)
    names = [chapter.name for chapter in report.chapters]
    assert names == ["verdict", "agreement", "order", "favoured", "scores", "missing", "binding"]
    assert report.chapters[0].finding == found.judges[0].sentence()
    claims = report.chapters[0].parts[0]
    assert [row[1] for row in claims.rows] == [each.verdict for each in found.judges[0].claims]
    assert any(isinstance(part, Picture) for part in report.chapters[4].parts)
    assert report.content()["missing"]["finding"].startswith("The reference labelled ")


def test_a_judge_with_few_labels_has_a_page_too():
    found = certify(judged(frame()), lists(), judges="sampled", reference="ann", n_draws=20)
    names = [chapter.name for chapter in certificate_report(found).chapters]
    assert names == ["verdict", "agreement", "missing", "binding"]


def test_the_page_names_copies_and_who_is_pooled():
    table = frame()
    copied = table.filter(pl.col("assessor") == "strong").with_columns(assessor=pl.lit("twin"))
    labels = judged(pl.concat([table, copied]))
    how = {"reference": ("ann", "bob"), "pool": "majority", "n_draws": 20}
    report = certificate_report(certify(labels, lists(), judges=["strong", "twin"], **how))
    first, last = ([part for part in report.chapters[n].parts if isinstance(part, Words)] for n in (0, -1))
    assert "copied-labels" in [part.about for part in first]
    assert "majority of 2 assessors: ann, bob." in [part.text for part in last]
