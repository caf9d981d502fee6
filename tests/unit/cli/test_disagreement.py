from __future__ import annotations

import csv
import io

import pytest

from json_results import loaded
from long_rows import double

TABLE_1 = (
    (2, 2, 1, 0, 1, 1, 0, 1, 2, 1, 1, 1, 2, 0, 1, 0, 1, 1, 0, 0),
    (1, 2, 1, 1, 2, 0, 0, 1, 2, 2, 0, 2, 1, 0, 1, 2, 0, 1, 0, 0),
)
"""Demeester et al. (2015), Table 1."""
KEYS = {"relevant", "label", "p", "sd", "sd_topics", "low", "high", "hits", "pairs"}
COUNTS = (("Key", "Key", 70), ("Key", "Rel", 40), ("Rel", "Rel", 60), ("Rel", "Non", 30), ("Non", "Non", 99))
SCALE = "Non<Rel<Key"


def table(judgments) -> str:
    rows = judgments.to_polars().select("topic", "doc", "assessor", "label").rows()
    return "\n".join("\t".join(row) for row in [("topic", "doc", "assessor", "label"), *rows]) + "\n"


@pytest.fixture
def published(write):
    rows = [
        (f"d{n}", who, label)
        for who, labels in zip(("U1", "U2"), TABLE_1, strict=True)
        for n, label in enumerate(labels)
    ]
    return write("table1.tsv", "topic\tdoc\tassessor\tlabel\n" + "".join(f"1\t{d}\t{w}\t{i}\n" for d, w, i in rows))


@pytest.fixture
def graded(write):
    return write("graded.tsv", table(double(*COUNTS, scale=SCALE, topics=12)))


def answered(answer) -> dict:
    assert answer.code == 0, answer.err
    return loaded(answer.out)


def refused(answer) -> str:
    """What a refusal says: one line of error, perhaps one of hint, nothing on standard output."""
    lines = answer.err.splitlines()
    assert (answer.code, answer.out) == (2, "")
    assert lines[0].startswith("error: ")
    assert [line.partition(":")[0] for line in lines[1:]] in ([], ["hint"])
    return answer.err


def ratios(document) -> list[tuple[int, int]]:
    return [(each["hits"], each["pairs"]) for each in document["parameters"]]


