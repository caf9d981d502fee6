"""What commands write as JSON."""

from __future__ import annotations

import json
from typing import Any


def loaded(text: str) -> Any:
    """The result that a command wrote, without what it can be traced by."""
    found = json.loads(text)
    if isinstance(found, dict):
        found.pop("made_with", None)
        found.pop("schema", None)
    return found
