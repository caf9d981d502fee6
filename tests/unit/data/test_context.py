"""Labels in condition: read, refused, and found for a list; whose they are and where they come from."""

import numpy as np
import polars as pl
import pytest

from venire import FormatError, evaluate, read_judgments
from venire.data.context import Context
from venire.data.panel import build_panel
from venire.data.scale import Scale
from venire.errors import AmbiguousLabels, MeasureError, ScaleError, SettingError, UnjudgedWarning, UnknownName

RUN = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}
ALONE = [("1", "a", "ann", 3, ""), ("1", "b", "ann", 2, ""), ("1", "c", "ann", 1, "")]


def read(rows, **options):
    schema = ["topic", "doc", "assessor", "label", "given"]
    frame = pl.DataFrame([(*row[:3], str(row[3]), row[4]) for row in rows], schema=schema, orient="row")
    return read_judgments(frame, scale="0<1<2<3", **options)


def score(rows, name, **options):
    return evaluate(read(rows), RUN, name, **options)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1,b,2,b", r"x.csv:4: document 'b' is given itself for topic '1'"),
        ("1,b,2,z", r"(?s)x.csv:4: document 'b' is given 'z', which is not in the collection.*there are 'a', 'b'"),
        ("1,b,2,other", r"x.csv:4: document 'b' is given 'other', which is not in the collection"),
    ],
)
def test_a_document_given_itself_or_one_that_is_not_there_names_its_line(tmp_path, line, message):
    path = tmp_path / "x.csv"
    path.write_text(f"topic,doc,label,given\n1,a,1,\n1,b,1,a\n{line}\n2,other,1,\n")
    with pytest.raises(FormatError, match=message) as caught:
        read_judgments(path)
    assert caught.value.line == 4


def test_frames_and_wide_tables_are_checked_too():
    rows = {"topic": ["1", "1"], "doc": ["a", "b"], "given": [None, "b"], "ann": ["1", "0"], "bob": ["0", "1"]}
    with pytest.raises(FormatError, match="frame:2: document 'b' is given itself"):
        read_judgments(pl.DataFrame(rows), layout="wide")
    with pytest.raises(FormatError, match="frame:2: document 'b' is given itself"):
        read_judgments(pl.DataFrame(rows).drop("bob").rename({"ann": "label"}))
    fine = read_judgments(pl.DataFrame({**rows, "given": [None, "a"]}), layout="wide")
    assert evaluate(fine, {"1": {"a": 1.0}}, "CG(alpha=1)@1", assessor="ann").values.item() == 1.0


def test_labels_in_two_files_are_one_collection(tmp_path):
    (tmp_path / "alone.csv").write_text("topic,doc,label,assessor\n1,a,1,x\n1,b,1,x\n")
    (tmp_path / "after.csv").write_text("topic,doc,label,assessor,given\n1,b,0,x,a\n")
    both = read_judgments([tmp_path / "alone.csv", tmp_path / "after.csv"])
    assert evaluate(both, RUN, "CG(alpha=0.5)@2").values.item() == 1.5
    with pytest.raises(FormatError, match=r"after.csv:2: document 'b' is given 'a', which is not in the collection"):
        read_judgments(tmp_path / "after.csv")


def test_collected_else_given_the_first_else_in_isolation_and_counted():
    rows = [*ALONE, ("1", "b", "ann", 0, "a"), ("1", "c", "ann", 3, "a")]
    scores = score(rows, "CG(alpha=0.5)@3")
    assert scores.values.item() == 3 + 1 + 1
    assert (scores.context.collected, scores.context.backoff_isolation) == (1, 1)
    first = score(rows, "CG(alpha=0.5)@3", context=Context(backoff="first"))
    assert first.values.item() == 3 + 1 + 2
    assert first.context.record() == {
        "backoff": "first",
        "expected": False,
        "first_rank": 1,
        "collected": 1,
        "predicted": 0,
        "backoff_first": 1,
        "backoff_isolation": 0,
        "after_unjudged": 0,
        "best_orders": [],
    }
    (note,) = [each for each in first.notes if "collected" in each.fields]
    assert (note.fields["n"], note.fields["collected"], note.fields["backoff_first"]) == (2, 1, 1)


def test_after_an_unjudged_document_a_label_backs_off():
    rows = [*ALONE, ("1", "c", "ann", 0, "b")]
    run = {"1": {"a": 4.0, "b": 3.0, "x": 2.0, "c": 1.0}}
    with pytest.warns(UnjudgedWarning):
        scores = evaluate(read(rows), run, "CG(alpha=1)@4")
    assert scores.values.item() == 3 + 2 + 1
    assert (scores.context.backoff_isolation, scores.context.after_unjudged) == (2, 1)
    condensed = evaluate(read(rows), run, "CG(alpha=1)@4", unjudged="condensed")
    assert condensed.values.item() == 3 + 2 + 0
    assert evaluate(read(rows), run, "CG(alpha=1)@4", unjudged=0.5).values.item() == 3 + 2 + 0.5 + 1


