"""The best ranking of a topic is the same by counting the items of each gain as by sorting them."""

from __future__ import annotations

import numpy as np
import pytest

from venire.data.panel import Panel
from venire.measures.scoring import Labels, _counted, _sorted


@pytest.mark.parametrize("unjudged", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("depth", [1, 3, 10])
def test_counting_gives_what_sorting_does(unjudged, depth):
    rng = np.random.default_rng(depth)
    n_items_of = np.array([4, 0, 12, 1, 0, 5, 0])
    values = np.array([0.0, 0.5, 1.0, 3.0])
    gains = rng.choice(values, size=(6, n_items_of.sum()))
    labels = Labels.of(gains, rng.random(gains.shape) < 0.7, unjudged, values)
    found = np.full((2, 6, len(n_items_of), depth), -1.0)
    for way, blocks in enumerate((_counted(labels, n_items_of, depth), _sorted(labels, n_items_of, depth, None))):
        for topics, first in blocks:
            found[way, :, topics, : first.shape[-1]] = first.transpose(1, 0, 2)[..., :depth]
    np.testing.assert_array_equal(*found)
    assert (found >= 0).any()


def test_gains_of_several_labels_are_mixtures():
    codes = np.zeros(2, dtype=np.int32)
    for weight, unmixed in ((0.5, False), (1.0, True)):
        item = codes if weight < 1 else np.arange(2, dtype=np.int32)
        panel = Panel(("a",), codes, item, np.arange(2, dtype=np.int32), np.full(2, weight), 2)
        assert panel.unmixed == unmixed
