"""Which labels a command works with: those to score with, those a model is fitted on, gains by a saved fit."""

from __future__ import annotations

import pytest

from json_results import loaded

HEAD = "topic\tdoc\tassessor\tlabel"
RUN = "1 Q0 a 1 2 s\n1 Q0 b 2 1 s\n"


def doubles(*, aspect: str, agreed: int, apart: int) -> list[str]:
    """Lines of items on which two assessors agree that they are relevant, or differ, and of irrelevant ones."""
    pairs = [("1", "1")] * agreed + [("1", "0")] * apart + [("0", "0")] * 60
    return [
        f"9\t{aspect}{n}\t{who}\t{label}\t{aspect}"
        for n, labels in enumerate(pairs)
        for who, label in zip("AB", labels, strict=True)
    ]


@pytest.fixture
def two_aspects(write):
    """On trust, 60 of 60 agree; on taste, 30 of 90."""
    lines = doubles(aspect="trust", agreed=60, apart=0) + doubles(aspect="taste", agreed=30, apart=60)
    return write("double.tsv", f"{HEAD}\taspect\n" + "\n".join(lines) + "\n")


@pytest.fixture
def labels(write):
    judged = [(doc, who, label) for doc, label in (("a", "1"), ("b", "0")) for who in "XY"]
    rows = [f"1\t{doc}\t{who}\t{label}\t{aspect}" for doc, who, label in judged for aspect in ("trust", "taste")]
    return write("labels.tsv", f"{HEAD}\taspect\n" + "\n".join(rows) + "\n")


@pytest.fixture
def run(write):
    return write("s.run", RUN)


def gain(answer) -> float:
    """What a relevant document is worth: P@1 of a list that begins with one."""
    assert answer.code == 0, answer.err
    return loaded(answer.out)["scores"][0]["value"]


class TestFitOn:
    @pytest.mark.parametrize(("aspect", "p"), [("trust", 1.0), ("taste", 60 / 120)])
    def test_where_chooses_what_the_model_is_fitted_on(self, venire, labels, run, two_aspects, aspect, p):
        chosen = ("--where", f"aspect={aspect}", "--where", "assessor=X", "--where", "topic=1")
        args = ("--gains", "prm:1", "--fit-on", two_aspects, *chosen, "-m", "P@1", "--format", "json")
        assert gain(venire("evaluate", labels, run, *args)) == pytest.approx(p)

    @pytest.mark.parametrize("command", ["count", "power", "robustness", "compare"])
    def test_so_it_does_in_every_command(self, venire, labels, run, two_aspects, command):
        """Without a choice, labels on two aspects are refused: that it works says that the choice was made."""
        other = run.with_name("t.run")
        other.write_text("1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n")
        how = {
            "count": ("--assessor", "X"),
            "power": ("--gains", "prm:1", "--draws", "20", "--assessor", "X", "-m", "P@1"),
            "robustness": ("--gains", "prm:1", "--gains", "linear", "--draws", "0", "-m", "P@1"),
            "compare": ("--gains", "prm:1", "--assessor", "X", "--draws", "20", "-m", "P@1"),
        }
        args = (command, labels, run, other, *how[command], "--fit-on", two_aspects, "--where", "aspect=trust")
        answer = venire(*args, "-q")
        assert answer.code == 0, answer.err
        answer = venire(*args[:-2], "-q")
        assert answer.code == 2
        assert "different values of aspect" in answer.err

    def test_a_file_without_the_column_is_taken_whole_and_that_is_said(self, venire, labels, run, write, two_aspects):
        lines = two_aspects.read_text().splitlines()
        rows = [line.rpartition("\t")[0] for line in lines if "trust" in line]
        plain = write("plain.tsv", "\n".join([HEAD, *rows]) + "\n")
        args = ("--gains", "prm:1", "--fit-on", plain, "--where", "aspect=trust", "--where", "assessor=X")
        answer = venire("evaluate", labels, run, *args, "-m", "P@1", "--format", "json")
        assert gain(answer) == 1.0
        assert "plain.tsv has no such column, so all its labels count: aspect=trust" in answer.err

    def test_a_value_that_the_file_does_not_have(self, venire, labels, run, write, two_aspects):
        other = write("other.tsv", two_aspects.read_text().replace("trust", "truth"))
        args = ("--gains", "prm:1", "--fit-on", other, "--where", "aspect=trust", "--where", "assessor=X")
        answer = venire("evaluate", labels, run, *args)
        assert (answer.code, answer.out) == (2, "")
        assert "other.tsv: there is no aspect 'trust'" in answer.err


