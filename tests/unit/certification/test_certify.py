"""Certificates of judges."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from scipy.stats import t

import two_judges
from certified_judges import frame, judged, lists
from venire import VenireError, certify, evaluate, read_judgments
from venire.certification import Criteria
from venire.certification.certificate import ranked_table, summary
from venire.certification.claims import FAIL, NOT_ENOUGH, PASS
from venire.comparison import corrected_scores, favoured_systems
from venire.errors import EqualLabelsWarning, PairsError

PEOPLE = ("ann", "bob", "eve")


@pytest.fixture(scope="module")
def complete():
    return certify(judged(frame()), lists(), ["P(rel=1)@10", "nDCG@10"], reference=PEOPLE, n_draws=50)


def test_judges_are_ranked_by_nearness(complete):
    assert [each.judge for each in complete.judges] == ["strong", "weak", "sampled"]
    strong, weak, _ = complete.judges
    assert strong.agreement.found.alpha.value > weak.agreement.found.alpha.value
    assert complete.sentence().startswith("Nearest to ann, bob and eve first: strong, weak, sampled.")
    rows = ranked_table(complete)
    assert [row["judge"] for row in rows] == ["strong"] * 2 + ["weak"] * 2 + ["sampled"] * 2
    assert "levels of scores" in summary(complete)


def test_raw_scores_are_those_of_the_judge_and_complete_ones_those_of_the_reference(complete):
    found = complete.judges[0].scores.corrected
    own = evaluate(judged(frame()), lists(), ["P(rel=1)@10", "nDCG@10"], assessor="strong").mean("topic")
    assert found.raw == pytest.approx(own.values)
    people = judged(frame()).where(assessor=PEOPLE)
    theirs = evaluate(people, lists(), ["P(rel=1)@10", "nDCG@10"], pool="mean").mean("topic")
    assert found.value == pytest.approx(theirs.values, abs=1e-9)
    assert found.low == pytest.approx(found.high)


def test_three_people_make_the_alt_test_possible(complete):
    strong, weak, _ = complete.judges
    assert strong.alt_test.complete
    assert strong.alt_test.passed.all()
    assert not weak.alt_test.passed.any()
    assert strong.agreement.ceiling is not None


def test_a_judge_with_few_labels_is_not_certified(complete):
    sampled = complete.judges[2]
    assert sampled.scores is None
    assert sampled.share < 0.5
    assert {each.verdict for each in sampled.claims} == {NOT_ENOUGH}
    assert [note.kind for note in sampled.notes if "incomplete" in note.kind] == ["judge-incomplete"]
    assert sampled.agreement.found.raw.value > 0.8
    held = sampled.record()
    assert held["scores"] == held["pairs"] == held["favoured"] == []
    assert held["order"]["tau"] is None
    assert sampled.sentence() == "sampled: there are not enough labels to tell about any claim."


def test_a_sample_of_labels_leaves_claims_open():
    found = certify(judged(frame(labelled=0.15)), lists(), "P(rel=1)@10", judges="strong", reference="ann", n_draws=100)
    (strong,) = found.judges
    levels = strong.verdict("levels")
    assert levels.verdict == NOT_ENOUGH
    sample = strong.scores.sample
    assert sample.labelled < levels.needed <= sample.results
    assert strong.record()["labels_to_halve_intervals"] == sample.needed(0.5)
    assert strong.verdict("levels", "nDCG@10") is None


def test_an_llm_that_overrates_a_system_fails():
    labels = two_judges.judged(two_judges.table())
    found = certify(labels, two_judges.lists(), "P(rel=2)@10", judges="llm", reference="expert", n_draws=50)
    (llm,) = found.judges
    assert {llm.verdict(name).verdict for name in ("levels", "order", "top")} == {FAIL}
    assert llm.scores.favoured.found == ("L",)
    order = llm.scores.order[0]
    assert order.pairs["reversed"].value == 2


def test_identical_judges_pass_everything():
    labels = two_judges.judged(two_judges.table(identical=True))
    found = certify(labels, two_judges.lists(), "nDCG@10", judges="llm", reference="expert", n_draws=20)
    assert {each.verdict for each in found.judges[0].claims} == {PASS}


def verdicts(judge, **by_claim):
    """Replace the verdicts of claims, one per measure."""
    left = {name: list(each) for name, each in by_claim.items()}
    return replace(judge, claims=tuple(replace(each, verdict=left[each.claim].pop(0)) for each in judge.claims))


def test_measures_are_named_where_their_verdicts_differ(complete):
    strong, two = complete.judges[0], "P(rel=1)@10 and nDCG@10"
    mixed = verdicts(strong, levels=[PASS, PASS], order=[PASS, FAIL], top=[NOT_ENOUGH, FAIL], pairs=[PASS, FAIL])
    assert mixed.sentence() == (
        "strong may be trusted with levels of scores; not with the order of all systems by nDCG@10, the order of the "
        "first systems by nDCG@10 and pairs that differ enough by nDCG@10."
    )
    unsure = verdicts(strong, levels=[FAIL, FAIL], order=[PASS, NOT_ENOUGH], top=[NOT_ENOUGH] * 2, pairs=[PASS, PASS])
    assert "not with levels of scores; there are not enough labels to tell about the order of all" in unsure.sentence()
    assert "the order of all systems by nDCG@10 and the order of the first systems." in unsure.sentence()
    assert two not in unsure.sentence()
    assert all(f" by {each}" in unsure.sentence() for each in complete.measures)


def test_criteria_and_prompts_are_recorded(complete):
    labels, criteria = judged(frame()), Criteria(levels=0.5, order=-1.0)
    found = certify(
        labels, lists(), judges="weak", reference="ann", criteria=criteria, prompts={"weak": "ab12"}, n_draws=20
    )
    assert found.judges[0].verdict("levels").verdict == PASS
    assert found.judges[0].verdict("order").verdict == PASS
    assert found.record()["judges"][0]["prompt"] == "ab12"
    assert found.record()["criteria"]["levels"] == 0.5
    assert [each.name for each in complete.inputs] == ["judgments", "runs"]


def test_declared_machines_are_all_judges():
    labels = judged(frame()).declare(reference="ann", machines=["weak"])
    found = certify(labels, lists(), n_draws=20)
    assert [each.judge for each in found.judges] == ["weak"]
    assert found.judges[0].agreement.ceiling.alpha.n_items > 0  # bob and eve are people, too


def test_who_is_the_reference_must_be_said():
    with pytest.raises(VenireError, match="nothing says whose labels are the reference") as caught:
        certify(judged(frame()), lists())
    assert "reference NAME" in caught.value.hint
    with pytest.raises(VenireError, match="'ann' is the reference"):
        certify(judged(frame()), lists(), judges="ann", reference="ann")
    with pytest.raises(VenireError, match="assessor 'nobody'"):
        certify(judged(frame()), lists(), reference="nobody")
    with pytest.raises(VenireError, match="nobody but the reference"):
        certify(judged(frame()).where(assessor="ann"), lists(), reference="ann")


def test_a_crowd_is_pooled():
    labels = judged(frame()).where(assessor=[*PEOPLE, "strong"])
    found = certify(labels.declare(machines="strong"), lists(), pool="majority", n_draws=20)
    assert found.reference == ("majority of 3 assessors",)
    assert [each.judge for each in found.judges] == ["strong"]
    crowd = certify(labels, lists(), reference="strong", pool="median", n_draws=20)
    assert [each.judge for each in crowd.judges] == ["median of 3 assessors"]


def test_the_reference_is_pooled_and_not_certified():
    """With a judge to certify, the pool is of the reference, whoever else labelled."""
    labels, how = judged(frame()), {"pool": "majority", "n_draws": 20}
    for judges, declared in (("strong", {}), ("all", {"machines": ["strong"]})):
        found = certify(labels.declare(**declared), lists(), judges=judges, reference=PEOPLE[:2], **how)
        assert found.reference == ("majority of 2 assessors",)
        assert [each.judge for each in found.judges] == ["strong"]
        assert [note.fields["names"] for note in found.notes if note.kind == "pooled"] == ["ann, bob"]
    two = labels.where(assessor=["ann", "bob", "strong"])
    found = certify(two, lists(), reference=["ann", "bob"], **how)
    assert (found.reference, found.judges[0].judge) == (("majority of 2 assessors",), "strong")
    one = certify(labels, lists(), judges="strong", reference="ann", **how)
    assert (one.reference, [each.judge for each in one.judges]) == (("ann",), ["strong"])
    assert "nobody-pooled" in [note.kind for note in one.notes]


def test_repeated_labels_of_a_crowd_count_once():
    again = frame(seed=9).filter(pl.col("assessor").is_in(PEOPLE))
    kept = read_judgments(pl.concat([again, frame()]), scale="0<1<2", duplicate_labels="keep")
    how = {"judges": "strong", "reference": PEOPLE, "pool": "median", "n_draws": 20}
    found, expected = (certify(labels, lists(), **how).judges[0] for labels in (kept, judged(frame())))
    assert found.labels == expected.labels
    assert found.scores.corrected.value == pytest.approx(expected.scores.corrected.value)


def with_copy(of, name):
    """Add an assessor who has the labels of another one."""
    table = frame()
    return judged(pl.concat([table, table.filter(pl.col("assessor") == of).with_columns(assessor=pl.lit(name))]))


def test_a_copy_of_the_reference_is_announced_and_comes_last():
    found = certify(with_copy("ann", "echo"), lists(), reference="ann", judges=["echo", "strong", "weak"], n_draws=20)
    assert [each.judge for each in found.judges] == ["strong", "weak", "echo"]
    assert [each.copy_of for each in found.judges] == [(), (), ("ann",)]
    assert "Copies of ann, not independent judges: echo." in found.sentence()
    assert found.judges[2].sentence().startswith("echo is a copy of ann, not an independent judge. ")
    assert found.record()["judges"][2]["copy_of"] == ["ann"]
    assert [note.kind for note in found.notes] == ["copied-labels"]
    assert "copied-labels" in [note.kind for note in found.judges[2].notes]


def test_judges_who_are_copies_of_each_other_are_announced():
    found = certify(with_copy("strong", "twin"), lists(), reference="ann", judges=["strong", "twin"], n_draws=20)
    assert [note.fields["second"] for note in found.notes if note.kind == "copied-labels"] == ["twin"]
    assert not any(each.copy_of for each in found.judges)


@pytest.mark.parametrize(
    ("wrong", "message", "hint"),
    [
        ({"families": {"llm": ["bset", "good"]}}, "no system 'bset'", "did you mean 'best'"),
        ({"prompts": {"stronk": "ab"}}, "no judge 'stronk'", "did you mean 'strong'"),
    ],
)
@pytest.mark.parametrize("judges", ["strong", ["strong", "weak"]])
def test_unknown_systems_and_judges_are_refused(judges, wrong, message, hint):
    with pytest.raises(VenireError, match=message) as caught:
        certify(judged(frame()), lists(), judges=judges, reference="ann", n_draws=20, **wrong)
    assert hint in caught.value.hint


def test_an_order_that_does_not_exist_is_not_trusted():
    """With labels from 1 on, P@10 is 1 for all: the claims on orders pass, and that is not a finding."""
    labels = read_judgments(frame().with_columns(label=(pl.col("label").cast(pl.Int64) + 1).cast(pl.String)))
    with pytest.warns(EqualLabelsWarning, match="count alike"):
        (found,) = certify(labels, lists(), "P@10", judges="strong", reference="ann", n_draws=20).judges
    assert found.sentence() == "strong may be trusted with levels of scores."
    assert "all-tied" in [note.kind for note in found.notes]


def test_one_system_and_one_topic():
    labels = judged(frame().filter(pl.col("topic") == "q1"))
    one = {"best": {"q1": lists()["best"]["q1"]}}
    (found,) = certify(labels, one, judges="strong", reference="ann", n_draws=20).judges
    assert [each.claim for each in found.claims] == ["levels"]
    assert found.scores.favoured is None
    assert "favour-unknown" in [note.kind for note in found.notes if hasattr(note, "kind")]
    several = {system: {"q1": topics["q1"]} for system, topics in lists().items()}
    (found,) = certify(labels, several, judges="strong", reference="ann", n_draws=20).judges
    assert found.scores.order[0].pairs == {}
    assert found.record()["order"]["kept"] is None


def test_nothing_in_common_with_the_reference():
    table = frame().filter((pl.col("assessor") == "strong") | ((pl.col("assessor") == "ann") & (pl.col("doc") == "d0")))
    table = table.filter(~((pl.col("assessor") == "strong") & (pl.col("doc") == "d0")))
    (found,) = certify(judged(table), lists(), judges="strong", reference="ann", n_draws=20).judges
    assert found.scores is None
    assert found.share > 0.9
    assert "not-certified" in [note.kind for note in found.notes]


def lacking(who, topic="q1"):
    """Labels of ann and strong, without those of one of them for a topic."""
    table = frame().filter(pl.col("assessor").is_in(["ann", "strong"]))
    return judged(table.filter(~((pl.col("assessor") == who) & (pl.col("topic") == topic))))


def test_the_share_that_a_judge_labelled_is_of_the_topics_that_are_scored():
    how = {"judges": "strong", "reference": "ann", "n_draws": 20}
    (without,) = certify(lacking("strong"), lists(), topics=["q1"], **how).judges
    assert (without.share, without.scores) == (0.0, None)
    assert "judge-incomplete" in [note.kind for note in without.notes]
    (others,) = certify(lacking("strong"), lists(), topics=["q2", "q3"], **how).judges
    assert others.share == 1.0
    assert others.scores is not None
    half = certify(lacking("strong"), lists(), topics=["q1", "q2"], **how).judges[0]
    assert half.share == pytest.approx(0.5)


def test_what_cannot_be_estimated_is_a_note(monkeypatch):
    def refuse(*_, **__):
        raise PairsError("there is no usable label", hint="add labels")

    monkeypatch.setattr("venire.certification.certify.corrected_in", refuse)
    (found,) = certify(judged(frame()), lists(), judges="strong", reference="ann", n_draws=20).judges
    assert found.scores is None
    assert {each.verdict for each in found.claims} == {NOT_ENOUGH}
    assert "there is no usable label" in [str(note) for note in found.notes]


def test_levels_are_decided_at_the_confidence_that_is_asked_for():
    labels, how = judged(frame(labelled=0.3)), {"judges": "strong", "reference": "ann", "n_draws": 20}
    found = {
        level: certify(labels, lists(), "P(rel=1)@10", criteria=Criteria(confidence=level), **how).judges[0]
        for level in (0.5, 0.95, 0.999)
    }
    claims = {level: each.verdict("levels").found for level, each in found.items()}
    width = {level: each.high - each.low for level, each in claims.items()}
    degrees = found[0.5].scores.corrected.degrees
    for level, each in width.items():
        expected = t.ppf((1 + level) / 2, degrees) / t.ppf(0.975, degrees)
        assert each / width[0.95] == pytest.approx(expected)
    assert width[0.95] > 0


def test_repeated_labels_are_allowed():
    table = pl.concat([frame(), frame(seed=9).filter(pl.col("assessor") == "strong")])
    labels = read_judgments(table, scale="0<1<2", duplicate_labels="keep")
    (found,) = certify(labels, lists(), judges="strong", reference="ann", n_draws=20).judges
    assert 0.5 < found.agreement.repeatability.raw.value < 1


def test_of_repeated_labels_the_last_counts_for_corrected_scores_and_favour_too():
    again = frame(seed=9).filter(pl.col("assessor").is_in(["strong", "ann"]))
    kept = read_judgments(pl.concat([again, frame()]), scale="0<1<2", duplicate_labels="keep")
    how = {"judge": "strong", "reference": "ann"}
    for function in (corrected_scores, favoured_systems):
        found, expected = (function(labels, lists(), "P(rel=1)@10", **how) for labels in (kept, judged(frame())))
        assert found.records() == expected.records()


def test_prompts_are_those_of_the_judgments_unless_they_are_named():
    labels = replace(judged(frame()), prompts={"strong": "s1", "weak": "w1"})
    found = certify(labels, lists(), "P(rel=1)@10", judges=["strong", "weak"], reference="ann", prompts={"weak": "w2"})
    assert {each.judge: each.prompt for each in found.judges} == {"strong": "s1", "weak": "w2"}
