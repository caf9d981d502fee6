"""Every command that reads runs does so by the rules it was given."""

from __future__ import annotations

import click
import pytest

from json_results import loaded
from venire.cli.main import cli

TOPICS, DOCS = range(1, 9), range(8)
ORDERS = {
    "good": lambda t: sorted(DOCS, key=lambda d: (-label(t, d), d)),
    "poor": lambda t: sorted(DOCS, key=lambda d: (label(t, d), d)),
    "odd": lambda t: sorted(DOCS, key=lambda d: (d * t) % 11),
}


def label(topic: int, doc: int) -> int:
    return (topic * 3 + doc * doc) % 3


def other(topic: int, doc: int) -> int:
    return label(topic, doc) if (topic + doc) % 4 else (label(topic, doc) + 1) % 3


def rows(**facets: str) -> str:
    """A table of the labels of two assessors, perhaps with further columns."""
    lines = ["\t".join(["topic", "doc", "assessor", *facets, "label"])]
    for t in TOPICS:
        for d in DOCS:
            for who, given in (("ann", label), ("bob", other)):
                lines.append("\t".join([f"{t}", f"d{d}", who, *facets.values(), f"{given(t, d)}"]))
    return "\n".join(lines) + "\n"


def run(score, *, tag: str | None = None, again: bool = False) -> dict[str, str]:
    """Run files by name; score: a function of the rank; again: the first document stands at the end, too."""
    files = {}
    for name, order in ORDERS.items():
        lines = []
        for t in TOPICS:
            docs = order(t)
            for rank, d in enumerate([*docs, *docs[:1] * again], start=1):
                lines.append(f"{t} Q0 d{d} {rank} {score(rank)!r} {tag or name}\n")
        files[f"{name}.run"] = "".join(lines)
    return files


PLAIN = run(lambda rank: 100.0 - rank)
RULES = {
    "order": (run(lambda rank: rank - 100.0), ("--order", "rank")),
    "duplicate_docs": (run(lambda rank: 100.0 - rank, again=True), ("--duplicate-docs", "first")),
    "system_from": (run(lambda rank: 100.0 - rank, tag="x"), ("--system-from", "file")),
}
"""For each rule: runs that say the same as the plain ones under the rule, and the rule."""

FILES = {
    "labels.tsv": rows(),
    "aspects.tsv": rows(aspect="rel") + rows(aspect="trust").partition("\n")[2],
    "given.tsv": rows(given="")
    + "".join(f"{t}\td{d}\tann\td{(d + 1) % 8}\t{(t + d) % 3}\n" for t in TOPICS for d in DOCS),
    "lists.tsv": "topic\tleft\tright\tassessor\tpreferred\n"
    + "".join(f"{t}\tgood\tpoor\tu{u}\t{'left' if (t + u) % 4 else 'right'}\n" for t in TOPICS for u in range(2)),
    "docs.tsv": "topic\tleft\tright\tassessor\tpreferred\n"
    + "".join(
        f"{t}\td{a}\td{b}\tu\t{'left' if label(t, a) >= label(t, b) else 'right'}\n"
        for t in TOPICS
        for a in DOCS
        for b in range(a)
    ),
    "log.tsv": "session\ttopic\trank\tdoc\tclicked\tdwell\n"
    + "".join(
        f"{t * 10 + s}\t{t}\t{d + 1}\td{d}\t{int((t * s + d) % 4 == 0)}\t{20 + 5 * t}\n"
        for t in TOPICS
        for s in range(3)
        for d in DOCS
    ),
}
ARGUMENTS = {
    "report": "labels.tsv RUNS --assessor ann --draws 20 -o page.html",
    "evaluate": "labels.tsv RUNS --assessor ann -m nDCG@3",
    "compare": "labels.tsv RUNS --assessor ann -m nDCG@3 --draws 50",
    "certify": "labels.tsv RUNS --reference ann -m nDCG@3 --draws 20",
    "plan": "labels.tsv RUNS --goal best --budget 9 --reference cy -m nDCG@3",
    "count": "labels.tsv RUNS --assessor ann --top 3",
    "robustness": "labels.tsv RUNS -m P@3 -m RR --draws 10",
    "power": "labels.tsv RUNS --per assessor -m nDCG@3 --draws 50",
    "pdp": "labels.tsv docs.tsv RUNS --top 3 --draws 5",
    "preferences": "labels.tsv RUNS --preferences lists.tsv --assessor ann -m nDCG@3 --draws 10",
    "clicks": "log.tsv RUNS -j labels.tsv --assessor ann -m nDCG@3 --draws 10",
    "scales": "labels.tsv RUNS -m nDCG@3 --draws 10",
    "aspects": "aspects.tsv RUNS --overall rel --show rankings --assessor ann -m nDCG@3 --draws 10",
    "sensitivity": "labels.tsv RUNS --against quality --top 3 --draws 10",
    "context sweep": "given.tsv RUNS --preferences lists.tsv --pool median -m CCG@3 --alphas 0,1 --draws 10",
}