class TestSavedFits:
    @pytest.mark.parametrize(("name", "before"), [("fit.json", ""), ("fit", ""), ("fit.txt", "\n ")])
    def test_a_fit_is_known_by_what_it_holds(self, venire, labels, run, two_aspects, write, name, before):
        saved = write(name, "")
        where = ("--where", "aspect=taste")
        assert venire("disagreement", two_aspects, *where, "--save", saved, "-q").code == 0
        saved.write_text(before + saved.read_text(encoding="utf-8"), encoding="utf-8")
        args = ("--gains", saved, *where, "--where", "assessor=X", "-m", "P@1", "--format", "json")
        assert gain(venire("evaluate", labels, run, *args)) == pytest.approx(60 / 120)

    def test_a_file_of_gains_is_none_whatever_its_labels(self, venire, run, write):
        labels = write("braces.tsv", "# scale: {a<b\n" + HEAD + "\n1\ta\tX\tb\n1\tb\tX\t{a\n")
        worth = write("worth.txt", "{a 0\nb 0.5\n")
        answer = venire("evaluate", labels, run, "--gains", worth, "-m", "P@1", "--format", "json")
        assert gain(answer) == 0.5


@pytest.mark.parametrize("command", ["evaluate", "compare", "count", "power", "robustness", "sensitivity", "scales"])
def test_standard_input_is_read_once(venire, command):
    answer = venire(command, "-", "-")
    assert (answer.code, answer.out) == (2, "")
    assert "standard input (-) can be read only once" in answer.err


@pytest.mark.parametrize(
    ("command", "option"),
    [
        *(("evaluate", name) for name in ("--fit-on", "--topics", "--duplicates", "--predict")),
        *(("compare", name) for name in ("--fit-on", "--topics", "-j")),
    ],
)
def test_standard_input_is_read_once_by_options_too(venire, command, option):
    answer = venire(command, "-", "runs", option, "-")
    assert (answer.code, answer.out) == (2, "")
    assert "standard input (-) can be read only once" in answer.err


@pytest.mark.parametrize("command", ["compare", "power", "robustness", "scales"])
def test_a_measure_that_is_none_is_refused(venire, qrels, run, command):
    answer = venire(command, qrels, run, "-m", "nDCQ")
    assert (answer.code, answer.out) == (2, "")
    assert "nDCQ" in answer.err


DOUBLE = "".join(
    f"{topic}\td{doc}\t{who}\t{(topic * doc + (who == 'B') * (doc % 3 == 0)) % 3}\n"
    for topic in range(1, 6)
    for doc in range(9)
    for who in "AB"
)
ONE_ROW = DOUBLE.partition("\n")[0] + "\n"


