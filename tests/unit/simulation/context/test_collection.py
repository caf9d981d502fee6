from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from venire.data.judgments import Judgments, given_items, is_conditional
from venire.data.scale import Scale
from venire.errors import SettingError
from venire.io.runs import scan
from venire.simulation.context.collection import ContextCollection, ContextSetting, generate_context
from venire.simulation.context.setting import ClickModel, Engine
from venire.simulation.context.truth import (
    TEMPLATES,
    Contents,
    draw_contents,
    draw_facets,
    labelled_rows,
    ranked,
)

QUIET = ClickModel(sessions=0)
SMALL = ContextSetting(n_topics=30, clicks=QUIET)


def changes(judgments: Judgments) -> np.ndarray:
    """g(d|c) - g(d) of every label in condition by an assessor who judged it in isolation too."""
    rows = list(zip(judgments.item.tolist(), judgments.assessor.codes.tolist(), judgments.label.tolist(), strict=True))
    condition = is_conditional(judgments).tolist()
    alone = {(item, who): label for (item, who, label), given in zip(rows, condition, strict=True) if not given}
    return np.array(
        [label - alone[item, who] for (item, who, label), given in zip(rows, condition, strict=True) if given]
    )


def ranks_judged(collection: ContextCollection, topic: int, side: int) -> set[tuple[int, int | None]]:
    """Which rank was judged given which, ranks from 0, in one list."""
    judgments, truth = collection.judgments, collection.truth
    rank = {truth.docs[int(doc)]: n for n, doc in enumerate(truth.lists[topic, side])}
    found = judgments.where(topic=judgments.topics[topic]).to_polars().select("doc", "given").unique().rows()
    return {(rank[doc], rank[given] if given else None) for doc, given in found if doc in rank and given in {*rank, ""}}


def slow_worth(contents: Contents, topic: int, doc: int, given: int) -> float:
    own, before = (set(np.flatnonzero(contents.covers[topic, each])) for each in (doc, given))
    open_facets = set(range(contents.covers.shape[2])) - before
    lost = contents.redundancy * len(own & before) / len(own)
    won = contents.complementarity * len(own - before) / len(open_facets) if open_facets else 0.0
    return min(contents.worth[topic, doc] * (1 - lost + won), contents.top)


@pytest.fixture(scope="module")
def usual() -> ContextCollection:
    return generate_context(ContextSetting(clicks=QUIET), rng=3)


class TestWorth:
    def test_worth_in_condition_by_hand_over_facets(self):
        contents = generate_context(replace(SMALL, n_facets=4, rarity=1.0, complementarity=1.5), rng=1).truth.contents
        rng = np.random.default_rng(0)
        topic, doc, given = (rng.integers(limit, size=300) for limit in (30, 20, 20))
        slow = [slow_worth(contents, *row) for row in zip(topic, doc, given, strict=True)]
        np.testing.assert_allclose(contents.worth_given(topic, doc, given), slow, rtol=1e-12)
        assert max(slow) == contents.top
        assert np.array_equal(contents.worth_given(topic, doc, np.full(300, -1)), contents.worth[topic, doc])

    def test_a_copy_loses_the_share_that_is_stated_and_a_stranger_nothing(self):
        covers = np.array([[[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 0]]], dtype=bool)
        contents = Contents(np.full((1, 4), 2.0), covers, 4, 0.7, 0.0)
        zero = np.zeros(3, dtype=int)
        assert contents.worth_given(zero, np.array([1, 2, 3]), np.array([0, 0, 2])).tolist() == pytest.approx(
            [0.6, 2, 0.6]
        )
        adding = replace(contents, redundancy=0.0, complementarity=0.5)
        assert adding.worth_given(zero, np.array([1, 2, 3]), zero).tolist() == [2.0, 3.0, 2.5]

    def test_every_document_covers_something(self):
        rng = np.random.default_rng(0)
        contents = draw_contents(ContextSetting(n_topics=50, docs_per_topic=30, rarity=1e6), rng=rng)
        worth, covers = contents.worth, contents.covers
        assert (covers.sum(axis=2) == 1).all()
        assert len(np.unique(covers.argmax(axis=2))) == 10
        assert worth.mean() == pytest.approx(4 * 2 / 7, abs=0.05)

    @pytest.mark.parametrize(("rarity", "breadth"), [(0.0, 0.0), (1.0, 1.0), (2.0, 0.4)])
    def test_facets_are_as_common_as_stated(self, rarity, breadth):
        share = np.tile([0.1, 0.9], (40_000, 1))
        covers = draw_facets(share, 12, rarity, breadth, rng=np.random.default_rng(0))
        p = (1 - breadth * (1 - np.array([0.1, 0.9]))) / (
            rarity + 1
        )  # 1 / (rarity + 1): the mean of U(0, 1) to a power
        expected = 12 * p + (1 - p) ** 12  # one facet for those who have none
        assert covers.sum(axis=2).mean(axis=0) == pytest.approx(expected, rel=0.015)

    def test_along_a_list_the_first_stands_alone(self):
        contents = Contents(np.array([[2.0, 3.0]]), np.ones((1, 2, 1), dtype=bool), 4, 0.5, 0.0)
        assert contents.along(np.array([[0, 1]]), 0.5).tolist() == [[2.0, 0.5 * 3.0 + 0.5 * 1.5]]
        assert contents.along(np.array([[[0, 1], [1, 0]]]), 1.0).tolist() == [[[2.0, 1.5], [3.0, 1.0]]]


