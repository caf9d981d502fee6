"""Reports on small, poor or odd input: what cannot be concluded is said, and nothing is drawn that shows nothing."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from venire import read_judgments, read_preferences, read_runs
from venire.agreement.flags import FlaggedProfiles, habits
from venire.comparison.verdict import verdict as best_of
from venire.errors import MeasureError, SettingError, UnknownName
from venire.report import quality
from venire.report.document import Chapter, Grid, Picture, Words
from venire.report.evidence import Evidence
from venire.report.headline import verdict_chapter
from venire.report.labels import MOST_WARNINGS, judgments_chapter, label_worth_chapter
from venire.report.making import make_report
from venire.report.page import page
from venire.report.question import Missing, Question
from venire.report.systems import another_judge_chapter, systems_chapter

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
TOPICS = ("t1", "t2", "t3", "t4")


def judged(rows, scale=None):
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    return read_judgments(frame) if scale is None else read_judgments(frame, scale=scale)


def labelled(label, *, topics=TOPICS, assessors=("ann", "bob")):
    """Six documents a topic; label(number of the document, of the assessor) is theirs."""
    return [(t, f"d{n}", who, label(n, k)) for t in topics for n in range(6) for k, who in enumerate(assessors)]


def lists(*systems, topics=TOPICS, doc="d"):
    """Runs in which every system orders six documents in its own way."""
    rows = [
        (name, topic, f"{doc}{n}", float((n * (k + 2) + t) % 7))
        for k, name in enumerate(systems)
        for t, topic in enumerate(topics)
        for n in range(6)
    ]
    return read_runs(pl.DataFrame(rows, schema=["system", "topic", "doc", "score"], orient="row"))


def graded(n, k):
    return (n + k * (n % 2)) % 3


def asked(rows=None, runs=None, scale=None, **more) -> Question:
    rows = labelled(graded) if rows is None else rows
    return Question(judged(rows, scale), lists("x", "y", "z") if runs is None else runs, n_draws=30, **more)


def said(chapter: Chapter, kind: str | None = None) -> list[str]:
    return [part.text for part in chapter.parts if isinstance(part, Words) and kind in (None, part.kind)]


def about(chapter: Chapter) -> dict[str, str]:
    """Texts of the paragraphs by their subject."""
    return {part.about: part.text for part in chapter.parts if isinstance(part, Words) and part.about}


def named(chapter: Chapter) -> set[str]:
    return {part.name for part in chapter.parts if isinstance(part, Grid | Picture)}


def columns(chapter: Chapter, name: str) -> list[str]:
    return next(list(part.columns) for part in chapter.parts if isinstance(part, Grid) and part.name == name)


def test_one_topic_has_no_interval_and_asks_for_topics():
    evidence = Evidence(asked(labelled(graded, topics=("t1",)), lists("x", "y", "z", topics=("t1",))))
    assert "random_user" in columns(systems_chapter(evidence), "systems_scores")
    assert not {"low", "high"} & set(columns(systems_chapter(evidence), "systems_scores"))
    found = verdict_chapter(evidence)
    assert "more-topics" in about(found)
    assert not any("in common" in text for text in said(found))


def test_one_topic_cannot_be_tested():
    evidence = Evidence(asked(labelled(graded, topics=("t1",)), lists("x", "y", "z", topics=("t1",))))
    found = another_judge_chapter(evidence)
    assert "no difference between systems can be tested" in found.finding
    assert "Kendall's tau" in found.finding
    assert "untested" in about(found)
    power = quality.chapter(evidence)
    assert "1 topic with scores" in power.finding
    assert not {"power", "discriminative_power"} & named(power)


def test_two_topics_do_not_detect_differences_that_no_measure_can_have():
    runs = lists("x", "y", "z", topics=("t1", "t2"))
    found = about(verdict_chapter(Evidence(asked(labelled(graded, topics=("t1", "t2")), runs))))
    assert "undetectable" in found
    assert "detectable" not in found


def test_labels_that_are_all_the_same_are_called_so():
    evidence = Evidence(asked(labelled(lambda *_: 2)))
    found = verdict_chapter(evidence)
    assert {"same-labels", "results"} <= about(found).keys()
    assert len(said(found, "todo")) == 1
    assert not any("0.0000" in text for text in said(found))
    assert systems_chapter(evidence).finding.startswith("All 3 systems score the same")
    assert "slopes" not in named(systems_chapter(evidence))
    assert another_judge_chapter(evidence).parts == ()
    assert "there is no order" in another_judge_chapter(evidence).finding
    assert quality.chapter(evidence).finding.startswith("0% of the 3 pairs")
    assert "power" not in named(quality.chapter(evidence))


def test_nobody_wins_by_how_much_of_theirs_was_judged():
    rows = [("p", t, f"d{n}", float(n)) for t in TOPICS for n in range(6)]
    rows += [("q", t, f"{'d' if n == k else 'e'}{n}", float(n)) for k, t in enumerate(TOPICS) for n in range(6)]
    runs = read_runs(pl.DataFrame(rows, schema=["system", "topic", "doc", "score"], orient="row"))
    evidence = Evidence(asked(labelled(lambda *_: 2), runs))
    assert best_of(evidence.scores["linear"]).winner == "p"
    assert evidence.verdict.winner is None
    assert verdict_chapter(evidence).finding.startswith("No winner can be named")


def test_a_judge_whose_labels_tell_nothing_is_passed_over_or_warned_of():
    topics = [f"t{n}" for n in range(20)]
    rows = labelled(lambda n, k: 1 if k == 0 else n % 3, topics=topics, assessors=("always", "bob", "cyd"))
    runs = lists("x", "y", topics=topics)
    chosen = Evidence(asked(rows, runs))
    assert chosen.judge == "bob"
    assert "not counting always" in about(verdict_chapter(chosen))["judge"]
    named_so = Evidence(asked(rows, runs, assessor="always"))
    assert "one-label" in about(verdict_chapter(named_so))


def test_one_who_labels_unlike_all_others_is_not_passed_over():
    """The others are copies of each other and may all be wrong; a difference is described, and no more."""
    topics = [f"t{n}" for n in range(60)]
    names = ("expert", "llm1", "llm2", "llm3")
    rows = labelled(lambda n, k: n % 2 if k == 0 else n % 3, topics=topics, assessors=names)
    evidence = Evidence(asked(rows, lists("x", "y", topics=topics)))
    flags = {each["assessor"]: each["flags"] for each in FlaggedProfiles(evidence.profiles).records()}
    assert "unrelated labels" in flags["expert"]
    assert not evidence.useless
    assert "agree most" in about(verdict_chapter(evidence))["judge"]
    assert any("may share an error" in text for text in said(judgments_chapter(evidence), "warning"))
    trusted = Evidence(asked(rows, lists("x", "y", topics=topics), reference=("expert",)))
    assert {trusted.profiles.assessors[n] for n in habits(trusted.profiles)} == {"llm1", "llm2", "llm3"}
    assert not any("may share an error" in text for text in said(judgments_chapter(trusted)))


def test_users_who_are_never_satisfied_have_no_favourite():
    rows = [("t1", "d0", "ann", 1), ("t1", "d0", "bob", 0)]
    found = [("x", "t1", "d0", 1.0), ("y", "t1", "e0", 1.0)]
    runs = read_runs(pl.DataFrame(found, schema=["system", "topic", "doc", "score"], orient="row"))
    evidence = Evidence(asked(rows, runs, assessor="ann"))
    assert "for a random user, all systems score 0" in systems_chapter(evidence).finding


def test_chapters_agree_on_what_is_significant():
    topics = [f"t{n}" for n in range(7)]
    evidence = Evidence(asked(labelled(graded, topics=topics), lists("x", "y", "z", topics=topics)))
    assert not isinstance(evidence.comparison, Missing)
    assert not isinstance(evidence.tested, Missing)
    one = evidence.comparison
    assert one.tested is evidence.tested
    assert np.allclose(one.changes.delta, evidence.tested.delta)


def test_an_assessor_of_other_topics_cannot_score_the_runs():
    rows = [*labelled(graded), *[("t9", f"d{n}", "far", n % 3) for n in range(6)]]
    with pytest.raises(SettingError, match="'far' judged no topic"):
        make_report(asked(rows, assessor="far"))


def test_two_systems_are_two_systems():
    topics = ("t1", "t2")
    evidence = Evidence(asked(labelled(graded, topics=topics), lists("x", "y", topics=topics)))
    assert quality.chapter(evidence).finding.startswith("The two systems differ significantly by none")


def test_a_label_that_nobody_gave_does_not_take_users_away():
    gap = Evidence(asked(labelled(lambda n, k: 3 * (graded(n, k) > 1)), scale="0<1<2<3"))  # 0 and 3, of 0<1<2<3
    assert not isinstance(gap.users, Missing)
    p = gap.gains["prm:3"].values
    assert p[0] <= p[1] <= p[2] <= p[3]
    high = Evidence(asked(scale="0<1<2<3<4"))
    assert high.relevant == "1"
    assert not isinstance(high.users, Missing)


def test_nothing_is_said_to_be_known_of_labels_without_pairs():
    topics = [f"t{n}" for n in range(60)]
    rows = labelled(lambda n, _: 3 * (n % 2), topics=topics)  # 0 and 3, of 0<1<2<3, and always of one mind
    found = about(verdict_chapter(Evidence(asked(rows, lists("x", "y", topics=topics), "0<1<2<3"))))
    assert "not known for 1 and 2" in found["enough"]


def test_a_label_given_once_only_is_the_reason_why_users_are_not_known():
    rows = [*labelled(graded, assessors=("ann",)), *labelled(lambda n, _: n % 2, assessors=("bob",))]
    rows = [row for row in rows if row[2] == "ann" or row[1] in ("d0", "d1")]
    evidence = Evidence(asked(rows))
    assert isinstance(evidence.users, Missing)
    assert "label '2' was judged a second time" in evidence.users.reason


def test_topics_that_no_system_answers_are_omitted():
    runs = lists("x", "y", "z", topics=("t3", "t4", "t5", "t6"))
    evidence = Evidence(asked(runs=runs, assessor="ann"))
    whole = Evidence(asked(labelled(graded, topics=("t3", "t4")), runs, assessor="ann"))
    assert evidence.verdict.n_topics == 2
    assert np.allclose(evidence.verdict.mean, whole.verdict.mean)
    found = about(verdict_chapter(evidence))
    assert found["no-lists"].startswith("2 of 4 judged topics")
    assert found["no-lists"].endswith("t1 and t2.")
    assert found["unjudged-topics"].startswith("2 topics of the runs")
    assert len(evidence.everyone) == len(evidence.question.judgments)


def test_a_system_that_lacks_topics_is_named():
    rows = [("lazy", "t1", "d5", 1.0)] + [("busy", t, "d5", 1.0) for t in TOPICS]
    runs = read_runs(pl.DataFrame(rows, schema=["system", "topic", "doc", "score"], orient="row"))
    assert about(verdict_chapter(Evidence(asked(runs=runs))))["missing-lists"].endswith(": lazy (3).")


def test_a_system_that_returned_nothing_is_named_and_changes_no_other_number():
    runs = lists("x", "y", "z")
    tables = [runs, read_runs({"none": {"other": {"d1": 1.0}}})]
    held = replace(runs, sources=tuple(source for each in tables for source in each.sources))
    beside, alone = (make_report(asked(runs=each)) for each in (held, runs))
    *rows, last = beside.front.board.records()
    assert rows == alone.front.board.records()
    assert (last["system"], last["score"], last["p_best"], last["groups"]) == ("none", None, None, "")
    assert set(last["by_judge"].values()) == {None}
    assert [card.probability for card in beside.front.cards] == [card.probability for card in alone.front.cards]
    text = "none returned nothing for any scored topic (of 4), so it has no score and is not ranked or compared."
    assert about(verdict_chapter(Evidence(asked(runs=held))))["returned-nothing"] == text
    assert "missing-lists" not in about(verdict_chapter(Evidence(asked(runs=held))))
    written = page(beside)
    assert '<th scope="row">none</th><td class="number" data-value="">–</td>' in written
    assert "none returned nothing for any scored topic: no score." in written


def test_it_counts_which_topics_the_scoring_judge_judged():
    rows = labelled(graded, assessors=("ann",)) + labelled(graded, topics=TOPICS[:2], assessors=("bob",))
    late = {"late": {topic: {"d5": 1.0} for topic in TOPICS[2:]}}
    held = replace(runs := lists("x", "y"), sources=(*runs.sources, *read_runs(late).sources))
    by_bob, by_ann = (make_report(asked(rows, held, assessor=name)).front.board for name in ("bob", "ann"))
    assert (set(by_bob.systems), by_bob.silent) == ({"x", "y"}, ("late",))
    assert (set(by_ann.systems), by_ann.silent) == ({"x", "y", "late"}, ())


def test_where_nothing_is_judged_the_one_thing_to_do_is_to_see_to_names():
    evidence = Evidence(asked(runs=lists("x", "y", doc="e")))
    found = verdict_chapter(evidence)
    assert [part.about for part in found.parts if isinstance(part, Words) and part.kind == "todo"] == ["names"]
    assert "cannot be computed" in another_judge_chapter(evidence).finding


def test_assessors_who_share_no_item_are_said_to_score_together():
    rows = [(t, f"d{n}", "ann" if n % 2 else "bob", n % 3) for t in TOPICS for n in range(6)]
    evidence = Evidence(asked(rows))
    assert "on each topic" in about(verdict_chapter(evidence))["judge"]
    assert "agreement_statistics" not in named(judgments_chapter(evidence))


def test_systems_that_are_level_share_the_lead():
    rows = [(s, t, f"d{n}", float(n)) for s in ("p", "q") for t in TOPICS for n in range(6)]
    rows += [("r", t, f"d{n}", float(-n)) for t in TOPICS for n in range(6)]
    runs = read_runs(pl.DataFrame(rows, schema=["system", "topic", "doc", "score"], orient="row"))
    both = systems_chapter(Evidence(asked(labelled(lambda n, _: n // 2), runs))).finding
    assert both.startswith("p and q have the highest")
    assert "and also for a random user" in both
    alone = systems_chapter(Evidence(asked(labelled(graded, assessors=("ann",)), runs))).finding
    assert alone.startswith("p and q have the highest")


def test_one_system_with_many_unjudged_results_is_spoken_of_as_one():
    rows = [(s, t, f"{d}{n}", float(n)) for s, d in (("odd", "e"), ("fine", "d")) for t in TOPICS for n in range(10)]
    runs = read_runs(pl.DataFrame(rows, schema=["system", "topic", "doc", "score"], orient="row"))
    labels = [(t, f"d{n}", who, n % 3) for t in TOPICS for n in range(10) for who in ("ann", "bob")]
    text = about(systems_chapter(Evidence(asked(labels, runs))))["many-unjudged"]
    assert text.startswith("1 of 2 systems has over 20%")
    assert "odd (100%)" in text


def test_two_labels_cannot_be_collapsed():
    found = quality.chapter(Evidence(asked(labelled(lambda n, k: int(graded(n, k) > 1)))))
    assert "few-labels" in about(found)
    assert "scales" not in named(found)


def test_preferences_between_strangers_draw_no_empty_chart():
    rows = {"topic": ["t1"], "left": ["e1"], "right": ["e2"], "assessor": ["u"], "strength": [1]}
    found = quality.chapter(Evidence(asked(preferences=read_preferences(rows))))
    assert "pdp" not in named(found)
    assert "no-pdp" in about(found)


def test_a_scale_of_long_words_is_told_briefly():
    words = [f"grade-{n}-of-twelve-words" for n in range(6)]
    rows = labelled(lambda n, k: words[(n + k) % 6])
    finding = judgments_chapter(Evidence(asked(rows, scale="<".join(words)))).finding
    assert f"{words[0]}<{words[1]}<...<{words[5]} (6 labels)" in finding
    assert words[3] not in finding


def test_many_warnings_of_one_sort_are_cut_and_counted():
    rows = [(t, f"d{n}", who, n % 12) for t in TOPICS for n in range(24) for who in ("ann", "bob")]
    found = label_worth_chapter(Evidence(asked(rows)))
    subjects = [part.about for part in found.parts if isinstance(part, Words) and part.about != "pool"]
    assert len(subjects) == MOST_WARNINGS + 1
    assert subjects[-1] == "more-warnings"


@pytest.mark.parametrize(
    ("settings", "error"),
    [({"measure": "nDCGG@10"}, MeasureError), ({"measure": "P"}, MeasureError), ({"relevant": "9"}, UnknownName)],
)
def test_settings_are_checked_before_anything_is_computed(settings, error):
    evidence = Evidence(replace(asked(), **settings))
    with pytest.raises(error):
        evidence.validate()


def test_a_scale_of_one_label_is_refused_with_a_way_out():
    with pytest.raises(SettingError, match="one label, yes") as caught:
        make_report(asked(labelled(lambda *_: "yes"), scale="yes"))
    assert "no<yes" in (caught.value.hint or "")


def test_names_of_any_script_make_a_page_without_a_word_about_fonts():
    rows = labelled(graded, assessors=("李雷", "Ольга", "محمد"))
    report = make_report(asked(rows, lists("検索", "naïve-β", "</svg><b>")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        html = page(report)
    assert "検索" in html
    assert "<b>" not in html
    json.dumps(report.content(), allow_nan=False)


def test_power_that_is_0_everywhere_is_not_drawn():
    rows = labelled(lambda *_: 2, assessors=("ann",))
    found = quality.chapter(Evidence(asked(rows, scale="0<1<2")))
    assert "scales" not in named(found)
    table = next(part for part in found.parts if isinstance(part, Grid) and part.name == "collapsed_labels")
    assert {row[-3] for row in table.rows if "discriminative_power" in row} == {0.0}
