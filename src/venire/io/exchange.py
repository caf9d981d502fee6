r"""Judgments, preferences and runs as other tools read them: whole numbers, trec_eval's groups, dictionaries.

**Qrels.**  trec_eval, pytrec_eval, ir_measures (for nDCG and all else that it leaves to pytrec_eval or gdeval) and
ranx take relevance as whole numbers: trec_eval and ranx truncate a fraction without a warning, the others refuse it.
So a gain :math:`g` becomes :math:`\operatorname{round}(s g)`, one scale :math:`s` for all.  nDCG is a ratio of sums of
gains, so it is the same for :math:`s g` as for :math:`g`, except for rounding: the error of a gain is at most
:math:`1 / (2 s)`.  DCG and CG are :math:`s` times as large.  Measures that only ask whether a document is relevant take
all from 1 on, or from a level that is stated in these whole numbers (``trec_eval -l 500``).  When not to use this:
where fractions are read as they are, as by ir_measures' Compat, use ``gain`` (``to_polars``).

**Files of qrels**, by tool:

- ``trec``: qrels of four columns, for trec_eval, pytrec_eval and ir_measures;
- ``ir_measures``: the same;
- ``ranx``: ``{topic: {doc: relevance}}`` in a file that ends in .json, qrels in one that ends in .trec, .txt or .gz;
- ``groups``: qrels whose second column names the assessor: trec_eval's judgment groups (``trec_eval -R qrels_jg``),
  which average over assessors (``-m map_avgjg``, ``-m P_avgjg``); as preferences with ``-R qrels_prefs``.

Most of these tools allow no comments in qrels.  Where the numbers are not the gains themselves, a TOML file beside
states the scale and the labels, so that ``read_judgments`` reads the file, with ``gains="raw"``.

**Preferences** in trec_eval's format ``prefs`` have the columns topic, judgment group, sub-group, document, level.  A
judgment group is one user.  Within a sub-group the document with the higher level is preferred; equal levels, and how
far levels are apart, mean nothing.  Sub-groups exist because a user need not have compared every two documents.
Level 0 means not relevant, so none is written.  Within one group trec_eval refuses preferences that contradict each
other and adds those that follow from others (``trec_eval -R prefs``); here only a pair that is written both ways is
refused.

**Runs** as dictionaries hold a Python object for every document: for runs of the usual size, not for millions of lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from venire.data.gains import Gains
from venire.data.ids import Category
from venire.data.judgments import Items, Judgments
from venire.data.panel import Panel
from venire.data.preferences import Preferences, from_columns
from venire.data.runs import RunRules, RunTable
from venire.errors import AmbiguousLabels, FormatError, SettingError, UnknownName
from venire.io.compression import written
from venire.io.declarations import beside_name, scale_file
from venire.io.lines import read_bytes, spaced_lines, split_columns
from venire.io.outputs import NewFiles
from venire.io.preferences import PreferencesLike, read_preferences
from venire.io.runs import RunsLike, as_runs, file_name, kernel_rules, repeated_row_fault, table_scores, whole_run
from venire.results import Note, Records, Tabular, counted
from venire.scan.numbers import decimals
from venire.types import Codes, Floats, Ints

if TYPE_CHECKING:
    import polars as pl

TOOLS = ("trec", "ir_measures", "ranx", "groups")
RANX_QRELS = (".trec", ".txt", ".gz")
USUAL_SCALE = 1000
LARGEST = 10_000_000
"""trec_eval allocates a table as long as the largest relevance, for every topic."""
WHOLE = 1e-9
PREFERENCE_COLUMNS = "topic, group, sub-group, document, level"
LEVEL = 4
RunScores = dict[str, dict[str, dict[str, float]]]


class Qrel(NamedTuple):
    """A row as ir_measures takes it; ``iteration`` is the second column of qrels, here the judgment group."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


