from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.special import gammaln, logsumexp
from scipy.stats import beta

from venire import Judgments, read_judgments
from venire.agreement.phi import phi
from venire.agreement.phi_posterior import NODES, likelihood, log_integrals
from venire.errors import AmbiguousLabels, UnknownName
from venire.io import read_grid

NOTEBOOK = [
    [4, 3, 3, 4, 0, 0, 0, 1, 4, 1],
    [0, 1, 1, 3, 3, 2, 0, 4, 0, 4],
    [4, 1, 3, 4, 0, 2, 0, 1, 4, 1],
    [2, 0, 2, 4, 2, 1, 2, 0, 3, 4],
    [3, 4, 2, 4, 4, 4, 2, 1, 1, 2],
]
TRIPLES = {
    **{(0, 0, 0): 59, (0, 0, 1): 84, (0, 0, 2): 28, (0, 0, 3): 2, (0, 1, 1): 88, (0, 1, 2): 53, (0, 1, 3): 5},
    **{(0, 2, 2): 20, (0, 2, 3): 8, (0, 3, 3): 1, (1, 1, 1): 42, (1, 1, 2): 111, (1, 1, 3): 15, (1, 2, 2): 89},
    **{(1, 2, 3): 58, (1, 3, 3): 23, (2, 2, 2): 44, (2, 2, 3): 94, (2, 3, 3): 97, (3, 3, 3): 79},
}
THOUSAND = [list(triple) for triple, n in TRIPLES.items() for _ in range(n)]


def labelled(items: list[list[int]], highest: int) -> Judgments:
    """Read a line per item, as the published examples have it."""
    grid = "\n".join(" ".join(map(str, line)) for line in zip(*items, strict=True))
    return read_grid(grid, scale="<".join(map(str, range(highest + 1))))


@pytest.mark.parametrize(
    ("items", "highest", "value", "precision", "interval"),
    [
        (NOTEBOOK, 5, 0.22564631218, 2.73787084744, (-0.058, 0.444)),
        (NOTEBOOK, 4, -0.16721621751, 1.55385633286, (-0.377, 0.020)),
        ([[0, 0, 4, 4]] * 10, 4, -0.18435999283, 1.51178467433, (-0.413, 0.018)),
        ([[0, 1, 2, 3, 4]] * 10, 4, 0.11977525553, 2.36811233244, (-0.145, 0.334)),
        ([[5, 6, 5], [4, 5, 5], [3, 5, 3], [6, 6, 6], [5, 5, 4]], 6, 0.99999975831, 45.96064965, (0.986, 1.0)),
        (THOUSAND, 3, 0.94394887489, 10.3142257145, (0.932, 0.954)),
    ],
    ids=["notebook 0-5", "notebook 0-4", "polarised", "each grade once", "seven grades", "a thousand documents"],
)
def test_the_posterior_is_integrated(items, highest, value, precision, interval):
    found = phi(labelled(items, highest))
    assert found.value == pytest.approx(value, abs=1e-9)
    assert found.precision == pytest.approx(precision, rel=1e-9)
    assert (found.low, found.high) == pytest.approx(interval, abs=6e-4)
    assert (found.n_items, found.n_raters) == (len(items), len(items[0]))


@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.parametrize("rho", [0.05, 0.5, 3.0, 50.0, 2000.0])
@pytest.mark.parametrize("mean_logit", [-2.5, 0.0, 0.3])
def test_the_integral_is_that_of_an_adaptive_rule(n, rho, mean_logit):
    def log(mu):
        return n * (gammaln(rho) - gammaln(mu * rho) - gammaln((1 - mu) * rho)) + mu * rho * n * mean_logit

    mu = np.linspace(1e-9, 1 - 1e-9, 100_001)
    top, at = log(mu).max(), mu[log(mu).argmax()]
    slow, _ = quad(lambda mu: np.exp(log(mu) - top), 0, 1, points=[at], limit=500, epsabs=0, epsrel=1e-11)
    found = log_integrals(np.array([float(n)]), np.array([n * mean_logit]), np.array([rho]))
    assert found[0, 0] == pytest.approx(top + np.log(slow), abs=1e-8)


def test_likelihoods_of_many_items_are_those_of_each_alone():
    rng, rho = np.random.default_rng(5), np.array([0.2, 2.0, 20.0, 200.0])
    y = rng.uniform(0.02, 0.98, size=(NODES + 150, 3))
    n, ones, zeros = np.full(len(y), 3), np.log(y).sum(axis=1), np.log1p(-y).sum(axis=1)
    curves = likelihood(n, ones, zeros, rho)
    together = curves.each()
    alone = np.vstack([likelihood(n[:1], ones[k : k + 1], zeros[k : k + 1], rho).each() for k in range(len(y))])
    np.testing.assert_allclose(together, alone, atol=1e-8)
    weights = rng.integers(0, 5, size=(3, len(y))).astype(float)
    np.testing.assert_allclose(curves.summed(weights), weights @ together, rtol=1e-9)
    mu = np.linspace(0, 1, 20_001)[1:-1]
    slow = np.prod([beta.pdf(each, mu * 2.0, (1 - mu) * 2.0) for each in y[0]], axis=0).mean()
    assert together[0, 1] - zeros[0] - ones[0] == pytest.approx(np.log(slow), abs=1e-3)


