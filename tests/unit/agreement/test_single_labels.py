"""Items with one label: they count for what is expected by chance, as in irrCAC, and no interval is surer for them."""

from __future__ import annotations

import numpy as np
import pytest

from agreement_examples import irrcac
from labelled_items import labelled
from venire.agreement.alpha import alpha
from venire.agreement.kappa import conger_kappa, fleiss_kappa, gwet_ac
from venire.data.judgments import Judgments

STATISTICS = {"conger": conger_kappa, "fleiss": fleiss_kappa, "gwet": gwet_ac}


def some(n_paired: int, n_single: int, *, share: float = 0.5, rare: float = 0.5, seed: int = 3) -> np.ndarray:
    """Labels of three assessors (item, assessor), -1 for none; items with one label are relevant as ``rare`` says."""
    rng = np.random.default_rng(seed)
    n = n_paired + n_single
    truth = rng.random(n) < np.where(np.arange(n) < n_paired, share, rare)
    labels = np.stack([np.where(rng.random(n) < slip, ~truth, truth) for slip in (0.1, 0.2, 0.3)], axis=1).astype(int)
    alone = rng.integers(3, size=n_single)
    labels[n_paired:][np.arange(3) != alone[:, None]] = -1
    return labels


def in_topics(labels: np.ndarray, n_topics: int) -> Judgments:
    return labelled(labels.tolist(), scale="0<1", n_topics=n_topics)


@pytest.fixture
def twelve_of_sixty() -> np.ndarray:
    """Sixty topics of twenty items: the first twelve were judged three times, the others once, and differently."""
    return some(240, 960, share=0.5, rare=0.05)


@pytest.mark.parametrize("resample", ["items", "topics"])
@pytest.mark.parametrize("name", STATISTICS)
def test_the_value_is_that_of_irrcac_whatever_is_drawn(twelve_of_sixty, name: str, resample: str) -> None:
    found = STATISTICS[name](in_topics(twelve_of_sixty, 60), resample=resample)
    assert found.value == pytest.approx(irrcac(twelve_of_sixty, "nominal", name), abs=1e-10)
    assert found.low < found.value < found.high


def test_topics_with_single_labels_only_do_not_change_a_mean_over_topics(twelve_of_sixty) -> None:
    judgments = in_topics(twelve_of_sixty, 60)
    paired = judgments.where(topic=list(judgments.topics[:12]))
    for statistic in STATISTICS.values():
        one, other = (statistic(each, over="topics") for each in (judgments, paired))
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


def test_few_items_with_pairs_make_a_wide_interval_however_many_have_one_label() -> None:
    labels = some(8, 2000)
    found = {name: statistic(in_topics(labels, 1)) for name, statistic in STATISTICS.items()}
    widths = {name: each.high - each.low for name, each in found.items()}
    assert widths["conger"] == pytest.approx(widths["fleiss"], rel=0.15)


def test_one_item_with_pairs_has_no_interval() -> None:
    judgments = in_topics(some(1, 200), 1)
    for statistic in (*STATISTICS.values(), alpha):
        found = statistic(judgments)
        assert (found.low, found.high) == (None, None)
