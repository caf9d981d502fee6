from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from long_rows import double, judgments_of
from venire import FormatError, PredictedRelevance, evaluate, read_runs
from venire.errors import (
    FewPairsWarning,
    GainsError,
    PairsError,
    ScaleError,
    SelectionWarning,
    SettingError,
    UnknownName,
)
from venire.io import read_grid

TABLE_1 = read_grid(
    """
    2 2 1 0 1 1 0 1 2 1 1 1 2 0 1 0 1 1 0 0
    1 2 1 1 2 0 0 1 2 2 0 2 1 0 1 2 0 1 0 0"""
)


def ratios(fit) -> list[tuple[int, int]]:
    """Hits and pairs, highest label first."""
    return [(int(h), int(n)) for h, n in zip(fit.hits[0, ::-1], fit.pairs[0, ::-1], strict=True)]


class TestPublished:
    """Demeester et al. (2015), Table 1."""

    def test_equation_4(self):
        fit = PredictedRelevance(estimator="one-sided", observed=["U1"], reference=["U2"]).fit(TABLE_1)
        assert ratios(fit) == [(2, 4), (3, 10), (1, 6)]
        assert fit.p[0].tolist() == [1 / 6, 3 / 10, 2 / 4]

    def test_equation_5(self):
        fit = PredictedRelevance().fit(TABLE_1)
        assert fit.setting.estimator == "paired"
        assert ratios(fit) == [(4, 10), (5, 17), (1, 13)]
        assert fit.p[0].tolist() == [1 / 13, 5 / 17, 4 / 10]

    @pytest.mark.parametrize("weight", ["pair", "item"])
    def test_equation_5_is_all_labels_where_there_are_two(self, weight):
        labels = PredictedRelevance(estimator="labels", weight=weight).fit(TABLE_1)
        assert labels.p[0].tolist() == pytest.approx([1 / 13, 5 / 17, 4 / 10])

    def test_the_printed_standard_deviation(self):
        fit = PredictedRelevance().fit(TABLE_1)
        expected = [np.sqrt(float(Fraction(h, n) * (1 - Fraction(h, n)) / n)) for h, n in ((1, 13), (5, 17), (4, 10))]
        assert fit.spread.sd[0].tolist() == pytest.approx(expected)


class TestLimits:
    def test_perfect_agreement_gives_binary_gains(self):
        agreed = double((0, 0, 60), (1, 1, 60), (2, 2, 60))
        for relevant, binary in (("2", [0, 0, 1]), ("1", [0, 1, 1])):
            fit = PredictedRelevance(relevant=relevant).fit(agreed)
            assert fit.gains().values.tolist() == binary
            assert fit.udm_gains((1, 3)).values.tolist() == binary

    @pytest.mark.filterwarnings("ignore::venire.errors.EqualLabelsWarning")
    def test_random_labels_give_equal_gains_and_then_no_system_differs(self, tmp_path):
        blind = double(*((a, b, 30) for a in range(3) for b in range(3)))
        gains = PredictedRelevance().fit(blind).gains()
        assert gains.values.tolist() == pytest.approx([1 / 3] * 3)
        for name, docs in (("first", "d0 d100 d200"), ("second", "d269 d3 d140")):
            lines = [f"0 Q0 {doc} {rank} {9 - rank} {name}" for rank, doc in enumerate(docs.split(), start=1)]
            (tmp_path / name).write_text("\n".join(lines) + "\n")
        scores = evaluate(
            blind, read_runs(tmp_path), ["P@3", "CG@3", "DCG@3", "nDCG@3", "RBP", "AP"], gains=gains, assessor="A"
        )
        one, other = scores.values
        np.testing.assert_allclose(one, other)

    def test_two_confused_top_labels_weigh_the_same_but_not_for_users_with_the_assessor_among_them(self):
        confused = double((2, 2, 50), (1, 1, 50), (1, 2, 50), (2, 1, 50), (0, 0, 100))
        fit = PredictedRelevance().fit(confused)
        assert fit.gains().values.tolist() == [0, 0.5, 0.5]
        assert fit.udm_gains((1, 2)).values.tolist() == [0, 0.5, 1]


