"""Files of every format that is read, whole and damaged: the same bytes for the same seed and number.

A ``Form`` has whole files to begin from, words that mean something in it, the reader, and commands that read it.  A
damaged file is a result or an error of ours; ``outcome`` says which, and raises anything else.
"""

from __future__ import annotations

import gzip
import io
import json
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import zstandard

import source_files
from mutations import (
    EDGES,
    ODD,
    Rng,
    add_mark,
    begin_line,
    below,
    delete_bytes,
    drop_last_end,
    drop_line,
    flip_bit,
    insert_bytes,
    join_lines,
    nothing,
    on_lines,
    pick,
    repeat_line,
    replace_byte,
    swap_lines,
    truncate,
    whole_run,
)
from venire import read_aspects, read_clicks, read_judgments, read_preferences, read_runs
from venire.certification.binding import read_certificate
from venire.context.model import fit_conditional_labels, read_conditional_labels, write_conditional_labels
from venire.data.ids import Ids
from venire.data.judgments import Items
from venire.disagreement.files import read_fit, write_fit
from venire.disagreement.predicted_relevance import PredictedRelevance
from venire.errors import VenireError, VenireWarning
from venire.io.duplicates import read_duplicates
from venire.io.exchange import read_preference_groups
from venire.io.inspect import inspect_file
from venire.io.plans import read_plan
from venire.io.runs import read_facts
from venire.io.side_files import read_features, read_gains_file, read_groups, read_intent_probabilities
from venire.io.sources.known import BY_NAME
from venire.io.sources.nuggets import read_nuggets
from venire.io.texts import read_texts
from venire.judging.imports import read_labels
from venire.judging.study_files import read_study

Mutation = Callable[[bytes, Rng], bytes]
NOTHING = Items(Ids.of([]), np.zeros(0, dtype=np.int32), Ids.of([]))
QRELS = b"1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 a 0\n2 0 d 1\n"
RUN = b"1 Q0 a 1 3.5 sys\n1 Q0 b 2 2.5 sys\n1 Q0 c 3 1.5 sys\n2 Q0 a 1 2 sys\n2 Q0 d 2 1 sys\n"


class Form(NamedTuple):
    """A format: the name of its files, whole ones, how they are read, words of it, mutations, and commands.

    commands: arguments; FILE is the damaged file, QRELS and RUN are whole ones.
    """

    file: str
    whole: Callable[[], Sequence[bytes]]
    read: Callable[[Path], object]
    words: Sequence[bytes] = ()
    mutations: Sequence[Mutation] = ()
    commands: Sequence[Sequence[str]] = ()


# ---- mutations --------------------------------------------------------------------------------------------------

BYTES: list[Mutation] = [flip_bit, replace_byte, insert_bytes, delete_bytes, truncate, drop_last_end, add_mark]
LINES: list[Mutation] = [on_lines(change) for change in (swap_lines, repeat_line, drop_line, join_lines, begin_line)]


def separators(data: bytes, rng: Rng) -> bytes:
    """Change the separators, quotes or line ends of a table."""
    old, new = pick(rng, [(b",", b"\t"), (b"\t", b","), (b",", b";"), (b"\n", b"\r\n"), (b"\n", b"\r"), (b'"', b"'")])
    return data.replace(old, new, pick(rng, [1, 3, -1]))


def quotes(data: bytes, rng: Rng) -> bytes:
    place = below(rng, len(data) + 1)
    return data[:place] + pick(rng, [b'"', b'""', b'",', b',"', b'"\n', b'\n"', b"'"]) + data[place:]


def encodings(data: bytes, rng: Rng) -> bytes:
    """Write the text in another encoding, or with characters that are none."""
    text = data.decode("utf-8", "replace")
    return pick(
        rng,
        [
            text.encode("utf-16"),
            text.encode("utf-16-be"),
            text.encode("utf-32"),
            data.replace(b"a", b"\xed\xa0\x80"),
            data.replace(b"a", "\u202e\ufffe".encode()),
            data.replace(b"1", "\N{ARABIC-INDIC DIGIT ONE}".encode()),
            data.replace(b"a", b"\\ud800"),
        ],
    )


