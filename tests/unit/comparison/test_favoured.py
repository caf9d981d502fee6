from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from two_judges import judged, lists, table
from venire import evaluate, parse_measure, read_judgments
from venire.comparison import favoured_on, favoured_systems
from venire.comparison.favour_statistics import pairs_in_order, ranked_in_order, rankers
from venire.comparison.judge_residuals import (
    TwoJudges,
    inclusion_probabilities,
    rank_weights,
    residuals_of,
    stated_probabilities,
    topics_used,
)
from venire.errors import MeasureError, PairsError, SettingError, UnknownName
from venire.measures.evaluate import Case
from venire.measures.scoring import Scoring
from venire.simulation import Synthetic, generate

MEASURES = ["P(rel=2)@5", "nDCG@10", "AP(rel=2)", "RBP", "DCG@5", "ERR@10"]
BOTH = {"judge": "lenient1", "reference": "careful1"}


@pytest.fixture(scope="module")
def made():
    return generate(Synthetic(n_topics=14, docs_per_topic=80, n_unjudged=5), rng=3)


def part_of(labels, name, keep):
    """Keep the labels of one assessor on some items, keep(item number) -> bool, and all labels of the others."""
    own = labels.assessor.among(name, "assessor")
    return labels.take(~own | np.array([keep(item) for item in labels.item]))


def by_hand(rows):
    """Judgments from lines of topic, doc, label of the judge, label of the reference or a dash."""
    cells = [line.split() for line in rows.strip().splitlines()]
    long = [(t, d, name, x) for t, d, *both in cells for name, x in zip(("llm", "ann"), both, strict=True) if x != "-"]
    return read_judgments(pl.DataFrame(long, schema=["topic", "doc", "assessor", "label"], orient="row"), scale="0<1")


def ranked(**systems):
    """Runs from a string of documents per topic: a=["xy", "xz"]."""
    return {
        name: {f"t{n}": {doc: -float(rank) for rank, doc in enumerate(docs)} for n, docs in enumerate(topics)}
        for name, topics in systems.items()
    }


EXAMPLE = by_hand("""
    t0 a 1 0
    t0 b 1 0
    t0 c 1 1
    t0 d 0 0
    t1 a 1 1
    t1 b 1 0
    t1 c 0 0
    t1 d 1 1
""")
LISTS = ranked(one=["ab", "ab"], two=["cd", "cd"], three=["ac", "ac"])


def test_the_difference_on_a_small_example():
    """Reference less judge, P@2: one -2/2 and -1/2, two 0 and 0, three -1/2 and 0; then less the mean of the others."""
    found = favoured_systems(EXAMPLE, LISTS, "P@2", judge="llm", reference="ann")
    expected = {"one": -0.75 - (0 - 0.25) / 2, "two": 0 - (-0.75 - 0.25) / 2, "three": -0.25 - (-0.75 - 0) / 2}
    assert dict(zip(found.systems, found.by_system.difference[:, 0], strict=True)) == pytest.approx(expected)
    assert found.n_labels == 8
    assert found.n_topics == 2


def test_unlabelled_results_count_by_what_the_labelled_ones_show():
    """Errors -1, -1 and 0 of a, c and d, labelled with probability 3/4; b has their mean, as the whole sample does."""
    labels = by_hand("""
        t0 a 1 0
        t0 b 1 -
        t0 c 1 1
        t0 d 1 0
    """)
    case, plan = case_of(labels, ranked(one=["ab"], two=["cd"]), ["P@2"])
    judges = TwoJudges.of(case.panel, "llm", ["ann"])
    found = residuals_of(case, plan, judges, used=topics_used(case, judges, plan))[0]
    whole = -2 / 3
    rest = {"a": -1 - whole, "c": -whole, "d": -1 - whole}
    by_label = {doc: whole + (sum(rest.values()) - own) / (2 + 2) for doc, own in rest.items()}
    left = {doc: error - by_label[doc] for doc, error in {"a": -1, "c": 0, "d": -1}.items()}
    mu = {doc: by_label[doc] + (sum(left.values()) - own) / (2 + 3) for doc, own in left.items()}
    z = {doc: mu[doc] + (error - mu[doc]) * 4 / 3 for doc, error in {"a": -1, "c": 0, "d": -1}.items()}
    z["b"] = whole + sum(rest.values()) / (3 + 2) + sum(left.values()) / (3 + 3)
    np.testing.assert_allclose(found.values, [[(z["a"] + z["b"]) / 2, (z["c"] + z["d"]) / 2]], atol=1e-9)
    assert not found.exact
    assert found.linear