class TestGains:
    fit = PredictedRelevance(relevant="all").fit(double((2, 2, 60), (2, 1, 40), (1, 1, 60), (1, 0, 20), (0, 0, 99)))

    def test_each_notion_of_relevance_has_its_own(self):
        top, any_ = self.fit.gains("2"), self.fit.gains("1")
        assert (top.name, any_.name) == ("prm:2", "prm:1")
        assert top.values.tolist() == pytest.approx([0, 40 / 180, 120 / 160])
        assert any_.values.tolist() == pytest.approx([20 / 218, 160 / 180, 1])

    def test_at_least_m_of_n_random_users(self):
        p = self.fit.gains("2").values
        found = self.fit.gains("2", at_least=(2, 3))
        assert found.name == "prm:2:2/3"
        assert found.values.tolist() == pytest.approx((3 * p**2 * (1 - p) + p**3).tolist())

    def test_the_lowest_label_weighs_nothing_for_users_unless_asked(self):
        assert self.fit.udm_gains((1, 3), "1").values[0] == 0
        assert self.fit.udm_gains((1, 3), "1", lowest=None).values[0] == pytest.approx(1 - (198 / 218) ** 2)

    def test_a_lowest_label_that_is_relevant_keeps_its_weight(self):
        fit = PredictedRelevance(relevant=["0"]).fit(double((0, 0, 60), (0, 2, 20), (2, 2, 60), (1, 1, 60)))
        assert fit.udm_gains((1, 3)).values.tolist() == pytest.approx([1, 0, 1 - (1 - 20 / 140) ** 2])

    def test_categories_have_no_lowest_label(self):
        labels = double(("a", "a", 60), ("a", "b", 20), ("b", "b", 60), scale="a|b")
        fit = PredictedRelevance(relevant="all").fit(labels)
        assert fit.udm_gains((1, 3), "a").values.tolist() == pytest.approx([1, 1 - (120 / 140) ** 2])
        assert fit.udm_gains((1, 3), "b").values.tolist() == pytest.approx([1 - (120 / 140) ** 2, 1])

    def test_names_say_what_is_relevant(self):
        assert self.fit.udm_gains((1, 3), "2").name == "udm:1/3"
        assert self.fit.udm_gains((1, 3), "1").name == "udm:1/3:1"

    def test_an_unknown_notion_of_relevance(self):
        with pytest.raises(UnknownName, match="fitted notion of relevance 'Key'"):
            self.fit.gains("Key")

    def test_a_label_that_nobody_judged_twice_has_none(self):
        fit = PredictedRelevance().fit(double((2, 2, 60), (0, 0, 60)))
        assert np.isnan(fit.p[0, 1])
        with pytest.raises(GainsError, match="no item with label '1' was judged a second time"):
            fit.gains()

    def test_a_lowest_label_that_nobody_judged_twice_counts_as_nothing(self):
        labels = double((2, 2, 60), (2, 1, 60), (1, 1, 60))
        with pytest.warns(FewPairsWarning, match="the lowest label, 0, was judged twice; it counts as 0"):
            gains = PredictedRelevance(estimator="labels").fit(labels).gains()
        assert gains.values[0] == 0

    def test_a_prior_knows_of_every_label(self):
        fit = PredictedRelevance(prior=0.5).fit(double((2, 2, 60), (0, 0, 60)))
        assert fit.p[0, 1] == pytest.approx(1 / 3)
        assert 0.95 < fit.gains().values[2] < 1

    def test_few_pairs_are_told(self):
        with pytest.warns(FewPairsWarning, match=r"fewer than 50 pairs of labels for 0 \(13\), 1 \(17\), 2 \(10\)"):
            PredictedRelevance().fit(TABLE_1).gains()


class TestUncertainty:
    def test_an_estimate_has_an_interval_and_says_how(self):
        labels = double((2, 2, 60), (1, 1, 60), (1, 2, 30), (0, 0, 60), topics=3)
        estimate = PredictedRelevance().fit(labels).estimate("2")
        assert estimate.low < estimate.value == 0.8 < estimate.high
        assert str(estimate).endswith("(95%, jackknife over 3 topics)")

    def test_one_topic_gives_no_interval_and_says_so(self):
        estimate = PredictedRelevance().fit(TABLE_1).estimate("2")
        assert np.isnan([estimate.low, estimate.high]).all()
        assert str(estimate) == "0.400 (95% interval: none, as all pairs of labels are of one topic)"

    def test_ten_topics_are_resampled(self):
        fit = PredictedRelevance().fit(double((2, 2, 60), (1, 1, 60), (1, 2, 30), (0, 0, 60), topics=10))
        assert fit.method == "bootstrap over 10 topics, n=300"

    def test_without_resampling_topics_are_left_out_in_turn(self):
        labels = double((2, 2, 60), (1, 1, 60), (1, 2, 30), (0, 0, 60), topics=10)
        assert PredictedRelevance(n_draws=0).fit(labels).method == "jackknife over 10 topics"

    def test_others_who_judged_the_items_do_not_matter_to_named_pairs(self):
        rows = [(1, f"d{n}", who, label) for n in range(100) for who, label in (("A", n % 2), ("B", n % 2))]
        rows += [(1, f"d{n}", "C", 2) for n in range(100, 160)]
        rows += [(1, f"d{n}", "A", 0) for n in range(100, 160)]
        rows += [(1, f"d{n}", "A", 2) for n in range(200, 260)]
        setting = PredictedRelevance(relevant="1", estimator="paired", observed=["A"], reference=["B"])
        with pytest.warns(SelectionWarning, match="2: 0%"):
            assert setting.fit(judgments_of(rows)).pairs[0].tolist() == [100, 100, 0]

    def test_the_same_seed_gives_the_same_interval(self):
        labels = double((2, 2, 61), (1, 1, 47), (1, 2, 33), (0, 0, 60), topics=12)
        one, same, other = (PredictedRelevance().fit(labels, rng=rng).spread for rng in (1, 1, 2))
        assert one.sd_topics.tolist() == same.sd_topics.tolist() != other.sd_topics.tolist()

    def test_a_fit_is_a_table(self):
        text = str(PredictedRelevance().fit(TABLE_1))
        assert "(0.400 (one topic))" in text
        assert "(4 of 10 pairs)" in text


