"""Fingerprints: a short name for data, so that a saved result says what it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

import numpy as np

from venire.data.ids import Category
from venire.data.judgments import Judgments


def fingerprint(judgments: Judgments) -> str:
    """Return 16 hexadecimal digits that another set of labels will not have: "a3f0..."  O(rows)."""
    digest = sha256(f"{judgments.scale} {len(judgments.items)} items {len(judgments)} rows".encode())
    facets = {name: judgments.facets[name] for name in sorted(judgments.facets)}
    digest.update(" ".join(facets).encode())
    for names in (judgments.items.topics, judgments.items.doc, *(each.names for each in _columns(judgments, facets))):
        digest.update(np.ascontiguousarray(names.slices.end, dtype="<i8").tobytes())
        digest.update(names.slices.buffer.tobytes())
    codes = (each.codes for each in _columns(judgments, facets))
    for column in (judgments.items.topic, judgments.item, judgments.label, *codes):
        digest.update(np.ascontiguousarray(column, dtype="<i4").tobytes())
    return digest.hexdigest()[:16]


def _columns(judgments: Judgments, facets: Mapping[str, Category]) -> tuple[Category, ...]:
    return (judgments.assessor, *facets.values())