class TestRepeatedRows:
    @pytest.mark.parametrize("again", [ONE_ROW, DOUBLE])
    @pytest.mark.parametrize(
        "command",
        [("agreement", "--draws", 20), ("disagreement",), ("agreement", "--by", "assessor"), ("sensitivity",)],
    )
    def test_change_nothing(self, venire, write, command, again):
        once, more = write("once.tsv", f"{HEAD}\n{DOUBLE}"), write("more.tsv", f"{HEAD}\n{DOUBLE}{again}")
        plain, repeated = (venire(command[0], path, *command[1:], "--format", "json") for path in (once, more))
        assert (plain.code, repeated.code) == (0, 0)
        assert loaded(plain.out) == loaded(repeated.out)
        dropped = again.count("\n")
        assert f"{dropped} row{'s' * (dropped > 1)} identical" in repeated.err

    def test_blank_no_statistic(self, venire, write):
        table = write("more.tsv", f"{HEAD}\n{DOUBLE}{ONE_ROW}")
        records = loaded(venire("agreement", table, "--format", "json").out)["statistics"]
        assert all(each["value"] is not None for each in records)

    def test_are_counted_by_inspect(self, venire, write):
        changed = ONE_ROW.replace("\t0\n", "\t1\n")
        facts = loaded(venire("inspect", write("j.tsv", f"{HEAD}\n{DOUBLE}{ONE_ROW}{changed}"), "--format", "json").out)
        (found,) = facts["files"]
        assert {key: found["facts"][key] for key in ("labels", "identical_rows", "superseded_labels")} == {
            "labels": 90,
            "identical_rows": 1,
            "superseded_labels": 1,
        }

    def test_are_kept_where_repeats_are_the_subject(self, venire, write):
        table = write("more.tsv", f"{HEAD}\n{DOUBLE}{DOUBLE}")
        found = venire("consistency", table, "--format", "json")
        own = [each for each in loaded(found.out)["consistency"] if each["who"] == "self"]
        assert sum(each["pairs"] for each in own) == 180
        assert "90 rows identical to another in every column, kept" in found.err
        counts = venire("inspect", table, "--duplicate-labels", "keep", "--format", "json")
        assert loaded(counts.out)["files"][0]["facts"]["labels"] == 180

    def test_are_other_people_where_nobody_is_named(self, venire, write):
        table = write("crowd.tsv", "topic\tdoc\tlabel\n1\ta\t1\n1\ta\t1\n1\ta\t0\n1\tb\t0\n1\tb\t0\n")
        found = loaded(venire("disagreement", table, "--anonymous", "--format", "json").out)
        assert [(each["hits"], each["pairs"]) for each in found["parameters"]] == [(2, 4), (2, 4)]


def many_labels(*, column: str = "", values: tuple[str, ...] = ("",)) -> str:
    """A table of four topics, judged by two; for each value of a further column the labels are others."""
    rows = [
        [str(topic), f"d{doc}", who, str((topic + doc * (2 + 3 * n) + (who == "B")) % 3), value]
        for n, value in enumerate(values)
        for topic in range(1, 5)
        for doc in range(6)
        for who in "AB"
        if value != f"d{doc}"
    ]
    width = 5 if column else 4
    return "\n".join("\t".join(row[:width]) for row in [[*HEAD.split("\t"), column], *rows]) + "\n"


TESTS = "".join(f"{topic} d{a} d{a + 1} d{a + topic % 2}\n" for topic in range(1, 5) for a in range(5))
BY_PREFERENCES = [
    ("pdp", "{}", "tests.txt", "--draws", "5"),
    ("scales", "{}", "--preferences", "tests.txt", "--draws", "5"),
    ("preferences", "{}", "--preferences", "tests.txt", "--draws", "5"),
]
AGAINST = ("pdp", "plain.tsv", "tests.txt", "--against", "{}", "--draws", "5")


class TestLabelsForSeveralQuestions:
    @pytest.fixture(autouse=True)
    def _files(self, write, tmp_path, monkeypatch):
        write("plain.tsv", many_labels())
        write("aspects.tsv", many_labels(column="aspect", values=("rel", "style")))
        write("given.tsv", many_labels(column="given", values=("", "d0")))
        write("tests.txt", TESTS)
        monkeypatch.chdir(tmp_path)

    @pytest.mark.parametrize("command", [*BY_PREFERENCES, AGAINST, ("scales", "{}", "--draws", "5")])
    def test_are_refused(self, venire, command):
        answer = venire(*(part.format("aspects.tsv") for part in command))
        assert answer.code == 2
        assert "--where aspect=" in answer.err

    @pytest.mark.parametrize("command", BY_PREFERENCES)
    def test_those_after_another_document_are_left_out(self, venire, command):
        both, alone = (
            venire(*(part.format(name) for part in command), "--format", "json") for name in ("given.tsv", "plain.tsv")
        )
        found, plain = ({k: v for k, v in loaded(each.out).items() if k != "warnings"} for each in (both, alone))
        assert found == plain
        assert "40 labels given after another document left out" in both.err

    def test_and_of_judgments_that_are_compared_too(self, venire):
        answer = venire(*(part.format("given.tsv") for part in AGAINST), "--format", "json")
        assert [each["difference"] for each in loaded(answer.out)["differences"]] == [0, 0]

    def test_gains_by_a_model_are_fitted_on_labels_in_isolation(self, venire, write):
        run = write("s.run", "".join(f"{topic} Q0 d{doc} 1 {9 - doc} s\n" for topic in range(1, 5) for doc in range(6)))
        args = ("--assessor", "A", "--gains", "prm:2", "--format", "json")
        found = (venire("evaluate", path, run, *args) for path in ("plain.tsv", "given.tsv"))
        plain, both = (loaded(each.out)["scores"] for each in found)
        assert plain == both