def test_a_document_labelled_only_in_condition_counts_there():
    rows = [*ALONE[:1], ("1", "b", "ann", 2, "a")]
    with pytest.warns(UnjudgedWarning):
        assert score(rows, "CG(alpha=0.5)@3").values.item() == 3 + 1


def test_each_judge_has_labels_in_condition_of_their_own_and_a_pool_shares_them():
    bob = [(*row[:2], "bob", *row[3:]) for row in ALONE]
    rows = [*ALONE, *bob, ("1", "b", "ann", 0, "a"), ("1", "b", "bob", 3, "a"), ("1", "c", "bob", 0, "b")]
    each = score(rows, "CG(alpha=1)@3", per="assessor")
    assert each.values.ravel().tolist() == [3 + 0 + 1, 3 + 3 + 0]
    assert score(rows, "CG(alpha=1)@3", assessor="bob").values.item() == 6
    assert score(rows, "CG(alpha=1)@3", pool="mean").values.item() == 3 + 1.5 + 0
    assert score(rows, "CG(alpha=1)@3", pool="max").values.item() == 3 + 3 + 0


def test_judges_without_labels_in_isolation_are_left_out_or_refused():
    other = [*ALONE, ("1", "b", "bob", 0, "a")]
    with pytest.raises(AmbiguousLabels, match="labels are by 'bob', who gave none in isolation"):
        score(other, "CG(alpha=1)@3")
    scores = score([*other, ("1", "b", "ann", 1, "a")], "CG(alpha=1)@3")
    assert scores.values.item() == 3 + 1 + 1
    assert [n.fields for n in scores.notes if n.kind == "conditional-labels-without-isolation"] == [{"names": ("bob",)}]
    assert score(other, "CG(alpha=1)@3", pool="mean").values.item() == 3 + 0 + 1


def test_gains_are_interpolated_before_powers_and_stated_ones_themselves():
    rows = [*ALONE, ("1", "b", "ann", 0, "a")]
    assert score(rows, "DCG(alpha=0.5,dcg='exp-log2')@2").values.item() == pytest.approx(7 + 1 / np.log2(3))
    assert score(rows, "CG(alpha=0.5)@2", gains="exponential").values.item() == pytest.approx(7 + 1)
    stated = {"0": 0.1, "1": 0.2, "2": 0.5, "3": 0.9}
    assert score(rows, "CG(alpha=0.5)@2", gains=stated).values.item() == pytest.approx(0.9 + 0.3)
    assert score(rows, "ERR(alpha=0.5)@2").values.item() == pytest.approx(7 / 8 + 1 / 8 * (1 / 8) / 2)
    assert score(rows, "ERR(alpha=0.5)@2", gains=stated).values.item() == pytest.approx(0.9 + 0.1 * 0.3 / 2)


def test_copies_have_no_utility_and_the_best_order_takes_one():
    rows = [*ALONE, ("1", "b", "ann", 3, "a")]
    scores = score(rows, ["CG(alpha=1)@3", "nDCG(alpha=1)@3"], duplicates=[["a", "b"]])
    assert scores.values[0, 0, 0] == 3 + 0 + 1
    assert scores.values[0, 0, 1] == pytest.approx((3 + 1 / 2) / (3 + 1 / np.log2(3)))


class Always:
    """Predicts one distribution."""

    def __init__(self, *shares):
        self.shares = shares

    def probabilities(self, pairs):
        return np.tile(np.array(self.shares, dtype=float), (len(pairs), 1))


def test_predicted_labels_by_the_most_probable_or_by_their_mean():
    rows = [*ALONE, ("1", "b", "ann", 3, "a")]
    model = Always(0.1, 0.2, 0.6, 0.1)
    scores = score(rows, "CG(alpha=1)@3", context=Context(predictor=model))
    assert scores.values.item() == 3 + 3 + 2
    assert (scores.context.collected, scores.context.predicted) == (1, 1)
    mean = score(rows, "CG(alpha=1)@3", context=Context(predictor=model, expected=True))
    assert mean.values.item() == pytest.approx(3 + 3 + 1.7)
    powers = score(rows, "CG(alpha=1)@3", gains="exponential", context=Context(predictor=model, expected=True))
    assert powers.values.item() == pytest.approx(7 + 7 + 0.2 + 0.6 * 3 + 0.1 * 7)
    assert score(ALONE, "CG(alpha=1)@3", context=Context(predictor=model)).context.predicted == 2


