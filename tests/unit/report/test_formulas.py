"""The chapter on method: every number that a report shows has its formula, and none is listed that it does not show."""

from __future__ import annotations

import re

import pytest

from venire.report.document import Words
from venire.report.making import all_formulas, formulas_of, make_report, report_on
from venire.report.question import Question
from venire.simulation import ContextSetting, Synthetic, generate, generate_context
from venire.simulation.systems import Systems

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
COUNTS = ("overlap", "labels_by_assessor", "formulas", "versions", "confusion")
"""Tables and pictures of counts and shares alone."""
SEEN = {
    "agreement": "agreement_statistics",
    "parameters": "p_relevant",
    "udm_weights": "udm",
    "user_scores": "systems_scores",
    "rank_intervals": "stability_map",
    "power": "discriminative_power",
    "scales": "collapsed_labels",
    "measures_and_users": "measures_and_users_table",
    "measures_and_clicks": "measures_and_clicks_table",
    "labels_told_apart": "labels_told_apart_table",
    "pdp": "pdp_values",
}
"""Pictures of what a table has."""


@pytest.fixture(scope="module")
def reports():
    small = Synthetic(n_topics=12, docs_per_topic=25, n_unjudged=5, systems=Systems(quality=(0.5, 2.0, 3.0), depth=20))
    made = generate(small, rng=3)
    users = generate_context(ContextSetting(n_topics=30), rng=1)
    plain = make_report(Question(made.judgments, made.runs, n_draws=50))
    with_users = report_on(
        users.judgments,
        users.runs,
        preferences=users.preferences,
        clicks=users.clicks,
        before=users.judgments,
        n_draws=50,
    )
    return plain, with_users


def names_in(report) -> list[str]:
    parts = [part for chapter in report.chapters for part in chapter.parts if not isinstance(part, Words)]
    return [part.name for part in parts]


def test_every_number_shown_has_a_formula(reports):
    explained = {re.split("[.=]", name)[0] for each in all_formulas()["formula"] for name in each["shown"]}
    for report in reports:
        shown = [SEEN.get(name, name) for name in names_in(report) if not name.startswith(COUNTS)]
        assert len(shown) > 10
        assert sorted(set(shown) - explained) == []


def test_without_other_assessors_nothing_of_users_is_explained():
    labels = {f"q{t}": {f"d{n}": (n + t) % 3 for n in range(6)} for t in range(12)}
    runs = {
        name: {
            q: {d: (len(name) * 3 + int(d[1:]) * (5 if name == "x" else 11)) % 7 for d in docs}
            for q, docs in labels.items()
        }
        for name in ("x", "y")
    }
    told = {row[0] for row in formulas_in(report_on(labels, runs, n_draws=20))}
    assert "winner" in told
    assert told.isdisjoint({"random user", "expected relevant", "gains of models", "p(R|i)", "another judge", "phi"})


def test_nothing_is_explained_that_is_not_there(reports):
    plain, with_users = ({row[0] for row in formulas_in(each)} for each in reports)
    assert "PDP" not in plain
    assert "CTR" not in plain
    assert {"CTR", "kappa with users"} <= with_users
    assert {"nDCG", "ERR", "winner", "p(R|i)", "UDM weight P(M/N)", "another judge"} <= plain


def formulas_in(report) -> list[tuple[str, str, str]]:
    return next(part.rows for part in report.chapters[-1].parts if getattr(part, "name", "") == "formulas")


def test_measures_are_told_once_each():
    told = [row[0] for row in formulas_of([], ["nDCG@10", "nDCG@5", "RBP(p=0.8)", "Rprec"])]
    assert told == ["nDCG", "RBP"]
