"""Every command on one small collection, with every output option that it has; names are free to choose."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import polars as pl

from studies_on_disk import HEAD, LABELS, write_study
from venire.cli.main import cli
from venire.cli.places import PLACES
from venire.data.scale import Scale
from venire.io.declarations import beside_name, beside_text


@dataclass(frozen=True)
class Names:
    """Topics, documents of a topic, assessors, systems and labels (lowest first)."""

    topics: Sequence[str] = tuple(f"t{n}" for n in range(1, 7))
    docs: Sequence[str] = tuple(f"d{n}" for n in range(1, 7))
    assessors: Sequence[str] = ("ann", "bob", "cy")
    systems: Sequence[str] = ("s1", "s2", "s3")
    labels: Sequence[str] = ("Non", "Rel", "HRel")
    aspects: Sequence[str] = ("overall", "trust", "clarity")


COMMANDS = {
    "demo": "-o demo",
    "report": "labels.parquet runs --draws 5 -o page.html --json report.json",
    "inspect": "labels.parquet runs -o found.txt",
    "evaluate": "labels.parquet runs --per assessor --per-topic -o scores.txt",
    "compare": "labels.parquet runs --assessor {assessor} --draws 20 -o compared.txt --plot compared.svg",
    "robustness": "labels.parquet runs --draws 5 -o robust.txt --plot robust.svg",
    "count": "labels.parquet runs --assessor {assessor} --draws 5 -o counted.txt --plot counted.svg",
    "certify": "labels.parquet runs --reference {assessor} --draws 5 -o certificate.html --json certificate.json",
    "plan": "labels.parquet runs --goal best --budget 9 --reference {somebody} -o plan.tsv --plot plan.svg",
    "agreement": "labels.parquet --draws 5 -o agreement.txt --plot agreement.svg",
    "consistency": "twice.parquet --draws 5 -o consistency.txt --plot consistency.svg",
    "disagreement": "labels.parquet --draws 5 -o fit.txt --plot fit.svg --save fit.json --posterior items.tsv",
    "sensitivity": "labels.parquet --draws 5 -o sensitivity.txt --plot sensitivity.svg",
    "preferences": "labels.parquet runs --preferences lists.parquet --assessor {assessor} --draws 5 "
    "-o preferences.txt --plot preferences.svg",
    "clicks": "log.parquet --draws 5 -o clicks.txt --plot clicks.svg --save-labels clicked.csv",
    "context predict": "given.parquet --folds 2 --splits 2 --draws 5 -o predicted.txt --plot predicted.svg "
    "--save model.json",
    "context sweep": "given.parquet runs --preferences lists.parquet --assessor {assessor} -m CCG@5 --draws 5 "
    "--alphas 0,1 -o sweep.txt --plot sweep.svg",
    "aspects": "aspects.parquet --overall {aspect} --draws 5 -o aspects.txt --plot aspects.svg",
    "power": "labels.parquet runs --assessor {assessor} --draws 20 -o power.txt --plot power.svg",
    "pdp": "labels.parquet pairs.parquet --top 3 --draws 5 -o pdp.txt --plot pdp.svg",
    "scales": "labels.parquet runs --draws 5 -o scales.txt --plot scales.svg",
    "export": "labels.parquet --assessor {assessor} --gains exponential --scale-by 10 --to {tool} -o {exported}",
    "simulate levels": "--topics 3 --docs 5 --systems 2 -o levels",
    "simulate perceived": "--topics 3 --systems 2 -o perceived",
    "simulate context": "--topics 6 --docs 10 --sessions 2 --users 2 -o serps",
}
OF_STUDIES = {
    "judge init": "made/study.toml",
    "judge ask": "study.toml --show-prompt -o prompts.txt",
    "judge export": "study.toml -o answers.csv --qrels qrels",
    "judge backup": "study.toml -o copy.db",
}
"""Commands on a study and its database."""
STUDY = HEAD.replace('guidelines_text = "Judge the page."', 'guidelines = "guidelines.md"')
STUDY += f'{LABELS}gold = "gold.qrels"\nsecond = {{ share = 0.5, runs = ["runs/a.run"] }}\n'
STUDY_FILES = {
    "guidelines.md": "Judge the page.",
    "gold.qrels": "q1 0 d1 2\n",
    "docs.jsonl": "".join(f'{{"doc": "d{n}", "file": "pages/d{n}.txt"}}\n' for n in (1, 2, 3, 4)),
    **{f"pages/d{n}.txt": f"Text of d{n}" for n in (1, 2, 3, 4)},
    "runs/a.run": "q1 Q0 d1 1 3 a\nq1 Q0 d2 2 2 a\n",
}
"""A study that names files of every kind."""
WITHOUT_FILES = {
    "completion": "prints a script",
    "judge serve": "answers requests, and writes to the database alone",
    "judge import": "adds answers to the database alone",
    "judge invite": "prints a link, and writes to the database alone",
    "judge revoke": "writes to the database alone",
    "judge erase": "writes to the database alone",
    "judge restore": "replaces the database, which the study names",
}
"""Commands that have no output file, and why."""
FOLDERS = {"demo", "simulate levels", "simulate perceived", "simulate context", "judge init"}
QUICK = [words for words in COMMANDS if words not in ("demo", "report", "certify")]


def arguments(words: str, names: Names = Names()) -> list[str]:
    """Return the words and arguments of a command, outputs among them, in the folder of the collection."""
    told = {"{assessor}": names.assessors[0], "{aspect}": names.aspects[0], "{tool}": "ranx", "{exported}": "x.json"}
    told |= {"{somebody}": f"new {names.assessors[0]}"}
    return [*words.split(), *(told.get(each, each) for each in (COMMANDS | OF_STUDIES)[words].split())]


def outputs(words: str) -> dict[str, str]:
    """Return the outputs of a command, and the file or folder that ``arguments`` gives each."""
    given, found = arguments(words), dict[str, str]()
    for each in _written(command_of(words)):
        before = words.split()[-1] if isinstance(each, click.Argument) else each.opts[0]
        if before in given:
            found[each.opts[0]] = given[given.index(before) + 1]
    return found


def is_folder(words: str, option: str) -> bool:
    """Return whether an output is a folder, or a file whose folder is made."""
    return words in FOLDERS or option == "--qrels"


def written_files(words: str, folder: Path) -> list[Path]:
    """Return the files that a command writes in the folder of the collection; after a run, those of its folder too."""
    found = [folder / name for name in outputs(words).values()]
    if words == "export":
        found.append(beside_name(found[0]))
    return [each for path in found for each in (path.rglob("*") if path.is_dir() else [path]) if not each.is_dir()]


def every_command() -> Iterator[tuple[str, click.Command]]:
    """Yield the words and the command, subcommands too."""

    def walk(words: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        if not isinstance(command, click.Group):
            yield words, command
            return
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from walk(f"{words} {name}".strip(), found)

    return walk("", cli)


def command_of(words: str) -> click.Command:
    """Return a command by its words."""
    return dict(every_command())[words]


def _written(command: click.Command) -> list[click.Parameter]:
    return [each for each in command.params if each.callback in PLACES]


@contextmanager
def inputs(words: str, folder: Path) -> Iterator[None]:
    """Write what a command reads; the database of a study is in use meanwhile, as it is while people judge."""
    if words not in OF_STUDIES:
        write_files(folder)
        yield
        return
    from people import answer_all
    from venire.judging.store import Store
    from venire.judging.study_files import read_study

    with Store.open(*read_study(write_study(folder, STUDY, STUDY_FILES))) as store:
        for name in store.study.people:
            answer_all(store, name, dict.fromkeys(store.study.documents, 1))
    with in_use(folder / "study.db"):
        yield


IN_USE = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
print(database.execute("SELECT count(*) FROM answer").fetchone()[0], flush=True)
sys.stdin.read()
"""