class TestLists:
    def test_one_engine_step_by_step(self):
        contents = generate_context(replace(SMALL, n_facets=4, rarity=1.0), rng=1).truth.contents
        engine = Engine(5.0, diversity=2.0, spread=0.3)
        lists = ranked(engine, contents, rng=np.random.default_rng(9))
        rng = np.random.default_rng(9)
        quality = 5.0 + 0.3 * rng.standard_normal((30, 1))
        score = quality * contents.worth / 4 + rng.standard_normal((30, 20))
        for topic in range(30):
            left, above = set(range(20)), None
            for rank in range(10):
                one = np.zeros(1, dtype=int) + topic
                cost = {
                    d: 0.0 if above is None else 2 * contents.overlap(one, one * 0 + d, one * 0 + above)[0]
                    for d in left
                }
                best = max(left, key=lambda d, t=topic, c=cost: score[t, d] - c[d])
                assert lists[topic, rank] == best
                left.remove(best)
                above = best

    def test_quality_and_diversity_do_what_they_say(self):
        setting = replace(SMALL, n_topics=300, engines=(Engine(8.0, diversity=0.0), Engine(2.0, diversity=3.0)))
        truth = generate_context(setting, rng=2).truth
        contents, topic = truth.contents, np.arange(300)[:, None]
        good, diverse = (truth.lists[np.arange(300), side] for side in (truth.engine, 1 - truth.engine))
        assert contents.worth[topic, good].mean() > contents.worth[topic, diverse].mean() + 0.2
        repeated = [contents.overlap(topic, each[:, 1:], each[:, :-1]).mean() for each in (good, diverse)]
        assert repeated[0] > 2 * repeated[1]

    def test_sides_are_drawn_for_each_topic_and_runs_are_the_lists(self, usual):
        assert 0.4 < usual.truth.engine.mean() < 0.6
        facts = scan(usual.runs, usual.judgments.items).facts
        assert facts.systems == ("left", "right")
        left = usual.runs.sources[0]
        assert left.doc.texts()[:10] == [usual.truth.docs[int(doc)] for doc in usual.truth.lists[0, 0]]
        assert len(left.score) == 4570