def case_of(labels, runs, measures, **scoring):
    asked = Scoring(per="assessor", **scoring)
    return Case.of(labels, runs, asked), asked.plan(measures, labels.scale)


def test_with_all_labels_residuals_are_differences_of_scores(made):
    case, plan = case_of(made.judgments, made.runs, MEASURES)
    judges = TwoJudges.of(case.panel, "lenient1", ["careful1"])
    found = residuals_of(case, plan, judges, used=topics_used(case, judges, plan))
    scores = [evaluate(made.judgments, made.runs, MEASURES, assessor=name).values for name in ("careful1", "lenient1")]
    for number, each in enumerate(found):
        assert each.exact
        np.testing.assert_allclose(each.values.T, (scores[0] - scores[1])[:, :, number], atol=1e-12)


@pytest.mark.parametrize("measure", ["P(rel=2)@5", "nDCG@10"])
def test_residuals_from_some_labels_the_slow_way(made, measure):
    """Item by item: the mean error by label and topic, corrected by labelled items over their probability."""
    labels = part_of(made.judgments, "careful1", lambda item: item % 3 == 0)
    case, plan = case_of(labels, made.runs, [measure])
    judges = TwoJudges.of(case.panel, "lenient1", ["careful1"])
    used = topics_used(case, judges, plan)
    found = residuals_of(case, plan, judges, used=used)[0]
    weights, linear = rank_weights(parse_measure(measure), 1000)
    gains, seen = judges.gains(plan.worths[0].values, 0, 2)
    gains = gains if linear else gains / plan.worths[0].values.max()
    facts = case.facts
    hits = [
        (facts.system[n], facts.topic[n], facts.item[h], weights[facts.rank[h] - 1])
        for n in range(len(facts.depth))
        for h in range(facts.offset[n], facts.offset[n + 1])
        if facts.rank[h] <= len(weights)
    ]
    items = sorted({item for _, _, item, _ in hits if seen[:, item].any()})
    total = {item: sum(w for _, _, other, w in hits if other == item) for item in items}
    topic = {item: int(facts.items.topic[item]) for item in items}
    labelled = np.array([seen[1, item] for item in items])
    columns = np.array([total[item] for item in items]), labelled, np.array([topic[item] for item in items])
    pi = dict(zip(items, inclusion_probabilities(*columns), strict=True))
    error = {item: gains[1, item] - gains[0, item] for item in items}
    known = [item for item in items if seen[1, item]]
    count = {item: total[item] / pi[item] for item in known}
    norm = len(known) / sum(count.values())
    count = {item: value * norm for item, value in count.items()}
    whole = sum(count[i] * error[i] for i in known) / sum(count.values())

    def mean_of(values, group, item, prior):
        """Mean over the other labelled items of the same group."""
        others = [i for i in known if group[i] == group[item] and i != item]
        return sum(count[i] * values[i] for i in others) / (sum(count[i] for i in others) + prior)

    label = judges.labels
    centred = {i: error[i] - whole for i in known}
    by_label = {i: whole + mean_of(centred, label, i, 2.0) for i in items}
    rest = {i: error[i] - by_label[i] for i in known}
    mu = {i: by_label[i] + mean_of(rest, topic, i, 3.0) for i in items}
    z = {i: mu[i] + ((error[i] - mu[i]) / pi[i] if seen[1, i] else 0.0) for i in items}
    expected = np.zeros((len(facts.items.topics), len(facts.systems)))
    for system, of_topic, item, weight in hits:
        expected[of_topic, system] += weight * z.get(item, 0.0)
    np.testing.assert_allclose(found.values, expected[used], atol=1e-9)
    assert found.linear == linear