@dataclass(frozen=True, eq=False, repr=False)
class ScaledQrels(Tabular):
    """Gains of documents as whole numbers, ``scale_by`` times as large; item, group and gain are (row,).

    group: the assessors, where each has lines of their own; None where an item has one gain.
    labels: the gain of each label.
    """

    items: Items
    item: Codes
    gain: Floats
    scale_by: int
    labels: Gains
    group: Category | None = None
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return len(self.item)

    @property
    def relevance(self) -> Ints:
        """Gains as whole numbers -> (row,)."""
        return as_whole(self.gain, self.scale_by)

    @property
    def rounding(self) -> float:
        """The largest error of a gain."""
        return float(np.abs(self.relevance / self.scale_by - self.gain).max(initial=0.0))

    @property
    def n_topics(self) -> int:
        """The number of topics."""
        return len(np.unique(self.items.topic[self.item]))

    def __iter__(self) -> Iterator[Qrel]:
        """Iterate over rows as ir_measures takes them; it would mix several assessors, so these are an error."""
        self.refuse_groups("rows of ir_measures, which knows no assessors")
        return self.lines()

    def lines(self) -> Iterator[Qrel]:
        """Iterate over the rows, also those of several assessors."""
        topic, doc = self.names()
        group = ["0"] * len(self) if self.group is None else self.group.texts()
        return map(Qrel, topic, doc, self.relevance.tolist(), group)

    def names(self) -> tuple[list[str], list[str]]:
        """Return topic and document of every row."""
        topic = Category(self.items.topic[self.item], self.items.topics)
        return topic.texts(), Category(self.item, self.items.doc).texts()

    def to_dict(self) -> dict[str, dict[str, int]]:
        """Return {topic: {doc: relevance}}, as pytrec_eval, ir_measures and ranx take it."""
        self.refuse_groups("a dictionary {topic: {doc: relevance}}")
        held: dict[str, dict[str, int]] = {}
        for row in self:
            held.setdefault(row.query_id, {})[row.doc_id] = row.relevance
        return held

    def to_ranx(self) -> Any:
        """Return ranx.Qrels; ranx must be installed."""
        return _ranx("to_dict()").Qrels(self.to_dict(), name=self.labels.name)

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a frame with ir_measures' columns, and the gain as it is."""
        import polars as pl

        return pl.DataFrame(list(self.lines()), schema=Qrel._fields, orient="row").with_columns(gain=self.gain)

    def records(self) -> Records:
        """Return one row per line, in ir_measures' columns, and the gain as it is."""
        return self.to_polars().to_dicts()

    def _first(self, most: int) -> tuple[Records, int]:
        rows = np.arange(min(most, len(self)))
        group = None if self.group is None else self.group.take(rows)
        return replace(self, item=self.item[rows], gain=self.gain[rows], group=group).records(), len(self)

    def refuse_groups(self, where: str) -> None:
        """Raise where several assessors would be mixed."""
        if self.group is not None and len(self.group.names) > 1:
            message = f"the labels of {counted(len(self.group.names), 'assessor')} do not fit into {where}"
            raise AmbiguousLabels(message, hint="choose one assessor, pool their labels, or write judgment groups")

    def sentence(self) -> str:
        """Describe the numbers."""
        by = "" if self.group is None else f" in {counted(len(self.group.names), 'judgment group')}"
        what = "the gain" if self.scale_by == 1 else f"{self.scale_by:,} times the gain, rounded"
        text = f"{counted(len(self), 'line')} on {counted(self.n_topics, 'topic')}{by}: relevance is {what}"
        error = f"; the largest error is {self.rounding:.2g} of gain" if self.rounding > 0 else ""
        return f"{text} ({self.labels.name}){error}."

    def __repr__(self) -> str:
        return f"<ScaledQrels: {self.sentence()}>"


def scaled_qrels(
    judgments: Judgments, gains: Gains, panel: Panel, *, scale_by: int | None = None, groups: bool = False
) -> ScaledQrels:
    """Convert the labels of a panel to qrels; scale_by None: 1 where all gains are whole numbers, else 1000.

    groups: name the judge of every line, also where there is one.  Cost: O(rows log rows).
    """
    judge, item, gain = _mean_gains(panel, gains.values)
    scale = _checked_scale(scale_by, gain)
    names = Category.of(str(name) for name in panel.judges)
    group = Category(names.codes[judge], names.names) if groups or len(panel.judges) > 1 else None
    notes: tuple[Note, ...] = (*panel.notes, *_rounding_notes(gain, as_whole(gain, scale)))
    return ScaledQrels(judgments.items, item, gain, scale, gains, group, notes)


