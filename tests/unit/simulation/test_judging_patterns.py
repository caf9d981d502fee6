from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from small_collections import SMALL
from venire.errors import SettingError, UnknownName
from venire.simulation.assessors import (
    KINDS,
    Assessor,
    Careful,
    Everyone,
    Lazy,
    Lenient,
    OneJudgesAll,
    OnePerItem,
    Random,
    RandomAssessors,
    Rejudge,
    Strict,
    parse_assessors,
    parse_pattern,
    under_effect,
)
from venire.simulation.levels import Collection, generate


def labels_of(collection: Collection, assessor: str) -> list[int]:
    return collection.judgments.where(assessor=assessor).label.tolist()


class TestPatterns:
    @pytest.mark.parametrize(
        ("pattern", "items_with"),
        [
            (Everyone(), {5: 180}),
            (OnePerItem(), {1: 180}),
            (OnePerItem(twice=0.25), {1: 135, 2: 45}),
            (OnePerItem(twice=1, whole_topics=False), {2: 180}),
            (RandomAssessors(1), {1: 180}),
            (RandomAssessors(3), {3: 180}),
            (RandomAssessors(5), {5: 180}),
            (OneJudgesAll(share=0.1), {1: 162, 5: 18}),
            (Rejudge(OnePerItem(), share=0.5), {1: 90, 2: 90}),
        ],
        ids=repr,
    )
    def test_gives_the_labels_it_promises(self, pattern, items_with):
        judgments = generate(replace(SMALL, pattern=pattern), rng=5).judgments
        assert judgments.summary().items_with == items_with

    def test_nobody_judges_twice_unless_told_so(self):
        for pattern in (
            OnePerItem(twice=1),
            OnePerItem(twice=1, whole_topics=False),
            RandomAssessors(4),
            OneJudgesAll(),
        ):
            judgments = generate(replace(SMALL, pattern=pattern), rng=5).judgments
            pairs = set(zip(judgments.item.tolist(), judgments.assessor.codes.tolist(), strict=True))
            assert len(pairs) == len(judgments)

    def test_again_asks_the_same_assessor(self):
        judgments = generate(replace(SMALL, pattern=Rejudge(OnePerItem(), share=0.5)), rng=5).judgments
        pairs = set(zip(judgments.item.tolist(), judgments.assessor.codes.tolist(), strict=True))
        assert (len(judgments), len(pairs)) == (270, 180)

    def test_whole_topics_go_to_one_assessor_and_all_take_part(self):
        judgments = generate(replace(SMALL, pattern=OnePerItem()), rng=5).judgments
        topic = judgments.items.topic[judgments.item]
        assert len(set(zip(topic.tolist(), judgments.assessor.codes.tolist(), strict=True))) == 6
        assert len(judgments.assessors) == 5

    def test_items_are_shared_out_evenly(self):
        judgments = generate(replace(SMALL, pattern=OnePerItem(whole_topics=False)), rng=5).judgments
        assert np.bincount(judgments.assessor.codes).tolist() == [36] * 5

    def test_the_main_assessor_is_the_first_named(self):
        assessors = parse_assessors("strict, careful, lenient")
        labels = generate(
            replace(SMALL, assessors=assessors, pattern=OneJudgesAll(share=0.1)), rng=5
        ).judgments.summary()
        counts = {name: int(count.sum()) for name, count in labels.labels.items()}
        assert counts == {"strict1": 180, "careful1": 18, "lenient1": 18}

    @pytest.mark.parametrize(("common", "most"), [(True, 18), (False, 72)])
    def test_the_others_share_a_sample_or_do_not(self, common, most):
        judgments = generate(replace(SMALL, pattern=OneJudgesAll(share=0.1, common=common)), rng=5).judgments
        several = (np.bincount(judgments.item) > 1).sum()
        assert (several == most) if common else (18 < several <= most)

    def test_a_function_of_ones_own(self):
        def odd_topics(topic, n_assessors, rng):
            item = np.flatnonzero(topic % 2)[::3]
            return item, rng.integers(0, n_assessors - 1, size=len(item))

        collection = generate(replace(SMALL, pattern=odd_topics), rng=5)
        judgments, truth = collection.judgments, collection.truth
        assert judgments.topics == ("2", "4", "6")
        assert (len(judgments), len(judgments.items)) == (30, 30)
        assert "lazy1" not in judgments.assessors
        assert list(truth.items.doc.take(truth.judged)) == list(judgments.items.doc)
        named = [truth.topics[int(n)] for n in truth.items.topic[truth.judged]]
        assert named == [judgments.topics[n] for n in judgments.items.topic]

    @pytest.mark.parametrize(
        ("pairs", "message"),
        [
            (([0, 1], [0]), r"shape \(2,\) and \(1,\)"),
            (([], []), "at least one pair"),
            (([180], [0]), "item 180, expected 0 to 179"),
            (([0], [-1]), "assessor -1, expected 0 to 4"),
            (([0.0], [0]), "items as float64"),
        ],
    )
    def test_pairs_that_are_none(self, pairs, message):
        def pattern(*_):
            return np.array(pairs[0]), np.array(pairs[1])

        with pytest.raises(SettingError, match=message):
            generate(replace(SMALL, pattern=pattern))

    @pytest.mark.parametrize(
        ("pattern", "message"),
        [(RandomAssessors(2), "set k=1"), (OnePerItem(twice=0.5), "a second assessor is needed for")],
    )
    def test_too_few_assessors(self, pattern, message):
        with pytest.raises(SettingError, match=message):
            generate(replace(SMALL, pattern=pattern, assessors=(Assessor("a"),)))

    @pytest.mark.parametrize(
        ("text", "pattern"),
        [
            ("everyone", Everyone()),
            ("random-assessors(k=2)", RandomAssessors(2)),
            (" one-per-item(twice=0.2) ", OnePerItem(twice=0.2)),
            ("rejudge(pattern=one-per-item, share=0.5)", Rejudge(OnePerItem(), share=0.5)),
        ],
    )
    def test_written_as_text(self, text, pattern):
        assert parse_pattern(text) == pattern
        assert parse_pattern(repr(pattern)) == pattern


