"""Context, aspects, users: what documents are worth after others, and which measure agrees with users."""

from __future__ import annotations

from venire.report.document import Chapter
from venire.report.evidence import Evidence


def chapter(evidence: Evidence) -> Chapter | None:  # noqa: ARG001
    """Write it, if there are such labels or files."""
    return None
