from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from small_collections import SMALL, same_labels
from venire.data.scale import Scale
from venire.errors import SettingError
from venire.io.runs import scan
from venire.simulation.assessors import (
    Assessor,
    Careful,
    Everyone,
    Lazy,
    OneJudgesAll,
    OnePerItem,
    Random,
    RandomAssessors,
    Rejudge,
    Strict,
    parse_assessors,
)
from venire.simulation.levels import Collection, generate
from venire.simulation.systems import Systems, scattered


def same_run(one: Collection, other: Collection, number: int) -> bool:
    a, b = one.runs.sources[number], other.runs.sources[number]
    return a.doc.texts() == b.doc.texts() and a.topic.texts() == b.topic.texts() and np.array_equal(a.score, b.score)


def labels_of(collection: Collection, assessor: str) -> list[int]:
    return collection.judgments.where(assessor=assessor).label.tolist()


class TestCollection:
    def test_has_the_size_that_was_asked_for(self):
        collection = generate(SMALL, rng=1)
        judgments, truth = collection.judgments, collection.truth
        assert (len(judgments), len(judgments.items), len(judgments.topics)) == (6 * 30 * 5, 6 * 30, 6)
        assert (len(truth.items), len(truth.level), len(truth.judged)) == (6 * 40, 6 * 40, 6 * 30)
        assert truth.confusion.shape == (5, 4, 4)
        assert truth.effect.shape == (6,)
        assert [len(run.score) for run in collection.runs.sources] == [6 * 15] * 10

    def test_every_topic_has_its_own_pool_of_the_stated_size(self):
        items = generate(SMALL, rng=1).judgments.items
        docs = np.array(list(items.doc)).reshape(6, 30)
        assert np.bincount(items.topic).tolist() == [30] * 6
        assert set(docs[0]) != set(docs[1])

    def test_true_levels_go_with_the_judged_items(self):
        collection = generate(SMALL, rng=1)
        truth, items = collection.truth, collection.judgments.items
        assert list(truth.items.doc.take(truth.judged)) == list(items.doc)
        assert truth.items.topic[truth.judged].tolist() == items.topic.tolist()

    def test_truth_without_errors_is_what_assessors_say(self):
        perfect = Assessor("a", Careful(slip=0))
        collection = generate(replace(SMALL, assessors=(perfect,), topic_effect=0), rng=1)
        assert collection.judgments.label.tolist() == collection.truth.level[collection.truth.judged].tolist()
        assert collection.judgments.label.max() > 0

    def test_the_truth_can_be_used_as_judgments(self):
        truth = generate(SMALL, rng=1).truth
        judgments = truth.as_judgments()
        assert judgments.assessors == ("truth",)
        assert judgments.label_counts().argmax(axis=1).tolist() == truth.level.tolist()

    def test_labels_come_by_item_then_assessor(self):
        judgments = generate(replace(SMALL, pattern=OneJudgesAll(common=False)), rng=1).judgments
        assert np.lexsort((judgments.assessor.codes, judgments.item)).tolist() == list(range(len(judgments)))

    def test_assessors_come_in_the_order_of_files(self):
        collection = generate(replace(SMALL, assessors=parse_assessors("strict, careful, lenient")), rng=1)
        assert collection.judgments.assessors == ("careful1", "lenient1", "strict1")
        assert collection.truth.assessors == ("careful1", "lenient1", "strict1")
        np.testing.assert_array_equal(collection.truth.confusion[2], Strict()(4))

    def test_a_level_of_no_prevalence_never_comes(self):
        setting = replace(SMALL, prevalence=(0.5, 0.0, 0.25, 0.25))
        assert set(generate(setting, rng=1).truth.level.tolist()) == {0, 2, 3}

    def test_topics_are_alike_where_concentration_is_infinite(self):
        def spread(concentration: float) -> float:
            level = generate(replace(SMALL, docs_per_topic=500, concentration=concentration), rng=1).truth.level
            return float((level.reshape(6, -1) > 0).mean(axis=1).std())

        assert spread(math.inf) < 0.03 < spread(3.0)

    def test_pools_miss_no_relevant_document_where_told_so(self):
        truth = generate(replace(SMALL, missed=0), rng=1).truth
        outside = np.delete(truth.level, truth.judged)
        assert len(outside) == 60
        assert outside.max() == 0

    def test_systems_are_optional(self):
        collection = generate(replace(SMALL, systems=Systems(quality=())), rng=1)
        assert collection.runs.sources == ()
        assert collection.truth.order == ()