class TestDesign:
    def test_labels_of_one_list_are_those_of_the_paper(self):
        collection = generate_context(replace(SMALL, n_topics=25, labelled="left"), rng=4)
        fifth = collection.truth.fifth
        assert fifth.sum() == 15
        assert len(collection.judgments) == 15 * 13 + 10 * 18
        alone = int((~is_conditional(collection.judgments)).sum())
        assert alone == 15 * 5 + 10 * 10
        for topic in range(25):
            assert ranks_judged(collection, topic, 0) == set(TEMPLATES["fifth" if fifth[topic] else "tenth"])

    def test_the_templates_are_section_3_2(self):
        always = {(0, None), (1, None), (2, None), (3, None), (4, None), (1, 0), (2, 0), (3, 0), (4, 0)}
        assert set(TEMPLATES["fifth"]) == always | {(0, 4), (1, 4), (2, 4), (3, 4)}
        later = {(5, None), (6, None), (7, None), (8, None), (9, None), (6, 5), (7, 5), (8, 5), (9, 5)}
        assert set(TEMPLATES["tenth"]) == always | later

    @pytest.mark.parametrize("design", ["paper", "neighbours"])
    def test_both_lists_are_labelled_each_thing_once(self, design):
        collection = generate_context(replace(SMALL, design=design), rng=4)
        lists, fifth = collection.truth.lists, collection.truth.fifth
        asked = set()
        for topic in range(30):
            template = design if design == "neighbours" else "fifth" if fifth[topic] else "tenth"
            for side in range(2):
                one = lists[topic, side]
                asked |= {(topic, one[r], -1 if g is None else one[g]) for r, g in TEMPLATES[template]}
        found = labelled_rows(lists, fifth, design)
        assert sorted(asked) == list(zip(*(column.tolist() for column in found), strict=True))
        assert len(collection.judgments) == len(asked)

    def test_given_documents_are_in_the_collection_and_judged_alone(self, usual):
        given = given_items(usual.judgments)
        assert given.min() == -1
        assert not (given == usual.judgments.item).any()
        assert set(given[given >= 0].tolist()) <= set(usual.judgments.item[given < 0].tolist())

    def test_most_neighbours_in_the_lists_have_no_label(self, usual):
        judged = [
            {(a, b) for a, b in ranks_judged(usual, topic, side) if b is not None}
            for topic in range(40)
            for side in (0, 1)
        ]
        shares = [sum((rank, rank - 1) in each for rank in range(1, 5)) / 4 for each in judged]
        assert 0.25 <= np.mean(shares) < 0.4

    def test_one_assessor_judges_a_topic_and_others_some(self):
        setting = replace(SMALL, n_topics=40, judged_again=0.25, again_by=2, n_assessors=6, labelled="left")
        collection = generate_context(setting, rng=5)
        frame = collection.judgments.to_polars()
        who = frame.select("topic", "assessor").unique().group_by("topic").len()
        assert sorted(who["len"]) == [1] * 30 + [3] * 10
        assert frame.select("topic", "doc", "given", "assessor").is_unique().all()
        assert frame["assessor"].n_unique() == 6