def long_value(data: bytes, rng: Rng) -> bytes:
    """Put a long field, line, number or nesting somewhere."""
    n = pick(rng, [300, 301, 4_300, 5_000, 131_072, 131_073, 1 << 20])
    value = pick(rng, [b"x", b"1", b"0", b"9", b"[", b"{", b'{"a":', b"a.", b" ", b",", b"\n", b"#", b"\\"])
    place = below(rng, len(data) + 1)
    return data[:place] + value * (n // len(value)) + data[place:]


def compressed(data: bytes, rng: Rng) -> bytes:
    """Compress it, and damage what comes out."""
    packed = gzip.compress(data, mtime=0) if rng.random() < 0.5 else zstandard.ZstdCompressor().compress(data)
    return pick(rng, [packed, packed * 2, pick(rng, BYTES)(packed, rng), packed + data])


ANY_TEXT: list[Mutation] = [*BYTES, *BYTES, *LINES, *LINES, encodings, compressed, long_value]

ODD_VALUES: list[Any] = [None, True, False, 0, -1, 1.5, 1e308, -0.0, float("nan"), float("inf"), 1 << 70, "", "x", "1"]
ODD_VALUES += [
    "1e999",
    "\ud800",
    "\0",
    "\u0085",
    [],
    {},
    [[]],
    [{}],
    {"": {}},
    {"a": [1, {"b": None}]},
    [None],
    [1, "a"],
]
ODD_VALUES += [["d1", "d2"], "d1 d2", "1" * 400, 10**400, "2013-05-31T12:00:00Z", "9999-12-31T23:59:59+23:59"]


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value] if depth % 2 else {"a": value}
    return value


def odd_value(rng: Rng) -> Any:
    return nested(pick(rng, [2, 5, 63, 64, 65, 300])) if rng.random() < 0.1 else pick(rng, ODD_VALUES)