class TestStreams:
    @pytest.mark.parametrize(
        "pattern", [Everyone(), OnePerItem(twice=0.3), RandomAssessors(2), OneJudgesAll(common=False), Rejudge()]
    )
    def test_the_same_rng_makes_the_same(self, pattern):
        setting = replace(SMALL, pattern=pattern)
        one, other = generate(setting, rng=3), generate(setting, rng=3)
        assert same_labels(one, other)
        assert all(same_run(one, other, n) for n in range(10))
        assert one.truth.level.tolist() == other.truth.level.tolist()
        assert not same_labels(one, generate(setting, rng=4))

    def test_a_seed_sequence_is_left_as_it_was(self):
        seed = np.random.SeedSequence(3)
        assert same_labels(generate(SMALL, rng=seed), generate(SMALL, rng=seed))
        assert same_labels(generate(SMALL, rng=seed), generate(SMALL, rng=3))

    def test_what_becomes_of_a_seed_later_does_not_matter(self):
        seed = np.random.SeedSequence(3)
        collection = generate(SMALL, rng=seed)
        seed.spawn(2)
        assert same_labels(collection, generate(SMALL, rng=collection.seed))

    def test_a_generator_moves_on(self):
        rng, again = np.random.default_rng(3), np.random.default_rng(3)
        first, second = generate(SMALL, rng=rng), generate(SMALL, rng=rng)
        assert not same_labels(first, second)
        assert same_labels(first, generate(SMALL, rng=again))

    @pytest.mark.parametrize("rng", [None, 3, np.random.default_rng(3)])
    def test_the_seed_makes_it_again(self, rng):
        collection = generate(SMALL, rng=rng)
        again = generate(SMALL, rng=collection.seed)
        assert same_labels(collection, again)
        assert same_run(collection, again, 0)

    def test_one_more_system_changes_nothing_else(self):
        before = generate(SMALL, rng=3)
        after = generate(replace(SMALL, systems=replace(SMALL.systems, quality=scattered(11))), rng=3)
        assert same_labels(before, after)
        assert all(same_run(before, after, n) for n in range(10))
        assert len(after.runs.sources) == 11

    def test_one_more_assessor_changes_nothing_else(self):
        before = generate(SMALL, rng=3)
        after = generate(replace(SMALL, assessors=(*SMALL.assessors, Assessor("anna"))), rng=3)
        assert all(labels_of(before, each.name) == labels_of(after, each.name) for each in SMALL.assessors)
        assert same_run(before, after, 0)
        assert after.judgments.assessors[0] == "anna"

    def test_assessors_of_one_kind_err_apart(self):
        collection = generate(SMALL, rng=3)
        assert labels_of(collection, "careful1") != labels_of(collection, "careful2")

    def test_labels_do_not_change_the_truth(self):
        before = generate(SMALL, rng=3)
        after = generate(replace(SMALL, topic_effect=2.0, pattern=OnePerItem()), rng=3)
        assert before.truth.level.tolist() == after.truth.level.tolist()
        np.testing.assert_allclose(before.truth.effect / 0.3, after.truth.effect / 2)