class TestJson:
    def test_the_contract(self, venire, graded):
        args = ("disagreement", graded, "--scale", SCALE, "--weights", "1/3", "--weights", "2/3", "--format", "json")
        document = answered(venire(*args))
        assert list(document)[:4] == ["estimator", "parameters", "udm", "warnings"]
        assert document["estimator"] == "paired"
        assert [each["label"] for each in document["parameters"]] == ["Key", "Rel", "Non"]
        for each in document["parameters"]:
            assert set(each) >= KEYS
            assert each["relevant"] == "Key"
            assert each["p"] == each["hits"] / each["pairs"]
            assert each["low"] <= each["p"] <= each["high"]
        for each in document["udm"]:
            assert set(each) >= {"label", "M", "N", "weight"}
        weights = {(each["label"], each["M"], each["N"]): each["weight"] for each in document["udm"]}
        p = document["parameters"][0]["p"]
        assert weights["Key", 1, 3] == 1
        assert weights["Key", 2, 3] == pytest.approx(1 - (1 - p) ** 2)
        assert weights["Non", 1, 3] == 0
        assert document["warnings"] == []

    def test_the_lowest_label_has_what_is_estimated_beside_what_it_weighs(self, venire, write):
        rows = [
            (t, f"d{t}-{n}", who, (n * k + k) % 3) for t in range(12) for n in range(9) for k, who in enumerate("ABC")
        ]
        labels = write(
            "many.tsv", "\n".join("\t".join(map(str, row)) for row in [("topic", "doc", "assessor", "label"), *rows])
        )
        args = ("disagreement", labels, "--weights", "1/3")
        (default, kept), words = (
            [answered(venire(*args, *more, "--format", "json"))["udm"] for more in ((), ("--keep-lowest",))],
            venire(*args).err,
        )
        assert [each["estimated"] for each in default] == [each["weight"] for each in kept]
        assert [each["weight"] for each in default] == [*(each["weight"] for each in kept[:-1]), 0]
        assert default[-1]["estimated"] > 0.1
        off = max(abs(each["estimated"] - each["counted"]) for each in default)
        assert f"predicted weights is {off:.3f}, for" in words
        assert f"{default[-1]['estimated']:.4f} for 1/3" in words
        assert "estimated:1/3" in venire(*args).out
        assert "estimated:1/3" not in venire(*args, "--keep-lowest").out
        assert "--keep-lowest" not in venire(*args, "--keep-lowest").err

    def test_published_ratios(self, venire, published):
        document = answered(venire("disagreement", published, "--format", "json"))
        assert ratios(document) == [(4, 10), (5, 17), (1, 13)]
        assert document["udm"] == []
        assert len([word for word in document["warnings"] if "fewer than 50" in word]) == 3
        one_sided = ("--estimator", "one-sided", "--observed", "U1", "--reference", "U2")
        document = answered(venire("disagreement", published, *one_sided, "--format", "json"))
        assert document["estimator"] == "one-sided"
        assert ratios(document) == [(2, 4), (3, 10), (1, 6)]

    def test_all_thresholds(self, venire, graded):
        document = answered(venire("disagreement", graded, "--scale", SCALE, "--relevant", "all", "--format", "json"))
        rows = [(each["relevant"], each["label"]) for each in document["parameters"]]
        assert rows == [(r, i) for r in ("Key", "Rel") for i in ("Key", "Rel", "Non")]

    def test_what_is_unknown_is_null(self, venire, write):
        labels = write("few.tsv", table(double((2, 2, 60), (0, 0, 60))))
        document = answered(venire("disagreement", labels, "--scale", "0<1<2", "--format", "json"))
        (unknown,) = [each for each in document["parameters"] if each["label"] == "1"]
        assert {key: unknown[key] for key in ("p", "sd", "low", "high", "hits", "pairs")} == {
            **dict.fromkeys(("p", "sd", "low", "high")),
            "hits": 0,
            "pairs": 0,
        }
        assert "label 1 has no pairs, so its estimates are unknown" in document["warnings"]

    def test_weights_are_null_where_a_label_was_never_judged_twice(self, venire, write):
        labels = write("few.tsv", table(double((2, 2, 60), (0, 0, 60))))
        args = ("disagreement", labels, "--weights", "1/3", "--format", "json")
        assert [each["weight"] for each in answered(venire(*args, "--scale", "0<1<2"))["udm"]] == [None, None, None]
        assert [each["weight"] for each in answered(venire(*args))["udm"]] == [1, 0]

    def test_both_directions_where_both_sides_are_named(self, venire, published):
        args = ("--observed", "U1", "--reference", "U2", "--format", "json")
        both = answered(venire("disagreement", published, *args))["asymmetry"]
        assert [each["observed_first"] for each in both] == [2 / 4, 3 / 10, 1 / 6]
        assert [each["reference_first"] for each in both] == [2 / 6, 2 / 7, 0 / 7]

    def test_a_seed_gives_the_same_answer(self, venire, graded):
        args = ("disagreement", graded, "--scale", SCALE, "--format", "json", "--rng")
        assert venire(*args, 7).out == venire(*args, 7).out
        assert venire(*args, 7).out != venire(*args, 8).out


class TestOtherFormats:
    def test_csv_has_the_same_numbers(self, venire, graded):
        args = ("disagreement", graded, "--scale", SCALE, "--relevant", "all")
        rows = list(csv.DictReader(io.StringIO(venire(*args, "--format", "csv").out)))
        records = answered(venire(*args, "--format", "json"))["parameters"]
        assert [row["label"] for row in rows] == [each["label"] for each in records]
        assert [float(row["p"]) for row in rows] == [each["p"] for each in records]

    def test_people_see_few_pairs_bracketed_and_a_sentence(self, venire, published):
        answer = venire("disagreement", published)
        assert "(0.4000)" in answer.out
        assert "by the label of one assessor: 40% for 2, 29% for 1" in answer.err
        assert "95% intervals: none, as all pairs of labels are of one topic" in answer.err

    def test_quiet_is_quiet(self, venire, published):
        assert venire("disagreement", published, "-q").err == ""