def test_a_lenient_judge_favours_no_one():
    """The judge gives every document one label more than the reference, in lists of the same length."""
    rng = np.random.default_rng(2)
    rows = [(f"t{t}", f"d{d}", rng.integers(3)) for t in range(8) for d in range(12)]
    long = [(t, d, who, str(x + more)) for t, d, x in rows for who, more in (("ann", 0), ("llm", 1))]
    labels = read_judgments(pl.DataFrame(long, schema=["topic", "doc", "assessor", "label"], orient="row"))
    runs = {s: {f"t{t}": {f"d{d}": float(rng.random()) for d in range(12)} for t in range(8)} for s in ("a", "b", "c")}
    found = favoured_systems(labels, runs, "CG@5", judge="llm", reference="ann", margin=0)
    np.testing.assert_allclose(found.by_system.difference, 0, atol=1e-12)
    assert (found.by_system.p_adjusted == 1).all()
    assert found.found == ()
    assert "favours no system" in found.sentence()


def test_an_overrated_system_is_found():
    found = favoured_systems(judged(table()), lists(), ["P(rel=2)@5", "nDCG@5"], judge="llm", reference="expert")
    assert found.found == ("L",)
    of_l = {row["measure"]: row for row in found.records() if row["system"] == "L"}
    assert list(of_l["nDCG@5"]) == ["system", "measure", "residual", "low", "high", "p_adjusted"]
    for row in of_l.values():
        assert row["low"] < row["residual"] < row["high"] < 0
        assert row["p_adjusted"] < 0.01
    assert found.sentence().startswith("The judge llm favours L: compared with the other systems, its P(rel=2)@5 is ")


def test_nobody_is_favoured_by_an_identical_judge():
    found = favoured_systems(judged(table(identical=True)), lists(), "P(rel=2)@5", judge="llm", reference="expert")
    assert found.found == ()
    assert {row["p_adjusted"] for row in found.records()} == {1.0}
    assert {row["residual"] for row in found.records()} == {0.0}


def test_the_margin_is_a_share_of_the_best_score():
    labels, runs, both = judged(table()), lists(), {"judge": "llm", "reference": "expert"}
    for measure in ("P(rel=2)@5", "CG@5"):
        free = favoured_systems(labels, runs, measure, **both, margin=0)
        share = -free.by_system.difference[free.systems.index("L"), 0] / (15 if measure == "CG@5" else 1)
        within = favoured_systems(labels, runs, measure, **both, margin=min(share * 1.01, 1))
        assert free.found == ("L",)
        assert within.found == ()
        np.testing.assert_array_equal(within.by_system.residual, free.by_system.residual)


def test_families_are_tested_together():
    runs = lists()
    families = {"expertly": ["C", "D"], "llm-based": ["L"]}
    found = favoured_systems(judged(table()), runs, "P(rel=2)@5", judge="llm", reference="expert", families=families)
    assert found.families == ("expertly", "llm-based")
    assert found.found_families == ("llm-based",)
    assert [next(iter(row)) for row in found.family_records()] == ["family", "family"]
    assert found.by_family.difference[0, 0] == pytest.approx(-found.by_family.difference[1, 0])
    alone = favoured_systems(judged(table()), runs, "P(rel=2)@5", judge="llm", reference="expert")
    assert found.by_family.difference[1, 0] == pytest.approx(alone.by_system.difference[alone.systems.index("L"), 0])
    assert [note.fields["family"] for note in found.notes if note.kind == "self-preference"] == ["llm-based"]
    assert "Self-preference" in found.sentence()
    assert found.to_dict()["families"] == found.family_records()
    assert "families" not in alone.to_dict()


