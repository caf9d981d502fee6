"""The chapter on the quality of judgments: PDP of what the systems show, and what speaks against preferences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from venire.quality.lists import top_of_runs
from venire.quality.pdp import pdp
from venire.report import quality
from venire.report.document import Grid, Words
from venire.report.evidence import Evidence
from venire.report.question import Question
from venire.simulation.perceived import PerceivedRelevance, generate_perceived
from venire.simulation.systems import Systems, scattered

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
SETTING = PerceivedRelevance(
    n_topics=12, docs_per_topic=6, n_assessors=3, sigma=(0.1, 0.1), systems=Systems(quality=scattered(3))
)


@pytest.fixture(scope="module")
def collection():
    return generate_perceived(SETTING, rng=3)


def chapter_of(collection, preferences):
    return quality.chapter(
        Evidence(Question(collection.judgments, collection.runs, preferences=preferences, n_draws=50))
    )


def test_pdp_is_of_what_the_systems_show(collection):
    found = chapter_of(collection, collection.preferences)
    grids = {part.name: part for part in found.parts if isinstance(part, Grid)}
    lists = top_of_runs(collection.judgments, collection.runs)
    own = pdp(collection.judgments, collection.preferences, lists=lists)
    row = grids["pdp_values"].content()["rows"][0]
    assert (row["value"], row["low"]) == pytest.approx((own.value, own.low))
    assert len(grids["pdp_differences"].rows) == 2 * 6


def test_a_reversed_sign_is_warned_of(collection):
    turned = replace(collection.preferences, strength=-collection.preferences.strength)
    for preferences, warned in ((collection.preferences, False), (turned, True)):
        parts = chapter_of(collection, preferences).parts
        kinds = {part.about for part in parts if isinstance(part, Words)}
        assert ("reversed-preferences" in kinds) == warned