class TestSettings:
    def test_a_prior(self, venire, published):
        plain, smoothed = (
            answered(venire("disagreement", published, "--prior", prior, "--format", "json"))["parameters"][2]
            for prior in (0, 1)
        )
        assert plain["p"] == 1 / 13
        assert 1 / 13 < smoothed["p"] < 1 / 3
        assert (smoothed["hits"], smoothed["pairs"]) == (1, 13)

    def test_items_that_weigh_the_same(self, venire, published):
        document = answered(venire("disagreement", published, "--weight", "item", "--format", "json"))
        assert ratios(document) == [(2, 5), (2.5, 8.5), (0.5, 6.5)]

    def test_no_resampling(self, venire, graded):
        args = ("disagreement", graded, "--scale", SCALE, "--draws", 0, "--format", "json")
        for each in answered(venire(*args))["parameters"]:
            assert each["sd_topics"] is None
            assert each["low"] < each["high"]

    def test_several_files(self, venire, write):
        one, other = write("llm.txt", "1 0 a 2\n1 0 b 1\n"), write("people.txt", "1 0 a 1\n1 0 b 2\n")
        args = ("--observed", "llm", "--reference", "people", "--format", "json")
        assert ratios(answered(venire("disagreement", one, other, *args))) == [(0, 1), (1, 1)]

    def test_chosen_rows(self, venire, published):
        answer = venire("disagreement", published, "--where", "assessor=U1")
        assert "no item has labels by two different assessors" in refused(answer)

    def test_items_with_many_labels_and_labels_without_names(self, venire, write):
        labels = write(
            "crowd.tsv", "topic\tdoc\tassessor\tlabel\n1\ta\tw\t2\n1\ta\tw\t1\n1\ta\tv\t2\n1\tb\tw\t2\n1\tb\tv\t0\n"
        )
        args = ("disagreement", labels, "--at-least", 3, "--format", "json")
        assert ratios(answered(venire(*args, "--duplicate-labels", "keep"))) == [(2, 3), (1, 1), (0, 0)]
        assert ratios(answered(venire(*args, "--anonymous"))) == [(2, 4), (2, 2), (0, 0)]

    def test_intents(self, venire, write):
        lines = ["1 1 a A 2", "1 1 a B 2", "1 2 a A 1", "1 2 a B 0", "1 0 b A 0", "1 1 b B 1"]
        rows = [line.split() for line in lines]
        text = "topic\tintent\tdoc\tassessor\tlabel\n" + "".join("\t".join(row) + "\n" for row in rows)
        labels, likely = write("intents.tsv", text), write("likely.txt", "1 1 0.9\n1 2 0.1\n")
        args = ("disagreement", labels, "--format", "json")
        assert ratios(answered(venire(*args))) == [(2, 2), (0, 2), (0, 2)]
        assert ratios(answered(venire(*args, "--intents", likely))) == [(2, 2), (0, 1), (0, 1)]


class TestGroups:
    def test_fits_and_a_test_of_each(self, venire, graded, write):
        groups = write("groups.txt", "".join(f"{topic} {'nav' if topic % 2 else 'inf'}\n" for topic in range(12)))
        args = ("disagreement", graded, "--scale", SCALE, "--groups", groups)
        document = answered(venire(*args, "--format", "json"))
        assert list(document)[:4] == ["estimator", "parameters", "udm", "warnings"]
        assert [(each["group"], each["label"]) for each in document["parameters"]] == [
            (group, label) for group in ("inf", "nav") for label in ("Key", "Rel", "Non")
        ]
        (test,) = document["groups"]
        assert test["relevant"] == "Key"
        assert 0 < test["p_value"] <= 1
        answer = venire(*args)
        assert answer.code == 0
        assert "Permutation test of equal p(R|i) in inf and nav: p = 1" in answer.err

    @pytest.mark.parametrize("option", [("--weights", "1/3"), ("--save", "fit.json"), ("--plot", "fit.svg")])
    def test_what_is_made_of_one_fit(self, venire, graded, write, option):
        groups = write("groups.txt", "1 nav\n2 inf\n")
        answer = venire("disagreement", graded, "--scale", SCALE, "--groups", groups, *option)
        assert f"{option[0]} cannot be used with" in refused(answer)

    def test_groups_that_nobody_judged(self, venire, graded, write):
        groups = write("groups.txt", "x nav\n1 inf\n")
        answer = venire("disagreement", graded, "--scale", SCALE, "--groups", groups)
        assert "no topic of group 'nav' has items judged twice" in refused(answer)

    def test_a_file_of_groups_that_is_none(self, venire, graded, write):
        answer = venire("disagreement", graded, "--scale", SCALE, "--groups", write("groups.txt", "topic group\n"))
        assert "groups.txt: is empty" in refused(answer)


