"""The numbers that trec_eval 10.0-rc3 prints (``-q -m all_trec``): twelve odd files, and runs of a real collection.

``trec_eval/cases`` has small files with ties, negative labels, unjudged documents and missing topics, and
``trec_eval/cases.tsv.gz`` what it prints for them under five sets of options.  Without ``-c`` it stops at the first
judged topic that the run has no list for, so that some cases have one topic and no summary.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from strategies import SCALE, ranking, with_rel
from venire import Judgments, Runs, Scores, evaluate, read_judgments, read_runs

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")

HERE = Path(__file__).with_name("trec_eval")
PRINTED = 0.5e-4 + 1e-9  # half a unit of the last of four places
CASES = range(12)
CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
NAMES = {
    **{"map": "AP", "Rprec": "Rprec", "bpref": "bpref", "recip_rank": "RR", "ndcg": "nDCG", "set_recall": "R"},
    **{f"P_{k}": f"P@{k}" for k in CUTS},
    **{f"recall_{k}": f"R@{k}" for k in CUTS},
    **{f"map_cut_{k}": f"AP@{k}" for k in CUTS},
    **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in CUTS},
    **{f"success_{k}": f"Success@{k}" for k in (1, 5, 10)},
}
"""Its measures that Venire has too: its name, our name."""
OPTIONS = {"-": {}, "-c": {"missing": "zero"}, "-l 2": {}, "-J": {"unjudged": "condensed"}}
NEGATIVE_ALONE = (0, "4")  # the case and its topic without any other label

Printed = Mapping[str, Mapping[str, float]]


@cache
def printed(path: Path) -> Mapping[tuple[str, str], Printed]:
    """Read numbers by run and options, then topic ("all": the summary), then measure."""
    found: dict[tuple[str, str], dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    with gzip.open(path, "rt") as file:
        next(file)
        for line in file:
            run, options, topic, measure, value = line.split("\t")
            found[run, options][topic][measure] = float(value)
    return found


def of_case(case: int, options: str) -> Printed:
    return printed(HERE / "cases.tsv.gz")[f"case{case}", options]


def judged_in(case: int) -> Judgments:
    return read_judgments(HERE / "cases" / f"{case}.qrels", scale=SCALE)


def run_of(case: int) -> Path:
    return HERE / "cases" / f"{case}.run"


def scored(judgments: Judgments, runs: object, options: str) -> Scores:
    """Score by every measure of ``NAMES``, as trec_eval does under these options."""
    names = [with_rel(each, 2 if options == "-l 2" else 1) for each in NAMES.values()]
    return evaluate(judgments, runs, names, **{"missing": "skip", **OPTIONS.get(options, {})})


def agree(scores: Scores, theirs: Printed) -> None:
    """Compare every topic that they print, and the means if they print any."""
    topics = {topic: number for number, topic in enumerate(scores.names["topic"])}
    lines = {topic: scores.values[0, topics[topic]] for topic in theirs if topic in topics}
    assert lines
    if "all" in theirs:
        lines["all"] = np.nansum(scores.values[0], axis=0) / theirs["all"]["num_q"]
    for topic, values in lines.items():
        expected = np.array([theirs[topic][name] for name in NAMES])
        assert np.abs(values - expected).max() <= PRINTED, (topic, list(NAMES)[np.abs(values - expected).argmax()])


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("case", CASES)
def test_odd_files_score_as_with_trec_eval(case, options):
    agree(scored(judged_in(case), run_of(case), options), of_case(case, options))


def agree_under(names: Mapping[str, str], scores: Scores, theirs: Printed) -> None:
    """Compare topics by these measures: their name, our name."""
    for values, topic in zip(scores.values[0], scores.names["topic"], strict=True):
        if topic in theirs:
            np.testing.assert_allclose(values, [theirs[topic][name] for name in names], rtol=0, atol=PRINTED)


@pytest.mark.parametrize("case", CASES)
def test_relevant_from_a_label_is_also_what_binary_gains_say(case):
    """-l 2 concerns binary measures; nDCG goes by the labels there."""
    names = {their: our for their, our in NAMES.items() if not their.startswith("ndcg")}
    ours = evaluate(judged_in(case), run_of(case), list(names.values()), gains="binary:2", missing="skip")
    agree_under(names, ours, of_case(case, "-l 2"))


def first_five(path: Path) -> dict[str, dict[str, float]]:
    lists: dict[str, dict[str, float]] = defaultdict(dict)
    for line in path.read_text().splitlines():
        topic, _, doc, _, score, _ = line.split()
        lists[topic][doc] = float(score)
    return {topic: {doc: docs[doc] for doc in ranking(docs)[:5]} for topic, docs in lists.items()}


def cut_at(k: int) -> dict[str, str]:
    """Name the measures @k that are those of lists cut at k; nDCG@k cuts the best ranking as well."""
    whole = {name: f"{NAMES[name]}@{k}" for name in ("map", "recip_rank", "bpref", "Rprec", "set_recall")}
    return whole | {name: NAMES[name] for name in (f"P_{k}", f"recall_{k}", f"map_cut_{k}", f"ndcg_cut_{k}")}


@pytest.mark.parametrize("case", CASES)
def test_lists_cut_at_a_depth(case):
    agree(scored(judged_in(case), first_five(run_of(case)), "-M 5"), of_case(case, "-M 5"))
    names = cut_at(5)
    ours = evaluate(judged_in(case), run_of(case), list(names.values()), missing="skip")
    agree_under(names, ours, of_case(case, "-M 5"))


# --- where it differs; docs/reference/differences.md says why --------------------------------------------------


def with_a_list(case: int, measures: list[str]) -> list[tuple[str, np.ndarray, Mapping[str, float]]]:
    """Return topics that have a list, our scores there and what trec_eval -c prints."""
    theirs = of_case(case, "-c")
    ours = evaluate(judged_in(case), run_of(case), measures)
    return [
        (topic, values, theirs[topic])
        for values, topic in zip(ours.values[0], ours.names["topic"], strict=True)
        if theirs[topic]["num_ret"] > 0
    ]


def top_label(case: int, topic: str) -> int:
    rows = [line.split() for line in (HERE / "cases" / f"{case}.qrels").read_text().splitlines()]
    return max(int(label) for of, _, _, label in rows if of == topic)


@pytest.mark.parametrize("case", CASES)
def test_gains_of_rbp_are_shares_of_the_top_of_the_scale_not_of_the_topic(case):
    top = int(SCALE.split("<")[-1])
    for topic, (rbp,), theirs in with_a_list(case, ["RBP(p=0.9)"]):
        assert rbp * top / max(top_label(case, topic), 1) == pytest.approx(theirs["rbp"], abs=PRINTED), topic


@pytest.mark.parametrize("case", CASES)
def test_the_residual_of_rbp_is_not_zero_where_all_documents_of_a_list_are_judged(case):
    for topic, (residual, judged), theirs in with_a_list(case, ["RBPResidual(p=0.9)", "Judged"]):
        assert residual > 0
        expected = 0 if judged == 1 else residual
        assert theirs["rbp_resid"] == pytest.approx(expected, abs=PRINTED), topic


@pytest.mark.parametrize("case", CASES)
def test_judged_is_a_share_of_the_documents_there_are(case):
    cuts = (5, 10, 20)
    for topic, judged, theirs in with_a_list(case, [f"Judged@{k}" for k in cuts]):
        for k, share in zip(cuts, judged, strict=True):
            unjudged = (1 - share) * min(k, theirs["num_ret"]) / k
            assert unjudged == pytest.approx(theirs[f"unj_{k}"], abs=PRINTED), (topic, k)


def test_topics_with_labels_below_zero_alone_are_not_judged():
    case, topic = NEGATIVE_ALONE
    ours, theirs = scored(judged_in(case), run_of(case), "-c"), of_case(case, "-c")
    assert topic in theirs
    assert theirs[topic]["map"] == 0
    assert topic not in ours.names["topic"]
    assert theirs["all"]["num_q"] == len(ours.names["topic"]) + 1


@pytest.mark.parametrize("case", [case for case in CASES if case != NEGATIVE_ALONE[0]])
def test_all_other_topics_count_as_in_trec_eval(case):
    ours = scored(judged_in(case), run_of(case), "-c")
    assert of_case(case, "-c")["all"]["num_q"] == len(ours.names["topic"])


# --- real data: Deep Learning 2021 -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def deep_learning(data_dir: Path) -> tuple[Judgments, Runs, Mapping[tuple[str, str], Printed]]:
    numbers = data_dir.parent / "oracles_trec_eval" / "dl21_nist.tsv.gz"
    if not numbers.exists():
        pytest.skip(f"no numbers of trec_eval: {numbers} is missing")
    folder = data_dir / "dl21_full"
    judgments = read_judgments(folder / "judges.tsv.gz").where(assessor="nist")
    return judgments, read_runs(folder / "runs.trec.gz"), printed(numbers)


def only(scores: Scores, system: str) -> Scores:
    place = scores.names["system"].index(system)
    return replace(scores, values=scores.values[[place]], names={**scores.names, "system": (system,)})


@pytest.mark.parametrize("options", OPTIONS)
def test_real_runs_score_as_with_trec_eval(deep_learning, options):
    judgments, runs, numbers = deep_learning
    scores = scored(judgments, runs, options)
    systems = [system for system, under in numbers if under == options]
    assert systems
    for system in systems:
        agree(only(scores, system), numbers[system, options])


def test_real_runs_cut_at_a_depth_score_as_with_trec_eval(deep_learning):
    judgments, runs, numbers = deep_learning
    scores = evaluate(judgments, runs, list(cut_at(10).values()))
    (system,) = (system for system, under in numbers if under == "-M 10")
    agree_under(cut_at(10), only(scores, system), numbers[system, "-M 10"])