class TestAssessors:
    @pytest.mark.parametrize("n_levels", [2, 3, 4, 7])
    @pytest.mark.parametrize("kind", [Careful(0.3), Strict(), Lenient(), Random(), Lazy(level=1)], ids=repr)
    def test_rows_are_probabilities(self, kind, n_levels):
        confusion = Assessor("a", kind).confusion(n_levels)
        assert (confusion >= 0).all()
        np.testing.assert_allclose(confusion.sum(axis=1), 1)

    @pytest.mark.parametrize(
        ("kind", "confusion"),
        [
            (Careful(0.2), [[0.8, 0.2, 0], [0.1, 0.8, 0.1], [0, 0.2, 0.8]]),
            (Strict(shift=0.5, slip=0), [[1, 0, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]]),
            (Strict(shift=0.5, slip=0.2), [[0.9, 0.1, 0], [0.5, 0.45, 0.05], [0.1, 0.5, 0.4]]),
            (Lenient(shift=0.25, slip=0), [[0.75, 0.25, 0], [0, 0.75, 0.25], [0, 0, 1]]),
            (Random(), np.full((3, 3), 1 / 3)),
            (Random(base=(0.7, 0.2, 0.1)), [[0.7, 0.2, 0.1]] * 3),
            (Lazy(idle=0.5, slip=0), [[1, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5]]),
            (Lazy(idle=0.5, level=2, slip=0), [[0.5, 0, 0.5], [0, 0.5, 0.5], [0, 0, 1]]),
            (lambda n_levels: np.eye(n_levels), np.eye(3)),
        ],
    )
    def test_confusions_by_hand(self, kind, confusion):
        np.testing.assert_allclose(Assessor("a", kind).confusion(3), confusion, atol=1e-12)

    def test_topics_move_confusions_both_ways(self):
        confusion, prevalence = Careful(0.2)(3), np.array([0.7, 0.2, 0.1])
        usual, easy, hard = under_effect(confusion, np.array([0.0, -math.log(2), math.log(2)]), prevalence)
        np.testing.assert_allclose(usual, confusion)
        np.testing.assert_allclose(easy, (confusion + np.eye(3)) / 2)
        np.testing.assert_allclose(hard, (confusion + prevalence) / 2)

    def test_topics_do_not_move_those_who_do_not_look(self):
        setting = replace(SMALL, assessors=parse_assessors("random, careful"), topic_effect=1)
        truth = generate(setting, rng=2).truth
        np.testing.assert_array_equal(truth.confusion_on("random1"), np.full((6, 4, 4), 0.25))
        assert np.ptp(truth.confusion_on("careful1"), axis=0).max() > 0.1
        with pytest.raises(UnknownName, match="did you mean 'random1'"):
            truth.confusion_on("random")

    def test_probability_of_a_label_is_the_mean_over_assessors(self):
        truth = generate(replace(SMALL, topic_effect=0.8), rng=2).truth
        item = int(np.argmax(truth.level == 2))
        topic = truth.items.topic[item]
        by_hand = np.mean([truth.confusion_on(name)[topic, 2, 1:].sum() for name in truth.assessors])
        assert truth.at_least(1)[item] == pytest.approx(by_hand)
        np.testing.assert_allclose(truth.label_probabilities().sum(axis=1), 1)

    def test_written_as_text(self):
        kinds = [each.kind for each in parse_assessors("2*Careful, strict(shift=0.5), lazy(level=1, idle=0.2)")]
        assert kinds == [Careful(), Careful(), Strict(shift=0.5), Lazy(level=1, idle=0.2)]

    def test_every_kind_has_its_name(self):
        names = [Assessor("a", kind).kind_name for kind in (Careful(), Strict(), Lenient(), Random(), Lazy())]
        assert names == list(KINDS)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("strct", "there is no kind of assessor 'strct'\n  hint: did you mean 'strict'"),
            ("strict(shif=0.2)", "its parameters are shift, slip"),
            ("strict(0.2)", r"write name, or name\(parameter=number\)"),
            ("strict(shift=2)", "shift is 2, expected a share"),
            ("strict(shift=open)", "not a plain value"),
            ("0*strict", "is no kind of assessor"),
            ("strict(", "cannot be read"),
        ],
    )
    def test_text_that_names_no_assessor(self, text, message):
        with pytest.raises((SettingError, UnknownName), match=message):
            parse_assessors(text)
