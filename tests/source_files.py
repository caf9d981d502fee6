"""Small files as other tools write them, for tests, damaged files and the pages of the documentation."""

from __future__ import annotations

import json
from typing import Any

Row = tuple[str, str, str, str]
"""Topic, document, assessor, label."""


def lines(records: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


def whole(value: Any, **layout: Any) -> bytes:
    return json.dumps(value, **layout).encode()


def _studio(who: Any, label: str, **more: Any) -> dict[str, Any]:
    result = {"from_name": "relevance", "to_name": "text", "type": "choices", "value": {"choices": [label]}}
    return {"completed_by": who, "was_cancelled": False, "lead_time": 4.2, "result": [result], **more}


LABEL_STUDIO = [
    {
        "id": 1,
        "annotations": [_studio({"email": "ann@example.org"}, "2"), _studio(7, "1")],
        "data": {"query_id": "q1", "doc_id": "d1", "text": "boil eggs"},
    },
    {
        "id": 2,
        "annotations": [_studio(7, "0", created_at="2021-03-09T22:16:08Z"), _studio(8, "0", was_cancelled=True)],
        "data": {"query_id": "q1", "doc_id": "d2", "text": "fry eggs"},
    },
]
LABEL_STUDIO_MIN = [
    {"id": 1, "query_id": "q1", "doc_id": "d1", "relevance": "2", "annotator": 7, "annotation_id": 3, "lead_time": 1.5}
]
QUEPID_BOOK = {
    "name": "eggs",
    "query_doc_pairs": [
        {
            "query_text": "boil eggs",
            "doc_id": "d1",
            "judgements": [
                {"rating": 2.0, "unrateable": False, "user_email": "ann@example.org"},
                {"rating": 1.0, "unrateable": False, "user_email": "bob@example.org"},
                {"rating": None, "unrateable": True, "user_email": "eve@example.org"},
            ],
        }
    ],
}
QUEPID_CSV = b"query,docid,ann,Bob B\nboil eggs,d1,2.0,1\nboil eggs,d2,0,\noil chains\n"
QUEPID_CASE = {"case_name": "x", "queries": [{"query": "boil eggs", "ratings": {"d1": 2, "d2": 0}}]}
QUEPID_API = {
    "query_doc_pairs": [
        {
            "query": "boil eggs",
            "doc_id": "d1",
            "judgements": [
                {"rating": 2.0, "unrateable": False, "judge_later": False, "user_id": 3},
                {"rating": 1.0, "unrateable": False, "judge_later": False},
                {"rating": 0.0, "unrateable": False, "judge_later": False, "user_id": None},
                {"rating": None, "unrateable": False, "judge_later": True, "user_id": 4},
            ],
        }
    ]
}
QUEPID_RRE = {
    "id_field": "id",
    "index": "eggs",
    "template": "template.json",
    "queries": [
        {"placeholders": {"$query": "oil chains"}, "relevant_documents": {}},
        {"placeholders": {"$query": "boil eggs"}, "relevant_documents": {"d1": {"gain": 2}, "d2": {"gain": 0}}},
    ],
}
QUEPID_RRE_OLD = {
    "index": "eggs",
    "queries": [{"placeholders": {"$query": "boil eggs"}, "relevant_documents": {"0.0": ["d2"], "2.0": ["d1"]}}],
}
QUEPID_DETAILED = (
    b"Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating,overview\n"
    b'"A, B",eggs,6,boil eggs,d1,1,,2.0,\nA,eggs,6, -oil,d2,2,,0.0,\nA,eggs,6,chains,,,,,\n'
)
QUEPID_LINES = b"\n2.0 qid:3 # d1 boil eggs\n\n0.0\tqid:4\t#\td2\n"
QUEPID_SNAPSHOT = (
    b"Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title\n"
    b"before,2021-01-01 10:00:00,6,q1,d1,1,Eggs\nbefore,2021-01-01 10:00:00,6,q1,d2,2,\n"
    b"before,2021-01-01 10:00:00,6,q2,d3,1,\n"
)
LABEL_STUDIO_RATED = [
    {**LABEL_STUDIO_MIN[0], "relevance": [{"rating": 4}]},
    {key: value for key, value in LABEL_STUDIO_MIN[0].items() if key != "relevance"},
]
ARGILLA = [
    {
        "id": "r1",
        "fields": {"query": "boil eggs", "passage": "eight minutes"},
        "metadata": {"query_id": "q1", "doc_id": "d1"},
        "suggestions": {"relevance": {"value": "1", "score": 0.9, "agent": "gpt"}},
        "responses": {"relevance": [{"value": "2", "user_id": "u-ann"}, {"value": "1", "user_id": "u-bob"}]},
        "vectors": {},
        "_server_id": "s1",
    }
]
ARGILLA_FLAT = [
    {
        "id": "r1",
        "query": "boil eggs",
        "query_id": "q1",
        "doc_id": "d1",
        "relevance.responses": ["2", "1", "0"],
        "relevance.responses.users": ["u-ann", "u-bob", "u-eve"],
        "relevance.responses.status": ["submitted", "submitted", "draft"],
    }
]


def _prodigy(doc: str, who: str, **more: Any) -> dict[str, Any]:
    meta = {"query_id": "q1", "doc_id": doc}
    held = {"text": "eggs", "meta": meta, "_input_hash": 1, "_task_hash": 2, "_view_id": "choice"}
    return {**held, "answer": "accept", "_timestamp": 1707211049, "_annotator_id": who, "_session_id": who, **more}


PRODIGY = [
    _prodigy("d1", "eggs-ann", options=[{"id": "0", "text": "no"}, {"id": "2", "text": "yes"}], accept=["2"]),
    _prodigy("d1", "eggs-bob", accept=["0"]),
    _prodigy("d2", "eggs-bob", accept=[], answer="ignore"),
]
PRODIGY_BINARY = [
    _prodigy("d1", "eggs-ann", label="RELEVANT"),
    _prodigy("d1", "eggs-bob", label="RELEVANT", answer="reject"),
]
DOCCANO = [
    {"id": 1, "text": "eight minutes", "query_id": "q1", "doc_id": "d1", "label": ["2"], "Comments": []},
    {"id": 2, "text": "in butter", "query_id": "q1", "doc_id": "d2", "label": ["0"], "Comments": ["fried"]},
    {"id": 3, "text": "chains", "query_id": "q1", "doc_id": "d3", "label": [], "Comments": []},
]
DOCCANO_OLD = [
    {
        "id": 1,
        "text": "eight minutes",
        "meta": {"query_id": "q1", "doc_id": "d1"},
        "annotation_approver": None,
        "labels": ["2"],
    }
]
RANK_EVAL = {
    "requests": [
        {
            "id": "q1",
            "request": {"query": {"match": {"text": "boil eggs"}}},
            "ratings": [{"_index": "web", "_id": "d1", "rating": 2}, {"_index": "web", "_id": "d2", "rating": 0}],
        }
    ],
    "metric": {"precision": {"k": 10, "relevant_rating_threshold": 1}},
}
OPENSEARCH = {
    "name": "gpt",
    "type": "LLM_JUDGMENT",
    "judgmentRatings": [
        {
            "query": "boil eggs",
            "ratings": [{"docId": "d1", "rating": "3.000"}, {"docId": "d2", "rating": "0.000"}],
        }
    ],
}
UMBRELA = [
    {
        "model": "gpt-4o",
        "query": "boil eggs",
        "passage": "eight minutes",
        "prompt": "...",
        "prediction": "##final score: 3",
        "judgment": 3,
        "result_status": 1,
    },
    {
        "model": "gpt-4o",
        "query": "boil eggs",
        "passage": "chains",
        "prompt": "...",
        "prediction": "I cannot say",
        "judgment": 0,
        "result_status": 0,
    },
]
UMBRELA_REQUEST = [
    {
        "query": {"qid": "q1", "text": "boil eggs"},
        "candidates": [
            {"docid": "d1", "score": 9.5, "doc": {"segment": "eight minutes"}, "judgment": 3},
            {"docid": "d2", "score": 9.1, "doc": {"segment": "chains"}, "judgment": 0},
        ],
    }
]


def _nuggets(first: str, second: str) -> list[dict[str, str]]:
    return [
        {"text": "eggs take eight minutes", "importance": "vital", "assignment": first},
        {"text": "eggs are cooled in water", "importance": "okay", "assignment": second},
    ]


NUGGETS = [
    {
        "query": "boil eggs",
        "qid": "q1",
        "answer_text": "Eight minutes.",
        "response_length": 2,
        "run_id": "a",
        "nuggets": _nuggets("support", "not_support"),
    },
    {
        "query": "boil eggs",
        "qid": "q1",
        "answer_text": "Cool them.",
        "response_length": 2,
        "run_id": "b",
        "nuggets": _nuggets("not_support", "partial_support"),
    },
]
NUGGETS_OF_PASSAGES = [
    {
        "text": "boil eggs",
        "qid": "q1",
        "candidate_text": "Eight minutes.",
        "docid": "d1",
        "nuggets": _nuggets("support", "not_support"),
    }
]
MTEB = {
    "mteb_model_meta": {"model_name": "some/model", "revision": "1"},
    "default": {"test": {"q1": {"d1": 0.75, "d2": 0.5}, "q2": {"d3": 0.25}}},
}
MAPPING = {"q1": {"d1": 0.75, "d2": 0.5}, "q2": {"d3": 0.25}}
GRADES = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}
SENTENCE_TRANSFORMERS = [
    {
        "query_id": "q1",
        "query": "boil eggs",
        "results": [{"corpus_id": "d1", "score": 0.75}, {"corpus_id": "d2", "score": 0.5}],
    },
    {"query_id": "q2", "query": "oil chains", "results": [{"corpus_id": "d3", "score": 0.25}]},
]
CORPUS = [
    {"_id": "d1", "title": "Eggs", "text": "Eight minutes."},
    {"_id": "d2", "title": "", "text": "In butter."},
    {"_id": "d3", "title": "", "text": "Oil it."},
]
QUERIES = [{"_id": "q1", "text": "boil eggs"}, {"_id": "q2", "text": "oil chains"}]
BEIR_QRELS = b"query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td3\t1\n"

