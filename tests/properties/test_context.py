"""Utility in context against plain loops: whose label, from where, in which order, and what alpha = 0 leaves alone."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from venire import evaluate, parse_measure, read_judgments
from venire.data.context import Context
from venire.measures.dcg import CCG, CCGsingle

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")

DOCS, JUDGES, SCALE = "abcde", ("ann", "bob"), "0<1<2<3"
POWERS = {"ERR": 8.0, "nERR": 8.0, "exp": 1.0}


class Shifted:
    """Predicts labels from those in isolation: most likely the lower of the two, in part one less."""

    def probabilities(self, pairs):
        low = np.minimum(pairs.label, pairs.given_label)
        return 0.7 * np.eye(4)[low] + 0.3 * np.eye(4)[np.maximum(low - 1, 0)]


@st.composite
def collections(draw):
    """Labels (judge, doc, given or "") -> label; every judge has one in isolation, and the ranking."""
    labels = {}
    for judge in JUDGES:
        for doc in draw(st.lists(st.sampled_from(DOCS), unique=True, min_size=1)):
            labels[judge, doc, ""] = draw(st.integers(0, 3))
    known = {doc for _, doc, _ in labels}
    pair = st.tuples(st.sampled_from(JUDGES), st.sampled_from(sorted(known)), st.sampled_from(sorted(known)))
    for judge, doc, before in draw(
        st.lists(pair.filter(lambda each: each[1] != each[2]), min_size=1) if len(known) > 1 else st.just([])
    ):
        labels[judge, doc, before] = draw(st.integers(0, 3))
    return labels, draw(st.permutations([*DOCS, "x"]))


def read(labels):
    rows = [("1", doc, judge, str(label), before) for (judge, doc, before), label in labels.items()]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label", "given"], orient="row")
    return read_judgments(frame, scale=SCALE)


def grade_in_context(labels, judge, order, place, context):
    """Return the weights of labels in condition of a document of an order, as documented; None: back off."""
    doc = order[place]
    if place == 0:
        return None
    before = order[place - 1]
    if (judge, doc, before) in labels:
        return {labels[judge, doc, before]: 1.0}
    if context.predictor and (judge, doc, "") in labels and (judge, before, "") in labels:
        low = min(labels[judge, doc, ""], labels[judge, before, ""])
        shares = {low: 1.0} if low == 0 else {low: 0.7, low - 1: 0.3}
        return shares if context.expected else {low: 1.0}
    if context.backoff == "first" and (judge, doc, order[0]) in labels:
        return {labels[judge, doc, order[0]]: 1.0}
    return None


def utilities(labels, judge, order, alpha, powers, context):
    found = []
    for place, doc in enumerate(order):
        after = grade_in_context(labels, judge, order, place, context)
        known = (judge, doc, "") in labels
        if not known and not any(key[:2] == (judge, doc) for key in labels):
            found.append(0.0)
            continue
        own = labels.get((judge, doc, ""), 0)
        after = after or {own: 1.0}
        mixed = [(share, (1 - alpha) * own + alpha * label) for label, share in after.items()]
        found.append(sum(share * ((2**u - 1) / powers if powers else u) for share, u in mixed))
    return found


def value(name, utility, k):
    utility = utility[:k]
    if name in ("ERR", "nERR"):
        alive = np.cumprod([1, *(1 - u for u in utility)])
        return sum(u / rank * a for rank, (u, a) in enumerate(zip(utility, alive, strict=False), 1))
    if name in ("CCG", "nCCG"):
        return sum(sum(utility[:i]) / math.log2(i + 1) for i in range(1, k + 1))
    if name == "CCGsingle":
        return sum((k - i + 1) * u / math.log2(i + 1) for i, u in enumerate(utility, 1))
    return sum(u / (math.log2(i + 1) if name != "CG" else 1) for i, u in enumerate(utility, 1))


CONTEXTS = [
    Context(),
    Context(backoff="first"),
    Context(predictor=Shifted()),
    Context(predictor=Shifted(), expected=True, backoff="first"),
]
KINDS = ["CG", "DCG", "nDCG", "exp", "ERR", "nERR", "CCG", "CCGsingle", "nCCG"]


def named(kind, alpha, k):
    if kind == "exp":
        return f"DCG(alpha={alpha},dcg='exp-log2')@{k}"
    return f"{kind}(alpha={alpha})@{k}"


@settings(max_examples=30)
@given(
    case=collections(),
    alpha=st.sampled_from((0.25, 0.5, 1.0)),
    k=st.integers(1, 6),
    context=st.sampled_from(CONTEXTS),
    condensed=st.booleans(),
)
def test_every_measure_is_its_formula_in_context(case, alpha, k, context, condensed):
    labels, order = case
    if context.predictor is None and not any(before for _, _, before in labels):
        return
    names = {kind: named(kind, alpha, k) for kind in KINDS}
    run = {"1": {doc: -float(place) for place, doc in enumerate(order)}}
    unjudged = "condensed" if condensed else 0.0
    judges = sorted({judge for judge, _, before in labels if not before})
    scores = evaluate(read(labels), run, list(names.values()), per="assessor", context=context, unjudged=unjudged)
    assert scores.names["assessor"] == tuple(judges)
    for judge in judges:
        seen = [doc for doc in order if any(key[:2] == (judge, doc) for key in labels)]
        orders = list(permutations(seen, min(k, len(seen))))
        ways = {
            p: [utilities(labels, judge, each, alpha, p, context) for each in orders] for p in (None, POWERS["ERR"])
        }
        for kind, name in names.items():
            powers = POWERS.get(kind)
            shown = seen if condensed else list(order)
            score = value(kind, utilities(labels, judge, shown, alpha, powers, context), k)
            if kind.startswith("n"):
                best = max(value(kind, each, k) for each in ways[powers])
                score = score / best if best > 0 else 0.0
            found = scores.select(assessor=judge, measure=name, topic="1", system="run").values
            assert found == pytest.approx(score, abs=1e-9), (judge, name)


class Hashed:
    """Predicts a label for each pair of documents, any but always the same."""

    def probabilities(self, pairs):
        return np.eye(4)[(7 * pairs.item + 3 * pairs.given + pairs.label) % 4]


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    n_docs=st.sampled_from((5, 30, 48, 49, 70, 120)),
    alpha=st.sampled_from((0.3, 1.0)),
    k=st.integers(1, 6),
    context=st.sampled_from((None, Context(backoff="first"), Context(predictor=Hashed()))),
)
def test_no_list_of_judged_documents_scores_above_one(seed, n_docs, alpha, k, context):
    rng = np.random.default_rng(seed)
    docs = [f"d{n:03}" for n in range(n_docs)]
    rows = [("1", doc, int(label), "") for doc, label in zip(docs, rng.integers(0, 2, n_docs), strict=True)]
    order = [docs[n] for n in rng.permutation(n_docs)]
    pairs = {(a, b) for a, b in zip(order[1:], order, strict=False)} | {
        (docs[a], docs[b]) for a, b in rng.integers(0, n_docs, (3 * n_docs, 2)) if a != b
    }
    given = rng.integers(0, 4, len(pairs))
    rows += [("1", a, int(label), b) for (a, b), label in zip(sorted(pairs), given, strict=True)]
    table = pl.DataFrame(rows, schema=["topic", "doc", "label", "given"], orient="row")
    names = [f"{kind}(alpha={alpha})@{k}" for kind in ("nCCG", "nDCG", "nERR")]
    lists = {"1": {doc: -float(rank) for rank, doc in enumerate(order)}}
    scores = evaluate(read_judgments(table, scale="0<1<2<3"), lists, names, context=context)
    assert scores.values.max() <= 1 + 1e-9
    assert all(each.above == 0 for each in scores.context.best_orders.values())


@settings(max_examples=20)
@given(case=collections(), k=st.integers(1, 6), gains=st.sampled_from(("linear", "exponential", "raw")))
def test_alpha_0_is_isolation_to_the_last_bit_and_small_alpha_is_near_it(case, k, gains):
    labels, order = case
    run = {"1": {doc: -float(place) for place, doc in enumerate(order)}}
    kinds = ("CG", "DCG", "nDCG", "ERR", "nERR")
    alone = evaluate(
        read({key: label for key, label in labels.items() if not key[2]}),
        run,
        [f"{kind}@{k}" for kind in kinds],
        pool="mean",
        gains=gains,
    )
    zero = evaluate(read(labels), run, [f"{kind}(alpha=0)@{k}" for kind in kinds], pool="mean", gains=gains)
    np.testing.assert_array_equal(zero.values, alone.values)
    if any(before for _, _, before in labels):
        judgments = read({**{(judge, doc, ""): 0 for judge in JUDGES for doc in DOCS}, **labels})
        both = [f"{kind}(alpha={alpha})@{k}" for kind in ("CG", "DCG", "ERR") for alpha in (0, 1e-9)]
        near = evaluate(judgments, run, both, pool="mean", gains=gains).values[0, 0]
        np.testing.assert_allclose(near[::2], near[1::2], atol=1e-6)


@given(st.lists(st.floats(0, 10), min_size=1, max_size=12), st.integers(1, 12))
def test_equation_6_is_its_swapped_sum_and_equation_7_is_not(utility, k):
    utility = (utility + [0.0] * k)[:k]
    ranks = np.arange(1, k + 1)
    double = sum(sum(utility[:i]) / math.log2(i + 1) for i in range(1, k + 1))
    swapped = sum(utility[j - 1] * sum(1 / math.log2(i + 1) for i in range(j, k + 1)) for j in range(1, k + 1))
    assert swapped == pytest.approx(double, abs=1e-9)
    assert np.dot(CCG(k).weights(ranks), utility) == pytest.approx(double, abs=1e-9)
    single = sum((k - i + 1) * u / math.log2(i + 1) for i, u in enumerate(utility, 1))
    assert np.dot(CCGsingle(k).weights(ranks), utility) == pytest.approx(single, abs=1e-9)


def test_the_two_equations_on_the_printed_example():
    run = {"1": {doc: -float(place) for place, doc in enumerate("abcde")}}
    scores = evaluate({"1": dict(zip("abcde", (3, 1, 2, 0, 1), strict=True))}, run, ["CCG(alpha=0)@5", "CCGsingle@5"])
    assert scores.values.ravel() == pytest.approx([13.815748, 20.910572], abs=5e-7)
    assert str(parse_measure("CCG(alpha=0)@5")) == "CCG@5"
