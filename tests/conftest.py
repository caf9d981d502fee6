from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the folder of real judgments and runs, or skip."""
    if not os.environ.get("VENIRE_DATA"):
        pytest.skip("real data: set VENIRE_DATA to the folder")
    return Path(os.environ["VENIRE_DATA"])