def test_what_cannot_be_is_refused_with_a_way_out():
    with pytest.raises(MeasureError, match=r"(?s)CG\(alpha=0.5\)@3 needs conditional labels.*column given is empty"):
        score(ALONE, "CG(alpha=0.5)@3")
    with pytest.raises(MeasureError, match="they have no column given"):
        evaluate({"1": {"a": 1}}, RUN, "CG(alpha=0.5)@3")
    assert score(ALONE, "CG(alpha=0)@3").values.item() == 6
    with pytest.raises(UnknownName, match="no back-off 'none'"):
        Context(backoff="none")
    with pytest.raises(SettingError, match="an expected gain needs predicted labels"):
        Context(expected=True)
    with pytest.raises(SettingError, match=r"have the shape \(2, 3\), expected \(2, 4\)"):
        score(ALONE, "CG(alpha=1)@3", context=Context(predictor=Always(0.5, 0.5, 0)))
    with pytest.raises(MeasureError, match="not defined when unjudged documents have a gain"):
        score([*ALONE, ("1", "b", "ann", 0, "a")], "nDCG(alpha=1)@3", unjudged=0.5)
    other = Always(1, 0, 0, 0)
    other.scale = Scale.parse("w<x<y<z")
    with pytest.raises(ScaleError, match="predicted on the scale w<x<y<z"):
        score(ALONE, "CG(alpha=1)@3", context=Context(predictor=other))


def test_the_label_with_the_most_weight_the_lowest_of_several():
    rows = [
        ("1", "a", "ann", 3, ""),
        ("1", "a", "ann", 1, ""),
        ("1", "a", "ann", 3, ""),
        ("1", "b", "ann", 2, ""),
        ("1", "b", "ann", 1, ""),
        ("1", "c", "bob", 0, ""),
    ]
    panel = build_panel(read(rows, duplicate_labels="keep"), per="assessor")
    np.testing.assert_array_equal(panel.labels(0, 2), [[3, 1, -1], [-1, -1, 0]])
    np.testing.assert_array_equal(panel.labels(1, 2), [[-1, -1, 0]])


def test_many_documents_are_searched_and_it_is_said():
    rng = np.random.default_rng(0)
    docs = [f"d{n:02}" for n in range(60)]
    rows = [("1", doc, "ann", int(label), "") for doc, label in zip(docs, rng.integers(1, 4, 60), strict=True)]

    class Low:
        def probabilities(self, pairs):
            return np.eye(4)[np.where((pairs.item + pairs.given) % 3 == 0, pairs.label, 0)]

    run = {"1": {doc: -float(place) for place, doc in enumerate(docs)}}
    scores = evaluate(read(rows), run, "nCCG(alpha=0.9)@4", context=Context(predictor=Low()))
    (best,) = scores.context.best_orders.values()
    assert best.exact + best.searched == 1
    assert 0 < scores.values.item() <= 1
    exact = evaluate(read(rows), run, "nCCG(alpha=0.9)@4", context=Context(predictor=Always(0, 0, 0, 1)))
    assert exact.context.best_orders["nCCG(alpha=0.9)@4"].exact == 1


def crowded(n_docs, *, hidden=3):
    """One topic whose best documents are worth nothing in isolation, and everything after each other."""
    docs = [f"d{n:02}" for n in range(n_docs)]
    rows = [("1", doc, "ann", int(n >= hidden), "") for n, doc in enumerate(docs)]
    rows += [("1", a, "ann", 3, b) for a in docs[:hidden] for b in docs[:hidden] if a != b]
    return docs, rows


@pytest.mark.parametrize("n_docs", [20, 48, 49, 60, 200])
@pytest.mark.parametrize("name", ["nCCG(alpha=1)@3", "nDCG(alpha=0.8)@5", "nERR(alpha=0.9)@3"])
def test_no_list_of_judged_documents_scores_above_one(n_docs, name):
    docs, rows = crowded(n_docs)
    run = {"1": {doc: -float(place) for place, doc in enumerate(docs)}}
    scores = evaluate(read(rows), run, [name, "nCCG(alpha=1)@1"])
    best = scores.context.best_orders[name]
    assert 0 < scores.values[0, 0, 0] <= 1 + 1e-12
    assert best.above == 0
    if n_docs <= 48 or name.endswith("@3"):
        assert best.exact == 1, "no walk is worth more than the best order found"


def test_what_is_bounded_is_said():
    """Of 120 documents each is worth 3 after the one before it alone: the best order is not among 48 of them."""
    docs = [f"d{n:03}" for n in range(120)]
    rows = [("1", doc, "ann", 1, "") for doc in docs]
    rows += [("1", docs[n], "ann", 3, docs[(n * 7 + 5) % 120]) for n in range(120) if n != (n * 7 + 5) % 120]
    run = {"1": {doc: -float(place) for place, doc in enumerate(docs)}}
    scores = evaluate(read(rows), run, ["nCCG(alpha=1)@6", "CCG(alpha=1)@6"])
    (best,) = scores.context.best_orders.values()
    assert best.searched == 1
    assert best.above == 0
    least = (1 - best.furthest) * scores.values[0, 0, 1] / scores.values[0, 0, 0]
    assert 0 < best.furthest < 1
    assert least <= scores.values[0, 0, 1] / scores.values[0, 0, 0]