@pytest.mark.parametrize(
    ("families", "error"),
    [({"all": ["C", "D", "L"]}, SettingError), ({"none": []}, SettingError), ({"x": ["nosuch"]}, UnknownName)],
)
def test_families_must_be_some_of_the_systems(families, error):
    with pytest.raises(error):
        favoured_systems(judged(table()), lists(), judge="llm", reference="expert", families=families)


def test_the_order_of_labels_does_not_matter(made):
    labels = part_of(made.judgments, "careful1", lambda item: item % 2 == 0)
    one = favoured_systems(labels, made.runs, ["P@5", "AP"], **BOTH)
    shuffled = labels.take(np.random.default_rng(0).permutation(len(labels)))
    other = favoured_systems(shuffled, made.runs, ["P@5", "AP"], **BOTH)
    np.testing.assert_allclose(one.by_system.difference, other.by_system.difference, atol=1e-12)
    np.testing.assert_allclose(one.by_system.p_adjusted, other.by_system.p_adjusted)


def test_the_order_of_systems_does_not_matter():
    runs = lists()
    one = favoured_systems(judged(table()), runs, "RBP", judge="llm", reference="expert")
    other = favoured_systems(
        judged(table()), {name: runs[name] for name in reversed(runs)}, "RBP", judge="llm", reference="expert"
    )
    rows = {row["system"]: row["residual"] for row in other.records()}
    assert {row["system"]: row["residual"] for row in one.records()} == pytest.approx(rows)


def test_a_case_serves_many_judges(made):
    case, plan = case_of(made.judgments, made.runs, ["P@5"])
    for judge in ("lenient1", "strict1"):
        one = favoured_on(case, plan, judge=judge, reference=["careful1"], rng=4)
        alone = favoured_systems(made.judgments, made.runs, "P@5", judge=judge, reference="careful1", rng=4)
        assert one.records() == alone.records()


def test_labels_of_several_people_count_with_their_mean(made):
    case, plan = case_of(made.judgments, made.runs, ["P(rel=2)@5"])
    judges = TwoJudges.of(case.panel, "lenient1", ["careful1", "careful2"])
    values = np.array([0.0, 0.0, 1.0, 1.0])
    gains, seen = judges.gains(values, 1, 2)
    expected = [evaluate(made.judgments, made.runs, "P(rel=2)@5", assessor=f"careful{n}").values for n in (1, 2)]
    found = residuals_of(case, plan, judges, used=topics_used(case, judges, plan))[0]
    own = evaluate(made.judgments, made.runs, "P(rel=2)@5", assessor="lenient1").values
    np.testing.assert_allclose(found.values.T, (np.mean(expected, axis=0) - own)[:, :, 0], atol=1e-12)
    assert set(gains[seen]) == {0.0, 0.5, 1.0}


def test_the_declared_reference_is_used(made):
    declared = made.judgments.declare(reference="careful1")
    found = favoured_systems(declared, made.runs, "P@5", judge="lenient1")
    assert found.reference == ("careful1",)
    assert found.records() == favoured_systems(made.judgments, made.runs, "P@5", **BOTH).records()


def test_stated_probabilities_are_used(made):
    labels = part_of(made.judgments, "careful1", lambda item: item % 4 == 0)
    given = np.where(labels.assessor.among("careful1", "assessor"), 0.25, np.nan)
    stated = replace(labels, probability=given)
    case, _ = case_of(stated, made.runs, ["P@5"])
    judges = TwoJudges.of(case.panel, "lenient1", ["careful1"])
    found = stated_probabilities(case, judges)
    assert set(found[~np.isnan(found)]) == {0.25}
    kinds = [
        {note.kind for note in favoured_systems(each, made.runs, "P@5", **BOTH).notes} for each in (labels, stated)
    ]
    assert kinds == [{"assumed-sample"}, set()]


