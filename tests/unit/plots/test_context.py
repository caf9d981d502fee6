from __future__ import annotations

import numpy as np
import pytest

from context_pairs import drawn_in_context, redundancy
from venire.context.model import fit_conditional_labels
from venire.context.validation import validate_conditional_labels

pytest.importorskip("matplotlib")

from venire.plots.context import plot_context_effect, plot_validation
from venire.plots.style import write_figure

LABELS = drawn_in_context(redundancy(), topics=20, rng=1)


def numbers(axes) -> list[list[str]]:
    n = len(axes.get_xticks())
    held = [text.get_text() for text in axes.texts]
    return [held[row * n : (row + 1) * n] for row in range(n)]


def test_validation(tmp_path):
    found = validate_conditional_labels(LABELS, folds=4, splits=1, n_draws=20)
    figure = plot_validation(found)
    left, right = figure.axes
    points = left.collections[-1].get_offsets()
    there = found.reliability.n_cases > 0
    np.testing.assert_allclose(points[:, 0], found.reliability.confidence[there])
    np.testing.assert_allclose(points[:, 1], found.reliability.share[there])
    shares = found.confusion / found.confusion.sum(axis=1, keepdims=True)
    assert numbers(right) == [[f"{share:.0%}" for share in row] for row in shares]
    assert [each.get_text() for each in right.get_yticklabels()] == [
        f"{label} ({n})" for label, n in zip("012", found.confusion.sum(axis=1), strict=True)
    ]
    write_figure(figure, tmp_path / "a.svg")
    write_figure(plot_validation(found), tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_the_effect_of_context():
    model = fit_conditional_labels(LABELS, interactions=True)
    (axes,) = plot_context_effect(model).axes
    moved = model.at_mean() @ np.arange(3) - np.arange(3)[:, None]
    assert numbers(axes) == [[f"{value:+.2f}" for value in row] for row in moved]
    assert moved[2, 2] < moved[2, 0] - 0.3