def test_where_all_agree_the_limit_is_told():
    found = phi(labelled([[2, 2, 2, 2]] * 10, 4))
    assert (found.value, found.low, found.high) == (1.0, None, None)
    assert "limit" in found.reason


def test_more_agreement_is_more_phi():
    rng = np.random.default_rng(2)
    centre = rng.integers(0, 11, size=(200, 1))
    values = []
    for sd in (0.5, 1.5, 3.0, 9.0):
        ratings = np.clip(np.rint(centre + sd * rng.standard_normal((200, 4))), 0, 10).astype(int)
        values.append(phi(labelled(ratings.tolist(), 10)).value)
    assert values == sorted(values, reverse=True)


def test_the_likelihood_is_highest_at_the_true_precision():
    rng, truth = np.random.default_rng(11), 8.0
    mu = rng.uniform(size=(2000, 1))
    y = np.clip(rng.beta(mu * truth, (1 - mu) * truth, size=(2000, 6)), 1e-9, 1 - 1e-9)
    rho = np.linspace(5, 12, 141)
    curves = likelihood(np.full(len(y), 6), np.log(y).sum(axis=1), np.log1p(-y).sum(axis=1), rho)
    log = curves.summed(np.ones((1, len(y))))[0]
    assert rho[log.argmax()] == pytest.approx(truth, rel=0.06)


def test_labels_at_random_are_at_chance_which_is_far_above_zero_where_items_have_few():
    rng = np.random.default_rng(8)
    few, many = (phi(labelled(rng.integers(0, 50, size=(800, n)).tolist(), 49)) for n in (3, 60))
    assert few.value == pytest.approx(few.chance, abs=0.03)
    assert few.value > 0.7
    assert many.value == pytest.approx(many.chance, abs=0.02)
    assert many.value == pytest.approx(0.0, abs=0.06)


def test_items_with_one_label_and_the_order_of_assessors_do_not_matter():
    whole = phi(read_grid("0 1 2 2 .\n1 1 2 0 .\n. 1 2 1 ."))
    assert phi(read_grid(". 1 2 1 . 2\n0 1 2 2 . .\n1 1 2 0 . .")).value == pytest.approx(whole.value, abs=1e-12)


def test_labels_repeated_by_one_assessor_count_as_their_mean():
    rows = [("1", "a", "U", 0), ("1", "a", "U", 2), ("1", "a", "V", 2), ("1", "b", "U", 1), ("1", "b", "V", 0)]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    twice = read_judgments(frame, duplicate_labels="keep")
    assert phi(twice).value == pytest.approx(phi(read_grid("1 1\n2 0", scale="0<1<2")).value, abs=1e-12)


def test_intervals_over_items_and_topics():
    rng = np.random.default_rng(4)
    rows = []
    for topic in range(12):
        sd = 0.3 if topic % 2 else 2.0
        for doc in range(20):
            centre = rng.integers(0, 6)
            labels = np.clip(np.rint(centre + sd * rng.standard_normal(3)), 0, 5).astype(int)
            rows += [(str(topic), f"d{doc}", who, int(label)) for who, label in zip("ABC", labels, strict=True)]
    judgments = read_judgments(pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row"))
    posterior, items, topics = (phi(judgments, interval=each, n_draws=400) for each in ("posterior", "items", "topics"))
    assert posterior.value == items.value == topics.value
    assert all(each.low < each.value < each.high for each in (posterior, items, topics))
    assert topics.high - topics.low > 1.5 * (items.high - items.low)
    again = phi(judgments, interval="items", n_draws=400)
    assert (again.low, again.high) == (items.low, items.high)


def test_a_mean_over_topics_is_that_of_each_topic_with_the_same_l():
    rng = np.random.default_rng(6)
    rows = [(t, f"d{d}", who, int(rng.integers(0, 4))) for t in "123" for d in range(8) for who in "ABC"]
    rows += [("4", f"d{d}", who, 2) for d in range(3) for who in "ABC"] + [("5", "d1", "A", 0)]
    judgments = read_judgments(pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row"))
    found = phi(judgments, over="topics")
    each = [phi(judgments.where(topic=topic)).value for topic in "1234"]
    assert found.value == pytest.approx(np.mean(each), abs=1e-6)
    assert (found.n_topics, found.n_undefined, found.interval) == (4, 1, "topics")
    assert "mean over 4 topics, without 1 topic" in found.sentence()


def test_drawn_items_give_what_phi_gives_for_them():
    items = [[0, 1, 2], [2, 2, 1], [0, 0, 0], [1, 2, 2], [0, 2, 1], [2, 2, 2]]
    found = phi(labelled(items, 2), interval="items", n_draws=2000)
    rng = np.random.default_rng(0)
    slow = [phi(labelled([items[k] for k in rng.integers(6, size=6)], 2)).value for _ in range(100)]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(slow, [0.025, 0.975])), abs=0.1)