def as_whole(gain: Floats, scale_by: int) -> Ints:
    """Scale gains and round them to the next whole number, halves to the even one."""
    return np.rint(gain * scale_by).astype(np.int64)


def _mean_gains(panel: Panel, values: Floats) -> tuple[Codes, Codes, Floats]:
    """Mean gain of every item that a judge labelled -> judge, item, gain, all (row,), by judge and item."""
    cell = panel.judge.astype(np.int64) * panel.n_items + panel.item
    held, inverse = np.unique(cell, return_inverse=True)
    gain = np.bincount(inverse, weights=panel.weight * values[panel.label], minlength=len(held))
    judge, item = np.divmod(held, max(panel.n_items, 1))
    return judge.astype(np.int32), item.astype(np.int32), gain.astype(np.float64, copy=False)


def _checked_scale(scale_by: int | None, gain: Floats) -> int:
    if scale_by is None:
        scale_by = 1 if (np.abs(gain - np.rint(gain)) < WHOLE).all() else USUAL_SCALE
    if scale_by < 1 or scale_by != int(scale_by):
        raise SettingError(f"scale_by={scale_by}: expected a whole number from 1 on", hint="for instance 1000")
    if gain.max(initial=0.0) * scale_by > LARGEST:
        message = f"a gain of {gain.max():g} times {scale_by} is more than {LARGEST:,}"
        raise SettingError(message, hint="scale by less: trec_eval needs memory for every number up to the largest")
    return int(scale_by)


def _rounding_notes(gain: Floats, whole: Ints) -> Iterator[Note]:
    """Note which gains rounding merged, and that small gains count as relevant from level 1 on."""
    if gone := int(((gain > 0) & (whole == 0)).sum()):
        yield Note("gains-rounded-to-zero", "{n:line} with a gain above 0 became 0: scale by more", n=gone)
    before, after = (len(np.unique(each)) for each in (gain.round(12), whole))
    if after < before:
        yield Note("gains-merged", "{before} different gains became {after}: scale by more", before=before, after=after)
    if small := int(((whole > 0) & (gain < 0.5)).sum()):
        text = "{n:line} with a gain below 0.5 would count as relevant from level 1 on (P, AP, RR, R)"
        yield Note("small-gains-relevant", f"{text}: state a level in these numbers, or use nDCG", n=small)


def write_scaled_qrels(qrels: ScaledQrels, path: str | Path, *, to: str = "trec") -> Path | None:
    """Write qrels for a tool; return the file beside that states the scale, if there is one.

    Parameters
    ----------
    to : "trec", "ir_measures", "ranx" or "groups"

    Examples
    --------
    >>> import tempfile
    >>> from venire import read_judgments
    >>> from venire.data.gains import gains_for
    >>> from venire.data.panel import build_panel
    >>> labels = read_judgments({"q1": {"d1": 1, "d2": 0}})
    >>> qrels = scaled_qrels(labels, gains_for({"1": 0.9, "0": 0.25}, labels.scale), build_panel(labels))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     beside = write_scaled_qrels(qrels, f"{folder}/prm.qrels")
    ...     print(Path(f"{folder}/prm.qrels").read_text(), beside.name)
    q1 0 d1 900
    q1 0 d2 250
     prm.qrels.toml
    """
    target = Path(path)
    if to not in TOOLS:
        raise UnknownName("tool", to, TOOLS)
    if to != "groups":
        qrels.refuse_groups(f"qrels for {to}")
    data = _ranx_json(qrels, target) if to == "ranx" and _as_json(target) else _qrels_lines(qrels, target)
    beside = beside_name(target) if qrels.scale_by != 1 or scale_file(target) is not None else None
    with NewFiles() as files:
        with written(target, files) as file:
            file.write(data)
        if beside is not None:
            files.add(beside, _stated_scale(qrels))
    return beside


def _qrels_lines(qrels: ScaledQrels, path: Path) -> bytes:
    topic, doc, relevance, group = zip(*qrels.lines(), strict=True) if len(qrels) else ((),) * 4
    columns = {"topic": topic, "assessor": group, "document": doc, "relevance": list(map(str, relevance))}
    return spaced_lines(columns, path)