@contextmanager
def in_use(database: Path) -> Iterator[None]:
    """Keep a database open in another process: one that reads the file, as tests do, would end its own locks."""
    command = [sys.executable, "-c", IN_USE, str(database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert int(process.stdout.readline()) > 0
        try:
            yield
        finally:
            process.stdin.close()


def write_files(folder: Path, names: Names = Names()) -> None:
    """Write labels, runs, preferences, a log and the rest; tables, since they hold any name."""
    rng, n_labels = np.random.default_rng(1), len(names.labels)
    items = [(topic, f"{doc}{topic}") for topic in names.topics for doc in names.docs]
    level = {item: int(rng.integers(n_labels)) for item in items}

    def seen(item: tuple[str, str]) -> str:
        return names.labels[int(np.clip(level[item] + rng.integers(-1, 2), 0, n_labels - 1))]

    labels = [(*item, who, seen(item)) for item in items for who in names.assessors]
    columns = ["topic", "doc", "assessor", "label"]
    tables = {
        "labels": (columns, labels),
        "twice": ([*columns, "time"], [(*row, n) for row in labels for n in (1, 2)]),
        "given": ([*columns, "given"], [*((*row, None) for row in labels), *_conditions(names, seen)]),
        "aspects": ([*columns, "aspect"], [(*row[:3], seen(row[:2]), a) for row in labels for a in names.aspects]),
        "lists": (
            ["topic", "left", "right", "assessor", "strength"],
            [(t, *names.systems[:2], who, int(rng.integers(-1, 2))) for t in names.topics for who in names.assessors],
        ),
        "pairs": (
            ["topic", "left", "right", "assessor", "strength"],
            [
                (t, f"{a}{t}", f"{b}{t}", who, int(np.sign(level[t, f"{a}{t}"] - level[t, f"{b}{t}"])))
                for t in names.topics
                for n, a in enumerate(names.docs)
                for b in names.docs[:n]
                for who in names.assessors[:1]
            ],
        ),
        "log": (
            ["session", "topic", "rank", "doc", "clicked"],
            [
                (f"{session}{topic}", topic, rank, f"{doc}{topic}", int(rng.random() < 0.5 / rank))
                for topic in names.topics
                for session in range(3)
                for rank, doc in enumerate(names.docs, start=1)
            ],
        ),
    }
    for name, (head, rows) in tables.items():
        path = folder / f"{name}.parquet"
        pl.DataFrame(rows, schema=head, orient="row", infer_schema_length=None).write_parquet(path)
        if "label" in head:
            beside_name(path).write_bytes(beside_text(Scale(tuple(names.labels), "ordinal")))
    (folder / "runs").mkdir()
    for n, system in enumerate(names.systems):
        ranked = [(*item, float(n * level[item] + rng.normal()), system) for item in items]
        run = pl.DataFrame(ranked, schema=["topic", "doc", "score", "system"], orient="row")
        run.write_parquet(folder / "runs" / f"{n}.parquet")


def _conditions(names: Names, seen) -> list[tuple[str, ...]]:
    """Labels of each document given the one before it."""
    return [
        (topic, f"{doc}{topic}", who, seen((topic, f"{doc}{topic}")), f"{before}{topic}")
        for topic in names.topics
        for before, doc in zip(names.docs, names.docs[1:], strict=False)
        for who in names.assessors
    ]
