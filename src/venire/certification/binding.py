"""Binding: what a certificate is about, as hashes of files, labels and prompts, and whether it still is.

A certificate holds for the labels that it was made from.  It names its inputs with their SHA-256 hashes; if one of them
changes, or the prompt of a judge does, the certificate is stale and is refused.  So is one that was made with another
reference, other measures, gains, criteria or judges than those that are asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from venire.data.judgments import Judgments
from venire.data.runs import Facts
from venire.errors import FormatError, StaleCertificate, UnknownName
from venire.io.documents import read_saved
from venire.io.fingerprints import Input
from venire.results import listed
from venire.types import Ints

KIND = "venire certificate"


def hash_of_labels(judgments: Judgments) -> str:
    """Return a hash of topics, documents, intents, assessors, labels and probabilities, in any order of the rows.

    O(rows log rows).
    """
    used, item = np.unique(judgments.item, return_inverse=True)
    columns: list[Ints] = [item.astype(np.int64), judgments.label.astype(np.int64)]
    digest = sha256(str(judgments.scale).encode())
    for name in ("assessor", *sorted(judgments.facets)):
        column = judgments.column(name)
        names = [str(each) for each in column.names]
        order = sorted(range(len(names)), key=names.__getitem__)
        digest.update(_lines([name, *(names[n] for n in order)]))
        columns.append(np.argsort(order)[column.codes].astype(np.int64))
    if judgments.probability is not None:
        digest.update(b"probability\n")
        chance = np.where(np.isnan(judgments.probability), -1.0, judgments.probability)
        columns.append(chance.astype("<f8").view("<i8").astype(np.int64))
    topics = judgments.topics
    digest.update(_lines(f"{topics[judgments.items.topic[n]]}\t{judgments.items.doc[n]}" for n in used.tolist()))
    if (intents := judgments.items.intents) is not None:
        need = intents.need[used]
        _, of_item = np.unique(need, return_inverse=True)
        digest.update(of_item.astype("<i8").tobytes() + intents.weight[need].astype("<f8").tobytes())
    rows: Ints = np.stack(columns)
    digest.update(np.ascontiguousarray(rows[:, np.lexsort(rows)], dtype="<i8").tobytes())
    return digest.hexdigest()


def _lines(texts: Iterable[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode("utf-8", "surrogateescape")


def hash_of_lists(facts: Facts) -> str:
    """Return a hash of where the systems rank judged documents."""
    digest = sha256("\t".join(facts.systems).encode("utf-8", "surrogateescape"))
    for column in (facts.system, facts.topic, facts.depth, facts.offset, facts.rank, facts.item):
        digest.update(np.ascontiguousarray(column, dtype="<i8").tobytes())
    return digest.hexdigest()


def read_certificate(path: str | Path) -> dict[str, Any]:
    """Read a certificate that was written as JSON."""
    hint = "expected the JSON of a certificate, as venire certify writes it"
    held = read_saved(Path(path), KIND, what="a certificate", hint=hint)
    if not (
        {"reference", "judges", "inputs"} <= held.keys()
        and _are_names(held["reference"])
        and _are_objects(held["judges"], "judge")
        and _are_objects(held["inputs"], "name", "sha256")
        and all(isinstance(held.get(name, {}), dict) for name in ("settings", "criteria"))
    ):
        raise FormatError(path, None, "is not a whole certificate", hint=hint)
    return held


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _are_objects(value: Any, *texts: str) -> bool:
    """Return whether a value is a list of objects that have these texts."""
    return isinstance(value, list) and all(
        isinstance(each, dict) and all(isinstance(each.get(name), str) for name in texts) for each in value
    )


def check_certificate(
    certificate: Mapping[str, Any],
    inputs: Iterable[Input],
    *,
    prompts: Mapping[str, str] | None = None,
    asked: Mapping[str, Any] | None = None,
) -> None:
    """Raise StaleCertificate if it was made from other inputs, or with other prompts; files may have moved.

    asked: what else it should have been made with: ``reference``, ``measures``, ``judges`` (these and perhaps others),
    criteria and settings by their names
    """
    now, before = tuple(inputs), tuple(Input(each["name"], each["sha256"]) for each in certificate["inputs"])
    present, known = {each.sha256 for each in now}, {each.sha256 for each in before}
    changed = [each.name for each in now if each.sha256 not in known]
    gone = [each.name for each in before if each.sha256 not in present and each.name not in changed]
    stated = {each["judge"]: each.get("prompt") for each in certificate["judges"]}
    for name in prompts or {}:
        if name not in stated:
            raise UnknownName("certificate of", name, stated)
    prompted = [name for name, value in (prompts or {}).items() if stated[name] != value]
    reasons = [
        *(f"{name} is not what it was" for name in changed),
        *(f"{name} is missing" for name in gone),
        *(f"the prompt of {name} is not what it was" for name in prompted),
        *_differences(certificate, asked or {}),
    ]
    if reasons:
        raise StaleCertificate(f"the certificate is stale: {'; '.join(reasons)}", hint="certify the judge again")


def _differences(certificate: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Say what the certificate was made with, where something else is asked for."""
    held = {**certificate.get("settings", {}), **certificate.get("criteria", {})}
    held |= {name: certificate.get(name) for name in ("reference", "measures")}
    judges = [each["judge"] for each in certificate["judges"]]
    others = [name for name in asked.get("judges", ()) if name not in judges]
    found = [f"it is not about {listed(others)}, but about {listed(judges)}"] if others else []
    found += [
        f"it was made with {_words(name, held.get(name))}, not with {_words(name, value)}"
        for name, value in asked.items()
        if name != "judges" and not _same(held.get(name), value)
    ]
    return found


def _same(held: Any, value: Any) -> bool:
    """Return whether two settings are the same, lists in any order."""
    if isinstance(value, list | tuple):
        return isinstance(held, list | tuple) and sorted(map(str, held)) == sorted(map(str, value))
    return bool(held == value)


def _words(name: str, value: Any) -> str:
    """Write a setting with its name."""
    if value is None or value == []:
        return f"no {name}"
    return f"{name} {listed([str(each) for each in value]) if isinstance(value, list | tuple) else value}"