@pytest.mark.parametrize("n_rounds", [1, 2, 4])
def test_labels_of_several_rounds_do_not_stand_for_more_than_there_is(made, n_rounds):
    """Each round draws from what the rounds before left, and has the probabilities of its own draw."""
    everything = case_of(made.judgments, made.runs, ["P@5"])
    used = np.arange(len(made.judgments.topics))
    both = TwoJudges.of(everything[0].panel, "lenient1", ["careful1"])
    truth = residuals_of(*everything, both, used=used)[0].values.mean(axis=0)
    counted = np.unique(everything[0].facts.item[everything[0].facts.rank <= 5])
    own, found = made.judgments.assessor.among("careful1", "assessor"), []
    for rng in np.random.default_rng(4).spawn(30):
        chance, left = np.full(len(made.judgments.items), np.nan), rng.permutation(counted)
        for size in np.full(n_rounds, 120 // n_rounds):
            chance[left[:size]], left = size / len(left), left[size:]
        labels = made.judgments.take(~own | ~np.isnan(chance[made.judgments.item]))
        by_reference = labels.assessor.among("careful1", "assessor")
        stated = replace(labels, probability=np.where(by_reference, chance[labels.item], np.nan))
        case, plan = case_of(stated, made.runs, ["P@5"])
        judges, values = TwoJudges.of(case.panel, "lenient1", ["careful1"]), np.zeros((len(used), len(truth)))
        some = topics_used(case, judges, plan)
        values[some] = residuals_of(case, plan, judges, used=some)[0].values
        found.append(values.mean(axis=0))
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - truth) < 4 * error + 0.01).all()


def test_a_judge_who_labelled_some_results_is_compared_on_those(made):
    labels = part_of(made.judgments, "lenient1", lambda item: item % 2 == 0)
    found = favoured_systems(labels, made.runs, ["P@5", "nDCG@5"], **BOTH)
    kinds = {note.kind: note for note in found.notes}
    assert set(kinds) == {"judge-incomplete", "linearised"}
    assert 0.3 < kinds["judge-incomplete"].fields["share"] < 0.7


def test_measures_that_are_not_linear_are_named(made):
    labels = part_of(made.judgments, "careful1", lambda item: item % 2 == 0)
    found = favoured_systems(labels, made.runs, ["P@5", "AP", "nDCG@5"], **BOTH)
    named = [note.fields["measures"] for note in found.notes if note.kind == "linearised"]
    assert named == [("AP", "nDCG@5")]


def test_few_topics_cannot_show_favour():
    labels = judged(table().filter(pl.col("topic").is_in(["q0", "q1", "q2", "q3"])))
    found = favoured_systems(labels, lists(), "P(rel=2)@5", judge="llm", reference="expert")
    assert found.found == ()
    assert found.by_system.p_adjusted.min() >= 0.125
    assert [note.fields["n"] for note in found.notes if note.kind == "few-topics"] == [4]


def test_one_topic_has_no_interval():
    labels = judged(table().filter(pl.col("topic") == "q0"))
    found = favoured_systems(labels, lists(), "P(rel=2)@5", judge="llm", reference="expert")
    assert {row["low"] for row in found.records()} == {None}
    assert {row["p_adjusted"] for row in found.records()} == {1.0}
    assert found.sentence()


def test_without_labels_of_the_reference_on_results():
    labels = judged(table().filter((pl.col("assessor") == "llm") | (pl.col("doc") == "x19")))
    with pytest.raises(PairsError) as raised:
        favoured_systems(labels, lists(), judge="llm", reference="expert")
    assert raised.value.hint


def apart(*, first_by="expert"):
    """The judge labelled the first document of every list of C and L, the reference the others, or the reverse."""
    first, llm = pl.col("doc").is_in(["C0", "L0"]), pl.col("assessor") == "llm"
    return judged(table().filter(first == (llm if first_by == "llm" else ~llm)))


@pytest.mark.parametrize("first_by", ["expert", "llm"])
def test_without_a_result_that_both_labelled_favour_is_not_known(first_by):
    runs = {name: lists()[name] for name in "CL"}
    with pytest.raises(PairsError, match="labelled by llm and by expert") as raised:
        favoured_systems(apart(first_by=first_by), runs, "P(rel=2)@5", judge="llm", reference="expert")
    assert raised.value.hint