class TestSystems:
    def test_lists_are_in_the_order_they_are_read_in(self):
        collection = generate(replace(SMALL, systems=Systems(depth=40, tie_step=0.5)), rng=6)
        for run in collection.runs.sources:
            topic, doc, score = run.topic.codes, run.doc.codes, run.score
            assert np.lexsort((-doc, -score, topic)).tolist() == list(range(len(score)))
            assert np.allclose(score % 0.5, 0)
            assert len(np.unique(score)) < 40
            assert len(set(zip(topic.tolist(), doc.tolist(), strict=True))) == len(doc)

    def test_scores_without_a_step_hardly_ever_tie(self):
        run = generate(SMALL, rng=6).runs.sources[0]
        assert len(np.unique(run.score)) == len(run.score)

    def test_systems_return_documents_that_nobody_judged(self):
        collection = generate(SMALL, rng=6)
        depth = scan(collection.runs, collection.judgments.items).facts.depth
        assert (depth == 15).all()
        assert 0 < scan(collection.runs, collection.judgments.items).facts.n_hits.sum() < depth.sum()

    def test_topics_can_be_missing(self):
        runs = generate(replace(SMALL, systems=Systems(missing=0.5)), rng=6).runs.sources
        answered = [tuple(run.topic.names) for run in runs]
        assert {len(topics) for topics in answered} == {3}
        assert len(set(answered)) > 1

    def test_one_topic_is_always_answered(self):
        run = generate(replace(SMALL, systems=Systems(missing=0.99)), rng=6).runs.sources[0]
        assert len(run.topic.names) == 1

    def test_the_best_system_comes_first(self):
        truth = generate(replace(SMALL, systems=Systems(quality=(1.0, 3.0, 2.0))), rng=6).truth
        assert truth.order == ("s02", "s03", "s01")

    def test_qualities_are_scattered_within_bounds_and_stay(self):
        qualities = scattered(200, worst=1, best=2)
        assert len(set(qualities)) == 200
        assert 1 < min(qualities) < 1.02 < 1.98 < max(qualities) < 2
        assert qualities[:7] == scattered(7, worst=1, best=2)
        assert qualities != tuple(sorted(qualities))


class TestSettings:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"n_topics": 0}, "n_topics is 0, expected 1 or more"),
            ({"docs_per_topic": 0}, "docs_per_topic is 0"),
            ({"n_unjudged": -1}, "n_unjudged is -1"),
            ({"prevalence": (0.5, 0.2, 0.2, 0.2)}, r"0.5 \+ 0.2 \+ 0.2 \+ 0.2 sum to 1.1"),
            ({"prevalence": (1.2, -0.2, 0.0, 0.0)}, "not negative"),
            ({"prevalence": (0.5, 0.5)}, "2 prevalences for the 4 levels"),
            ({"concentration": 0}, "concentration is 0, expected more than 0\n  hint: math.inf"),
            ({"topic_effect": -0.1}, "topic_effect is -0.1"),
            ({"missed": 1.5}, "missed is 1.5, expected a share"),
            ({"scale": Scale.parse("news|wiki")}, "no two levels in order"),
            ({"scale": Scale(("0",))}, "no two levels in order"),
            ({"assessors": ()}, "there are no assessors"),
            ({"assessors": (Assessor("a"), Assessor("a"))}, "two assessors are named 'a'"),
            ({"assessors": (Assessor("a", Lazy(level=4)),)}, "always gives level 4, and the scale has 4 levels"),
            ({"assessors": (Assessor("a", Random(base=(0.5, 0.5))),)}, r"has shape \(4, 2\), expected 4"),
            ({"assessors": (Assessor("a", lambda n: np.ones((n, n)) / 3),)}, "row 0 of the confusion matrix of 'a'"),
        ],
    )
    def test_that_cannot_be(self, changes, message):
        with pytest.raises(SettingError, match=message):
            replace(SMALL, **changes)

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: Assessor("two words"), "'two words' cannot name an assessor"),
            (lambda: Assessor(""), "'' cannot name an assessor"),
            (lambda: Assessor("a", "strict"), 'read "strict" with parse_assessors'),
            (lambda: Assessor("a", Careful), "pass a value such as"),
            (lambda: Assessor("a", topic_weight=-1), "the topic_weight of 'a' is -1"),
            (lambda: Careful(slip=1.1), "slip is 1.1"),
            (lambda: Lazy(idle=math.nan), "idle is nan"),
            (lambda: OnePerItem(twice=-0.1), "twice is -0.1"),
            (lambda: RandomAssessors(0), "k is 0, expected 1 or more"),
            (lambda: Systems(quality=(1.0, 1.0)), "leave the true order open"),
            (lambda: Systems(quality=(1.0, math.nan)), "leave the true order open"),
            (lambda: Systems(depth=0), "depth is 0"),
            (lambda: Systems(tie_step=-1), "tie_step is -1"),
            (lambda: Systems(missing=1), "missing is 1, expected a share of the topics from 0 to below 1"),
        ],
    )
    def test_values_that_cannot_be(self, make, message):
        with pytest.raises(SettingError, match=message):
            make()
