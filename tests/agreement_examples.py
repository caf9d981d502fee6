"""Judgments whose agreement is known: published examples, a crowd, and what irrCAC says of it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from labelled_items import labelled
from venire import Judgments
from venire.io import read_grid

K12 = """
    1 2 3 3 2 1 4 1 2 . . .
    1 2 3 3 2 2 4 1 2 5 . 3
    . 3 3 3 2 3 4 2 2 5 1 .
    1 2 3 3 2 4 4 1 2 5 1 ."""
FLEISS_1971 = (
    "444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 144444 124444 222333 144444 224445 333335 "
    "111455 111112 224444 133555 555555 244444 224555 114444 144445 222224 111155 224444 133333 555555"
)


def fleiss_1971() -> Judgments:
    """Thirty patients, six ratings each."""
    return read_grid("\n".join(" ".join(raters) for raters in zip(*FLEISS_1971.split(), strict=True)))


def crowd(seed: int = 0, n_items: int = 60, n_raters: int = 6) -> tuple[Judgments, np.ndarray]:
    """Judgments by a few assessors with missing labels, and the same labels (item, assessor), -1 where missing."""
    rng = np.random.default_rng(seed)
    quality = rng.integers(0, 4, n_items)
    labels = np.where(rng.random((n_items, n_raters)) < 0.6, quality[:, None], rng.integers(0, 4, (n_items, n_raters)))
    labels[rng.random(labels.shape) < 0.35] = -1
    return labelled(labels.tolist(), scale="0<1<2<3", n_topics=12), labels


def irrcac(labels: np.ndarray, weights: str, name: str) -> float:
    """Return what irrCAC computes."""
    pandas = pytest.importorskip("pandas")
    raw = pytest.importorskip("irrCAC.raw")
    weights = {"nominal": "identity"}.get(weights, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = pandas.DataFrame(np.where(labels < 0, np.nan, labels))
        categories = np.unique(labels[labels >= 0]).astype(float).tolist()
        found = raw.CAC(table, weights=weights, categories=categories, digits=12)
        return float(getattr(found, name)()["est"]["coefficient_value"])