def change_json(value: Any, rng: Rng) -> Any:
    """Change one place of a JSON value: another value, a key more, a key less."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = pick(rng, list(value))
        kind = rng.random()
        if kind < 0.1:
            return {name: each for name, each in value.items() if name != key}
        if kind < 0.2:
            return {**value, pick(rng, ["", "x", "topic", "label", "\0", key + " "]): odd_value(rng)}
        return {**value, key: change_json(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        place = below(rng, len(value))
        rest = value[place + 1 :]
        return value[:place] + ([] if rng.random() < 0.2 else [change_json(value[place], rng)]) + rest
    return odd_value(rng)


def written_json(value: Any) -> bytes:
    text = (
        json.dumps(value, ensure_ascii=True)
        if "\\ud800" in json.dumps(value)
        else json.dumps(value, ensure_ascii=False)
    )
    return text.encode("utf-8", "surrogatepass")


def on_json(data: bytes, rng: Rng) -> bytes:
    try:
        return written_json(change_json(json.loads(data), rng))
    except (ValueError, RecursionError):
        return data


def on_json_line(lines: list[bytes], rng: Rng) -> None:
    place = below(rng, len(lines))
    lines[place] = on_json(lines[place], rng)


JSON_LINES: list[Mutation] = [*ANY_TEXT, *[on_lines(on_json_line)] * 12]
JSON: list[Mutation] = [*BYTES, encodings, long_value, *[on_json] * 12]
TABLE: list[Mutation] = [*ANY_TEXT, separators, separators, quotes, quotes]


def footer(data: bytes, rng: Rng) -> bytes:
    """Change bytes of the last kilobyte of Parquet: the numbers and lengths of its description."""
    place = max(0, len(data) - 1 - below(rng, 1_000))
    byte = pick(rng, [below(rng, 256), 0xFF, 0x7F, 0x80, 0])
    return data[:place] + bytes([byte]) + data[place + 1 :]


PARQUET: list[Mutation] = [*[footer] * 8, *BYTES, compressed]


# ---- whole files ------------------------------------------------------------------------------------------------

ROWS = [
    {"topic": str(1 + n // 6), "doc": f"d{n % 6}", "assessor": pick_, "label": (n + len(pick_)) % 3, "note": "a, b"}
    for n in range(12)
    for pick_ in ("ann", "bob")
]
SHOWN = [
    {
        "session": f"s{n // 3}",
        "topic": str(1 + n // 6),
        "rank": 1 + n % 3,
        "doc": f"d{n % 5}",
        "clicked": n % 2,
        "dwell": n,
    }
    for n in range(18)
]
SESSIONS = [
    {"session": n, "topic": "1", "docs": ["a", "b", "c"], "clicks": [0, n % 2, 1], "dwells": [None, 3, 4.5]}
    for n in range(6)
]
CHOICES = [
    {"topic": "1", "left": f"d{n}", "right": f"d{n + 1}", "assessor": "ann", "strength": n - 3} for n in range(7)
]
RANKED = [{"topic": "1", "doc": f"d{n}", "rank": n, "score": 9.5 - n, "system": "sys"} for n in range(1, 8)]
WIDE = [{"topic": "1", "doc": f"d{n}", "ann": n % 3, "bob": (n + 1) % 3} for n in range(8)]
ASPECTS = [
    {"topic": "1", "doc": f"d{n}", "trust": n % 3, "depth": pick_} for n, pick_ in enumerate(["0", "1", "N/A"] * 3)
]
CONDITIONAL = [
    *({"topic": t, "doc": d, "given": "", "label": n} for t in "12" for n, d in enumerate("abc")),
    *({"topic": t, "doc": d, "given": "a", "label": n % 2} for t in "12" for n, d in enumerate("bc")),
]


def delimited(rows: Sequence[dict[str, Any]], separator: str = ",") -> Callable[[], list[bytes]]:
    return lambda: [pl.DataFrame(list(rows)).write_csv(separator=separator).encode()]


def json_lines(rows: Sequence[dict[str, Any]]) -> Callable[[], list[bytes]]:
    return lambda: ["".join(json.dumps(row) + "\n" for row in rows).encode()]


def parquet(rows: Sequence[dict[str, Any]]) -> Callable[[], list[bytes]]:
    """Write rows with every compression, and with columns of many types beside."""

    def made() -> list[bytes]:
        frame = pl.DataFrame(list(rows))
        more = frame.with_columns(
            a=pl.lit(1.5, pl.Float32), b=pl.Series([[1, 2]] * frame.height), c=pl.Series([{"x": 1}] * frame.height)
        )
        more = more.with_columns(
            d=pl.lit("2020-01-01").str.to_date(), e=pl.lit(b"\xff"), f=pl.col("topic").cast(pl.Categorical)
        )
        found = []
        for each, how in ((frame, "zstd"), (frame, "snappy"), (frame, "gzip"), (frame, "uncompressed"), (more, "lz4")):
            file = io.BytesIO()
            each.write_parquet(file, compression=how)
            found.append(file.getvalue())
        return found

    return made


@cache
def saved_fits() -> tuple[bytes, bytes]:
    """Return a saved fit of predicted relevance, and a saved predictor of conditional labels."""
    with TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit, predictor = Path(place) / "fit.json", Path(place) / "predictor.json"
        write_fit(PredictedRelevance().fit(read_judgments(pl.DataFrame(ROWS))), fit, fingerprint="x")
        model = fit_conditional_labels(read_judgments(pl.DataFrame(CONDITIONAL)))
        write_conditional_labels(model, predictor, fingerprint="x")
        return fit.read_bytes(), predictor.read_bytes()


JUDGES = b"# reference: ann\n# machines: gpt4\ntopic,doc,assessor,label\n" + b"".join(
    b"%d,%c,%b,%d\n" % (topic, doc, who, (topic + doc + (who == b"gpt4" and doc == 98)) % 3)
    for topic in (1, 2)
    for doc in b"abcd"
    for who in (b"ann", b"gpt4")
)
CERTIFY = ["certify", "JUDGES", "RUN", "--judge", "gpt4"]
PLAN = (
    b"topic\tdoc\tjudge\tkind\tprobability\treason\n1\ta\tann\treference\t0.5\trank 1\n"
    b'1\tb\tann\treference\t0.25\trank 2\n2\td\tann\tfirst\t1.0\t"rank 3"\n'
)
PLANNED = ["--goal", "levels", "--budget", "3", "--reference", "ann"]


@cache
def saved_certificate() -> bytes:
    from click.testing import CliRunner

    from venire.cli.main import cli

    with TemporaryDirectory() as place:
        command = arguments([*CERTIFY, "--format", "json", "-q"], Path(place) / "x")
        return CliRunner().invoke(cli, command, prog_name="venire").stdout.encode()


TOML = b"""scale = "0<1<2"
labels = ["0", "1", "2"]
measurement = "ordinal"
reference = ["qrels"]
machines = []
prompts = {"gpt4" = "HASH"}
date = 1979-05-27T07:32:00Z
[gains]
name = "linear"
scale_by = 1_000
[gains.labels]
"0" = 0.0
"1" = 1e0
"""


def read_beside(path: Path) -> object:
    """Read judgments beside which the damaged TOML is."""
    qrels = path.with_name("qrels.txt")
    qrels.write_bytes(QRELS)
    return read_judgments(qrels)


STUDY = b"""# a study
[study]
name = "small"
guidelines_text = \'\'\'
# Guidelines\'\'\'
ties = false
lease_minutes = 1.5
[[scale]]
name = "0"
definition = "no"
[[scale]]
name = "1"
[[scale]]
name = "2"
[[aspects]]
name = "trust"
labels = [{ name = "low" }, { name = "high", definition = "yes" }]
[topics]
file = "topics.tsv"
[[topics.list]]
topic = "3"
query = "three"
[documents]
file = "docs.jsonl"
folder = "pages"
[[assessors]]
name = "ann"
reference = true
[[assessors]]
name = "bob"
[[assessors]]
name = "model"
kind = "machine"
[order]
seed = 7
repeats = 0.1
apart = 3
[[tasks]]
kind = "label"
pool = "pool.tsv"
judgments = 1
second = { share = 0.5, runs = ["a.run"], depth = 2 }
gold = "gold.qrels"
[[tasks]]
kind = "conditional"
pairs = "given.tsv"
assign = "fixed"
assessors = ["ann", "bob"]
[[tasks]]
kind = "aspects"
pool = "pool.tsv"
view = "snippet"
[[tasks]]
kind = "preference"
pairs = "pairs.tsv"
[[tasks]]
kind = "lists"
runs = ["a.run", "b.run"]
depth = 2
"""
STUDY_FILES = {
    "topics.tsv": b"topic\tquery\n1\tone\n2\ttwo\n",
    "docs.jsonl": b'{"doc": "a", "title": "A", "snippet": "s", "text": "x"}\n'
    b'{"doc": "b", "title": "B", "html": "<p>"}\n'
    b'{"id": "c", "title": "C", "file": "pages/c.txt"}\n{"doc": "d", "snippet": "D"}\n',
    "pool.tsv": b"topic\tdoc\n1\ta\n1\tb\n1\tc\n2\ta\n2\td\n",
    "given.tsv": b"topic\tdoc\tgiven\n1\tb\ta\n",
    "pairs.tsv": b"topic\tleft\tright\n1\ta\tb\n",
    "gold.qrels": b"1 0 a 2\n",
    "a.run": RUN,
    "b.run": RUN.replace(b"sys", b"other"),
    "pages/c.txt": b"c",
    "pages/d.html": b"<p>d",
}


def _beside_study(path: Path) -> Path:
    """Write what a study names, if it is not there."""
    for name, content in {"study.toml": STUDY, **STUDY_FILES}.items():
        place = path.with_name("study.toml").parent / name
        place.parent.mkdir(exist_ok=True)
        if not place.exists():
            place.write_bytes(content)
    return path.with_name("study.toml")


def read_damaged_study(path: Path) -> object:
    """Read a study, of which the study file or another one is damaged."""
    return read_study(_beside_study(path))


def read_all_texts(path: Path) -> object:
    """Read texts of documents to the end."""
    texts = read_texts(docs=path)
    return texts and texts.of_docs(["a", "none such"])


def read_run(path: Path) -> object:
    return read_facts(read_runs(path), NOTHING, lambda _: None)


def arrow(rows: Sequence[dict[str, Any]]) -> Callable[[], list[bytes]]:
    """Write rows as a file and as a stream of Arrow."""

    def made() -> list[bytes]:
        file, packed, stream = io.BytesIO(), io.BytesIO(), io.BytesIO()
        frame = pl.DataFrame(list(rows))
        frame.write_ipc(file)
        frame.write_ipc(packed, compression="zstd")
        frame.write_ipc_stream(stream)
        return [file.getvalue(), packed.getvalue(), stream.getvalue()]

    return made


def of_source(name: str) -> list[bytes]:
    """Return the files of another tool."""
    made = [*source_files.JUDGED.values(), *source_files.RANKED.values()]
    return [content for _, source, content, _ in made if source == name]


def source_form(name: str, file: str, words: Sequence[bytes]) -> Form:
    """Make the format of another tool that has labels."""

    def read(path: Path) -> object:
        return BY_NAME[name].rows(path, {})

    mutations = JSON_LINES if file.endswith("l") else JSON
    commands = [["inspect", "FILE"], ["agreement", "FILE", "--draws", "0"]]
    return Form(file, lambda: of_source(name), read, [*words, *JSON_WORDS], mutations, commands)


def read_gains_by_name(path: Path) -> object:
    return read_gains_file(path)


QREL_WORDS = [
    b"# scale: 0<1<2",
    b"# reference: ann",
    b"# machines: ann",
    b"# prompt ann: x",
    b"-1",
    b"N/A",
    b"#",
    *EDGES,
]
COLUMNS = [b"topic", b"doc", b"label", b"assessor", b"time", b"given", b"aspect", b"probability", b"intent", b"score"]
JSON_WORDS = [
    b'"topic":',
    b'"label":',
    b"null",
    b"true",
    b"NaN",
    b"1e999",
    b"-0",
    b"\\u0000",
    b"\\ud800",
    b"[[]]",
    b'{"a":{}}',
]
TOML_WORDS = [
    b"[a]\n",
    b"[[a]]\n",
    b"a.b = 1\n",
    b"= ",
    b'"""',
    b"'''",
    b"inf",
    b"nan",
    b"0x" + b"f" * 5_000,
    b"{",
    b"[",
    b"\\u0000",
]
JUDGED = ("inspect FILE", "agreement FILE --draws 0", "evaluate FILE RUN", "disagreement FILE")

