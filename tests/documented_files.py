"""A small collection under every file name that the documentation and the help of commands use."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import numpy as np
import polars as pl

import source_files as files

TOPICS, DOCS, SHOWN = 10, 20, 10
LEVELS = (0.5, 0.25, 0.15, 0.1)
LENIENCY = {"nist": 0.0, "main": 0.0, "careful1": -0.3, "ann": 0.2, "gpt4": 0.4}
QUALITY = {"bm25": 1.0, "old": 2.0, "new": 4.0}
GRADES = ("Non", "Rel", "HRel", "HRel")
EXPORTS = (
    "label-studio",
    "quepid, CSV",
    "argilla",
    "prodigy",
    "doccano",
    "rank-eval",
    "opensearch",
    "umbrela, request",
)
ASPECTS = ("overall", "rel", "trust", "clarity")


def write_documented_files(folder: Path) -> None:
    """Write judgments, runs, preferences, clicks: whatever an example may name."""
    rng = np.random.default_rng(0)
    items = _items(rng)
    labels = _labels(items, rng)
    runs = pl.concat([_run(items, system, rng) for system in QUALITY])
    _write_judgments(folder, labels)
    _write_aspects(folder, labels, rng)
    _write_runs(folder, runs)
    _write_choices(folder, items, rng)
    _write_clicks(folder, items, runs, rng)
    _write_conditions(folder, labels, runs, rng)
    _write_exports(folder)
    (folder / "first.qrels").write_text("q1 0 egg-times 2\nq1 0 omelette 0\nq2 0 chain-care 2\nq2 0 chain-shop 0\n")


def _items(rng: np.random.Generator) -> pl.DataFrame:
    """Documents of all topics and their true levels; names tell engine, topic and rank, as in federated search."""
    places = [(str(301 + topic), number) for topic in range(TOPICS) for number in range(DOCS)]
    docs = [f"FW13-e{number // 10:03}-{topic}-{number % 10:02}" for topic, number in places]
    level = rng.choice(4, p=LEVELS, size=len(docs))
    return pl.DataFrame({"topic": [topic for topic, _ in places], "doc": docs, "level": level})


def _labels(items: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Everybody's label of every document: its level, seen through noise and habit."""
    level = items["level"].to_numpy()
    parts = []
    for assessor, leniency in LENIENCY.items():
        seen = np.clip(np.rint(level + leniency + 0.5 * rng.standard_normal(len(level))), 0, 3).astype(int)
        parts.append(items.select("topic", "doc", assessor=pl.lit(assessor), label=pl.Series(seen)))
    return pl.concat(parts)


def _run(items: pl.DataFrame, system: str, rng: np.random.Generator) -> pl.DataFrame:
    score = QUALITY[system] * items["level"].to_numpy() / 3 + rng.standard_normal(len(items))
    ranked = items.with_columns(score=pl.Series(score)).sort("topic", "score", descending=[False, True])
    return ranked.select(
        "topic", "doc", pl.int_range(1, pl.len() + 1).over("topic").alias("rank"), "score", system=pl.lit(system)
    )


