"""Small random collections, scored by trec_eval (through pytrec_eval) and by us: the same to nine places."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import example, given, strategies as st

from strategies import SCALE, SHARED, Grades, Run, evaluate, grades, qrels_lines, run, run_lines, with_rel, write
from venire import Scores, read_judgments, read_runs
from venire.io import runs as run_files
from venire.scan.scanner import COMPILED, make_scanner

pytrec_eval = pytest.importorskip("pytrec_eval")
pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")

CLOSE = 1e-9
SCANNERS = [pytest.param(True, marks=pytest.mark.skipif(not COMPILED, reason="built without a compiler")), False]


def theirs(judged: Grades, lists: Run, *, rel: int = 1, judged_only: bool = False) -> dict[str, dict[str, float]]:
    """Score with pytrec_eval, without topics whose labels are all below zero.

    On such topics it reads memory that nothing has set: it answers 0, never returns, or takes the process with it.
    """
    evaluator = pytrec_eval.RelevanceEvaluator(
        without_unjudged_topics(judged), set(SHARED), relevance_level=rel, judged_docs_only_flag=judged_only
    )
    return evaluator.evaluate(lists)


def without_unjudged_topics(judged: Grades) -> Grades:
    return {topic: docs for topic, docs in judged.items() if max(docs.values()) >= 0}


def assert_same(scores: Scores, names: dict[str, str], expected: dict[str, dict[str, float]]) -> None:
    """Compare every topic and measure of the only system; a topic they leave out scores 0 with us."""
    (values,) = scores.values
    for topic, row in zip(scores.names["topic"], values, strict=True):
        for their_name, our_name in names.items():
            wanted = expected[topic][their_name] if topic in expected else 0.0
            found = row[scores.names["measure"].index(our_name)]
            assert abs(found - wanted) <= CLOSE, (topic, our_name, found, wanted)


@pytest.mark.parametrize("compiled", SCANNERS)
@given(judged=grades(), lists=run(), rel=st.sampled_from((1, 1, 2, 3)))
@example(judged={"1": {"a": 0, "b": 0}}, lists={"1": {"a": 1.0, "b": 2.0}}, rel=1)
@example(judged={"1": {"a": -1, "b": 1, "abc": 0}}, lists={"1": {"a": 3.0, "abc": 2.5, "b": 2.0}}, rel=1)
@example(judged={"1": {"a": 1}, "2": {"a": 1}}, lists={"2": {"b": 1.0, "a": 1.0}}, rel=1)
def test_every_shared_measure_on_every_topic(tmp_path_factory, compiled, judged, lists, rel):
    folder = tmp_path_factory.mktemp("case")
    judgments = read_judgments(write(folder / "nist", qrels_lines(judged)), scale=SCALE)
    sources = read_runs(write(folder / "run", run_lines(lists, "run")), score_type="float32")
    names = {their: with_rel(our, rel) for their, our in SHARED.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_files, "make_scanner", partial(make_scanner, compiled=compiled))
        scores = evaluate(judgments, sources, list(names.values()))
    assert_same(scores, names, theirs(judged, lists, rel=rel))


@given(judged=grades(), lists=run())
def test_condensed_lists_are_those_of_judged_docs_only(judged, lists):
    judgments = read_judgments(judged, scale=SCALE)
    scores = evaluate(judgments, read_runs(lists, score_type="float32"), list(SHARED.values()), unjudged="condensed")
    assert_same(scores, SHARED, theirs(judged, lists, judged_only=True))


@given(judged=grades(), lists=run())
def test_topics_are_theirs_and_the_missing_ones(judged, lists):
    """They score judged topics that have a list; we score every topic with a label that is not below zero."""
    scores = evaluate(read_judgments(judged, scale=SCALE), read_runs(lists), ["AP"])
    there = set(without_unjudged_topics(judged))
    assert set(theirs(judged, lists)) == there & set(lists)
    assert set(scores.names["topic"]) == there


@given(judged=grades(), lists=run(ties=False))
def test_score_type_does_not_matter_without_ties(judged, lists):
    judgments = read_judgments(judged, scale=SCALE)
    single, double = (
        evaluate(judgments, read_runs(lists, score_type=kind), list(SHARED.values())) for kind in ("float32", "float64")
    )
    assert (single.values == double.values).all()
