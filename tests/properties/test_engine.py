"""Facts do not depend on how rows were divided into parts, nor on their order."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from venire import evaluate, read_judgments, read_runs
from venire.agreement.label_facts import CountLabels
from venire.agreement.table import BY_PATTERN, COUNTED_ONLY, agreement_table
from venire.data.label_pairs import pair_up
from venire.disagreement.pair_facts import CountPairs
from venire.engine.local import Local
from venire.engine.seam import pack, unpack
from venire.io.runs import scan
from venire.measures.evaluate import ScoreLists, scores_of, topic_parts
from venire.measures.list_facts import ListFacts
from venire.measures.scoring import Scoring

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
MEASURES = ["nDCG@10", "AP", "RBP(p=0.8)", "Judged@5", "RR"]
LABELS = st.lists(
    st.tuples(*(st.integers(0, n) for n in (6, 12, 3, 3))), min_size=1, max_size=80, unique_by=lambda row: row[:3]
)
LISTS = st.lists(
    st.tuples(*(st.integers(0, n) for n in (8, 2, 14, 4))), min_size=1, max_size=120, unique_by=lambda row: row[:3]
)
WHO = st.sampled_from([{"per": "assessor"}, {"pool": "mean"}, {"pool": "median"}])


def tables(labels, lists, rng):
    """Labels and lists as frames with rows in a random order; topics are not numbered in the order of their names."""
    judged = pl.DataFrame(labels, schema=["topic", "doc", "assessor", "label"], orient="row")
    listed = pl.DataFrame(lists, schema=["topic", "system", "doc", "score"], orient="row")
    ids = {name: pl.format(f"{name}{{}}", name) for name in ("doc", "assessor", "system")}
    judged = judged.with_columns(ids["doc"], ids["assessor"], pl.col("topic") * 7 % 10)
    listed = listed.with_columns(ids["doc"], ids["system"], pl.col("topic") * 7 % 10)
    return (each[rng.permutation(each.height)] for each in (judged, listed))


def in_parts(judgments, runs, scoring, n_parts, *, order):
    """Scores by the facts of some parts, which are sent as bytes and merged in any order, two at a time."""
    plan = scoring.plan(MEASURES, judgments.scale)
    facts = scan(runs, judgments.items).facts
    job = ScoreLists(plan.resolved(facts))
    found = [unpack(ListFacts, pack(job.facts(part))) for part in topic_parts(judgments, facts, scoring, n_parts)]
    found = [found[n] for n in order.permutation(len(found))]
    while len(found) > 1:
        found = [*found[2:], job.merged(found[:2])]
    return scores_of(found[0], plan, scoring, scale=judgments.scale)


@settings(max_examples=15, deadline=None)
@given(LABELS, LISTS, WHO, st.integers(0, 99))
def test_scores_are_the_same_for_every_partition_and_order_of_rows(labels, lists, who, seed):
    if not {row[0] for row in labels} & {row[0] for row in lists}:
        return
    rng = np.random.default_rng(seed)
    judged, listed = tables(labels, lists, rng)
    judgments, runs = read_judgments(judged, scale="0<1<2<3"), read_runs(listed)
    whole, scoring = evaluate(judgments, runs, MEASURES, **who), Scoring(**who)
    for n_parts in (1, 2, 7):
        found = in_parts(judgments, runs, scoring, n_parts, order=rng)
        places = [found.names["system"].index(name) for name in whole.names["system"]]
        assert {axis: sorted(names) for axis, names in found.names.items()} == {
            axis: sorted(names) for axis, names in whole.names.items()
        }
        assert found.names["topic"] == whole.names["topic"]
        np.testing.assert_allclose(found.values[places], whole.values, rtol=0, atol=1e-12)


def test_threads_score_many_parts_as_one(monkeypatch):
    monkeypatch.setattr("venire.measures.evaluate.PART_LABELS", 50)
    rng = np.random.default_rng(3)
    cells = np.stack(np.unravel_index(rng.permutation(10 * 60 * 4)[:1500], (10, 60, 4)))
    labels = [(*cell, int(label)) for cell, label in zip(cells.T.tolist(), rng.integers(0, 4, 1500), strict=True)]
    lists = [(t, s, d, float(rng.random())) for t in range(10) for s in range(3) for d in rng.permutation(40).tolist()]
    judged, listed = tables(labels, lists, rng)
    copies = [["doc1", "doc2"], ["doc5", "doc9"]]
    options = {"per": "assessor", "duplicates": copies, "topics": [str(n * 7 % 10) for n in range(7)]}
    judgments, runs = read_judgments(judged), read_runs(listed)
    parts = evaluate(judgments, runs, MEASURES, **options)
    monkeypatch.setattr("venire.measures.evaluate.PART_LABELS", 1 << 22)
    whole = evaluate(judgments, runs, MEASURES, **options)
    np.testing.assert_allclose(parts.values, whole.values, rtol=0, atol=1e-12)
    assert (parts.names, parts.notes) == (whole.names, whole.notes)


def split(judgments, n_parts, rng):
    """Parts with all labels of random items, each with its own topics and assessors, as rows elsewhere would be."""
    part = rng.integers(0, n_parts, len(judgments.items))[judgments.item]
    frame = judgments.to_polars()
    return [
        read_judgments(frame.filter(pl.Series(part == n)), scale=judgments.scale)
        for n in range(n_parts)
        if (part == n).any()
    ]


def merged(job, parts, rng):
    """Facts of parts that are sent as bytes and merged in any order, two at a time."""
    found = [job.facts(part) for part in parts]
    found = [unpack(type(found[0]), pack(found[n])) for n in rng.permutation(len(found))]
    while len(found) > 1:
        found = [*found[2:], job.merged(found[:2])]
    return found[0]


@settings(max_examples=10, deadline=None)
@given(LABELS, st.sampled_from(["items", "topics"]), st.integers(0, 99))
def test_agreement_is_the_same_for_every_partition_within_topics(labels, over, seed):
    rng = np.random.default_rng(seed)
    judgments = read_judgments(next(iter(tables(labels, [(0, 0, 0, 0)], rng))), scale="0<1<2<3")
    how = {"n_draws": 20, "rng": 1, "over": over, "resample": "topics"}
    whole = agreement_table(judgments, **how).records()
    for n_parts in (1, 2, 7):
        counted = merged(CountLabels(judgments.assessors), split(judgments, n_parts, rng), rng)
        found = agreement_table(judgments, counted=counted, **how).records()
        for one, other in zip(found, whole, strict=True):
            assert one == pytest.approx(other, abs=1e-12)


def test_what_counts_by_topic_do_not_tell_has_a_reason():
    rng = np.random.default_rng(1)
    labels = [(0, d, a, int(rng.integers(0, 3))) for d in range(12) for a in range(3)]
    judgments = read_judgments(next(iter(tables(labels, [(0, 0, 0, 0)], rng))))
    whole = agreement_table(judgments, n_draws=20).records()
    by_name, by_pattern = (
        agreement_table(judgments, counted=CountLabels(names).facts(judgments), n_draws=20).records()
        for names in (judgments.assessors, ())
    )
    for expected, found in zip(whole, by_name, strict=True):
        of_pairs = expected["name"] not in BY_PATTERN
        lost = {"low": None, "high": None, "reason": COUNTED_ONLY} if of_pairs else {}
        assert found == pytest.approx(expected | lost, abs=1e-12)
    reasons = {row["name"]: row["reason"] for row in by_pattern if row["value"] is None}
    assert reasons.keys() == {"cohen_kappa", "conger_kappa", "jaccard"}
    assert all("not counted by assessor" in reason for reason in reasons.values())


@settings(max_examples=10, deadline=None)
@given(LABELS, st.sampled_from(["pair", "item"]), st.integers(0, 99))
def test_pairs_are_the_same_for_every_partition_within_topics(labels, weight, seed):
    rng = np.random.default_rng(seed)
    judgments = read_judgments(next(iter(tables(labels, [(0, 0, 0, 0)], rng))), scale="0<1<2<3")
    relevant = np.arange(4) >= np.arange(1, 4)[:, None]
    named = {"observed": (judgments.assessors[0],)} if len(judgments.assessors) > 1 else {}
    for sides, estimator in (({}, "labels"), (named, "one-sided")):
        if estimator == "one-sided" and not named:
            continue
        whole = pair_up(judgments, estimator=estimator, weight=weight, **sides).sums(relevant)
        job = CountPairs(relevant, estimator, judgments.assessors, weight=weight, **sides)
        for n_parts in (1, 2, 7):
            found = merged(job, split(judgments, n_parts, rng), rng)
            assert found.topics == judgments.topics
            for one, other in zip(found.sums, whole, strict=True):
                np.testing.assert_allclose(one, other, rtol=0, atol=0 if weight == "pair" else 1e-12)


def test_the_local_engine_merges_what_the_job_finds():
    class Sum:
        together = {"numbers": ("n",)}  # noqa: RUF012

        def facts(self, part):
            return sum(part)

        def merged(self, facts):
            return sum(facts)

    assert Local(2).run(Sum(), [[1, 2], [3], [], [4, 5]]) == 15
