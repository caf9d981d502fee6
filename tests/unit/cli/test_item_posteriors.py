"""venire disagreement --posterior, --combine and what it says of who is observed."""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest

from json_results import loaded
from long_rows import double
from venire import PredictedRelevance, read_judgments
from venire.disagreement.combined_labels import combined_table
from venire.disagreement.dawid_skene import DawidSkene
from venire.disagreement.several_labels import posterior

GRID = "topic\tdoc\tassessor\tlabel\n" + "".join(
    f"{topic}\t{doc}\t{who}\t{label}\n"
    for topic, rows in {"1": {"a": "221", "b": "100", "c": "0.1"}, "2": {"a": "012", "d": "222"}}.items()
    for doc, row in rows.items()
    for who, label in zip("xyz", row, strict=True)
    if label != "."
)


@pytest.fixture
def crowd(write):
    return write("crowd.tsv", GRID)


def rows_of(path, separator="\t") -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter=separator))


class TestPosterior:
    def test_every_item_has_the_probability_of_the_library(self, venire, crowd, tmp_path):
        answer = venire("disagreement", crowd, "--posterior", tmp_path / "items.tsv")
        assert answer.code == 0
        rows, labels = rows_of(tmp_path / "items.tsv"), read_judgments(crowd)
        expected = posterior(labels, PredictedRelevance().fit(labels))
        assert [(row["topic"], row["doc"], row["labels"]) for row in rows] == [
            *(("1", "a", "3"), ("1", "b", "3"), ("1", "c", "2"), ("2", "a", "3"), ("2", "d", "3"))
        ]
        assert [float(row["probability"]) for row in rows] == expected.probability.tolist()
        assert {row["relevant"] for row in rows} == {"2"}
        assert expected.sentence() in answer.err

    def test_assessors_with_errors_of_their_own_and_all_thresholds(self, venire, crowd, tmp_path):
        how = ("--relevant", "all", "--posterior-model", "dawid-skene", "--posterior", tmp_path / "items.csv.gz")
        answer = venire("disagreement", crowd, *how)
        assert answer.code == 0, answer.err
        rows = list(csv.DictReader(gzip.decompress((tmp_path / "items.csv.gz").read_bytes()).decode().splitlines()))
        fit = DawidSkene().fit(read_judgments(crowd))
        for name in ("2", "1"):
            found = [float(row["probability"]) for row in rows if row["relevant"] == name]
            np.testing.assert_array_equal(found, fit.relevance(name).probability)
        assert fit.sentence() in answer.err

    def test_items_left_out_are_not_written(self, venire, crowd, tmp_path):
        args = ("--where", "topic=1", "--at-least", "3", "--posterior", tmp_path / "items.tsv", "-q")
        assert venire("disagreement", crowd, *args).code == 0
        assert [row["doc"] for row in rows_of(tmp_path / "items.tsv")] == ["a", "b"]

    def test_one_sided_pairs_do_not_say_how_labels_hang_together(self, venire, crowd, tmp_path):
        answer = venire("disagreement", crowd, "--observed", "x", "--posterior", tmp_path / "items.tsv")
        assert (answer.code, answer.out) == (2, "")
        assert "one-sided pairs do not determine their correlation" in answer.err
        assert not (tmp_path / "items.tsv").exists()


SNIPPETS = "No<Maybe<Sure"
PAGES = "Non<Rel<Key"


def units(n=240) -> list[tuple[str, str, str, str, str]]:
    """Topic, document, assessor, snippet label, page label."""
    rng = np.random.default_rng(4)
    quality = rng.normal(1, 1, (n, 1, 1))
    level = np.clip(np.round(quality + rng.normal(0, 0.6, (n, 2, 2))), 0, 2).astype(int)
    return [
        (str(k % 6), f"d{k}", who, SNIPPETS.split("<")[level[k, a, 0]], PAGES.split("<")[level[k, a, 1]])
        for k in range(n)
        for a, who in enumerate("xy")
    ]


@pytest.fixture
def pages(write):
    lines = [f"{topic}\t{doc}\t{who}\t{page}\n" for topic, doc, who, _, page in units()]
    return write("pages.tsv", f"# scale: {PAGES}\ntopic\tdoc\tassessor\tlabel\n" + "".join(lines))


@pytest.fixture
def snippets(write):
    lines = [f"{topic}\t{doc}\t{who}\t{snippet}\n" for topic, doc, who, snippet, _ in units()]
    return write("snippets.tsv", f"# scale: {SNIPPETS}\ntopic\tdoc\tassessor\tlabel\n" + "".join(lines))


