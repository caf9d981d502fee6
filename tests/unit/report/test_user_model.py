"""What users make of labels, in a report: learnt where users look, and after the advice that the report gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from venire import Judgments, evaluate, read_judgments, read_runs
from venire.disagreement.counting import count_relevant
from venire.disagreement.predicted_relevance import PredictedRelevance
from venire.report.evidence import TOP, Evidence
from venire.report.headline import advice, judged_once
from venire.report.labels import judgments_chapter
from venire.report.making import make_report, report_on
from venire.report.question import Missing, Question
from venire.report.scoring_judge import unjudged_results
from venire.simulation import Synthetic, generate

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")


@pytest.fixture(scope="module")
def made():
    return generate(Synthetic(n_topics=40), rng=5)


def seen_by_others(made, judge: str, label: str) -> np.ndarray:
    """How many first results the other assessors really label so, on average -> (system,)."""
    others = [name for name in made.judgments.assessors if name != judge]
    scores = evaluate(
        made.judgments.where(assessor=others), made.runs, f"CG@{TOP}", gains=f"binary:{label}", per="assessor"
    )
    return scores.mean("topic").values[:, 0].mean(axis=1)


def test_what_is_learnt_on_first_results_is_nearer_to_what_people_say_of_them(made):
    evidence = Evidence(Question(made.judgments, made.runs))
    assert evidence.user_model.top == TOP
    truth = seen_by_others(made, evidence.judge, evidence.relevant)
    of_pool = PredictedRelevance(relevant=evidence.relevant).fit(made.judgments)
    far = {}
    for name, fit in (("first", evidence.user_fit), ("pool", of_pool)):
        counts = count_relevant(made.judgments, made.runs, fit, top=TOP, assessor=evidence.judge)
        assert list(counts.systems) == list(evidence.facts.systems)
        far[name] = np.abs(counts.mean[0, 0] - truth).mean()
    assert far["first"] < 0.6 * far["pool"]


def test_the_whole_pool_does_where_too_few_first_results_were_judged_twice(made):
    judged = made.judgments
    first = judged.where(assessor="careful1")
    shown = np.zeros(len(judged.items), dtype=np.bool_)
    facts = Evidence(Question(judged, made.runs)).facts
    shown[facts.item[facts.rank <= TOP]] = True
    second = judged.where(assessor="careful2")
    deep = second.take(~shown[second.item])
    evidence = Evidence(Question(joined(first, deep), made.runs))
    assert evidence.user_model.top is None
    report = make_report(replace(evidence.question, n_draws=20))
    assert "pool" in {getattr(part, "about", "") for each in report.chapters for part in each.parts}


def joined(*parts: Judgments) -> Judgments:
    return read_judgments(pl.concat([each.to_polars() for each in parts]), scale=parts[0].scale)


@pytest.mark.parametrize("wanted", ["first results", "the top label"])
def test_whoever_follows_the_advice_is_told_what_labels_are_worth(made, wanted):
    """Second judgments of what systems return, or of one label: both were refused by the paired estimator."""
    judged = made.judgments
    facts = Evidence(Question(judged, made.runs)).facts
    first, second = judged.where(assessor="careful1"), judged.where(assessor="careful2")
    if wanted == "first results":
        asked = np.unique(facts.item[facts.rank <= TOP])
    else:
        asked = first.item[first.label == len(judged.scale) - 1]
    rng = np.random.default_rng(0)
    some = [*rng.permutation(np.unique(asked))[:300], *rng.permutation(len(judged.items))[:200]]
    evidence = Evidence(Question(joined(first, second.take(np.isin(second.item, some))), made.runs))
    assert evidence.judge == "careful1"
    assert not isinstance(evidence.user_fit, Missing)
    assert not isinstance(evidence.users, Missing)
    subjects = {getattr(part, "about", "") for part in judgments_chapter(evidence).parts}
    assert ("selected-items" in subjects) == (wanted == "the top label")


def test_users_are_drawn_as_often_as_is_asked(made):
    evidence = Evidence(Question(made.judgments, made.runs, n_draws=17))
    assert not isinstance(evidence.users, Missing)
    assert evidence.users.users.values.shape[-1] == 17


def test_short_lists_have_fewer_results_to_judge_and_missing_ones_none():
    labels = read_judgments({"q1": {"a": 1, "b": 0}, "q2": {"c": 1}})
    runs = read_runs({"short": {"q1": {"a": 2.0, "x": 1.0}}, "long": {"q1": {f"x{n}": -n for n in range(20)}}})
    evidence = Evidence(Question(labels, runs))
    found = unjudged_results(evidence.facts, labels, 10)
    place = {name: n for n, name in enumerate(evidence.facts.systems)}
    assert found.number[[place["short"], place["long"]]].tolist() == [1, 10]
    assert found.share[[place["short"], place["long"]]].tolist() == [0.5, 1]
    assert not evidence.nothing_judged


def test_a_report_from_python_takes_files_and_single_names(tmp_path, made):
    path = tmp_path / "judgments.tsv"
    made.judgments.to_polars().write_csv(path, separator="\t")
    report = report_on(path, made.runs, before=path, reference="careful2", relevant=2, n_draws=20)
    assert [each.name for each in report.chapters][-1] == "method"
    assert "the same as before" in next(each.finding for each in report.chapters if each.name == "changes")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_draws": 0}, "n_draws is 0"),
        ({"relevant": 7}, "'7'"),
        ({"reference": "nobody"}, "'nobody'"),
        ({"measure": ["nDCG@5"]}, "nDCG@5"),
        ({"rng": np.random.default_rng(0)}, "expected a whole number"),
    ],
)
def test_settings_from_python_that_make_no_sense_are_refused(made, settings, words):
    from venire.errors import VenireError

    with pytest.raises(VenireError, match=words):
        report_on(made.judgments, made.runs, **settings)


def test_one_judge_is_another_judge_in_every_chapter(made):
    """Where two chapters speak of another judge, they count in the same draws."""
    evidence = Evidence(Question(made.judgments, made.runs, n_draws=60))
    assert not isinstance(evidence.comparison, Missing)
    assert not isinstance(evidence.sources, Missing)
    assert evidence.comparison.forecast.draws is evidence.sources.draws["judges"]
    best = evidence.verdict.best
    first = (evidence.comparison.forecast.draws.argmax(axis=1) == evidence.facts.systems.index(best)).mean()
    assert evidence.verdict.p_first["judges"] == pytest.approx(first)


def test_nobody_is_asked_to_judge_more_results_than_there_are():
    made = generate(Synthetic(n_topics=12, docs_per_topic=30, n_unjudged=0), rng=1)
    evidence = Evidence(Question(made.judgments, made.runs, n_draws=20))
    assert judged_once(evidence.user_model).sum() == 0  # all five judged everything
    todo = {part.about for part in advice(evidence) if getattr(part, "kind", "") == "todo"}
    assert "double-judgments" not in todo
    assert todo & {"topics", "topics-for-labels"}


def test_another_judge_before_is_warned_of(made):
    judged = made.judgments
    half = judged.topics[: len(judged.topics) // 2]
    before = judged.where(assessor="careful2", topic=list(half))
    now = judged.where(assessor=["careful1", "careful2"])
    report = report_on(now, made.runs, before=before, assessor="careful1", n_draws=20)
    changes = next(each for each in report.chapters if each.name == "changes")
    (warned,) = [part.text for part in changes.parts if getattr(part, "about", "") == "other-judge"]
    assert "careful2 before, and of careful1 now" in warned