def _as_json(path: Path) -> bool:
    """Whether ranx reads a file of this name as JSON; raise for names that it does not read."""
    if path.suffix not in (".json", *RANX_QRELS):
        hint = f"call it .json, or, as qrels, {', '.join(RANX_QRELS)}"
        raise FormatError(path, None, f"ranx does not read files that end in {path.suffix!r}", hint=hint)
    return path.suffix == ".json"


def _ranx_json(qrels: ScaledQrels, path: Path) -> bytes:
    try:
        return (json.dumps(qrels.to_dict(), ensure_ascii=False) + "\n").encode("utf-8")
    except UnicodeEncodeError as error:
        message = f"the name {error.object[error.start : error.end]!r} is not UTF-8, as all text in JSON is"
        raise FormatError(path, None, message, hint="write qrels, which keep bytes as they are: .txt") from None


def _stated_scale(qrels: ScaledQrels) -> bytes:
    """Return what the numbers of a file are, for the file beside: labels that occur, the gain of each original one."""
    labels = ", ".join(f'"{number}"' for number in np.unique(qrels.relevance).tolist())
    gains = zip(qrels.labels.scale.labels, qrels.labels.values.tolist(), strict=True)
    lines = [
        "# relevance in this file is scale_by times the gain, rounded",
        f"labels = [{labels}]",
        'measurement = "interval"',
        "\n[gains]",
        f"name = {json.dumps(qrels.labels.name, ensure_ascii=False)}",
        f"scale_by = {qrels.scale_by}",
        "\n[gains.labels]",
        *(f"{json.dumps(label, ensure_ascii=False)} = {gain!r}" for label, gain in gains),
    ]
    return ("\n".join(lines) + "\n").encode("utf-8")


def write_preference_groups(preferences: PreferencesLike, path: str | Path) -> None:
    """Write preferences for ``trec_eval -R prefs``: a judgment group per assessor, a sub-group per choice.

    Ties and strengths have no place there, and are left out.
    """
    target, preferences = Path(path), read_preferences(preferences)
    chosen = preferences.take(np.flatnonzero(preferences.outcome))
    _refuse_contradictions(chosen)
    left_better = chosen.outcome > 0
    better, worse = (
        Category(np.where(side, chosen.left, chosen.right), chosen.docs).texts() for side in (left_better, ~left_better)
    )
    topic, group = Category(chosen.topic, chosen.topics).texts(), chosen.assessor.texts()
    number = [str(n) for n in range(1, len(chosen) + 1)]
    columns = {"topic": topic, "assessor": group, "sub-group": number}
    twice: dict[str, list[str]] = {
        name: [each for each in column for _ in range(2)] for name, column in columns.items()
    }
    twice["document"] = [doc for pair in zip(better, worse, strict=True) for doc in pair]
    lines = spaced_lines(twice | {"level": ["2.0", "1.0"] * len(chosen)}, target)
    with NewFiles() as files, written(target, files) as file:
        file.write(lines)


def read_preference_groups(path: str | Path) -> Preferences:
    """Read a file of ``trec_eval -R prefs``: a choice for each pair of a sub-group that has different levels.

    The preferred document is on the left, with strength 1; the assessor is the judgment group.
    Cost: O(rows log rows), and the pairs within each sub-group.
    """
    fields = split_columns(read_bytes(Path(path)), PREFERENCE_COLUMNS.split(", "), path)
    level, bad = decimals(fields.column(LEVEL))
    hint = f"expected lines of {PREFERENCE_COLUMNS}"
    if bad.any():
        raise FormatError(path, int(fields.line[np.argmax(bad)]) + 1, "the level is not a finite number", hint=hint)
    if len(level) == 0:
        raise FormatError(path, None, "holds no preferences", hint=hint)
    topic, group, sub, doc = (Category.of_slices(fields.column(number)) for number in range(LEVEL))
    key = (topic.codes.astype(np.int64) * len(group.names) + group.codes) * len(sub.names) + sub.codes
    high, low = _pairs_within(key, level)
    columns = np.stack([topic.codes[high], group.codes[high], doc.codes[high], doc.codes[low]])
    first = np.sort(np.unique(columns, axis=1, return_index=True)[1])
    high, low = high[first], low[first]
    left, right = (Category(doc.codes[side], doc.names) for side in (high, low))
    return from_columns((topic.take(high), left, right), np.ones(len(high)), group.take(high))


