from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from venire import Judgments, read_judgments
from venire.disagreement.combined_labels import combine, combined_table, split_units
from venire.disagreement.predicted_relevance import PredictedRelevance
from venire.errors import AmbiguousLabels, PairsError, ScaleError
from venire.io import read_grid

SNIPPETS, PAGES = "No<Unlikely<Maybe<Sure", "Non<Rel<HRel<Key"
Row = tuple[str, str, str, str]


def judged(rows: list[Row], scale: str, duplicate_labels: str | None = None) -> Judgments:
    import polars as pl

    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    return read_judgments(frame, scale=scale, duplicate_labels=duplicate_labels)


def twice(pairs: Counter[tuple[str, str]]) -> tuple[Judgments, Judgments]:
    """Results judged by two assessors: how often each pair of combined labels occurs, written "Sure+Key"."""
    snippets, pages = [], []
    for number, labels in enumerate(each for each, n in pairs.items() for _ in range(n)):
        for who, label in zip("UV" if number % 2 else "VU", labels, strict=True):
            snippet, page = label.split("+")
            snippets.append((str(number % 15), f"d{number}", who, snippet))
            pages.append((str(number % 15), f"d{number}", who, page))
    return judged(snippets, SNIPPETS), judged(pages, PAGES)


PRINTED = Counter(
    {
        ("No+HRel", "Sure+Key"): 5,
        ("No+HRel", "No+Non"): 31,
        ("Maybe+HRel", "Sure+Key"): 87,
        ("Maybe+HRel", "Maybe+Rel"): 285,
        ("Sure+Rel", "Sure+Key"): 15,
        ("Sure+Rel", "Unlikely+Non"): 85,
        ("Sure+Key", "Sure+Key"): 60,
    }
)


def test_labels_of_snippet_and_page_become_one():
    snippets = read_grid("Sure Maybe No No\nNo Sure Sure .", scale="No<Maybe<Sure")
    pages = read_grid("Key Rel Non .\nNon Key Rel Key", scale="Non<Rel<Key")
    made = combine(snippets, pages)
    assert made.scale.labels == ("(any)+Non", "Maybe+Rel", "Sure+Rel", "Sure+Key")
    assert not made.scale.ordered
    assert sorted(made.to_polars().rows()) == [
        ("1", "d1", "U1", "Sure+Key"),
        ("1", "d1", "U2", "(any)+Non"),
        ("1", "d2", "U1", "Maybe+Rel"),
        ("1", "d2", "U2", "Sure+Key"),
        ("1", "d3", "U1", "(any)+Non"),
        ("1", "d3", "U2", "Sure+Rel"),
    ]
    assert {note.kind for note in made.notes} == {"unmatched-labels"}
    assert [note.fields for note in made.notes] == [{"n": 1, "unit": "snippet"}, {"n": 1, "unit": "page"}]
    apart = combine(snippets, pages, merge_lowest=False)
    assert apart.scale.labels == ("No+Non", "Maybe+Rel", "Sure+Rel", "Sure+Key")


def test_items_and_assessors_are_matched_by_name_whatever_their_order():
    rng = np.random.default_rng(3)
    cells = [(topic, doc, who) for topic in ("1", "10", "2") for doc in "abcd" for who in "UVW"]
    held = [
        {cell: str(rng.choice(labels.split("<"))) for cell in cells if rng.random() < 0.7}
        for labels in (SNIPPETS, PAGES)
    ]
    tables = []
    for labels, scale in zip(held, (SNIPPETS, PAGES), strict=True):
        rows = [(*cell, label) for cell, label in labels.items()]
        tables.append(judged([rows[n] for n in rng.permutation(len(rows))], scale))
    made = combine(*tables, merge_lowest=False).to_polars().rows()
    assert sorted(made) == sorted(
        (*cell, f"{held[0][cell]}+{held[1][cell]}") for cell in held[0].keys() & held[1].keys()
    )


def test_weights_that_follow_from_printed_counts():
    """Demeester et al. (2014), Section 7 and Table 4: 5 of 36 cases give 0.26, in brackets, p = .15 gives 0.28.

    87 of 372 gives 0.41, which the paper prints for another row.
    """
    table = combined_table(*twice(PRINTED))
    records = {f"{each['snippet']}+{each['page']}": each for each in table.records()}
    assert (records["No+HRel"]["hits"], records["No+HRel"]["pairs"], records["No+HRel"]["few"]) == (5, 36, True)
    assert round(records["No+HRel"]["weight"], 2) == 0.26
    assert round(records["Maybe+HRel"]["weight"], 2) == 0.41
    assert not records["Maybe+HRel"]["few"]
    assert round(records["Sure+Rel"]["weight"], 2) == 0.28
    assert (records["Sure+Key"]["weight"], records["(any)+Non"]["weight"]) == (1, 0)
    assert "(0.26) for No+HRel" in table.sentence()
    assert "(0.41)" not in table.sentence()


