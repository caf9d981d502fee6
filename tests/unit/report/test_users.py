"""What a report says of users: preferences between lists or documents, labels in context, clicks, aspects."""

from __future__ import annotations

import pytest

from venire import Preferences, read_clicks, read_judgments
from venire.data import aspects_of
from venire.report.document import Grid, Picture
from venire.report.evidence import Evidence
from venire.report.question import Question
from venire.report.users import chapter
from venire.simulation import AspectModel, ContextSetting, generate_context

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")


@pytest.fixture(scope="module")
def made():
    return generate_context(ContextSetting(n_topics=40, redundancy=0.8, context=1.0, aspects=AspectModel()), rng=2)


def question(made, **more) -> Question:
    return Question(made.judgments, made.runs, measure="CG@5", n_draws=50, **more)


def test_nothing_is_written_where_there_is_nothing(made):
    alone = made.judgments.where(given="")
    assert chapter(Evidence(Question(alone, made.runs, measure="CG@5", n_draws=50))) is None


def test_preferences_between_lists_rank_measures_and_weigh_context(made):
    found = chapter(Evidence(question(made, preferences=made.preferences)))
    assert "alpha" in found.finding
    assert {part.name for part in found.parts} >= {"measures_and_users", "context_sweep"}


def test_preferences_between_documents_are_shown_by_label(made):
    rows = made.judgments.where(given="").to_polars()
    first, second = rows.group_by("topic", maintain_order=True).head(2).partition_by("topic")[:2]
    pairs = [(part["topic"][0], part["doc"][0], part["doc"][1], 1, "ann") for part in (first, second)]
    found = chapter(Evidence(question(made, preferences=Preferences.of(pairs))))
    assert "labels_told_apart" in {part.name for part in found.parts if isinstance(part, Picture)}


def test_clicks_are_summed_up_and_held_against_measures(made):
    found = chapter(Evidence(question(made, clicks=read_clicks(made.clicks))))
    assert "sessions on 40 topics" in found.finding
    assert "measures_and_clicks_table" in {part.name for part in found.parts if isinstance(part, Grid)}


def test_aspects_are_studied(made):
    scale = "bad<fair<good<excellent<perfect"
    labels = read_judgments(made.aspects, scale=scale)
    found = chapter(Evidence(question(made, aspects=aspects_of(labels))))
    assert "Rank correlation with overall" in found.finding
    named = {part.name for part in found.parts if isinstance(part, Picture)}
    assert named == {"aspect_coverage", "aspect_changes", "aspect_correlations"}


def test_what_cannot_be_computed_has_its_reason(made):
    strangers = Preferences.of([("nowhere", "left", "right", 1, "ann"), ("nowhere", "left", "right", -1, "bob")])
    found = chapter(Evidence(question(made, preferences=strangers)))
    assert "Agreement of measures with users cannot be computed" in found.finding


def test_no_measure_is_best_where_none_agrees_with_users(made):
    topics, systems = made.judgments.topics, made.preferences.docs
    one_sided = Preferences.of([(topic, systems[0], systems[1], 1, "ann") for topic in topics[:6]])
    found = chapter(Evidence(question(made, preferences=one_sided)))
    assert "6 preferences" in found.finding
    assert "(kappa at most 0)" in found.finding
    assert "measures_and_users" not in {part.name for part in found.parts if isinstance(part, Picture)}


def test_clicks_on_one_topic_are_held_against_no_measure(made):
    topic, docs = made.judgments.topics[0], made.judgments.where(given="").to_polars()["doc"].to_list()[:3]
    log = {"session": [1, 1, 1], "topic": [topic] * 3, "doc": docs, "clicked": [1, 0, 0]}
    found = chapter(Evidence(question(made, clicks=read_clicks(log))))
    assert "cannot be computed: 1 judged topic with clicks" in found.finding
    assert "measures_and_clicks" not in {part.name for part in found.parts if isinstance(part, Picture)}
