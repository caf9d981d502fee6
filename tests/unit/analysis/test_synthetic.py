from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from venire.analysis.assessors import (
    KINDS,
    Assessor,
    Careful,
    Lazy,
    Lenient,
    Random,
    Stated,
    Strict,
    parse_assessors,
    under_effect,
)
from venire.analysis.patterns import Again, AtRandom, Everyone, Main, Single, parse_pattern
from venire.analysis.synthetic import Collection, Synthetic, generate
from venire.analysis.synthetic_files import write_collection
from venire.analysis.systems import Systems, scattered
from venire.data.scale import Scale
from venire.errors import FormatError, SettingError, UnknownName
from venire.io.judgment_sources import read_judgments
from venire.io.run_sources import read_runs
from venire.io.scanning import scan

SMALL = Synthetic(n_topics=6, docs_per_topic=30, n_unjudged=10, systems=Systems(depth=15))


def same_labels(one: Collection, other: Collection) -> bool:
    a, b = one.judgments, other.judgments
    return (
        np.array_equal(a.item, b.item) and a.assessor.texts() == b.assessor.texts() and np.array_equal(a.label, b.label)
    )


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
        judgments = generate(replace(SMALL, pattern=Main(common=False)), rng=1).judgments
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
    @pytest.mark.parametrize("pattern", [Everyone(), Single(twice=0.3), AtRandom(2), Main(common=False), Again()])
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
        after = generate(replace(SMALL, topic_effect=2.0, pattern=Single()), rng=3)
        assert before.truth.level.tolist() == after.truth.level.tolist()
        np.testing.assert_allclose(before.truth.effect / 0.3, after.truth.effect / 2)