class TestSaved:
    def test_a_fit_gives_gains_to_evaluate(self, venire, graded, write, tmp_path):
        run = write("s.run", "".join(f"{n % 12} Q0 d{n} {n + 1} {-n} s\n" for n in range(0, 299, 7)))
        fit = tmp_path / "fit.json"
        document = answered(venire("disagreement", graded, "--scale", SCALE, "--save", fit, "--format", "json"))
        p = {each["label"]: each["p"] for each in document["parameters"]}
        stated = ",".join(f"{label}={share!r}" for label, share in p.items())
        args = (
            "evaluate",
            graded,
            run,
            "--scale",
            SCALE,
            "--assessor",
            "A",
            "-m",
            "P@5",
            "-m",
            "DCG@5",
            "--format",
            "json",
        )
        by_fit, by_name, by_hand = (answered(venire(*args, "--gains", g))["scores"] for g in (fit, "prm:Key", stated))
        assert [each["value"] for each in by_fit] == pytest.approx([each["value"] for each in by_hand])
        assert by_fit == by_name

    def test_a_fit_on_other_labels(self, venire, graded, write):
        run, nist = write("s.run", "1 Q0 a 1 2 s\n1 Q0 b 2 1 s\n"), write("nist.txt", "1 0 a Key\n1 0 b Rel\n")
        args = ("evaluate", nist, run, "--scale", SCALE, "-m", "P@2", "--format", "json")
        (score,) = answered(venire(*args, "--gains", "prm:Key", "--fit-on", graded))["scores"]
        assert score["value"] == pytest.approx((140 / 180 + 40 / 190) / 2)

    def test_a_fit_for_several_notions_of_relevance(self, venire, graded, write, tmp_path):
        run, fit = write("s.run", "1 Q0 d1 1 2 s\n"), tmp_path / "fit.json"
        assert venire("disagreement", graded, "--scale", SCALE, "--relevant", "all", "--save", fit).code == 0
        answer = venire("evaluate", graded, run, "--scale", SCALE, "--assessor", "A", "--gains", fit)
        assert "was fitted for several notions of relevance (Key, Rel)" in refused(answer)

    def test_a_fit_for_another_scale(self, venire, graded, qrels, run, tmp_path):
        fit = tmp_path / "fit.json"
        assert venire("disagreement", graded, "--scale", SCALE, "--save", fit).code == 0
        assert "the labels are on 0<1<2" in refused(venire("evaluate", qrels, run, "--gains", fit))

    def test_a_file_that_is_no_fit(self, venire, qrels, run, write):
        answer = venire("evaluate", qrels, run, "--gains", write("other.json", "{}"))
        assert "is not a saved fit" in refused(answer)

    def test_a_place_where_nothing_can_be_written(self, venire, graded, tmp_path):
        answer = venire("disagreement", graded, "--scale", SCALE, "--save", tmp_path / "no" / "fit.json")
        assert "there is no folder" in refused(answer)


class TestRefused:
    @pytest.mark.parametrize(
        ("content", "args", "words"),
        [
            ("1 0 a 2\n1 0 b 1\n", (), "no item has labels by two different assessors"),
            ("1 0 a 2\n1 0 a 1\n", ("--duplicate-labels", "keep"), "no item has labels by two different assessors"),
            ("1 0 a 5\n", ("--scale", "0<1<2"), "label '5' is not on the scale"),
            ("1 0 a x\n", ("--scale", "x"), "only one label"),
            ("1 0 a 2\n", ("--weights", "4/3"), "'4/3' is not M/N"),
            ("1 0 a 2\n", ("--weights", "1"), "'1' is not M/N"),
            ("1 0 a 2\n", ("--prior", "-1"), "--prior"),
            ("1 0 a 2\n", ("--draws", "-1"), "--draws"),
            ("1 0 a 2\n", ("--estimator", "pairs"), "--estimator"),
            ("1 0 a -1\n", (), "no labels remain"),
        ],
    )
    def test_what_cannot_be_read_off(self, venire, write, content, args, words):
        assert words in refused(venire("disagreement", write("labels.txt", content), *args))

    @pytest.mark.parametrize(
        ("args", "words"),
        [
            (("--observed", "U1", "--reference", "U1"), "'U1' is both observed and the reference"),
            (("--observed", "U9"), "there is no assessor 'U9'"),
            (("--estimator", "one-sided"), "need to know whose label is observed"),
            (("--relevant", "7"), "'7' is not a label of the scale 0<1<2"),
            (("--relevant", "0"), "makes every label"),
            (("--where", "aspect=x"), "there is no column 'aspect'"),
            (("--intents", "nothing.txt"), "have no intents"),
        ],
    )
    def test_what_the_labels_do_not_have(self, venire, published, args, words):
        assert words in refused(venire("disagreement", published, *args))

    def test_second_judgments_chosen_by_the_first(self, venire, write):
        labels = write("chosen.tsv", table(double((2, 1, 40), (1, 0, 40))))
        said = refused(venire("disagreement", labels, "--estimator", "paired"))
        assert "'A' gave '0' to 0.0% of 80 items judged twice" in said
        assert "name the observed assessor" in said
        stated = venire("disagreement", labels, "--estimator", "one-sided", "--observed", "A", "--format", "csv")
        done = venire("disagreement", labels, "--format", "csv")
        assert (done.code, done.out) == (0, stated.out)
        assert "p(R|i) is estimated one-sided" in done.err

    def test_a_missing_file(self, venire, tmp_path):
        assert "nothing.tsv" in refused(venire("disagreement", tmp_path / "nothing.tsv"))