def test_a_judge_without_labels_on_results_favours_nobody():
    labels = judged(table().filter((pl.col("assessor") == "expert") | (pl.col("doc") == "x19")))
    with pytest.raises(PairsError):
        favoured_systems(labels, lists(), "P(rel=2)@5", judge="llm", reference="expert")


def test_a_measure_without_labels_of_both_is_not_known_and_the_others_are():
    first, llm = pl.col("doc").is_in(["C0", "L0"]), pl.col("assessor") == "llm"
    labels = judged(table().filter(~llm | ~first))
    runs = {name: lists()[name] for name in "CL"}
    found = favoured_systems(labels, runs, ["P(rel=2)@1", "P(rel=2)@5"], judge="llm", reference="expert")
    assert [note.fields["measure"] for note in found.notes if note.kind == "no-common-labels"] == ["P(rel=2)@1"]
    rows = {(row["system"], row["measure"]): row for row in found.records()}
    assert {rows[name, "P(rel=2)@1"][key] for name in "CL" for key in ("residual", "low", "p_adjusted")} == {None}
    assert rows["L", "P(rel=2)@5"]["p_adjusted"] is not None
    assert "nan" not in found.sentence()


def lenient(n_topics=40, rng=3):
    """A judge who takes half of what is irrelevant for relevant, whoever returns it, and lists of three systems."""
    rng, rows, runs = np.random.default_rng(rng), [], {"A": {}, "B": {}, "C": {}}
    for t in range(n_topics):
        true = rng.integers(2, size=20)
        said = true | (rng.random(20) < 0.5)
        both = (("ann", true), ("llm", said))
        rows += [(f"q{t}", f"d{d}", name, str(int(x[d]))) for d in range(20) for name, x in both]
        for run in runs.values():
            run[f"q{t}"] = {f"d{d}": -float(n) for n, d in enumerate(rng.permutation(20)[:10])}
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    return read_judgments(frame, scale="0<1"), runs


@pytest.mark.parametrize("missing", [("B", "C"), ("A",)])
def test_leniency_to_all_is_no_favour_where_lists_are_missing(missing):
    labels, runs = lenient()
    for name in missing:
        runs[name] = {topic: docs for topic, docs in runs[name].items() if int(topic[1:]) % 2 == 0}
    found = favoured_systems(labels, runs, "P@10", judge="llm", reference="ann")
    assert found.found == ()
    assert found.by_system.p_adjusted.min() > 0.1
    assert np.abs(found.by_system.difference).max() < 0.06
    assert [note.fields["n"] for note in found.notes if note.kind == "missing-lists"] == [20 * len(missing)]
    half = [f"q{t}" for t in range(0, 40, 2)]
    alone = favoured_systems(labels, runs, "P@10", judge="llm", reference="ann", topics=half)
    if len(missing) == 2:  # on the other topics there is nothing to compare with
        np.testing.assert_allclose(found.by_system.difference, alone.by_system.difference)
    assert not [note for note in alone.notes if note.kind == "missing-lists"]


def test_a_system_is_compared_with_the_lists_of_each_topic():
    """As in the small example, with the list of two for t1 missing: one is then compared with three alone."""
    runs = ranked(one=["ab", "ab"], two=["cd", "cd"], three=["ac", "ac"])
    del runs["two"]["t1"]
    found = favoured_systems(EXAMPLE, runs, "P@2", judge="llm", reference="ann")
    expected = {"one": (-0.75 - 0.5) / 2, "two": 0.75, "three": (0.0 + 0.5) / 2}
    assert dict(zip(found.systems, found.by_system.difference[:, 0], strict=True)) == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore::venire.errors.MissingTopicsWarning")