class TestPatterns:
    @pytest.mark.parametrize(
        ("pattern", "items_with"),
        [
            (Everyone(), {5: 180}),
            (Single(), {1: 180}),
            (Single(twice=0.25), {1: 135, 2: 45}),
            (Single(twice=1, whole_topics=False), {2: 180}),
            (AtRandom(1), {1: 180}),
            (AtRandom(3), {3: 180}),
            (AtRandom(5), {5: 180}),
            (Main(share=0.1), {1: 162, 5: 18}),
            (Again(Single(), share=0.5), {1: 90, 2: 90}),
        ],
        ids=repr,
    )
    def test_gives_the_labels_it_promises(self, pattern, items_with):
        judgments = generate(replace(SMALL, pattern=pattern), rng=5).judgments
        assert judgments.summary().items_with == items_with

    def test_nobody_judges_twice_unless_told_so(self):
        for pattern in (Single(twice=1), Single(twice=1, whole_topics=False), AtRandom(4), Main()):
            judgments = generate(replace(SMALL, pattern=pattern), rng=5).judgments
            pairs = set(zip(judgments.item.tolist(), judgments.assessor.codes.tolist(), strict=True))
            assert len(pairs) == len(judgments)

    def test_again_asks_the_same_assessor(self):
        judgments = generate(replace(SMALL, pattern=Again(Single(), share=0.5)), rng=5).judgments
        pairs = set(zip(judgments.item.tolist(), judgments.assessor.codes.tolist(), strict=True))
        assert (len(judgments), len(pairs)) == (270, 180)

    def test_whole_topics_go_to_one_assessor_and_all_take_part(self):
        judgments = generate(replace(SMALL, pattern=Single()), rng=5).judgments
        topic = judgments.items.topic[judgments.item]
        assert len(set(zip(topic.tolist(), judgments.assessor.codes.tolist(), strict=True))) == 6
        assert len(judgments.assessors) == 5

    def test_items_are_shared_out_evenly(self):
        judgments = generate(replace(SMALL, pattern=Single(whole_topics=False)), rng=5).judgments
        assert np.bincount(judgments.assessor.codes).tolist() == [36] * 5

    def test_the_main_assessor_is_the_first_named(self):
        assessors = parse_assessors("strict, careful, lenient")
        labels = generate(replace(SMALL, assessors=assessors, pattern=Main(share=0.1)), rng=5).judgments.summary()
        counts = {name: int(count.sum()) for name, count in labels.labels.items()}
        assert counts == {"strict1": 180, "careful1": 18, "lenient1": 18}

    @pytest.mark.parametrize(("common", "most"), [(True, 18), (False, 72)])
    def test_the_others_share_a_sample_or_do_not(self, common, most):
        judgments = generate(replace(SMALL, pattern=Main(share=0.1, common=common)), rng=5).judgments
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
        ("pattern", "message"), [(AtRandom(2), "set k=1"), (Single(twice=0.5), "second assessor, and there is one")]
    )
    def test_too_few_assessors(self, pattern, message):
        with pytest.raises(SettingError, match=message):
            generate(replace(SMALL, pattern=pattern, assessors=(Assessor("a"),)))

    @pytest.mark.parametrize(
        ("text", "pattern"),
        [("everyone", Everyone()), ("AtRandom(k=2)", AtRandom(2)), (" single(twice=0.2) ", Single(twice=0.2))],
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
        assert parse_assessors("stated(rows=((0.9, 0.1), (0.2, 0.8)))")[0].kind == Stated(((0.9, 0.1), (0.2, 0.8)))

    def test_every_kind_has_its_name(self):
        names = [
            Assessor("a", kind).kind_name for kind in (Careful(), Strict(), Lenient(), Random(), Lazy(), Stated(()))
        ]
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
        depth = scan(collection.runs, collection.judgments.items).depth
        assert (depth == 15).all()
        assert 0 < scan(collection.runs, collection.judgments.items).n_hits.sum() < depth.sum()

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


class TestFiles:
    @pytest.mark.parametrize("scale", ["0<1<2<3", "Non<Rel<Key", "0<1 : interval", "0<1<2<3<4<5<6<7<8<9"])
    @pytest.mark.parametrize("pattern", [Everyone(), Again(Single(twice=0.2))], ids=repr)
    def test_judgments_read_back(self, tmp_path, scale, pattern):
        collection = generate(replace(SMALL, scale=Scale.parse(scale), pattern=pattern), rng=8)
        write_collection(collection, tmp_path)
        judgments, read = collection.judgments, read_judgments(tmp_path / "judgments.tsv")
        assert read.scale == judgments.scale
        assert (list(read.items.doc), read.topics) == (list(judgments.items.doc), judgments.topics)
        assert read.items.topic.tolist() == judgments.items.topic.tolist()
        assert read.assessor.texts() == judgments.assessor.texts()
        assert (read.item.tolist(), read.label.tolist()) == (judgments.item.tolist(), judgments.label.tolist())

    def test_the_scale_is_declared_only_where_labels_do_not_tell_it(self, tmp_path):
        usual = generate(SMALL, rng=8)
        write_collection(usual, tmp_path / "usual")
        write_collection(generate(replace(SMALL, assessors=parse_assessors("lazy(idle=1)")), rng=8), tmp_path / "zero")
        assert (tmp_path / "usual/judgments.tsv").read_text().startswith("topic\tdoc\tassessor\tlabel\n1\td")
        assert (tmp_path / "zero/judgments.tsv").read_text().startswith("# scale: 0<1<2<3\ntopic\t")

    @pytest.mark.parametrize("tie_step", [0.0, 0.1])
    def test_runs_read_back(self, tmp_path, tie_step):
        systems = Systems(depth=20, tie_step=tie_step, missing=0.2)
        collection = generate(replace(SMALL, systems=systems), rng=8)
        write_collection(collection, tmp_path)
        items = collection.judgments.items
        simulated, read = scan(collection.runs, items), scan(read_runs(tmp_path / "runs"), items)
        assert read.systems == simulated.systems
        for column in ("system", "topic", "depth", "offset", "rank", "item"):
            np.testing.assert_array_equal(getattr(read, column), getattr(simulated, column), err_msg=column)

    def test_a_run_has_six_columns_and_the_very_scores(self, tmp_path):
        collection = generate(SMALL, rng=8)
        write_collection(collection, tmp_path)
        run = collection.runs.sources[2]
        lines = [line.split(" ") for line in (tmp_path / "runs/s03.run").read_text().splitlines()]
        assert [line[3] for line in lines] == [str(rank) for _ in range(6) for rank in range(1, 16)]
        assert [float(line[4]) for line in lines] == run.score.tolist()
        assert {(line[1], line[5]) for line in lines} == {("Q0", "s03")}

    def test_the_truth_stands_beside(self, tmp_path):
        collection = generate(replace(SMALL, scale=Scale.parse("Non<Rel<Key")), rng=8)
        truth = collection.truth
        write_collection(collection, tmp_path)

        def table(name: str) -> dict[str, list[str]]:
            head, *rows = (line.split("\t") for line in (tmp_path / "truth" / name).read_text().splitlines())
            return dict(zip(head, map(list, zip(*rows, strict=True)), strict=True))

        items, systems = table("items.tsv"), table("systems.tsv")
        assert [int(level) for level in items["level"]] == truth.level.tolist()
        assert items["label"] == [truth.scale.labels[level] for level in truth.level]
        assert items["doc"] == list(truth.items.doc)
        assert sorted(systems["system"], key=lambda name: int(systems["order"][systems["system"].index(name)])) == list(
            truth.order
        )
        assert [float(effect) for effect in table("topics.tsv")["effect"]] == truth.effect.tolist()
        assessors = table("assessors.tsv")
        assert [float(p) for p in assessors["p"]] == truth.confusion.ravel().tolist()
        row = next(n for n, name in enumerate(assessors["assessor"]) if name == "strict1")
        assert (assessors["kind"][row], assessors["true"][row + 3], assessors["label"][row + 4]) == (
            "strict",
            "Rel",
            "Rel",
        )

    @pytest.mark.parametrize("rng", [5, np.random.default_rng(5)])
    def test_the_setting_makes_it_again(self, tmp_path, rng):
        collection = generate(replace(SMALL, pattern=Single(twice=0.5), concentration=math.inf), rng=rng)
        write_collection(collection, tmp_path)
        written = json.loads((tmp_path / "truth/setting.json").read_text())
        seed, setting = written["rng"], written["setting"]
        again = Synthetic(
            **{name: setting[name] for name in ("n_topics", "docs_per_topic", "n_unjudged", "missed", "topic_effect")},
            scale=Scale.parse(setting["scale"]),
            prevalence=tuple(setting["prevalence"]),
            concentration=float(setting["concentration"]),
            assessors=tuple(
                Assessor(each["name"], parse_assessors(each["kind"])[0].kind) for each in setting["assessors"]
            ),
            pattern=parse_pattern(setting["pattern"]),
        )
        seed = seed if isinstance(seed, int) else np.random.SeedSequence(**seed)
        assert same_labels(collection, generate(again, rng=seed))

    def test_a_later_collection_replaces_an_earlier_one(self, tmp_path):
        write_collection(generate(SMALL, rng=8), tmp_path)
        (tmp_path / "runs/mine.run").write_text("1 Q0 d0001 1 1.0 mine\n")
        write_collection(generate(replace(SMALL, systems=Systems(quality=(1.0, 2.0))), rng=8), tmp_path)
        assert {path.name for path in (tmp_path / "runs").iterdir()} == {"s01.run", "s02.run", "mine.run"}

    def test_a_folder_of_other_things_is_left_alone(self, tmp_path):
        (tmp_path / "thesis.tex").write_text("precious")
        with pytest.raises(FormatError, match="is not empty, and holds no simulated collection"):
            write_collection(generate(SMALL), tmp_path)
        with pytest.raises(FormatError, match="is a file, expected a folder"):
            write_collection(generate(SMALL), tmp_path / "thesis.tex")
        assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


class TestSettings:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"n_topics": 0}, "n_topics is 0, expected 1 or more"),
            ({"docs_per_topic": 0}, "docs_per_topic is 0"),
            ({"n_unjudged": -1}, "n_unjudged is -1"),
            ({"prevalence": (0.5, 0.2, 0.2, 0.2)}, r"0.5 \+ 0.2 \+ 0.2 \+ 0.2 sum to 1.1"),
            ({"prevalence": (1.2, -0.2, 0.0, 0.0)}, "none negative"),
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
            (lambda: Single(twice=-0.1), "twice is -0.1"),
            (lambda: AtRandom(0), "k is 0, expected 1 or more"),
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