def commands(group: click.Group, above: str = "") -> dict[str, click.Command]:
    """All commands by the words that call them."""
    context, found = click.Context(group), {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = commands(command, f"{above}{name} ") if isinstance(command, click.Group) else None
        found |= inner if inner is not None else {f"{above}{name}": command}
    return found


def with_option(name: str) -> list[str]:
    return [words for words, each in commands(cli).items() if any(name in option.opts for option in each.params)]


@pytest.fixture
def asked(venire, write, tmp_path, monkeypatch):
    """Ask a command about runs; what it answers, as JSON."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("venire.report.page.inline_svg", lambda picture: picture.name)  # drawing takes longest
    for name, text in FILES.items():
        write(name, text)

    def ask(words: str, files: dict[str, str], *rule: str):
        for name, text in files.items():
            write(f"runs/{name}", text)
        args = [*words.split(), *ARGUMENTS[words].replace("RUNS", "runs").split(), "--format", "json"]
        return venire(*args, *rule)

    return ask


def test_every_command_with_rules_is_tried():
    assert set(with_option("--order")) == set(ARGUMENTS)


@pytest.mark.parametrize("words", ARGUMENTS)
def test_runs_are_read_by_the_rules_given(asked, words):
    expected = asked(words, PLAIN)
    assert expected.code == 0, expected.err
    tried = ("order",) if words == "report" else ("order", "duplicate_docs", "system_from")
    for files, option in (RULES[rule] for rule in tried):
        found = asked(words, files, *option)
        assert (found.code, result(found)) == (0, result(expected)), (option, found.err)
    if words != "report":
        assert result(asked(words, RULES["order"][0])) != result(expected), "the order matters here"


def result(answer) -> dict[str, object]:
    """What came out, without the hashes of files: in a report, they are in the chapter on the method."""
    return {key: value for key, value in loaded(answer.out).items() if key not in ("inputs", "method")}


@pytest.mark.parametrize("words", [words for words in ARGUMENTS if words != "report"])
def test_scores_are_as_precise_as_was_said(asked, words):
    expected = asked(words, run(lambda rank: 1.0 + (rank < 4)))
    found = asked(words, run(lambda rank: 1.0 + (rank < 4) - rank * 1e-12), "--order", "float32")
    assert (expected.code, found.code, result(found)) == (0, 0, result(expected)), (expected.err, found.err)


@pytest.mark.parametrize("words", [words for words in ARGUMENTS if words != "report"])
def test_scores_that_all_tie_are_said(asked, words):
    answer = asked(words, run(lambda _: 1.0))
    assert "all scores of good, odd, poor tie" in answer.err
    assert "order by rank" in answer.err


@pytest.mark.parametrize("words", ARGUMENTS)
def test_runs_on_other_topics_are_refused(asked, words):
    elsewhere = {name: "".join(f"T{line}" for line in text.splitlines(True)) for name, text in PLAIN.items()}
    answer = asked(words, elsewhere, "-q")
    assert (answer.code, answer.out) == (2, "")
    assert "no topic in common: the runs have 'T1', 'T2', 'T3', the judgments '1', '2', '3'" in answer.err


def test_inspect_says_that_all_scores_tie(venire, write):
    answer = venire("inspect", write("good.run", run(lambda _: 1.0)["good.run"]))
    assert "all scores of good tie" in answer.out