def test_a_system_with_few_lists_is_not_tested_and_costs_the_others_nothing():
    labels, runs = judged(table()), lists()
    alone = favoured_systems(labels, runs, "P(rel=2)@5", judge="llm", reference="expert")
    few = {**runs, "few": {topic: runs["C"][topic] for topic in ("q0", "q1")}, "none": {"other": {"x0": 1.0}}}
    found = favoured_systems(labels, few, "P(rel=2)@5", judge="llm", reference="expert")
    assert alone.found == found.found == ("L",)
    rows = {row["system"]: row for row in found.records()}
    assert rows["few"]["p_adjusted"] is None
    assert rows["few"]["residual"] is not None
    assert rows["none"]["residual"] is rows["none"]["low"] is rows["none"]["p_adjusted"] is None
    assert "favours L" in found.sentence()
    families = {"both": ("L", "none"), "gone": ("none",)}
    assert favoured_systems(labels, few, "P(rel=2)@5", judge="llm", reference="expert", families=families).families == (
        "both",
    )


def test_topics_without_lists_of_two_systems_cannot_be_compared():
    runs = {"C": {"q0": lists()["C"]["q0"]}, "L": {"q1": lists()["L"]["q1"]}}
    with pytest.raises(PairsError, match="two systems") as raised:
        favoured_systems(judged(table()), runs, "P(rel=2)@5", judge="llm", reference="expert")
    assert raised.value.hint


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"judge": "llm"}, SettingError),
        ({"judge": "llm", "reference": "llm"}, SettingError),
        ({"judge": "nosuch", "reference": "expert"}, UnknownName),
        ({"judge": "llm", "reference": "nosuch"}, UnknownName),
        ({"judge": "llm", "reference": "expert", "margin": 2.0}, SettingError),
    ],
)
def test_settings_are_checked(options, error):
    with pytest.raises(error):
        favoured_systems(judged(table()), lists(), **options)


def test_one_system_alone_is_not_compared():
    with pytest.raises(SettingError):
        favoured_systems(judged(table()), {"L": lists()["L"]}, judge="llm", reference="expert")


@pytest.mark.parametrize("measure", ["Judged@10", "RBPResidual"])
def test_measures_without_gains_are_refused(measure):
    with pytest.raises(MeasureError):
        favoured_systems(judged(table()), lists(), measure, judge="llm", reference="expert")


def test_condensed_lists_need_all_labels(made):
    labels = part_of(made.judgments, "careful1", lambda item: item % 2 == 0)
    case, plan = case_of(labels, made.runs, ["P@5"], unjudged="condensed")
    with pytest.raises(MeasureError):
        favoured_on(case, plan, judge="lenient1", reference="careful1")


def test_weights_by_rank():
    log = 1 / np.log2(np.arange(2, 6))
    expected = {
        "P@4": (np.full(4, 0.25), True),
        "CG@3": (np.ones(3), True),
        "DCG@4": (log, True),
        "RBP": (0.2 * 0.8 ** np.arange(6), True),
        "nDCG@4": (log / log.sum(), False),
        "ERR@2": (np.array([2, 1]) / 3, False),
        "Success@3": (np.full(3, 1 / 3), False),
    }
    for name, (weights, linear) in expected.items():
        found = rank_weights(parse_measure(name), 6)
        np.testing.assert_allclose(found[0], weights, err_msg=name)
        assert found[1] == linear, name


def test_probabilities_of_being_labelled_depend_on_the_weight():
    rng = np.random.default_rng(5)
    weight, topic = rng.gamma(2.0, size=2000), np.repeat(np.arange(20), 100)
    labelled = rng.random(2000) < 1 - np.exp(-0.4 * weight)
    labelled[topic == 3] = True
    found = inclusion_probabilities(weight, labelled, topic)
    assert (found[topic == 3] == 1).all()
    others = topic != 3
    assert found[others].sum() == pytest.approx(labelled[others].sum(), rel=0.01)
    true = 1 - np.exp(-0.4 * weight[others])
    assert np.abs(found[others] - true).mean() < np.abs(labelled[others].mean() - true).mean() / 2