def _write_judgments(folder: Path, labels: pl.DataFrame) -> None:
    tables = {
        "judgments": labels,
        "new": labels,
        "old": labels.filter(pl.col("topic") < "307"),
        "earlier": labels.filter(pl.col("topic") < "307"),
        "crowd": labels.filter(pl.col("assessor") != "nist"),
        "double": labels.filter(pl.col("assessor").is_in(["main", "ann"])),
        "labels1": labels.filter(pl.col("assessor") == "ann").gather_every(9),
        "four-grades": labels,
        "seven-grades": labels.with_columns(label=pl.col("label") * 2),
        "magnitudes": labels.with_columns(label=pl.col("label") * 7),
        "pages": labels.with_columns(label=pl.col("label").replace_strict(range(4), GRADES)),
        "snippets": labels.with_columns(
            label=pl.when(pl.col("label") > 1).then(pl.lit("Sure")).otherwise(pl.lit("No"))
        ),
    }
    for name, table in tables.items():
        table.write_csv(folder / f"{name}.tsv", separator="\t")
    labels.write_csv(folder / "judgments.csv")
    wide = tables["pages"].pivot("assessor", index=["topic", "doc"], values="label")
    wide.write_csv(folder / "judges.tsv", separator="\t")
    for name, assessor in {"qrels.txt": "nist", "llm.qrels": "gpt4", "human.qrels": "nist"}.items():
        own = labels.filter(pl.col("assessor") == assessor)
        own = own.gather_every(2) if name == "human.qrels" else own
        own.select("topic", pl.lit(0), "doc", "label").write_csv(folder / name, separator=" ", include_header=False)
    (folder / "topics.txt").write_text("301\n302\n303\n")
    by_intent = labels.filter(pl.col("assessor").is_in(["nist", "ann", "main"])).with_columns(
        intent=pl.col("assessor").replace_strict(["nist", "ann", "main"], [1, 2, 3])
    )
    by_intent = by_intent.select("topic", "intent", "doc", "label")
    by_intent.write_csv(folder / "diversity.qrels", separator=" ", include_header=False)
    other = by_intent.with_columns(label=pl.col("label").shift(1).fill_null("0"))
    other.write_csv(folder / "llm-diversity.qrels", separator=" ", include_header=False)
    shares = by_intent.select("topic", "intent").unique().with_columns(share=pl.col("intent") / 6)
    shares.write_csv(folder / "intents.txt", separator=" ", include_header=False)
    sampled = (
        by_intent.filter(intent=1)
        .with_row_index("method")
        .select("topic", "doc", "label", pl.col("method") % 3, probability=pl.lit(0.5))
    )
    sampled.write_csv(folder / "million.prels", separator=" ", include_header=False)
    place = pl.int_range(pl.len()) % 4
    strata = by_intent.filter(intent=1).select(
        "topic", pl.lit(0), "doc", stratum=place // 2 + 1, label=pl.when(place == 3).then(-1).otherwise("label")
    )
    strata.write_csv(folder / "strata.qrels", separator=" ", include_header=False)
    (folder / "duplicates.txt").write_text("FW13-e000-301-00 FW13-e000-301-01\n")


def _write_aspects(folder: Path, labels: pl.DataFrame, rng: np.random.Generator) -> None:
    own = labels.filter(pl.col("assessor") == "nist")
    grades = {
        name: np.clip(own["label"].to_numpy() + rng.integers(-1, 2, size=len(own)), 0, 3).tolist() for name in ASPECTS
    }
    wide = own.select("topic", "doc", "assessor").with_columns(**{name: pl.Series(grades[name]) for name in ASPECTS})
    wide.write_csv(folder / "aspects.tsv", separator="\t")
    long = wide.unpivot(index=["topic", "doc", "assessor"], variable_name="aspect", value_name="label")
    long.write_csv(folder / "labels.tsv", separator="\t")


def _write_runs(folder: Path, runs: pl.DataFrame) -> None:
    lines = runs.select("topic", pl.lit("Q0"), "doc", "rank", "score", "system")
    (folder / "runs").mkdir()
    for (system,), part in lines.group_by("system"):
        part.write_csv(folder / "runs" / f"{system}.run", separator=" ", include_header=False)
    for name in ("run.txt", "system.run"):
        shutil.copyfile(folder / "runs" / "new.run", folder / name)
    _compress(folder / "run.txt", folder / "run.gz")
    engines = lines.with_columns(doc=pl.col("doc").str.slice(5, 4)).unique(["topic", "doc", "system"], keep="first")
    (folder / "engine-runs").mkdir()
    engines.write_csv(folder / "engine-runs" / "all.run", separator=" ", include_header=False)


