"""sentence-transformers (5.x) writes a line for each query, ``InformationRetrievalEvaluator(write_predictions=True)``.

A line has ``query_id`` and ``results``, a list of ``corpus_id`` and ``score``.  The file, named after the evaluator and
the score function, is one system.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from venire.data.runs import RunTable
from venire.io.files import stem
from venire.io.sources.mapping import Row, is_score, run_table
from venire.io.sources.records import is_name, records

HINT = 'expected lines such as {"query_id": "q1", "results": [{"corpus_id": "d1", "score": 0.7}]}'


def lists(path: Path) -> RunTable:
    """Read the lists of one file."""
    return run_table(path, stem(path), _scores(path))


def _scores(path: Path) -> Iterator[Row]:
    for record in records(path, hint=HINT):
        topic, results = record.held.get("query_id"), record.held.get("results")
        if not is_name(topic) or not isinstance(results, list):
            raise record.fault("has no query_id, or no list of results", hint=HINT)
        for each in results:
            doc, score = (each.get("corpus_id"), each.get("score")) if isinstance(each, dict) else (None, None)
            if not is_name(doc) or score is None or not is_score(score):
                raise record.fault("has a result without corpus_id and a number as score", hint=HINT)
            yield str(topic), str(doc), score