@pytest.fixture
def both(write):
    lines = [
        f"{topic}\t{doc}\t{who}\t{label}\t{unit}\n"
        for topic, doc, who, *labels in units()
        for label, unit in zip(labels, ("snippet", "page"), strict=True)
    ]
    return write("both.tsv", "topic\tdoc\tassessor\tlabel\tunit\n" + "".join(lines))


class TestCombine:
    def test_weights_are_those_of_the_library(self, venire, pages, snippets):
        args = (
            "disagreement",
            pages,
            "--combine",
            snippets,
            "--weights",
            "1/3",
            "--weights",
            "2/3",
            "--format",
            "json",
        )
        answer = venire(*args)
        assert answer.code == 0, answer.err
        records = loaded(answer.out)["combined"]
        for at in ((1, 3), (2, 3)):
            expected = combined_table(read_judgments(snippets), read_judgments(pages), at_least=at)
            found = [each for each in records if (each["M"], each["N"]) == at]
            assert [{"M": at[0], "N": at[1], **each} for each in expected.records()] == found
            assert expected.sentence() in answer.err

    def test_a_column_tells_snippets_and_pages_apart(self, venire, pages, snippets, both):
        scale = "|".join([*SNIPPETS.split("<"), *PAGES.split("<")])
        by_column = venire("disagreement", both, "--scale", scale, "--combine", "unit", "--format", "csv", "-q")
        by_file = venire("disagreement", pages, "--combine", snippets, "--format", "csv", "-q")
        assert by_column.code == 0, by_column.err
        assert by_column.out == by_file.out

    def test_people_see_weights_on_few_pairs_bracketed(self, venire, pages, snippets):
        head, first, *rest = venire("disagreement", pages, "--combine", snippets, "-q").out.splitlines()
        assert head.split() == ["M", "N", "snippet", "page", "weight", "page_weight", "p", "hits", "pairs"]
        assert first.split()[:5] == ["1", "3", "Sure", "Key", "1.0000"]
        few = [line.split() for line in rest if int(line.split()[-1]) < 50]
        assert few
        assert all(cells[4].startswith("(") for cells in few)

    def test_what_is_relevant_is_a_label_of_each(self, venire, pages, snippets):
        args = ("disagreement", pages, "--combine", snippets, "--format", "json", "-q", "--relevant")
        first = loaded(venire(*args, "Maybe+Rel").out)["combined"][0]
        assert (first["snippet"], first["page"], first["weight"]) == ("Maybe", "Rel", 1.0)
        answer = venire(*args, "Key")
        assert answer.code == 2
        assert "'Key' is not a label of a snippet and one of a page" in answer.err
        assert "--relevant Sure+Key" in answer.err

    @pytest.mark.parametrize("flags", [("--at-least", "2"), ("--save", "fit.json"), ("--posterior", "items.tsv")])
    def test_what_is_made_of_one_fit_is_refused(self, venire, pages, snippets, flags):
        answer = venire("disagreement", pages, "--combine", snippets, *flags)
        assert (answer.code, answer.out) == (2, "")
        assert f"{flags[0]} cannot be used with" in answer.err

    def test_a_table_without_units(self, venire, pages):
        answer = venire("disagreement", pages, "--combine", "unit")
        assert answer.code == 2
        assert "there is no column 'unit'" in answer.err


class TestAsymmetry:
    def test_it_is_said_where_it_matters_who_is_observed(self, venire, write):
        """A says Key twice as often as B does."""
        judged = double(("Key", "Key", 60), ("Key", "Non", 60), ("Non", "Non", 120), scale="Non<Key", topics=12)
        frame = judged.to_polars().select("topic", "doc", "assessor", "label")
        path = write("double.tsv", "\t".join(frame.columns) + "\n" + "".join("\t".join(r) + "\n" for r in frame.rows()))
        sides = ("--observed", "A", "--reference", "B")
        answer = venire("disagreement", path, "--scale", "Non<Key", *sides)
        assert answer.code == 0
        assert "after Key by A 0.50, by B 1.00" in answer.err
        assert "which side is observed" not in venire("disagreement", path, "--scale", "Non<Key").err

    def test_and_where_it_does_not(self, venire, write):
        pairs = [("11", "10", "01", "00")[n // 12 % 4] for n in range(240)]
        rows = [f"{n % 12}\td{n}\t{w}\t{i}\n" for n, two in enumerate(pairs) for w, i in zip("AB", two, strict=True)]
        path = write("even.tsv", "topic\tdoc\tassessor\tlabel\n" + "".join(rows))
        answer = venire("disagreement", path, "--observed", "A", "--reference", "B")
        assert "no 95% interval of the difference between observing A and B excludes 0" in answer.err