class TestBadInput:
    def test_one_assessor(self):
        with pytest.raises(PairsError, match="no item has labels by two different assessors"):
            PredictedRelevance().fit(read_grid("2 1 0 1"))

    def test_two_assessors_and_no_double_judgment(self):
        with pytest.raises(PairsError, match="no item has labels by two different assessors") as error:
            PredictedRelevance().fit(read_grid("2 . 0\n. 1 .", scale="0<1<2"))
        assert "judged a second time" in error.value.hint

    def test_one_assessor_twice_with_different_labels(self):
        with pytest.raises(PairsError, match="no item has labels by two different assessors"):
            PredictedRelevance().fit(judgments_of([("1", "a", "A", "2"), ("1", "a", "A", "0")]))

    def test_one_label(self):
        with pytest.raises(ScaleError, match="only one label"):
            PredictedRelevance().fit(read_grid("x x\nx x", scale="x"))

    def test_one_label_of_several_that_were_possible(self):
        fit = PredictedRelevance().fit(read_grid("2 2\n2 2", scale="0<1<2"))
        assert fit.p[0, 2] == 1
        assert np.isnan(fit.p[0, :2]).all()

    def test_a_label_outside_the_scale(self):
        with pytest.raises(FormatError, match="label '3' is not on the scale 0<1<2"):
            read_grid("2 3\n2 1", scale="0<1<2")

    def test_no_labels(self):
        with pytest.raises(PairsError, match="no label to pair"):
            PredictedRelevance().fit(TABLE_1.take(np.zeros(len(TABLE_1), dtype=np.bool_)))

    def test_observed_is_the_reference(self):
        with pytest.raises(PairsError, match="'U1' is both observed and the reference"):
            PredictedRelevance(observed=["U1"], reference=["U1"]).fit(TABLE_1)

    def test_unknown_assessor(self):
        with pytest.raises(UnknownName, match="no assessor 'u1'"):
            PredictedRelevance(observed=["u1"]).fit(TABLE_1)

    @pytest.mark.parametrize("setting", [{"prior": -1}, {"prior": float("nan")}, {"n_draws": -1}])
    def test_settings_from_which_nothing_can_be_made(self, setting):
        with pytest.raises(SettingError):
            PredictedRelevance(**setting)

    @pytest.mark.parametrize("n_draws", [0, 1, 2, 300])
    @pytest.mark.parametrize("topics", [1, 2, 10])
    @pytest.mark.parametrize("prior", [0.0, 0.5])
    def test_sparse_labels_are_unknown_and_nothing_else_is(self, n_draws, topics, prior):
        labels = double((2, 2, 1), (1, 1, 12), scale="0<1<2<3", topics=topics)
        fit = PredictedRelevance(relevant="all", n_draws=n_draws, prior=prior).fit(labels)
        known = np.array([prior > 0, True, True, prior > 0])
        assert (np.isnan(fit.p) == ~known).all()
        known &= (np.arange(4) == 1) & (topics > 1) | (prior > 0)  # the others are of one topic
        for values in (fit.spread.low, fit.spread.high):
            assert (np.isnan(values) == ~known).all()
        assert (fit.spread.low <= fit.p)[:, known].all()
        assert (fit.p <= fit.spread.high)[:, known].all()
        assert not np.isinf(fit.spread).any()