def test_rows_are_ordered_by_weight_and_stand_next_to_the_page_alone():
    pairs = PRINTED + Counter({("Unlikely+Key", "Sure+Key"): 3, ("Unlikely+Key", "No+Rel"): 7})
    table = combined_table(*twice(pairs))
    records = table.records()
    assert [each["weight"] for each in records] == sorted((each["weight"] for each in records), reverse=True)
    assert (records[0]["snippet"], records[0]["page"]) == ("Sure", "Key")
    pages = [([label.split("+")[1] for label in labels], n) for labels, n in pairs.items()]
    ordered = [pair for (a, b), n in pages for pair in ((a, b), (b, a)) for _ in range(n)]
    for each in records:
        seen = [other == "Key" for one, other in ordered if one == each["page"]]
        p = np.mean(seen)
        expected = {"Key": 1.0, "Non": 0.0}.get(each["page"], 1 - (1 - p) ** 2)
        assert each["page_weight"] == pytest.approx(expected)


def test_the_lowest_page_level_may_keep_its_estimate_and_its_snippets():
    pairs = Counter({("Maybe+Non", "Sure+Key"): 10, ("Maybe+Non", "No+Non"): 90, ("Sure+Key", "Sure+Key"): 60})
    table = combined_table(*twice(pairs), merge_lowest=False, lowest=None)
    weights = {(each["snippet"], each["page"]): each["weight"] for each in table.records()}
    assert weights["Maybe", "Non"] == pytest.approx(1 - 0.9**2)
    assert weights["No", "Non"] == 0
    fixed = combined_table(*twice(pairs), merge_lowest=False)
    assert {each["weight"] for each in fixed.records() if each["page"] == "Non"} == {0}


def test_another_top_other_users_and_another_pairing():
    table = combined_table(
        *twice(PRINTED), top=("Maybe", "HRel"), at_least=(2, 3), model=PredictedRelevance(weight="item", n_draws=0)
    )
    weights = {f"{each['snippet']}+{each['page']}": each for each in table.records()}
    p = 87 / (87 + 5 + 15 + 120)
    assert weights["Sure+Key"]["p"] == pytest.approx(p)
    assert weights["Sure+Key"]["weight"] == pytest.approx(p**2)
    assert weights["Maybe+HRel"]["weight"] == 0
    assert "would say Maybe+HRel" in table.sentence()
    with pytest.raises(ScaleError, match="Sure\\+HRel"):
        combined_table(*twice(PRINTED), top=("Sure", "HRel"))


def test_a_combination_that_was_judged_once_is_unknown():
    snippets = read_grid("Sure Sure No\nSure No .", scale="No<Sure")
    pages = read_grid("Key Rel Rel\nKey Key .", scale="Non<Rel<Key")
    table = combined_table(snippets, pages)
    last = table.records()[-1]
    assert (last["snippet"], last["page"], last["weight"], last["pairs"]) == ("No", "Rel", None, 0)
    assert "unknown for No+Rel" in table.sentence()


def test_one_file_with_a_column_of_units():
    import polars as pl

    table = pl.DataFrame(
        {
            "topic": ["1"] * 4,
            "doc": ["d", "d", "e", "e"],
            "assessor": ["U"] * 4,
            "unit": ["snippet", "page"] * 2,
            "label": ["Sure", "Key", "No", "Rel"],
        }
    )
    whole = read_judgments(table, scale="No|Unlikely|Maybe|Sure|Non|Rel|HRel|Key")
    snippets, pages = split_units(whole, (SNIPPETS, PAGES))
    assert (str(snippets.scale), str(pages.scale)) == (SNIPPETS, PAGES)
    assert combine(snippets, pages).scale.labels == ("No+Rel", "Sure+Key")
    with pytest.raises(ScaleError, match="'Key' is not a label"):
        split_units(whole, (SNIPPETS, "Non<Rel"))


def test_refusals():
    grid = read_grid("1 0\n1 1")
    again = judged([("1", "d1", "U1", "Sure"), ("1", "d1", "U1", "No")], SNIPPETS, duplicate_labels="keep")
    with pytest.raises(AmbiguousLabels, match="several snippet labels"):
        combine(again, grid)
    with pytest.raises(PairsError, match="no result has"):
        combine(judged([("9", "d1", "U1", "Sure")], SNIPPETS), grid)
    with pytest.raises(ScaleError, match="no order"):
        combine(read_grid("a b", scale="a|b"), grid)
