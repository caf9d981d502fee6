"""The table of files that other tools write, and how they are recognised: by the keys of their first object.

A source is a module of this package.  Those that hold judgments have ``labels(path, columns)``, those that hold runs
``lists(path)``.  Names of keys were taken from the code and documentation of each tool, in the version that its module
names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from venire.errors import FormatError
from venire.io.limits import current
from venire.io.lines import BOM
from venire.io.rows import Rows
from venire.io.sources.labels import Imported, rows_of_labels
from venire.io.tables.columns import GENERIC, HEAD, NO_LABELS, ROLES, all_names, ending_of, header_names, plain

JUDGMENTS, RUNS, EITHER = "judgments", "runs", "judgments or runs"
STRING = re.compile(rb'"((?:[^"\\]|\\.)*+)"(\s*+:)?')
"""A text in JSON, and the colon after a key."""
CHOSEN = re.compile(rb'"labels?"\s*+:\s*+\[\s*+(?:"|\])')
KEY = rb'"(?:[^"\\]|\\.)*+"\s*+:\s*+'
SCORES = re.compile(rb"\{\s*+(?:%b\{\s*+\}\s*+,\s*+)*+%b\{\s*+(?:%b(?:-?\d|NaN|-?Infinity)|\}\s*+\})" % (KEY, KEY, KEY))
"""Documents by topic, the first of which may have none."""
TO_RANK = re.compile(rb"-?[\d.]+\s+qid:\S+\s+#\s+\S")
"""Lines of learning to rank: a rating, the query, no features, and the document in a comment."""
LINES = re.compile(rb"\}[ \t\r]*+\n\s*+\{")
"""The end of an object and the beginning of the next, without a comma."""
GOES_ON = (b"{", b"[", b",", b":")
"""How a line ends in the middle of an object."""
Begins = Callable[[set[str], bytes], bool]


class Source(NamedTuple):
    """A tool: its name, what its file is called, whether keys and first bytes are of it, and what the file holds.

    stated: the roles whose keys may be others than the usual ones.
    """

    name: str
    title: str
    begins: Begins
    holds: str = JUDGMENTS
    stated: tuple[str, ...] = ()

    @property
    def _module(self) -> Any:
        return import_module(f"venire.io.sources.{self.name.replace('-', '_')}")

    def labels(self, path: Path, columns: Mapping[str, str]) -> list[Imported]:
        """Read the labels of a file; columns: keys by role, where they were stated."""
        return list(self._module.labels(path, columns))

    def rows(self, path: Path, columns: Mapping[str, str]) -> Rows:
        """Read a file as judgments."""
        read: Callable[[Path], Rows] | None = getattr(self._module, "rows", None)
        if read is not None:
            return read(path)
        stated = [columns[role] for role in self.stated if role in columns]
        return rows_of_labels(self.labels(path, columns), path, stated=stated)

    def lists(self, path: Path) -> Any:
        """Read a file as runs."""
        return self._module.lists(path)


def _has(*names: str, any_of: tuple[str, ...] = (), opens: bytes = b"[{") -> Begins:
    """Make a test for all of some keys, and one of others; opens: the brackets that a file may begin with."""

    def begins(keys: set[str], head: bytes) -> bool:
        return keys.issuperset(names) and (not any_of or not keys.isdisjoint(any_of)) and head[:1] in opens

    return begins


def _either(*tests: Begins) -> Begins:
    return lambda keys, head: any(test(keys, head) for test in tests)


def _answered_in_columns(keys: set[str], head: bytes) -> bool:  # noqa: ARG001
    return any(key.endswith(".responses.users") for key in keys)


def _chosen_in_lists(keys: set[str], head: bytes) -> bool:
    return keys >= {"id", "text"} and CHOSEN.search(head) is not None


def _queries_with_results(keys: set[str], head: bytes) -> bool:  # noqa: ARG001
    """Return whether the first query has documents, or was one without results."""
    return keys >= {"query_id", "results", "corpus_id"} or keys == {"query_id", "query", "results"}


def _numbers_by_topic(keys: set[str], head: bytes) -> bool:  # noqa: ARG001
    return SCORES.match(head) is not None and LINES.search(head) is None


SOURCES = (
    Source(
        "label-studio",
        "Label Studio export",
        _either(
            _has("annotations", "data", opens=b"["),
            _has("annotator", any_of=("annotation_id", "lead_time"), opens=b"["),
        ),
        stated=("topic", "doc", "label"),
    ),
    Source(
        "argilla",
        "Argilla records",
        _either(_has("fields", "responses"), _answered_in_columns),
        stated=("topic", "doc", "label"),
    ),
    Source(
        "prodigy",
        "Prodigy annotations",
        _has("answer", any_of=("_task_hash", "_input_hash", "_view_id", "_session_id")),
        stated=("topic", "doc", "label"),
    ),
    Source(
        "quepid",
        "Quepid book or case",
        _either(
            _has("query_doc_pairs", opens=b"{"),
            _has("queries", "ratings", any_of=("query", "query_text"), opens=b"{"),
            _has("queries", "placeholders", "relevant_documents", opens=b"{"),
        ),
    ),
    Source("quepid-snapshot", "Quepid snapshot", lambda keys, head: False, RUNS),  # noqa: ARG005 - a CSV
    Source("rank-eval", "rated requests of OpenSearch or Elasticsearch", _has("requests", "ratings", opens=b"{")),
    Source("opensearch", "judgments of OpenSearch's Search Relevance", _has("judgmentRatings", opens=b"{")),
    Source(
        "umbrela",
        "UMBRELA judgments",
        _either(_has("judgment", "prediction", "passage"), _has("query", "candidates", "judgment")),
        stated=("topic", "doc"),
    ),
    Source("nuggets", "nuggetizer assignments", _has("qid", "nuggets")),
    Source(
        "mteb",
        "MTEB predictions",
        _either(_has("mteb_model_meta", opens=b"{"), _has("mteb_version", "scores", opens=b"{")),
        RUNS,
    ),
    Source("sentence-transformers", "sentence-transformers predictions", _queries_with_results, RUNS),
    Source("doccano", "doccano export", _chosen_in_lists, stated=("topic", "doc", "label")),
    Source("mapping", "JSON of documents by topic", _numbers_by_topic, EITHER),
)
"""All sources; the first that fits a file counts."""
BY_NAME = {source.name: source for source in SOURCES}
OF_LABELS = tuple(source.name for source in SOURCES if source.holds == JUDGMENTS and source.name != "nuggets")
"""Names of those that hold labels of documents."""


def read_head(file: BinaryIO) -> bytes:
    """Read the first bytes of a file, decompressed; of JSON the first line, up to the limit on lines."""
    head = file.read(HEAD)
    if b"\n" not in head and head.removeprefix(BOM).lstrip()[:1] in (b"{", b"["):
        head += file.read(max(current().line_length - len(head), 0))
    return head


def source_of(head: bytes, path: Path, holds: str) -> Source | None:
    """Return the source of a file that is to hold judgments, or runs; raise where it is one of the others."""
    found = recognised(head, path.name)
    if found is not None and holds not in found.holds:
        hint = "judgments come first, then runs"
        raise FormatError(path, None, f"this looks like {found.title}, expected {holds}", hint=hint)
    if found is None and (what := one_value(head)):
        known = ", ".join(source.name for source in SOURCES if holds in source.holds)
        hint = f"known are files of {known}; others can be written as a table, such as one JSON object per line"
        raise FormatError(path, None, f"is a JSON {what} of another kind than those that are read", hint=hint)
    return found


def one_value(head: bytes) -> str:
    """Return what a file is that is one JSON value, over one line or several: "list", "object", or ""."""
    head = head.removeprefix(BOM).lstrip()
    if head.startswith(b"["):
        return "list"
    first, more, _ = head.partition(b"\n")
    return "object" if head.startswith(b"{") and more and first.rstrip().endswith(GOES_ON) else ""


def recognised(head: bytes, name: str) -> Source | None:
    """Return the source of a file by its first bytes, decompressed, and its name."""
    head = head.removeprefix(BOM).lstrip()
    if head[:1] in (b"{", b"["):
        keys = first_keys(head)
        return next((source for source in SOURCES if source.begins(keys, head)), None)
    return _of_quepid(head, name)


def first_keys(head: bytes) -> set[str]:
    """Return the keys in the first line, if that is an object or a list, else in all lines."""
    head = head.removeprefix(BOM).lstrip()
    first = head.partition(b"\n")[0].strip()
    text = first if first[-1:] in (b"}", b"]") else head
    return {key.decode("utf-8", "replace") for key, colon in STRING.findall(text) if colon}


def _of_quepid(head: bytes, name: str) -> Source | None:
    """Return the source of a CSV with a header of Quepid, or of lines for learning to rank as it writes them."""
    if TO_RANK.match(head):
        return BY_NAME["quepid"]
    if ending_of(name) != ".csv":
        return None
    names = [plain(each) for each in header_names(head, name)]
    if {"caseid", "querytext", "docid"} <= set(names):
        return BY_NAME["quepid" if "rating" in names else "quepid-snapshot"]
    known = NO_LABELS | GENERIC | {each for groups in ROLES.values() for each in all_names(groups)}
    rated = names[2:] == ["rating"] or known.isdisjoint(names[2:] or ["label"])
    return BY_NAME["quepid"] if names[:2] == ["query", "docid"] and rated else None
