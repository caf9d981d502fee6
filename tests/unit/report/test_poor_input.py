"""Reports on small, poor or odd input: what cannot be concluded is said, and nothing is drawn that shows nothing."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from venire import read_judgments, read_preferences, read_runs
from venire.agreement.habits import FlaggedProfiles, habits
from venire.comparison.verdict import verdict as best_of
from venire.errors import MeasureError, SettingError, UnknownName
from venire.report import another_judge, judging, label_worth, quality, standing, verdict
from venire.report.document import Chapter, Grid, Picture, Words
from venire.report.evidence import Evidence
from venire.report.making import make_report
from venire.report.page import page
from venire.report.question import Missing, Question

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


def named(chapter: Chapter) -> set[str]:
    return {part.name for part in chapter.parts if isinstance(part, Grid | Picture)}


def columns(chapter: Chapter, name: str) -> list[str]:
    return next(list(part.columns) for part in chapter.parts if isinstance(part, Grid) and part.name == name)


def test_one_topic_has_no_interval_and_asks_for_topics():
    evidence = Evidence(asked(labelled(graded, topics=("t1",)), lists("x", "y", "z", topics=("t1",))))
    assert "random_user" in columns(standing.chapter(evidence), "systems_scores")
    assert not {"low", "high"} & set(columns(standing.chapter(evidence), "systems_scores"))
    found = verdict.chapter(evidence)
    assert any(text.startswith("judge more topics") for text in said(found, "todo"))
    assert not any("in common" in text for text in said(found))


def test_one_topic_cannot_be_tested():
    evidence = Evidence(asked(labelled(graded, topics=("t1",)), lists("x", "y", "z", topics=("t1",))))
    found = another_judge.chapter(evidence)
    assert "no difference between systems can be tested" in found.finding
    assert "Kendall's tau" in found.finding
    assert not any("is significant" in text for text in said(found))
    power = quality.chapter(evidence)
    assert (
        power.finding == "No pair of systems can be tested, by any measure: 1 topic with scores, expected two or more."
    )
    assert not {"power", "discriminative_power"} & named(power)


def test_two_topics_do_not_detect_differences_that_no_measure_can_have():
    runs = lists("x", "y", "z", topics=("t1", "t2"))
    told = said(verdict.chapter(Evidence(asked(labelled(graded, topics=("t1", "t2")), runs))))
    assert any("would have to be larger than any score" in text for text in told)
    assert not any("finds a difference of" in text for text in told)


def test_labels_that_are_all_the_same_are_called_so():
    evidence = Evidence(asked(labelled(lambda *_: 2)))
    found = verdict.chapter(evidence)
    assert any(text.startswith("All labels that score the runs are 2") for text in said(found, "warning"))
    assert said(found, "todo") == [
        "judge more results: as long as all labels are 2, no system can be better than another."
    ]
    assert not any("0.0000" in text for text in said(found))
    assert standing.chapter(evidence).finding.startswith("All 3 systems score the same")
    assert "slopes" not in named(standing.chapter(evidence))
    assert another_judge.chapter(evidence).parts == ()
    assert "no order that one could change" in another_judge.chapter(evidence).finding
    assert quality.chapter(evidence).finding.startswith("None of the 3 pairs of systems is told apart")
    assert "power" not in named(quality.chapter(evidence))


def test_nobody_wins_by_how_much_of_theirs_was_judged():
    rows = [("p", t, f"d{n}", float(n)) for t in TOPICS for n in range(6)]
    rows += [("q", t, f"{'d' if n == k else 'e'}{n}", float(n)) for k, t in enumerate(TOPICS) for n in range(6)]
    runs = read_runs(pl.DataFrame(rows, schema=["system", "topic", "doc", "score"], orient="row"))
    evidence = Evidence(asked(labelled(lambda *_: 2), runs))
    assert best_of(evidence.scores["linear"]).winner == "p"
    assert evidence.verdict.winner is None
    assert verdict.chapter(evidence).finding.startswith("No winner can be named")


def test_a_judge_whose_labels_tell_nothing_is_passed_over_or_warned_of():
    topics = [f"t{n}" for n in range(20)]
    rows = labelled(lambda n, k: 1 if k == 0 else n % 3, topics=topics, assessors=("always", "bob", "cyd"))
    runs = lists("x", "y", topics=topics)
    chosen = Evidence(asked(rows, runs))
    assert chosen.judge == "bob"
    assert any("except always, whose labels tell nothing" in text for text in said(verdict.chapter(chosen)))
    named_so = Evidence(asked(rows, runs, assessor="always"))
    assert any("gives one label only" in text for text in said(verdict.chapter(named_so), "warning"))


def test_one_who_labels_unlike_all_others_is_not_passed_over():
    """The others are copies of each other and may all be wrong; a difference is described, and no more."""
    topics = [f"t{n}" for n in range(60)]
    names = ("expert", "llm1", "llm2", "llm3")
    rows = labelled(lambda n, k: n % 2 if k == 0 else n % 3, topics=topics, assessors=names)
    evidence = Evidence(asked(rows, lists("x", "y", topics=topics)))
    flags = {each["assessor"]: each["flags"] for each in FlaggedProfiles(evidence.profiles).records()}
    assert "unrelated labels" in flags["expert"]
    assert evidence.useless == {}
    assert any("agree most with others" in text for text in said(verdict.chapter(evidence)))
    assert any("may share an error" in text for text in said(judging.chapter(evidence), "warning"))
    trusted = Evidence(asked(rows, lists("x", "y", topics=topics), reference=("expert",)))
    assert {trusted.profiles.assessors[n] for n in habits(trusted.profiles)} == {"llm1", "llm2", "llm3"}
    assert not any("may share an error" in text for text in said(judging.chapter(trusted)))


def test_users_who_are_never_satisfied_have_no_favourite():
    rows = [("t1", "d0", "ann", 1), ("t1", "d0", "bob", 0)]
    found = [("x", "t1", "d0", 1.0), ("y", "t1", "e0", 1.0)]
    runs = read_runs(pl.DataFrame(found, schema=["system", "topic", "doc", "score"], orient="row"))
    evidence = Evidence(asked(rows, runs))
    assert standing.chapter(evidence).finding.startswith("For a random user all systems score 0 by nDCG@10")


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
    with pytest.raises(SettingError, match="'far' judged no topic that a system has a list for"):
        make_report(asked(rows, assessor="far"))


def test_two_systems_are_two_systems():
    topics = ("t1", "t2")
    evidence = Evidence(asked(labelled(graded, topics=topics), lists("x", "y", topics=topics)))
    assert quality.chapter(evidence).finding.startswith("The two systems are not told apart, by any of 5 measures")


def test_a_label_that_nobody_gave_does_not_take_users_away():
    gap = Evidence(asked(labelled(lambda n, k: 3 * (graded(n, k) > 1)), scale="0<1<2<3"))  # 0 and 3, of 0<1<2<3
    assert not isinstance(gap.users, Missing)
    p = gap.gains["prm:3"].values
    assert p[0] <= p[1] <= p[2] <= p[3]
    high = Evidence(asked(scale="0<1<2<3<4"))
    assert high.relevant == "2"
    assert not isinstance(high.users, Missing)


def test_nothing_is_said_to_be_known_of_labels_without_pairs():
    topics = [f"t{n}" for n in range(60)]
    rows = labelled(lambda n, _: 3 * (n % 2), topics=topics)  # 0 and 3, of 0<1<2<3, and always of one mind
    told = said(verdict.chapter(Evidence(asked(rows, lists("x", "y", topics=topics), "0<1<2<3"))))
    enough = next(text for text in told if text.startswith("There are enough double judgments"))
    assert enough.endswith("; nothing is known of 1 and 2, which no item judged twice has.")


def test_a_label_given_once_only_is_the_reason_why_users_are_not_known():
    rows = [*labelled(graded, assessors=("ann",)), *labelled(lambda n, _: n % 2, assessors=("bob",))]
    rows = [row for row in rows if row[2] == "ann" or row[1] in ("d0", "d1")]
    evidence = Evidence(asked(rows))
    assert isinstance(evidence.users, Missing)
    assert "label '2' was judged a second time" in evidence.users.reason
    assert "--prior" not in (evidence.users.hint or "")


def test_topics_that_no_system_answers_are_left_out_and_told():
    runs = lists("x", "y", "z", topics=("t3", "t4", "t5", "t6"))
    evidence = Evidence(asked(runs=runs))
    whole = Evidence(asked(labelled(graded, topics=("t3", "t4")), runs))
    assert evidence.verdict.n_topics == 2
    assert np.allclose(evidence.verdict.mean, whole.verdict.mean)
    told = said(verdict.chapter(evidence), "warning")
    assert "No system has a list for 2 of 4 judged topics: t1 and t2. They are left out." in told
    assert "2 topics of the runs were not judged, and are left out." in told
    assert len(evidence.everyone) == len(evidence.question.judgments)


def test_a_system_that_lacks_topics_is_named():
    rows = [("lazy", "t1", "d5", 1.0)] + [("busy", t, "d5", 1.0) for t in TOPICS]
    runs = read_runs(pl.DataFrame(rows, schema=["system", "topic", "doc", "score"], orient="row"))
    told = said(verdict.chapter(Evidence(asked(runs=runs))), "warning")
    assert any(text.endswith("which count as 0 there: lazy for 3.") for text in told)


def test_where_nothing_is_judged_the_one_thing_to_do_is_to_see_to_names():
    evidence = Evidence(asked(runs=lists("x", "y", doc="e")))
    assert said(verdict.chapter(evidence), "todo") == [
        "make judgments and runs name topics and documents alike, then report again."
    ]
    assert "cannot be told: nothing that the systems return was judged" in another_judge.chapter(evidence).finding


def test_assessors_who_share_no_item_are_said_to_score_together():
    rows = [(t, f"d{n}", "ann" if n % 2 else "bob", n % 3) for t in TOPICS for n in range(6)]
    evidence = Evidence(asked(rows))
    assert any("whoever judged most of it" in text for text in said(verdict.chapter(evidence)))
    assert "agreement_statistics" not in named(judging.chapter(evidence))


def test_systems_that_are_level_share_the_lead():
    rows = [(s, t, f"d{n}", float(n)) for s in ("p", "q") for t in TOPICS for n in range(6)]
    rows += [("r", t, f"d{n}", float(-n)) for t in TOPICS for n in range(6)]
    runs = read_runs(pl.DataFrame(rows, schema=["system", "topic", "doc", "score"], orient="row"))
    both = standing.chapter(Evidence(asked(runs=runs))).finding
    assert "p and q have the highest" in both
    alone = standing.chapter(Evidence(asked(labelled(graded, assessors=("ann",)), runs))).finding
    assert alone.startswith("p and q lead by")


def test_one_system_with_many_unjudged_results_is_spoken_of_as_one():
    rows = [(s, t, f"{d}{n}", float(n)) for s, d in (("odd", "e"), ("fine", "d")) for t in TOPICS for n in range(10)]
    runs = read_runs(pl.DataFrame(rows, schema=["system", "topic", "doc", "score"], orient="row"))
    labels = [(t, f"d{n}", who, n % 3) for t in TOPICS for n in range(10) for who in ("ann", "bob")]
    told = next(text for text in said(standing.chapter(Evidence(asked(labels, runs)))) if "unjudged" in text)
    assert told.startswith("1 of 2 systems has over 20% of the first 10 results unjudged: odd (100%).")
    assert told.endswith("so this system may be better than it seems.")


def test_two_labels_cannot_be_collapsed():
    found = quality.chapter(Evidence(asked(labelled(lambda n, k: int(graded(n, k) > 1)))))
    assert "There are too few labels to collapse any." in said(found)
    assert "scales" not in named(found)


def test_preferences_between_strangers_draw_no_empty_chart():
    rows = {"topic": ["t1"], "left": ["e1"], "right": ["e2"], "assessor": ["u"], "strength": [1]}
    found = quality.chapter(Evidence(asked(preferences=read_preferences(rows))))
    assert "pdp" not in named(found)
    assert any("PDP" in text for text in said(found, "warning"))


def test_a_scale_of_long_words_is_told_briefly():
    words = [f"grade-{n}-of-twelve-words" for n in range(6)]
    rows = labelled(lambda n, k: words[(n + k) % 6])
    finding = judging.chapter(Evidence(asked(rows, scale="<".join(words)))).finding
    assert f"{words[0]}<{words[1]}<...<{words[5]} (6 labels)" in finding
    assert words[3] not in finding


def test_many_warnings_of_one_sort_are_cut_and_counted():
    rows = [(t, f"d{n}", who, n % 12) for t in TOPICS for n in range(24) for who in ("ann", "bob")]
    found = label_worth.chapter(Evidence(asked(rows)))
    told = [text for text in said(found, "warning") if "distinguished" in text or "more labels" in text]
    assert len(told) == label_worth.MOST_WARNINGS + 1
    assert "more labels or pairs of labels are as doubtful" in told[-1]


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
    assert '--scale "no<yes"' in (caught.value.hint or "")


def test_names_of_any_script_make_a_page_without_a_word_about_fonts():
    rows = labelled(graded, assessors=("李雷", "Ольга", "محمد"))
    report = make_report(asked(rows, lists("検索", "naïve-β", "</svg><b>")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        html = page(report)
    assert "検索" in html
    assert "<b>" not in html
    json.dumps(report.content(), allow_nan=False)


def test_power_that_is_nought_everywhere_is_told_and_not_drawn():
    rows = labelled(lambda *_: 2, assessors=("ann",))
    found = quality.chapter(Evidence(asked(rows, scale="0<1<2")))
    assert "scales" not in named(found)
    table = next(part for part in found.parts if isinstance(part, Grid) and part.name == "collapsed_labels")
    assert table.caption.startswith("Share of pairs of systems that differ significantly by nDCG@10: 0.0% with")