FORMS: dict[str, Form] = {
    "qrels": Form(
        "qrels.txt", lambda: [QRELS], read_judgments, QREL_WORDS, ANY_TEXT, [each.split() for each in JUDGED]
    ),
    "runs": Form(
        "run.txt",
        lambda: [RUN, whole_run(np.random.default_rng(1))],
        read_run,
        EDGES,
        ANY_TEXT,
        [["inspect", "FILE"], ["evaluate", "QRELS", "FILE"]],
    ),
    "csv": Form(
        "judges.csv", delimited(ROWS), read_judgments, [*COLUMNS, *EDGES], TABLE, [each.split() for each in JUDGED]
    ),
    "tsv": Form("wide.tsv", delimited(WIDE, "\t"), read_judgments, [*COLUMNS, *EDGES], TABLE, [["inspect", "FILE"]]),
    "jsonl": Form(
        "judges.jsonl", json_lines(ROWS), read_judgments, JSON_WORDS, JSON_LINES, [each.split() for each in JUDGED]
    ),
    "parquet": Form(
        "judges.parquet",
        parquet(ROWS),
        read_judgments,
        [b"PAR1"],
        PARQUET,
        [["inspect", "FILE"], ["agreement", "FILE", "--draws", "0"]],
    ),
    "run-csv": Form("run.csv", delimited(RANKED), read_run, [*COLUMNS, *EDGES], TABLE, [["evaluate", "QRELS", "FILE"]]),
    "run-parquet": Form("run.parquet", parquet(RANKED), read_run, [b"PAR1"], PARQUET, [["evaluate", "QRELS", "FILE"]]),
    "clicks": Form(
        "log.csv", delimited(SHOWN), read_clicks, [b"clicked", b"dwell", *EDGES], TABLE, [["clicks", "FILE"]]
    ),
    "clicks-jsonl": Form(
        "log.jsonl", json_lines(SHOWN), read_clicks, [*JSON_WORDS, b'"clicked":'], JSON_LINES, [["clicks", "FILE"]]
    ),
    "clicks-wide": Form(
        "log.jsonl", json_lines(SESSIONS), read_clicks, [*JSON_WORDS, b'"docs":'], JSON_LINES, [["clicks", "FILE"]]
    ),
    "clicks-parquet": Form(
        "log.parquet",
        parquet([{**row, "dwells": [1.0, 2.5, 3.0]} for row in SESSIONS]),
        read_clicks,
        [b"PAR1"],
        PARQUET,
        [["clicks", "FILE"]],
    ),
    "preferences": Form(
        "choices.csv",
        delimited(CHOICES),
        read_preferences,
        [b"left", b"preferred", b"=", b"?", *EDGES],
        TABLE,
        [["preferences", "--preferences", "FILE"], ["preferences", "QRELS", "--preferences", "FILE"]],
    ),
    "preference-lines": Form(
        "choices.txt",
        lambda: [b"1 a b a\n1 b c =\n1 a c ?\n2 a b b\n"],
        read_preferences,
        [b"=", b"?", b"!", b"left"],
        ANY_TEXT,
        [["preferences", "--preferences", "FILE"]],
    ),
    "preference-groups": Form(
        "prefs.txt",
        lambda: [b"1 ann 1 a 2.0\n1 ann 1 b 1.0\n1 bob 2 a 1.0\n1 bob 2 b 2.0\n"],
        read_preference_groups,
        EDGES,
        ANY_TEXT,
    ),
    "plan": Form(
        "plan.tsv",
        lambda: [PLAN],
        read_plan,
        [b"reference", b"preference", b"probability", b"other", b"0", b"1.5", *EDGES],
        TABLE,
        [["inspect", "FILE"], ["plan", "QRELS", "RUN", *PLANNED, "--after", "FILE"]],
    ),
    "study": Form(
        "study.toml",
        lambda: [STUDY],
        read_damaged_study,
        [b"tasks", b"second", b"plan", b"[[", b"golbus", b"fixed", b"lists", b"..", b"label = 1\n", *TOML_WORDS],
        ANY_TEXT,
        [["judge", "import", "FILE", "QRELS", "--assessor", "ann"], ["judge", "export", "FILE", "-o", "OUT"]],
    ),
    "documents": Form(
        "docs.jsonl",
        lambda: [STUDY_FILES["docs.jsonl"]],
        read_damaged_study,
        [b'"doc":', b'"html":', b'"file":', b"../", *JSON_WORDS],
        JSON_LINES,
    ),
    "label-studio": Form(
        "project.json",
        lambda: of_source("label-studio"),
        lambda path: read_labels(path, "label-studio"),
        [b'"annotations":', b'"completed_by":', b'"result":', *JSON_WORDS],
        JSON,
        [["inspect", "FILE"]],
    ),
    "quepid": Form(
        "book",
        lambda: of_source("quepid"),
        lambda path: read_labels(path, "quepid"),
        [b'"queries":', b'"ratings":', b'"judgements":', b"rating", *JSON_WORDS],
        JSON,
        [["inspect", "FILE"]],
    ),
    "snapshot": Form(
        "snapshot.csv",
        lambda: [source_files.QUEPID_SNAPSHOT],
        read_run,
        [b"Snapshot Name", b"Doc Position", b",,", *EDGES],
        TABLE,
        [["inspect", "FILE"], ["evaluate", "QRELS", "FILE"]],
    ),
    "argilla": source_form("argilla", "records.json", [b'"responses":', b'"user_id":', b'.responses.users":']),
    "prodigy": source_form("prodigy", "eggs.jsonl", [b'"accept":', b'"answer":', b'"ignore"', b'"meta":']),
    "doccano": source_form("doccano", "ann.jsonl", [b'"label":', b'"labels":', b'"meta":', b'"Comments":']),
    "rank-eval": source_form("rank-eval", "rated.json", [b'"requests":', b'"ratings":', b'"_id":', b'"_index":']),
    "opensearch": source_form("opensearch", "rated.json", [b'"judgmentRatings":', b'"hits":', b'"docId":']),
    "umbrela": source_form("umbrela", "judged.jsonl", [b'"judgment":', b'"candidates":', b'"result_status":0']),
    "nuggets": Form(
        "nuggets.jsonl",
        lambda: [source_files.lines(each) for each in (source_files.NUGGETS, source_files.NUGGETS_OF_PASSAGES)],
        read_nuggets,
        [b'"qid":', b'"nuggets":', b'"assignment":', b'"partial_support"', *JSON_WORDS],
        JSON_LINES,
        [["inspect", "FILE"], ["evaluate", "FILE", "RUN"], ["evaluate", "FILE", "-m", "VitalScore"]],
    ),
    "results": Form(
        "run.json",
        lambda: [each for name in ("mteb", "mapping", "sentence-transformers") for each in of_source(name)],
        read_run,
        [b'"mteb_model_meta":', b'"results":', b'"corpus_id":', b"1e999", b"NaN", *JSON_WORDS],
        JSON_LINES,
        [["inspect", "FILE"], ["evaluate", "QRELS", "FILE"]],
    ),
    "arrow": Form(
        "judges.arrow", arrow(ROWS), read_judgments, [b"ARROW1", b"\xff\xff\xff\xff"], PARQUET, [["inspect", "FILE"]]
    ),
    "beir": Form(
        "test.tsv",
        lambda: [source_files.BEIR_QRELS],
        read_judgments,
        [b"query-id", b"corpus-id", b"score", *EDGES],
        TABLE,
        [["inspect", "FILE"], ["evaluate", "FILE", "RUN"]],
    ),
    "aspects": Form(
        "aspects.csv",
        delimited(ASPECTS),
        read_aspects,
        [*COLUMNS, b"N/A", b"trust", *EDGES],
        TABLE,
        [["aspects", "FILE"], ["inspect", "FILE", "--layout", "aspects"]],
    ),
    "toml": Form(
        "qrels.toml",
        lambda: [TOML],
        read_beside,
        TOML_WORDS,
        [*BYTES, *LINES, *LINES, encodings, long_value],
        [["inspect", "BESIDE"]],
    ),
    "fit": Form(
        "fit.json",
        lambda: saved_fits()[:1],
        read_fit,
        JSON_WORDS,
        JSON,
        [["evaluate", "QRELS", "RUN", "--gains", "FILE"]],
    ),
    "conditional-fit": Form(
        "predictor.json",
        lambda: saved_fits()[1:],
        read_conditional_labels,
        JSON_WORDS,
        JSON,
        [["evaluate", "QRELS", "RUN", "--predict", "FILE"]],
    ),
    "certificate": Form(
        "certificate.json",
        lambda: [saved_certificate()],
        read_certificate,
        JSON_WORDS,
        JSON,
        [[*CERTIFY, "--check", "FILE"], [*CERTIFY, "--check", "FILE", "--format", "json"]],
    ),
    "gains": Form(
        "gains.txt",
        lambda: [b"label\tgain\n0\t0\n1\t0.5\n2\t1\n", b"0,0\n1,0.5\n2,1\n"],
        read_gains_by_name,
        EDGES,
        ANY_TEXT,
        [["evaluate", "QRELS", "RUN", "--gains", "FILE"]],
    ),
    "groups": Form("groups.txt", lambda: [b"1\ta\n2\tb\n"], read_groups, [b"topic", b"group"], ANY_TEXT),
    "intents": Form("intents.txt", lambda: [b"1 a 0.5\n1 b 0.5\n"], read_intent_probabilities, EDGES, ANY_TEXT),
    "topics": Form(
        "topics.txt",
        lambda: [b"1\n2\n"],
        lambda path: path,
        [b"\t"],
        ANY_TEXT,
        [["evaluate", "QRELS", "RUN", "--topics", "FILE"]],
    ),
    "texts": Form(
        "docs.jsonl",
        lambda: [b'{"id": "a", "text": "one"}\n{"_id": "b", "title": "t", "text": "two"}\n', b"a\tone\nb\ttwo\n"],
        read_all_texts,
        [b'"id"', b'"text"', b"null", b"\t", *EDGES],
        JSON_LINES,
    ),
    "duplicates": Form(
        "same.txt",
        lambda: [b"0 a b\nc d e\n"],
        read_duplicates,
        [b"0"],
        ANY_TEXT,
        [["evaluate", "QRELS", "RUN", "--duplicates", "FILE"]],
    ),
    "features": Form(
        "features.csv",
        delimited([{"topic": "1", "doc": f"d{n}", "x": n / 3, "y": -n} for n in range(5)]),
        read_features,
        EDGES,
        TABLE,
    ),
    "inspect": Form(
        "odd.txt",
        lambda: [QRELS, RUN, TOML, delimited(ROWS)()[0], json_lines(ROWS)()[0]],
        inspect_file,
        [*EDGES, *ODD],
        TABLE,
        [["inspect", "FILE"]],
    ),
}


