"""Fingerprints: a short name for data, so that a saved result says what it was made from."""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from venire.data.judgments import Judgments


def fingerprint(judgments: Judgments) -> str:
    """Return 16 hexadecimal digits that another set of labels will not have: "a3f0..."  O(rows)."""
    digest = sha256(str(judgments.scale).encode())
    names = [judgments.items.topics, judgments.items.doc, judgments.assessor.names]
    names += [judgments.facets[name].names for name in sorted(judgments.facets)]
    for each in names:
        digest.update(np.ascontiguousarray(each.slices.end).tobytes())
        digest.update(each.slices.buffer.tobytes())
    columns = [judgments.items.topic, judgments.item, judgments.assessor.codes, judgments.label]
    columns += [judgments.facets[name].codes for name in sorted(judgments.facets)]
    for column in columns:
        digest.update(np.ascontiguousarray(column, dtype="<i4").tobytes())
    return digest.hexdigest()[:16]
