"""Records of Argilla, with the package: what it writes is what we read."""

from __future__ import annotations

import json
import warnings
from uuid import UUID

import pytest

from venire import read_judgments

pytestmark = pytest.mark.slow
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    argilla = pytest.importorskip("argilla")

ANN, BOB = UUID(int=1), UUID(int=2)


@pytest.mark.parametrize("flatten", [False, True])
def test_records_keep_their_users(tmp_path, flatten):
    from argilla.records._io import GenericIO

    record = argilla.Record(
        fields={"query": "boil eggs", "passage": "eight minutes"},
        metadata={"query_id": "q1", "doc_id": "d1"},
        suggestions=[argilla.Suggestion("relevance", "1", score=0.9, agent="gpt")],
        responses=[argilla.Response("relevance", label, user_id=who) for label, who in (("2", ANN), ("1", BOB))],
    )
    path = tmp_path / "records.json"
    path.write_text(json.dumps(GenericIO.to_list([record], flatten=flatten)))
    found = read_judgments(path).to_polars().select("topic", "doc", "assessor", "label").rows()
    assert found == [("q1", "d1", str(ANN), "2"), ("q1", "d1", str(BOB), "1")]


def test_columns_tell_what_was_submitted(tmp_path):
    from argilla.records._io import GenericIO

    answers = (("2", ANN, "submitted"), ("1", BOB, "discarded"))
    record = argilla.Record(
        fields={"query": "boil eggs"},
        metadata={"query_id": "q1", "doc_id": "d1"},
        responses=[argilla.Response("relevance", label, user_id=who, status=status) for label, who, status in answers],
    )
    path = tmp_path / "records.json"
    path.write_text(json.dumps(GenericIO.to_list([record], flatten=True)))
    assert list(read_judgments(path).assessors) == [str(ANN)]
    path.write_text(json.dumps(GenericIO.to_list([record], flatten=False)))
    notes = read_judgments(path).notes
    assert [note.fields["n"] for note in notes if note.kind == "doubtful-labels"] == [2]