def _pairs_within(key: Ints, level: Floats) -> tuple[Ints, Ints]:
    """Pair every row with each row of its sub-group that has a lower level -> rows preferred, rows not."""
    order = np.lexsort((-level, key))
    ends = np.searchsorted(key[order], key[order], side="right")
    n_after = ends - np.arange(len(order)) - 1
    first = np.repeat(np.arange(len(order)), n_after)
    step = np.arange(len(first)) - np.repeat(np.cumsum(n_after) - n_after, n_after)
    high, low = order[first], order[first + step + 1]
    differ = level[high] > level[low]
    return high[differ], low[differ]


def _refuse_contradictions(preferences: Preferences) -> None:
    """Raise where an assessor prefers each of two documents to the other, as trec_eval does."""
    oriented = preferences.oriented()
    pair, _ = preferences.pairs()
    key = pair * len(preferences.assessor.names) + preferences.assessor.codes
    order = np.lexsort((oriented.outcome, key))
    reversed_ = (key[order][1:] == key[order][:-1]) & (oriented.outcome[order][1:] != oriented.outcome[order][:-1])
    if reversed_.any():
        row = int(order[1:][reversed_][0])
        who = preferences.assessor.names[int(preferences.assessor.codes[row])]
        left, right = (preferences.docs[int(side[row])] for side in (preferences.left, preferences.right))
        pairs = counted(int(reversed_.sum()), "such pair")
        message = f"{who!r} prefers each of {left!r} and {right!r} to the other ({pairs}), which trec_eval refuses"
        hint = "take every choice as another person's, preferences.anonymous(), or resolve such pairs first"
        raise AmbiguousLabels(message, hint=hint)


def run_scores(runs: RunsLike) -> RunScores:
    """Read runs whole, by the rules of ``read_runs``: {system: {topic: {doc: score}}}.

    Where runs are ordered by rank, the score is the negated rank.  Ties are broken by whoever reads the scores; Venire
    breaks them as trec_eval does, by document, descending.

    Examples
    --------
    >>> scores = run_scores({"q1": {"d1": 2.5, "d2": 1}})
    >>> scores["run"]
    {'q1': {'d1': 2.5, 'd2': 1.0}}
    """
    found = as_runs(runs)
    held: RunScores = {}
    for source in found.sources:
        table = _read_table(source, found.rules)
        if twice := held.keys() & set(table.system.names):
            message = f"system {min(twice)!r} is in another source too"
            raise FormatError(table.name, None, message, hint="name systems by their files")
        columns = table.system.texts(), table.topic.texts(), table.doc.texts(), table.score.tolist()
        for row, (system, topic, doc, score) in enumerate(zip(*columns, strict=True)):
            docs = held.setdefault(system, {}).setdefault(topic, {})
            if doc in docs and found.rules.duplicate_docs == "error":
                raise repeated_row_fault(table, row)
            docs.setdefault(doc, score)
    return held


def ranx_runs(runs: RunsLike) -> list[Any]:
    """Read runs whole, as ranx.Run, one per system, which have the names of the systems; ranx must be installed."""
    held = run_scores(runs)
    run = _ranx("run_scores").Run
    return [run(lists, name=system) for system, lists in held.items()]


def _ranx(otherwise: str) -> Any:
    try:
        return import_module("ranx")
    except ImportError:
        raise SettingError("ranx is not installed", hint=f"pip install ranx, or use {otherwise}") from None


def _read_table(source: Path | RunTable, rules: RunRules) -> RunTable:
    """Return runs in memory, or read a file of six columns whole; score is what lists are ordered by."""
    table = source if isinstance(source, RunTable) else whole_run(source)
    table = replace(table, score=table_scores(table, kernel_rules(rules)))
    if rules.system_from == "tag":
        return table
    return replace(table, system=Category.constant(file_name(source), len(table.score)))