def test_numbers_count_on_an_interval_scale():
    judgments = read_grid("0 10 100\n0 100 100\n10 10 0", scale="0<10<100 : ratio")
    assert phi(judgments).value != pytest.approx(phi(judgments, measurement="ordinal").value, abs=1e-3)


@pytest.mark.parametrize(
    ("judgments", "level", "words"),
    [
        (read_grid("a b\nb b", scale="a|b"), None, "no order"),
        (read_grid("0 1 .\n. . 1"), None, "no item was judged by two"),
        (read_grid("lo hi\nhi hi", scale="lo<hi"), "interval", "not all numbers"),
        (read_grid("x x\nx x", scale="x"), None, "single label"),
    ],
)
def test_why_there_is_none(judgments, level, words):
    found = phi(judgments, measurement=level)
    assert (found.value, found.low, found.high) == (None, None, None)
    assert words in found.reason
    assert words in found.sentence()


def test_what_is_refused():
    judgments = read_grid("0 1\n1 1")
    with pytest.raises(UnknownName):
        phi(judgments, interval="moon")
    with pytest.raises(UnknownName):
        phi(judgments, measurement="moon")
    frame = {"topic": ["1"] * 4, "doc": list("aabb"), "assessor": list("UVUV"), "label": [0, 1, 1, 1]}
    mixed = read_judgments(pl.DataFrame({**frame, "aspect": list("xyxy")}))
    with pytest.raises(AmbiguousLabels):
        phi(mixed)


def test_sentences():
    found = phi(labelled(THOUSAND, 3))
    assert found.chance < found.low
    assert f"{found.chance:.3f} is chance" in found.sentence()


def brute_force(table, top):
    """Phi by sums over grids of centre and precision, every item by itself."""
    n = len(table[0])
    rho, mu = np.exp(np.linspace(-4, 8, 300)), (np.arange(1000)[:, None] + 0.5) / 1000
    log = np.log(rho)
    for labels in table:
        y = (np.array(labels) / top * (n - 1) + 0.5) / n
        each = sum(beta.logpdf(value, mu * rho, (1 - mu) * rho) for value in y)
        log = log + logsumexp(each, axis=0)
    weight = np.exp(log - log.max())
    return 1 - 2 ** (1 - weight @ rho / weight.sum() / 2)


def test_two_labels_an_item_look_like_agreement_by_definition_and_the_sentence_says_so():
    rare = [[0, 0]] * 17 + [[0, 1]] * 2 + [[1, 1]]
    found = phi(labelled(rare, 1))
    assert found.value == pytest.approx(brute_force(rare, 1), abs=1e-6)
    assert min(found.value, found.chance) > 0.95
    assert "chance with at most 2 labels per item" in found.sentence()


def test_where_topics_differ_their_draws_cover_more_than_the_posterior():
    rng, widths = np.random.default_rng(6), {None: [], "posterior": []}
    for _ in range(3):
        blur = np.repeat(rng.choice([0.2, 2.5], size=12), 8)
        label = np.clip(np.round(rng.uniform(0, 4, 96)[:, None] + blur[:, None] * rng.normal(size=(96, 3))), 0, 4)
        cells = [(i, u) for i in range(96) for u in range(3)]
        columns = {"topic": [f"t{i // 8}" for i, _ in cells], "doc": [f"d{i}" for i, _ in cells]}
        labels = {"assessor": [f"a{u}" for _, u in cells], "label": [int(label[cell]) for cell in cells]}
        judgments = read_judgments(pl.DataFrame({**columns, **labels}), scale="0<1<2<3<4")
        for how, found in widths.items():
            one = phi(judgments, interval=how, n_draws=200, chance=False)
            assert one.interval == (how or "topics")
            found.append(one.high - one.low)
    assert np.mean(widths[None]) > 1.3 * np.mean(widths["posterior"])


def test_with_few_topics_or_no_draws_the_interval_is_the_posterior():
    judgments = labelled(THOUSAND[:40], 3)
    assert phi(judgments, interval=None, chance=False).interval == "posterior"
    assert phi(judgments, interval=None, n_draws=0, chance=False) == phi(judgments, chance=False)