def _write_choices(folder: Path, items: pl.DataFrame, rng: np.random.Generator) -> None:
    """Choices between documents, and between the lists of two systems."""
    pairs = items.with_columns(place=pl.int_range(pl.len()).over("topic") // 2)
    both = pairs.group_by("topic", "place", maintain_order=True).agg("doc", "level")
    rows = [
        (topic, *docs, f"u{user}", int(np.sign(levels[0] - levels[1] + rng.normal())))
        for topic, _, docs, levels in both.rows()
        for user in range(3)
    ]
    columns = ["topic", "left", "right", "assessor", "strength"]
    choices = pl.DataFrame(rows, schema=columns, orient="row")
    for name in ("preferences", "prefs", "pairs", "documents"):
        choices.write_csv(folder / f"{name}.tsv", separator="\t")
    lists = [
        (topic, "new", "old", f"u{user}", int(rng.integers(-1, 3)))
        for topic in items["topic"].unique(maintain_order=True)
        for user in range(5)
    ]
    table = pl.DataFrame(lists, schema=columns, orient="row")
    table.write_csv(folder / "side-by-side.tsv", separator="\t")


def _write_clicks(folder: Path, items: pl.DataFrame, runs: pl.DataFrame, rng: np.random.Generator) -> None:
    shown = runs.filter((pl.col("system") == "new") & (pl.col("rank") <= SHOWN)).join(items, on=["topic", "doc"])
    log = shown.join(pl.DataFrame({"session": range(6)}), how="cross").sort("topic", "session", "rank")
    clicked = rng.random(len(log)) < (0.1 + 0.2 * log["level"].to_numpy()) / log["rank"].to_numpy() ** 0.5
    dwell = np.where(clicked, rng.integers(5, 90, size=len(log)), 0)
    log = log.select("session", "topic", "rank", "doc", clicked=pl.Series(clicked.astype(int)), dwell=pl.Series(dwell))
    log.write_csv(folder / "log.csv")
    for name in ("log.tsv", "clicks.tsv"):
        log.write_csv(folder / name, separator="\t")
    _compress(folder / "log.tsv", folder / "log.tsv.gz")
    log.write_parquet(folder / "log.parquet")


def _compress(plain: Path, compressed: Path) -> None:
    compressed.write_bytes(gzip.compress(plain.read_bytes()))


def _write_exports(folder: Path) -> None:
    """Write files as other tools export them, and a collection as BEIR lays it out."""
    for name, _, content, _ in (files.JUDGED[name] for name in EXPORTS):
        (folder / name).write_bytes(content)
    for name, _, content, _ in files.RANKED.values():
        (folder / name).write_bytes(content)
    (folder / "gpt4.jsonl").write_bytes(files.lines(files.NUGGETS))
    (folder / "eggs" / "qrels").mkdir(parents=True)
    (folder / "eggs" / "qrels" / "test.tsv").write_bytes(files.BEIR_QRELS)
    (folder / "eggs" / "corpus.jsonl").write_bytes(files.lines(files.CORPUS))
    (folder / "eggs" / "queries.jsonl").write_bytes(files.lines(files.QUERIES))
    (folder / "eggs.qrels").write_text("q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n")
    (folder / "eggs.queries").write_text("q1\tboil eggs\nq2\toil chains\n")


def _write_conditions(folder: Path, labels: pl.DataFrame, runs: pl.DataFrame, rng: np.random.Generator) -> None:
    """Labels in condition: each of the first five documents of a list, given the one above."""
    top = runs.filter(pl.col("rank") <= 5).sort("system", "topic", "rank")
    above = top.with_columns(given=pl.col("doc").shift(1).over("system", "topic")).drop_nulls()
    own = labels.filter(pl.col("assessor") == "nist")
    after = own.join(above.select("topic", "doc", "given").unique(maintain_order=True), on=["topic", "doc"])
    lower = np.maximum(after["label"].to_numpy() - rng.integers(0, 2, size=len(after)), 0)
    after = after.with_columns(label=pl.Series(lower))
    own = own.with_columns(given=pl.lit(None, dtype=pl.String))
    pl.concat([own, after]).write_csv(folder / "given.tsv", separator="\t")
    features = after.select("topic", "doc", "given", similarity=pl.Series(rng.random(len(after))))
    features.write_csv(folder / "pairs.csv")