class TestLabels:
    def test_without_context_labels_in_condition_are_those_in_isolation(self):
        bare = replace(SMALL, redundancy=0.0, complementarity=0.0, noise=0.0)
        assert not changes(generate_context(bare, rng=6).judgments).any()
        noisy = changes(generate_context(replace(bare, n_topics=600, noise=0.1), rng=6).judgments)
        assert noisy.mean() == pytest.approx(0, abs=0.01)
        assert (noisy != 0).mean() == pytest.approx(
            2 * 0.1 / np.sqrt(np.pi), abs=0.015
        )  # E|e - e'|, by grades of width 1

    def test_labels_are_the_nearest_grades_where_nobody_errs(self):
        collection = generate_context(replace(SMALL, disagreement=0.0, noise=0.0), rng=6)
        judgments, contents = collection.judgments, collection.truth.contents
        docs = np.array([int(name[1:]) - 1 for name in judgments.items.doc])
        given = given_items(judgments)
        worth = contents.worth_given(
            judgments.items.topic[judgments.item], docs[judgments.item], np.where(given < 0, -1, docs[given])
        )
        assert np.array_equal(judgments.label, np.clip(np.rint(worth), 0, 4))

    def test_grades_change_as_often_as_in_figure_3(self):
        size = np.abs(changes(generate_context(ContextSetting(n_topics=1000, clicks=QUIET), rng=3).judgments))
        found = [(size == 0).mean(), (size == 1).mean(), (size >= 2).mean()]
        assert found == pytest.approx([0.75, 0.22, 0.03], abs=0.015)

    def test_assessors_agree_about_as_in_section_4_1(self):
        setting = ContextSetting(n_topics=400, judged_again=1.0, n_assessors=2, clicks=QUIET)
        judgments = generate_context(setting).judgments
        assert judgments.assessor.codes[:4].tolist() == [0, 1, 0, 1]
        condition = is_conditional(judgments)[::2]
        for rows in (~condition, condition):
            one, other = judgments.label[::2][rows], judgments.label[1::2][rows]
            chance = sum((one == level).mean() * (other == level).mean() for level in range(5))
            assert ((one == other).mean() - chance) / (1 - chance) == pytest.approx(0.41, abs=0.06)

    def test_redundancy_lowers_and_complementarity_raises(self):
        for name, sign in (("redundancy", -1), ("complementarity", 1)):
            bare = replace(SMALL, n_topics=100, redundancy=0.0, complementarity=0.0, noise=0.0)
            found = changes(generate_context(replace(bare, **{name: 0.8}), rng=6).judgments)
            assert (sign * found >= 0).all()
            assert sign * found.mean() > 0.05

    def test_another_scale(self):
        collection = generate_context(replace(SMALL, scale=Scale.parse("no<yes")), rng=1)
        assert collection.judgments.scale.labels == ("no", "yes")
        assert collection.truth.contents.worth.max() <= 1


class TestStreams:
    def test_the_same_seed_makes_the_same(self):
        one, other = (generate_context(ContextSetting(n_topics=20), rng=9) for _ in range(2))
        assert one.judgments.to_polars().equals(other.judgments.to_polars())
        assert one.clicks.equals(other.clicks)
        assert np.array_equal(one.preferences.strength, other.preferences.strength)
        assert generate_context(ContextSetting(n_topics=20), rng=one.seed).clicks.equals(one.clicks)
        assert not generate_context(ContextSetting(n_topics=20), rng=10).clicks.equals(one.clicks)

    def test_parts_draw_apart(self):
        one = generate_context(SMALL, rng=9)
        for change in ({"context": 0.0}, {"n_users": 9}, {"clicks": ClickModel(sessions=2)}, {"preference_noise": 1.0}):
            assert (
                generate_context(replace(SMALL, **change), rng=9)
                .judgments.to_polars()
                .equals(one.judgments.to_polars())
            )
        other = generate_context(replace(SMALL, redundancy=0.0), rng=9)
        assert np.array_equal(other.truth.lists, one.truth.lists)
        alone = ~is_conditional(one.judgments)
        assert np.array_equal(other.judgments.label[alone], one.judgments.label[alone])

    def test_it_says_what_it_is(self):
        found = repr(generate_context(replace(SMALL, clicks=ClickModel(sessions=3)), rng=9))
        assert found.startswith("<ContextCollection: ")
        assert "150 preferences between two lists; 90 click sessions" in found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"redundancy": 1.5}, "redundancy is 1.5"),
        ({"complementarity": -1.0}, "complementarity is -1"),
        ({"docs_per_topic": 9}, "docs_per_topic is 9, expected 10"),
        ({"design": "papers"}, "design is 'papers'"),
        ({"labelled": "right"}, "labelled is 'right'"),
        ({"strong": 0.95}, "strong is 0.95 and weak 0.91"),
        ({"judged_again": 0.1, "again_by": 20}, "21 assessors of a topic"),
        ({"shape": (0.0, 1.0)}, "shape is"),
        ({"scale": Scale.parse("a|b")}, "no two levels in order"),
        ({"n_topics": 0}, "n_topics is 0"),
    ],
)
def test_settings_that_cannot_be(change, words):
    with pytest.raises(SettingError, match=words):
        ContextSetting(**change)