@cache
def whole_files(name: str) -> list[bytes]:
    return list(FORMS[name].whole())


def damaged(name: str, seed: int, number: int) -> bytes:
    """Make one file of a format: one in sixteen is whole, the others went through one to four mutations."""
    rng, form = np.random.default_rng([seed, number, *name.encode()]), FORMS[name]
    data = pick(rng, whole_files(name))
    if rng.random() < 0.003:
        return nothing(data, rng)
    if number % 16:
        for _ in range(1 + below(rng, 4)):
            data = with_word(data, rng, form.words) if rng.random() < 0.2 else pick(rng, form.mutations)(data, rng)
    return data


def with_word(data: bytes, rng: Rng, words: Sequence[bytes]) -> bytes:
    """Put a word of the format in place of another one, or between two bytes."""
    place = below(rng, len(data) + 1)
    end = place + pick(rng, [0, 1, 3])
    return data[:place] + pick(rng, words) + data[end:]


class Unexpected(Exception):  # noqa: N818 - it is what was found
    """A reader raised something else than an error of ours, or its message is longer than a screen."""


def outcome(form: Form, path: Path) -> str:
    """Read a file: "read" or "refused"; whatever else happens is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", VenireWarning)
        try:
            form.read(path)
        except VenireError as error:
            text = str(error)
            if len(text) > 4_000 or not error.message:
                raise Unexpected(f"a message of {len(text)} characters") from error
            return "refused"
    return "read"


def arguments(command: Sequence[str], path: Path) -> list[str]:
    """Put the names of files into the arguments of a command."""
    places = {"FILE": path, "QRELS": path.with_name("whole-qrels.txt"), "RUN": path.with_name("whole-run.txt")}
    places["BESIDE"] = path.with_name("qrels.txt")
    places["OUT"] = path.with_name("out.csv")
    places["JUDGES"] = path.with_name("judges-and-a-machine.csv")
    for name, content in (("QRELS", QRELS), ("RUN", RUN), ("BESIDE", QRELS), ("JUDGES", JUDGES)):
        if name in command and not places[name].exists():
            places[name].write_bytes(content)
    return [str(places.get(each, each)) for each in command]


def exit_code(command: Sequence[str], path: Path) -> int:
    """Run a command in this process and return its exit code; a traceback is raised."""
    from click.testing import CliRunner

    from venire.cli.main import BUG, cli

    with warnings.catch_warnings(), suppress(KeyError):
        warnings.simplefilter("default")
        result = CliRunner().invoke(cli, arguments(command, path), prog_name="venire")
    if not isinstance(result.exception, SystemExit | None):
        raise result.exception
    if result.exit_code == BUG or "Traceback" in result.output:
        raise Unexpected(result.output[-3_000:])
    return int(result.exit_code)