JUDGED: dict[str, tuple[str, str, bytes, list[Row]]] = {
    "label-studio": (
        "project.json",
        "label-studio",
        whole(LABEL_STUDIO),
        [("q1", "d1", "7", "1"), ("q1", "d1", "ann@example.org", "2"), ("q1", "d2", "7", "0")],
    ),
    "label-studio, short": ("min.json", "label-studio", whole(LABEL_STUDIO_MIN, indent=1), [("q1", "d1", "7", "2")]),
    "quepid": (
        "book.json",
        "quepid",
        whole(QUEPID_BOOK),
        [("boil eggs", "d1", "ann@example.org", "2"), ("boil eggs", "d1", "bob@example.org", "1")],
    ),
    "quepid, CSV": (
        "book.csv",
        "quepid",
        QUEPID_CSV,
        [("boil eggs", "d1", "Bob B", "1"), ("boil eggs", "d1", "ann", "2"), ("boil eggs", "d2", "ann", "0")],
    ),
    "quepid, case": (
        "case.json",
        "quepid",
        whole(QUEPID_CASE),
        [("boil eggs", "d1", "case", "2"), ("boil eggs", "d2", "case", "0")],
    ),
    "label-studio, short, a rating": (
        "min.json",
        "label-studio",
        whole(LABEL_STUDIO_RATED, indent=1),
        [("q1", "d1", "7", "4")],
    ),
    "quepid, of the programming interface": (
        "book.json",
        "quepid",
        whole(QUEPID_API),
        [("boil eggs", "d1", "3", "2"), ("boil eggs", "d1", "Anonymous", "1"), ("boil eggs", "d1", "Anonymous 2", "0")],
    ),
    "quepid, several anonymous": (
        "book.csv",
        "quepid",
        b"query,docid,anonymous,Bob\nboil eggs,d1,2|1,0.0\n",
        [
            ("boil eggs", "d1", "Bob", "0"),
            ("boil eggs", "d1", "anonymous", "2"),
            ("boil eggs", "d1", "anonymous 2", "1"),
        ],
    ),
    "quepid, with semicolons": (
        "book.csv",
        "quepid",
        b"\xef\xbb\xbfquery;docid;Ann;Bob\r\nboil, fry;d1;2;0\r\n",
        [("boil, fry", "d1", "Ann", "2"), ("boil, fry", "d1", "Bob", "0")],
    ),
    "quepid, RRE": (
        "rre.json",
        "quepid",
        whole(QUEPID_RRE),
        [("boil eggs", "d1", "rre", "2"), ("boil eggs", "d2", "rre", "0")],
    ),
    "quepid, RRE, old": (
        "rre.json",
        "quepid",
        whole(QUEPID_RRE_OLD, indent=1),
        [("boil eggs", "d1", "rre", "2"), ("boil eggs", "d2", "rre", "0")],
    ),
    "quepid, detailed": (
        "case.csv",
        "quepid",
        QUEPID_DETAILED,
        [("boil eggs", "d1", "case", "2"), ("-oil", "d2", "case", "0")],
    ),
    "quepid, learning to rank": (
        "ltr.txt",
        "quepid",
        QUEPID_LINES,
        [("boil eggs", "d1", "ltr", "2"), ("4", "d2", "ltr", "0")],
    ),
    "argilla": ("records.json", "argilla", whole(ARGILLA), [("q1", "d1", "u-ann", "2"), ("q1", "d1", "u-bob", "1")]),
    "argilla, columns": (
        "records.jsonl",
        "argilla",
        lines(ARGILLA_FLAT),
        [("q1", "d1", "u-ann", "2"), ("q1", "d1", "u-bob", "1")],
    ),
    "prodigy": (
        "eggs.jsonl",
        "prodigy",
        lines(PRODIGY),
        [("q1", "d1", "eggs-ann", "2"), ("q1", "d1", "eggs-bob", "0")],
    ),
    "prodigy, binary": (
        "eggs.jsonl",
        "prodigy",
        lines(PRODIGY_BINARY),
        [("q1", "d1", "eggs-ann", "1"), ("q1", "d1", "eggs-bob", "0")],
    ),
    "doccano": ("ann.jsonl", "doccano", lines(DOCCANO), [("q1", "d1", "ann", "2"), ("q1", "d2", "ann", "0")]),
    "doccano, JSON": ("ann.json", "doccano", whole(DOCCANO), [("q1", "d1", "ann", "2"), ("q1", "d2", "ann", "0")]),
    "doccano, old": ("bob.jsonl", "doccano", lines(DOCCANO_OLD), [("q1", "d1", "bob", "2")]),
    "rank-eval": (
        "rated.json",
        "rank-eval",
        whole(RANK_EVAL, indent=2),
        [("q1", "d1", "rated", "2"), ("q1", "d2", "rated", "0")],
    ),
    "opensearch": (
        "judgments.json",
        "opensearch",
        whole(OPENSEARCH),
        [("boil eggs", "d1", "gpt", "3"), ("boil eggs", "d2", "gpt", "0")],
    ),
    "opensearch, response": (
        "response.json",
        "opensearch",
        whole({"took": 1, "hits": {"total": {"value": 1}, "hits": [{"_id": "x", "_source": OPENSEARCH}]}}),
        [("boil eggs", "d1", "gpt", "3"), ("boil eggs", "d2", "gpt", "0")],
    ),
    "umbrela": ("judged.jsonl", "umbrela", lines(UMBRELA), [("boil eggs", "eight minutes", "gpt-4o", "3")]),
    "umbrela, request": (
        "judged.jsonl",
        "umbrela",
        lines(UMBRELA_REQUEST),
        [("q1", "d1", "judged", "3"), ("q1", "d2", "judged", "0")],
    ),
    "mapping": (
        "qrels.json",
        "mapping",
        whole(GRADES),
        [("q1", "d1", "qrels", "2"), ("q1", "d2", "qrels", "0"), ("q2", "d3", "qrels", "1")],
    ),
}
"""Name of the file, source, content, and the rows that it holds, in order."""
RANKED: dict[str, tuple[str, str, bytes, str]] = {
    "mteb": ("Eggs_predictions.json", "mteb", whole(MTEB), "some/model"),
    "mapping": ("run.json", "mapping", whole(MAPPING, indent=1), "run"),
    "sentence-transformers": ("ir_cosine.jsonl", "sentence-transformers", lines(SENTENCE_TRANSFORMERS), "ir_cosine"),
}
"""Name of the file, source, content, and system; all rank alike."""