def test_probabilities_of_being_labelled_depend_on_the_topic():
    rng = np.random.default_rng(6)
    topic = np.repeat(np.arange(20), 100)
    rate = np.linspace(0.1, 0.9, 20)
    labelled = rng.random(2000) < rate[topic]
    found = inclusion_probabilities(np.ones(2000), labelled, topic)
    np.testing.assert_allclose(np.bincount(topic, found), np.bincount(topic, labelled), atol=2)


def by_judge(labels):
    """Lists of all documents of each topic, by the label of the judge."""
    rows = labels.where(assessor="llm")
    topics, docs = rows.column("topic").texts(), rows.column("doc").texts()
    lists_of = {}
    for topic, doc, label in zip(topics, docs, rows.label.tolist(), strict=True):
        lists_of.setdefault(topic, {})[doc] = float(label)
    return lists_of


def test_a_system_that_ranks_by_the_labels_of_the_judge_is_named():
    labels = judged(table())
    runs = {**lists(), "sorted": by_judge(labels)}
    found = favoured_systems(labels, runs, "P(rel=2)@5", judge="llm", reference="expert")
    notes = [note for note in found.notes if note.kind == "judge-as-ranker"]
    assert [note.fields["system"] for note in notes] == ["sorted"]
    assert notes[0].fields["share"] == 1
    assert found.in_order[found.systems.index("sorted")] == 1
    plain = favoured_systems(labels, lists(), "P(rel=2)@5", judge="llm", reference="expert")
    assert not [note for note in plain.notes if note.kind == "judge-as-ranker"]


def test_few_pairs_do_not_show_how_a_system_ranks():
    """With the labels of the reference on two documents of each topic, there are fewer than 30 pairs to compare on."""
    labels = judged(table())
    runs = {**lists(), "sorted": by_judge(labels)}
    few = judged(table().filter((pl.col("assessor") == "llm") | pl.col("doc").is_in(["L0", "C0"])))
    found = favoured_systems(few, runs, "P(rel=2)@5", judge="llm", reference="expert")
    assert found.in_order[found.systems.index("sorted")] == 1
    assert not [note for note in found.notes if note.kind == "judge-as-ranker"]


def test_the_judge_and_the_reference_are_compared_on_the_same_items():
    """They agree wherever both labelled, so the order of a system cannot be nearer to one of them."""
    frame = table(identical=True)
    runs = {**lists(), "sorted": by_judge(judged(frame))}
    some = frame.filter((pl.col("assessor") == "llm") | (pl.col("doc").str.ends_with("1")))
    case, _ = case_of(judged(some), runs, ["P(rel=2)@5"])
    both = TwoJudges.of(case.panel, "llm", ["expert"])
    own, theirs = both.labels, TwoJudges.of(case.panel, "expert", ["llm"]).labels
    used = np.arange(len(case.facts.items.topics))
    assert ranked_in_order(case.facts, own, used).max() == 1
    assert pairs_in_order(case.facts, theirs, used)[1].max() >= 30
    assert not rankers(case.facts, own, theirs, used=used).any()


def test_pairs_in_order_the_slow_way(made):
    case, _ = case_of(made.judgments, made.runs, ["P@5"])
    facts, label = case.facts, TwoJudges.of(case.panel, "lenient1", ["careful1"]).labels
    used = np.arange(1, len(facts.items.topics))
    right, wrong = np.zeros(len(facts.systems)), np.zeros(len(facts.systems))
    for n, (system, topic) in enumerate(zip(facts.system, facts.topic, strict=True)):
        own = label[facts.item[facts.offset[n] : facts.offset[n + 1]]]
        own = own[own >= 0] if topic > 0 else own[:0]
        sign = np.sign(own[:, None] - own)[np.triu_indices(len(own), 1)]
        right[system] += (sign > 0).sum()
        wrong[system] += (sign < 0).sum()
    np.testing.assert_allclose(ranked_in_order(facts, label, used), right / (right + wrong))
