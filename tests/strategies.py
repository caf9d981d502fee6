"""Hypothesis strategies: small collections that have what goes wrong in large ones.

Ids are prefixes of each other, differ only behind the eighth byte, or are not ASCII; scores tie, in single precision or
in both; topics are missing, not judged, or hold nothing but labels below zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hypothesis import reject, strategies as st

import venire
from venire.errors import TopicsError

SCALE = "0<1<2<3"
TOPICS = ("1", "2", "10", "q", "q-a")
DOCS = (
    *("a", "ab", "abc", "b", "D1", "d1", "d10", "d2"),
    *("é", "zürich", "prefix-8b", "prefix-8c", "prefix-8bb", "x" * 16, "x" * 17),
)
SCORES = (3.0, 2.5, 2.5 + 1e-9, 2.5 - 1e-9, 1.0, 0.1, 1e-3, 0.0, -0.0, -1.0, 1e10, 1e10 + 1.0)

Grades = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Mapping[str, float]]

SHARED = {
    **{f"P_{k}": f"P@{k}" for k in (1, 3, 5, 10, 100)},
    **{f"recall_{k}": f"R@{k}" for k in (1, 3, 5, 10, 100)},
    **{f"success_{k}": f"Success@{k}" for k in (1, 3, 5, 10)},
    **{f"map_cut_{k}": f"AP@{k}" for k in (1, 3, 5, 10, 100)},
    **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in (1, 3, 5, 10, 100)},
    **{"recip_rank": "RR", "map": "AP", "Rprec": "Rprec", "bpref": "bpref", "ndcg": "nDCG"},
}
"""The measures that pytrec_eval has too: its name, our name."""


def evaluate(*args, **options) -> venire.Scores:
    """Evaluate; pass over examples whose runs and judgments have no topic in common, which is an error."""
    try:
        return venire.evaluate(*args, **options)
    except TopicsError:
        return reject()


def with_rel(name: str, rel: int) -> str:
    """Name a measure of ours with the threshold ``rel``; nDCG has none, here as there."""
    if name.startswith("nDCG"):
        return name
    kind, at, k = name.partition("@")
    return f"{kind}(rel={rel}){at}{k}"


def scores() -> st.SearchStrategy[float]:
    """Scores with many ties, some of them only in single precision."""
    return st.sampled_from(SCORES) | st.floats(-1e3, 1e3, allow_nan=False)


def grades(*, lowest: int = -2, highest: int = 3) -> st.SearchStrategy[Grades]:
    """Return judgments of one assessor; at least one label is not below zero."""
    of_topic = st.dictionaries(st.sampled_from(DOCS), st.integers(lowest, highest), min_size=1, max_size=len(DOCS))
    whole = st.dictionaries(st.sampled_from(TOPICS), of_topic, min_size=1, max_size=4)
    return whole.filter(lambda each: any(grade >= 0 for docs in each.values() for grade in docs.values()))


def run(*, ties: bool = True) -> st.SearchStrategy[Run]:
    """One system's lists; without ties every score of a list is another, in single precision too."""
    if ties:
        of_topic = st.dictionaries(st.sampled_from(DOCS), scores(), min_size=1, max_size=len(DOCS))
    else:
        of_topic = st.lists(st.sampled_from(DOCS), unique=True, min_size=1).map(
            lambda docs: {doc: float(len(docs) - n) for n, doc in enumerate(docs)}
        )
    return st.dictionaries(st.sampled_from(TOPICS), of_topic, min_size=1, max_size=len(TOPICS))


def runs() -> st.SearchStrategy[Mapping[str, Run]]:
    """Return several systems; their tags are prefixes of each other."""
    return st.dictionaries(st.sampled_from(("s", "s1", "s10", "other")), run(), min_size=1, max_size=3)


def run_lines(lists: Run, tag: str) -> list[str]:
    """Write lists as lines of a run file, scores in full."""
    return [
        f"{topic} Q0 {doc} {rank} {score!r} {tag}"
        for topic, docs in lists.items()
        for rank, (doc, score) in enumerate(docs.items(), 1)
    ]


def qrels_lines(judged: Grades) -> list[str]:
    """Write judgments as lines of qrels."""
    return [f"{topic} 0 {doc} {grade}" for topic, docs in judged.items() for doc, grade in docs.items()]


def write(path: Path, lines: Sequence[str]) -> Path:
    """Write lines to a file and return its path."""
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def ranking(docs: Mapping[str, float]) -> list[str]:
    """Rank as the reference does: score descending, then the bytes of the id descending."""
    return sorted(docs, key=lambda doc: (docs[doc], doc.encode()), reverse=True)
