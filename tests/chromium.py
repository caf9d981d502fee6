"""Chromium, as Debian packages it, driven by Playwright; a test without a browser is skipped and says why."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ARGS = (
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
NAMES = ("chromium", "chromium-browser", "google-chrome")
LARGE, SMALL = {"width": 1280, "height": 800}, {"width": 400, "height": 800}
AXE = Path(__file__).parents[1] / "build" / "node_modules" / "axe-core" / "axe.min.js"


@contextmanager
def launched() -> Iterator[Any]:
    """Start a browser."""
    api = pytest.importorskip("playwright.sync_api", reason="no playwright: install venire[test]")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no browser: install one of {', '.join(NAMES)}")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGS))
        yield browser
        browser.close()