class TestScaleThatIsNotDeclared:
    """Labels 1, 3 and 7 are three labels, as if they were declared."""

    @pytest.fixture
    def table(self, write):
        names = dict(zip("012", "137", strict=True))
        rows = [line.split("\t") for line in DOUBLE.splitlines()]
        return write("odd.tsv", f"{HEAD}\n" + "".join("\t".join([*row[:3], names[row[3]]]) + "\n" for row in rows))

    @pytest.mark.parametrize(
        "command",
        [
            ("agreement", "--draws", "20"),
            ("disagreement", "--weights", "1/3"),
            ("disagreement", "--relevant", "all"),
            ("scales", "--draws", "5"),
            ("sensitivity",),
        ],
    )
    def test_is_that_of_the_labels_that_occur(self, venire, table, command):
        found, declared = (
            venire(command[0], table, *command[1:], "--format", "json", *scale) for scale in ((), ("--scale", "1<3<7"))
        )
        assert loaded(found.out) == loaded(declared.out)
        assert "the scale 1<3<7 is inferred" in found.err
        assert "inferred" not in declared.err

    def test_the_lowest_label_has_no_weight(self, venire, table):
        found = loaded(venire("disagreement", table, "--weights", "1/3", "--format", "json").out)
        assert {each["label"]: each["weight"] for each in found["udm"]}["1"] == 0

    def test_thresholds_between_labels(self, venire, table):
        between, at = (
            loaded(venire("disagreement", table, "--relevant", label, "--format", "json").out)["parameters"]
            for label in ("2", "3")
        )
        assert [each["p"] for each in between] == [each["p"] for each in at]

    def test_labels_that_other_files_have_too(self, venire, write, run):
        few = write("few.tsv", f"{HEAD}\n1\ta\tX\t2\n1\tb\tX\t0\n")
        more = write("double.tsv", f"{HEAD}\n{DOUBLE}")
        args = ("--gains", "prm:1", "--fit-on", more, "--format", "json")
        found, declared = (venire("evaluate", few, run, *args, *scale) for scale in ((), ("--scale", "0<1<2")))
        assert loaded(found.out) == loaded(declared.out)
        found, declared = (
            venire("count", few, run, "--fit-on", more, "--format", "json", *scale)
            for scale in ((), ("--scale", "0<1<2"))
        )
        assert loaded(found.out) == loaded(declared.out)


@pytest.mark.parametrize(
    "command",
    [("evaluate", "-m", "P@3"), ("compare", "-m", "P@3", "--draws", "4"), ("power", "--draws", "4", "-m", "P@3")],
    ids=lambda command: command[0],
)
def test_gains_by_a_model_are_fitted_on_what_runs_return(venire, write, command):
    rows = [
        (t, f"d{n}", who, (n + t) % 2 if who == "A" or n < 10 else 0)
        for t in range(6)
        for n in range(20)
        for who in "AB"
    ]
    labels = write(
        "both.tsv", "topic\tdoc\tassessor\tlabel\n" + "".join("\t".join(map(str, row)) + "\n" for row in rows)
    )
    lines = [f"{t} Q0 d{(n + 3 * s) % 10} {n} {-n} s{s}\n" for s in range(2) for t in range(6) for n in range(10)]
    run = write("two.run", "".join(lines))
    name, *options = command
    given = (name, labels, run, "--assessor", "A", "--gains", "prm:1", *options, "--format", "json")
    default, returned, pool = (venire(*given, *more) for more in ((), ("--fit-on", "returned"), ("--fit-on", "pool")))
    assert [done.code for done in (default, returned, pool)] == [0, 0, 0]
    assert default.out == returned.out
    assert (default.out == pool.out) == (name == "power")
    assert "fitted on top results: 120 of 240 labels" in default.err
    assert "fitted on" not in pool.err
    assert "treat them as known" in default.err
    done = venire(name, labels, run, "--assessor", "A", *options, "--fit-on", "pool")
    assert done.code == 2
    assert "--fit-on is for gains by a model" in done.err
