"""The first screen: one short sentence, the leaderboard, cards, and what the page holds of lists and labels."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import escape

import numpy as np
import polars as pl
import pytest

from two_judges import judged, lists, table
from venire import read_judgments, read_runs
from venire.report import drill as drilling
from venire.report.charts import percent
from venire.report.document import Report
from venire.report.drawing import NARROW, Axis, axis_of, group_bars, row, ticks
from venire.report.drill import drill
from venire.report.evidence import Evidence
from venire.report.first_screen import as_json, board_rows, first_screen, held, legend, link
from venire.report.front import CARDS, LIKELY, change_sentence, front, in_words, next_steps, verdict_sentence
from venire.report.leaderboard import leaderboard
from venire.report.page import page
from venire.report.question import Question
from venire.simulation import Synthetic, generate
from venire.simulation.systems import Systems

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")


def simulated(n_topics=12, quality=(0.5, 2.0, 3.5), rng=3, **how):
    setting = Synthetic(n_topics=n_topics, docs_per_topic=25, n_unjudged=5, systems=Systems(quality=quality, depth=20))
    made = generate(setting, rng=rng)
    return Evidence(Question(made.judgments, made.runs, n_draws=60, **how))


@pytest.fixture(scope="module")
def whole():
    return simulated()


@pytest.fixture(scope="module")
def two():
    return Evidence(Question(judged(table()), read_runs(lists()), n_draws=60))


def question(labels, runs, **how):
    rows = [(t, d, who, str(label)) for (t, d, who), label in labels.items()]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    return Evidence(Question(read_judgments(frame, scale="0<1<2"), read_runs(runs), n_draws=30, **how))


def test_a_verdict_has_at_most_25_words_and_a_second_sentence(whole, two):
    rivals = simulated(n_topics=4, quality=(2.0, 2.1, 2.05, 1.9, 1.95))
    runs = lists()
    one = Evidence(Question(judged(table()), read_runs({"C": runs["C"]}), n_draws=20))
    twins = Evidence(Question(judged(table()), read_runs({"C": runs["C"], "E": runs["C"], "L": runs["L"]}), n_draws=20))
    rows = board_rows(leaderboard(twins))
    assert [(row["system"], row["twin"]) for row in rows] == [("C", 1), ("E", 1), ("L", 3)]
    for each in (whole, two, rivals, one, twins):
        sentence = verdict_sentence(each)
        assert len(sentence.split()) <= 25, sentence
        assert sentence.endswith(".")
        assert change_sentence(each).endswith(".")
    assert verdict_sentence(two) == "No clear winner by nDCG@10: expert puts C ahead of L, llm the reverse."
    assert verdict_sentence(rivals).startswith("No winner by nDCG@10:")
    assert verdict_sentence(one).startswith("There is one system only, C")


def test_the_verdict_on_twins_names_them():
    runs, same = lists(), judged(table(identical=True))
    found = Evidence(Question(same, read_runs({"C": runs["C"], "E": runs["C"], "L": runs["L"]}), n_draws=20))
    assert verdict_sentence(found) == "No winner by nDCG@10: C and E score the same on every topic."


def test_the_leaderboard_agrees_with_the_verdict_and_with_scores_by_judge(whole):
    board, verdict = leaderboard(whole), whole.verdict
    assert board.systems[0] == verdict.best
    assert (np.diff(board.score) <= 0).all()
    assert (board.low <= board.score).all()
    assert (board.score <= board.high).all()
    assert board.p_best.sum() == pytest.approx(1)
    assert board.p_best[0] == pytest.approx(verdict.p_first["both"])
    for j, judge in enumerate(board.judges):
        place = whole.by_judge.judges.index(judge.name)
        for n, system in enumerate(board.systems):
            assert board.by_judge[j, n] == whole.by_judge.mean[place, whole.by_judge.systems.index(system), 0]


def test_rivals_of_the_best_system_are_in_its_group_and_no_others():
    for seed in range(4):
        found = simulated(n_topics=6, quality=(2.0, 2.4, 1.2, 2.2), rng=seed)
        board = leaderboard(found)
        first = board.member[:, 0]
        together = {board.systems[n] for n in range(1, 4) if (board.member[:, n] & first).any()}
        assert together == set(found.verdict.rivals)


def test_judges_who_put_another_system_first_are_marked(two):
    board = leaderboard(two)
    rows = {each["system"]: each["reversed_by"] for each in board.records()}
    assert rows == {"C": ["llm"], "D": [], "L": ["llm"]}
    drawn = row(board, 0, axis_of(board, 3))
    assert 'class="dot against"' in drawn
    assert "<title>llm: " in drawn
    assert re.search(r'aria-label="score of C by expert: [^"]*; llm 0\.\d+"', drawn)
    assert "filled orange: this judge puts the system ahead of C (in its row: another ahead)" in legend(board)


def test_people_are_before_machines():
    labels = judged(table()).declare(machines="llm")
    board = leaderboard(Evidence(Question(labels, read_runs(lists()), n_draws=20)))
    assert [(each.name, each.kind) for each in board.judges] == [("expert", "person"), ("llm", "machine")]
    assert "<polygon" in row(board, 0, axis_of(board, 3))
    assert "Diamonds: other judges (machines);" in legend(board)


def test_of_many_systems_the_first_are_shown():
    board = leaderboard(simulated(n_topics=5, quality=tuple(np.linspace(0.5, 3.0, 15))))
    assert len(board.systems) == 15
    assert board.n_shown == 10
    assert board.letters(12) == ""
    assert "below rank 10" in legend(board)


def test_a_system_further_down_has_the_ranks_of_those_that_do_not_differ_from_it():
    board = leaderboard(simulated(n_topics=5, quality=tuple(np.linspace(0.5, 3.0, 15))))
    for n in range(board.n_shown, len(board.systems)):
        first, last = board.alike(n)
        assert not board.different[n, [first - 1, last - 1]].any()
        assert board.different[n, : first - 1].all()
        assert board.different[n, last:].all()
        assert f">{first}–{last}<" in group_bars(board, n)


def test_identical_systems_differ_in_no_statistic_of_the_leaderboard_or_of_a_pair():
    """Copies of the best system, which is tested without adjustment, and of another one."""
    rng, docs, topics = np.random.default_rng(1), [f"d{n}" for n in range(12)], "12345678"
    truth = {(topic, doc): int(rng.integers(0, 3)) for topic in topics for doc in docs}
    labels = {(*item, who): (n + int(rng.random() < 0.3)) % 3 for item, n in truth.items() for who in "ab"}
    runs = {
        f"s{q}": {topic: {doc: q * truth[topic, doc] + 3 * rng.random() for doc in docs} for topic in topics}
        for q in range(6)
    }
    best, other = (leaderboard(question(labels, runs)).systems[n] for n in (0, 3))
    found = question(labels, runs | {"copy": runs[best], "again": runs[other]})
    board, held, verdict = leaderboard(found), drill(found), found.verdict
    adjusted = {frozenset((row["a"], row["b"])) for row in found.tested.records() if row["p_adjusted"] <= 0.05}
    behind = {*board.systems} - {verdict.best, *verdict.rivals}
    assert any(frozenset((best, name)) not in adjusted for name in behind)  # the two tests differ here
    rows = {each["system"]: each for each in board.records()}
    for one, two in ((best, "copy"), (other, "again")):
        assert {**rows[one], "system": ""} == {**rows[two], "system": ""}
        a, b = (held.systems.index(name) for name in (one, two))
        assert not held.different[a, b]
        np.testing.assert_array_equal(held.different[a], held.different[b])
    assert held.systems == board.systems
    np.testing.assert_array_equal(held.different, board.different)


def test_cards_have_probability_words_and_a_step(whole):
    found = front(whole, held=drill(whole))
    assert [card.name for card in found.cards] == list(CARDS)
    for card in found.cards:
        assert card.probability == whole.verdict.p_first[card.name]
        assert card.likelihood == in_words(card.probability)
    assert set(next_steps(whole, {})) == set(CARDS)


def test_the_card_counts_the_judges_who_put_the_best_system_first(whole, two):
    """A model says how likely another judge agrees; beside it stands what the other judges did by their own labels."""
    board = leaderboard(whole)
    means = board.by_judge[[each.name != board.scorer for each in board.judges]]
    assert (means.argmax(axis=1) == 0).all()
    card = front(whole).cards[1]
    assert card.text.startswith(f"All {len(means)} other judges put it first, too. ")
    assert front(two).cards[1].text.startswith("The other judge puts L first. ")
    votes = {"a": "C", "b": "C", "c": "L", "d": "L", "e": "L"}
    labels = {(topic, doc, who): 2 * (doc == first) for topic in "123" for who, first in votes.items() for doc in "CL"}
    runs = {name: {topic: {name: 2.0, other: 1.0} for topic in "123"} for name, other in ("CL", "LC")}
    divided = question(labels, runs, assessor="a")
    assert front(divided).cards[1].text.startswith("1 of 4 other judges put it first, 3 put L first. ")
    three = {name: {t: {d: 9.0 - n for n, d in enumerate(name)} for t in "123"} for name in ("CLM", "LMC", "MCL")}
    votes |= {"e": "M", "f": "M"}
    labels = {(t, doc, who): 2 * (doc == first) for t in "123" for who, first in votes.items() for doc in "CLM"}
    labels = {key: label for key, label in labels.items() if key[2] != "f" or key[1] == "M"}
    found = front(question(labels, three, assessor="a")).cards[1].text
    told = "Of 5 other judges 4 judged enough: 1 put it first, 2 put LMC first, 1 another system. "
    assert found.startswith(told)


def test_unknown_sources_say_why_and_what_to_do(whole):
    judge = whole.question.judgments.assessors[0]
    alone = Evidence(replace(whole.question, judgments=whole.question.judgments.where(assessor=judge)))
    cards = {card.name: card for card in front(alone).cards}
    assert cards["topics"].probability is not None
    for name in ("judges", "users"):
        assert cards[name].probability is None
        assert cards[name].text == "There is one assessor only."
        assert cards[name].steps


def test_words_of_likelihood_cover_all_probabilities():
    assert [words for _, words in LIKELY] == [in_words(p) for p in (1, 0.95, 0.7, 0.5, 0.2, 0.05, 0.0)]
    assert (percent(1.0), percent(0.5), percent(0.0)) == (">99%", "50%", "<1%")


def test_ticks_are_round_numbers_within_the_axis(whole):
    board = leaderboard(whole)
    axis = axis_of(board, 3)
    values = [float(each.split("<")[0]) for each in ticks(axis).split('y="15">')[1:]]
    assert 2 <= len(values) <= 7
    assert all(axis.low - 0.01 <= each <= axis.high + 0.01 for each in values)


@pytest.mark.parametrize("high", [0.301, 0.37, 0.55, 0.799, 1.0])
def test_numbers_of_ticks_do_not_touch_on_a_small_screen(high):
    axis = Axis(np.array([0.3, high]), NARROW)
    places = [float(each.split('"')[0]) for each in ticks(axis).split('<text class="tick" x="')[1:]]
    assert 1 <= len(places) <= 4
    assert (np.diff(places) >= 28).all()


LABELS = {
    **{(t, d, who): 0 for t in ("t1", "t2") for d in ("d1", "d2", "d3") for who in ("ann", "bob")},
    **{
        ("t1", "d1", "ann"): 2,
        ("t1", "d2", "bob"): 2,
        ("t1", "d2", "ann"): 1,
        ("t2", "d1", "bob"): 1,
        ("t2", "d1", "ann"): 2,
    },
}
RUNS = {
    "x": {"t1": {"d1": 3.0, "new": 2.0, "d2": 1.0}, "t2": {"d1": 2.0, "d3": 1.0}},
    "y": {"t1": {"d2": 2.0, "d1": 1.0}, "t2": {"d3": 2.0, "d1": 1.0}},
}


def test_lists_hold_labels_by_judge_and_documents_without_one():
    found = drill(question(LABELS, RUNS))
    topic = next(each for each in found.topics if each.topic == "t1")
    x, y = (topic.lists[found.systems.index(name)] for name in "xy")
    assert [topic.docs[n] for n in x] == ["d1", "new", "d2"]
    assert [topic.docs[n] for n in y] == ["d2", "d1"]
    names = [found.judges[n].name for n in topic.judges]
    assert {doc: dict(zip(names, text, strict=True)) for doc, text in zip(topic.docs, topic.labels, strict=True)} == {
        "d1": {"ann": "2", "bob": "0"},
        "d2": {"ann": "1", "bob": "2"},
        "new": {"ann": ".", "bob": "."},
    }


def test_scores_by_topic_are_those_of_the_evidence(whole):
    found, scores = drill(whole), whole.scores["linear"]
    for each in found.topics:
        for s, system in enumerate(found.systems):
            place = scores.names["system"].index(system), scores.names["topic"].index(each.topic)
            assert each.scores[0][s] / 10_000 == pytest.approx(scores.values[*place, 0], abs=6e-5)
    gaps = [gap for _, gap in found.differences()]
    assert gaps == sorted(gaps, reverse=True)
    mean = scores.mean("topic").values[:, 0]
    a, b = (scores.names["system"].index(name) for name in found.pair)
    assert np.mean(gaps) == pytest.approx(mean[a] - mean[b], abs=1e-4)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [("DCG@10", 2 * (1 - 1 / np.log2(3))), ("P@1", 1.0), ("RBP(p=0.8)", 0.2 - 0.8 * 0.2)],
)
def test_disputed_documents_by_their_weight_in_the_measure(measure, expected):
    """d1 of t1: labels 2 and 0, ranks 1 and 2 by x and y; times the difference of their gains."""
    found = {(each.topic, each.doc): each for each in drill(question(LABELS, RUNS, measure=measure)).disputed}
    row = found["t1", "d1"]
    assert {row.rank_a, row.rank_b} == {1, None if measure == "P@1" else 2}
    assert row.weight == pytest.approx(expected, abs=2e-5)
    assert row.labels == {"ann": "2", "bob": "0"}
    assert ("t2", "d3") not in found


def test_the_weight_in_a_normalised_measure_is_a_share_of_the_best_ranking():
    evidence = question(LABELS, RUNS)
    assert evidence.judge in ("ann", "bob")
    best = {"ann": 2 + 1 / np.log2(3), "bob": 2}[evidence.judge]
    found = {(each.topic, each.doc): each for each in drill(evidence).disputed}
    assert found["t1", "d1"].weight == pytest.approx(2 * (1 - 1 / np.log2(3)) / best, abs=2e-5)


def test_how_far_labels_are_apart_is_the_mean_over_pairs_of_judges():
    rng = np.random.default_rng(0)
    for _ in range(30):
        levels = rng.integers(0, 5, rng.integers(2, 7)).tolist()
        text = "".join(chr(48 + level) for level in levels) + "."
        pairs = [abs(a - b) for n, a in enumerate(levels) for b in levels[n + 1 :]]
        assert drilling._apart(text, range(5)) == pytest.approx(np.mean(pairs))
    assert drilling._apart("3..", range(5)) == drilling._apart("", range(5)) == 0


def test_the_pair_is_that_of_the_contradiction(two):
    assert drill(two).pair == ("C", "L")


def test_what_the_page_holds_is_limited_and_stated(monkeypatch):
    evidence = simulated(n_topics=12, quality=tuple(np.linspace(0.5, 3.0, 11)))
    assert held(drill(evidence)) == "This page holds the first 10 results of all 11 systems on all 12 topics."
    monkeypatch.setattr(drilling, "MOST_CELLS", 500)
    found = drill(evidence)
    assert len(found.systems) == 8
    assert len(found.topics) == 6
    assert "8 of 11 systems on 6 of 12 topics, those on which" in held(found)


def test_data_are_json_without_markup_or_controls():
    text = as_json({"<script>": ["</script>&", "\u202e\x00", None, 1.5]})
    assert not set(text) & set("<>&\u202e\x00")
    assert json.loads(text) == {"<script>": ["</script>&", r"\u202e\x00", None, 1.5]}


def test_links_encode_every_id():
    assert link("a,b", "c&d", topic="#1", doc="ä/") == "#pair=a%2Cb,c%26d&topic=%231&doc=%C3%A4%2F"


def test_the_json_of_the_first_screen_is_plain(whole):
    content = front(whole, held=drill(whole)).content()
    held = json.loads(json.dumps(content, allow_nan=False))
    assert held["leaderboard"] == content["leaderboard"]
    wanted = {"verdict", "change", "measure", "leaderboard", "p_best_of", "cards", "agreement", "disputed"}
    assert set(content) == wanted


def test_a_report_without_lists_has_no_drill_down():
    one = question(LABELS, {"x": RUNS["x"]})
    assert drill(one) is None
    shown = first_screen(Report("t", (), {}), front(one, held=drill(one)))
    assert shown["data"] == ""
    assert [name for name, _ in shown["contents"]] == ["first", "judges", "details", "method"]


def test_a_judge_who_contradicts_is_named_whoever_else_agrees():
    """A second expert, nearly a copy of the first, has the smaller p: the llm still contradicts who scores the runs."""
    frame, rng = table(), np.random.default_rng(2)
    more = frame.filter(pl.col("assessor") == "expert")
    label = np.where(rng.random(len(more)) < 0.3, rng.integers(0, 4, len(more)), more["label"].cast(int))
    more = more.with_columns(assessor=pl.lit("second"), label=pl.Series(label).cast(str))
    for judge in ("expert", "second"):
        found = Evidence(Question(judged(pl.concat([frame, more])), read_runs(lists()), assessor=judge, n_draws=30))
        best = found.verdict.best
        assert (
            verdict_sentence(found) == f"No clear winner by nDCG@10: {judge} puts {best} ahead of L, llm the reverse."
        )
        assert drill(found).pair == (best, "L")


def test_systems_that_score_the_same_have_no_probabilities():
    same = question(
        dict.fromkeys(LABELS, 1), RUNS | {"x": {"t1": {"d1": 2.0, "d2": 1.0}, "t2": {"d1": 2.0, "d3": 1.0}}}
    )
    assert verdict_sentence(same) == "No winner: both systems have the same score by nDCG@10."
    assert [card.probability for card in front(same).cards] == [None] * 3
    unmatched = question(LABELS, {name: {"t1": {"e1": 1.0}, "t2": {"e1": 1.0}} for name in "xy"})
    assert verdict_sentence(unmatched).startswith("Nothing can be said")
    assert [card.probability for card in front(unmatched).cards] == [None] * 3
    assert drill(unmatched) is None


def test_the_legend_names_neighbours_that_do_not_differ_but_not_those_that_score_the_same():
    board = leaderboard(simulated(n_topics=4, quality=(2.0, 2.1, 2.05, 1.9, 1.95)))
    first = legend(board).partition("such as ")[2].partition(";")[0].rstrip(".")
    assert first in {f"{a} and {b}" for a, b in zip(board.systems, board.systems[1:], strict=False)}
    twins = replace(board, score=np.full(len(board.systems), 0.5))
    assert "such as" not in legend(twins)


def test_a_copy_of_a_system_changes_no_probability_of_the_first_screen():
    runs, labels = lists(), judged(table())
    once = Evidence(Question(labels, read_runs(runs), n_draws=60))
    twice = Evidence(Question(labels, read_runs({**runs, "copy": runs["C"], "other": runs["L"]}), n_draws=60))
    assert twice.verdict.p_first == pytest.approx(once.verdict.p_first)
    chance = {each["system"]: each["p_best"] for each in leaderboard(twice).records()}
    for each in leaderboard(once).records():
        assert chance[each["system"]] == pytest.approx(each["p_best"])
    assert (chance["copy"], chance["other"]) == (chance["C"], chance["L"])
    found = front(twice)
    assert found.who in ("C or copy", "copy or C")
    assert found.cards[0].text.endswith("2 systems score the same on every topic and count as one.")
    assert "or one with the same score on every topic" in legend(leaderboard(twice))


def test_up_to_three_rivals_are_named():
    found = simulated(n_topics=4, quality=(2.0, 2.1, 2.05, 1.9, 1.95))
    rivals = found.verdict.rivals
    assert len(rivals) == 4
    assert verdict_sentence(found).endswith(f"from {', '.join(rivals[:3])} and 1 more.")
    fewer = replace(found.verdict, rivals=rivals[:2])
    found.__dict__["verdict"] = fewer
    assert verdict_sentence(found).endswith(f"from {rivals[0]} and {rivals[1]}.")


def test_a_contradiction_further_down_is_not_the_headline():
    """The judges contradict each other on L, which is last; with nine systems before it, that is told later."""
    runs, labels = lists(), judged(table())
    near = Evidence(Question(labels, read_runs(runs), n_draws=20))
    assert near.verdict.contradiction is not None
    many = {f"C{n:02}": runs["C"] for n in range(10)}
    far = Evidence(Question(labels, read_runs({**runs, **many}), n_draws=20))
    assert far.verdict.contradictions
    assert far.verdict.contradiction is None
    assert "the reverse" not in verdict_sentence(far)
    judges = next(card for card in front(far).cards if card.name == "judges")
    assert judges.text.endswith("of systems, none among the first 10.")


def test_a_card_without_a_step_has_none_on_the_page(whole):
    made = front(whole, held=drill(whole))
    html = page(Report("t", (), {"version": "1"}, made))
    assert html.count("<strong>Next:</strong>") == sum(bool(card.steps) for card in made.cards)
    for card in made.cards:
        stays = "is first" if card.name == "users" else "stays first"
        words = f"{made.who} {stays} with probability <strong>{escape(percent(card.probability))}</strong>: "
        assert f"{words}{card.likelihood}." in html
