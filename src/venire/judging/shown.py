"""The hash of what an assessor is shown, which every answer carries."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

from venire.judging.study import Document, Study
from venire.judging.tasks import Task, documents_of


def shown_hash(study: Study, task: Task, *, known: dict[tuple[Any, ...], str] | None = None) -> str:
    """Return the hash of what an assessor is shown: scale, guidelines, topic, view and documents.

    known: hashes of the study (under the key ()) and of documents, kept between calls
    """
    known = {} if known is None else known
    if () not in known:
        known[()] = study.fingerprint
    parts = [known[()], repr(study.topics.get(task.topic)), task.kind, task.view]
    for doc in documents_of(task, study.lists):
        found = study.documents.get(doc)
        parts += [doc, "" if found is None else _hash_of(found, known)]
    return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _hash_of(document: Document, known: dict[tuple[Any, ...], str]) -> str:
    key: tuple[Any, ...] = (document.doc, *_stamp(document.file if document.content is None else None))
    if key not in known:
        head = repr((document.title, document.snippet, document.kind)).encode("utf-8", "surrogateescape")
        known[key] = sha256(head + b"\0" + document.data()).hexdigest()
    return known[key]


def _stamp(file: Path | None) -> tuple[int, ...]:
    if file is None:
        return ()
    found = file.stat()
    return found.st_mtime_ns, found.st_size
