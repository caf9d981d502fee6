from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from venire.errors import SettingError
from venire.simulation.perceived import PARTS, PerceivedRelevance, generate_perceived, graded

SMALL = PerceivedRelevance(n_topics=23, docs_per_topic=4, n_assessors=3, topics_per_batch=5)
ARRAYS = ("shape", "relevance", "perceived", "left", "right", "strength")


def whole(setting, *, rng=0):
    """Return the arrays of a collection by name, (topic, ...) each."""
    made = generate_perceived(setting, rng=rng)
    table, size = made.preferences, (setting.n_topics, -1, setting.preference_assessors)
    if not len(table):
        size = (setting.n_topics, 0, setting.preference_assessors)
    return {
        "shape": made.shape,
        "relevance": made.relevance.reshape(setting.n_topics, -1),
        "perceived": made.perceived.reshape(setting.n_topics, -1, setting.n_assessors),
        "left": table.left.reshape(size)[..., 0],
        "right": table.right.reshape(size)[..., 0],
        "strength": table.strength.reshape(size),
    }


def slow_grade(value: float, n_grades: int) -> int:
    """The last grade whose interval has begun."""
    return max(grade for grade in range(n_grades) if value >= grade / n_grades)


@pytest.mark.parametrize("n_grades", [2, 3, 4, 7, 10, 49, 100])
def test_grades_are_the_intervals_of_equal_width(n_grades):
    edges = np.arange(n_grades + 1) / n_grades
    near = np.concatenate([edges, np.nextafter(edges[1:], 0), np.nextafter(edges[:-1], 1), [0.29, 0.57, 0.58]])
    values = np.concatenate([near, np.random.default_rng(0).random(500)])
    expected = [slow_grade(value, n_grades) for value in values.tolist()]
    assert graded(values, n_grades).tolist() == expected
    assert graded(values.reshape(2, -1) if len(values) % 2 == 0 else values[1:].reshape(2, -1), n_grades).ndim == 2


def test_a_seed_makes_the_same_and_another_seed_does_not():
    assert np.array_equal(whole(SMALL, rng=3)["perceived"], whole(SMALL, rng=3)["perceived"])
    assert not np.array_equal(whole(SMALL, rng=3)["perceived"], whole(SMALL, rng=4)["perceived"])
    seed = np.random.SeedSequence(3)
    assert np.array_equal(whole(SMALL, rng=seed)["perceived"], whole(SMALL, rng=3)["perceived"])
    assert np.array_equal(whole(SMALL, rng=seed)["perceived"], whole(SMALL, rng=3)["perceived"])


def test_more_topics_and_more_assessors_change_nothing_of_what_was_there():
    usual, longer = whole(SMALL), whole(replace(SMALL, n_topics=60))
    assert all(np.array_equal(usual[name], longer[name][:23]) for name in ARRAYS)
    wider = whole(replace(SMALL, n_assessors=9))
    assert np.array_equal(usual["perceived"], wider["perceived"][..., :3])
    noisier = whole(replace(SMALL, preference_noise=0.3))
    assert np.array_equal(usual["perceived"], noisier["perceived"])
    assert not np.array_equal(usual["strength"], noisier["strength"])


def test_without_noise_everybody_sees_the_truth():
    drawn = whole(replace(SMALL, sigma=(0.0, 0.0)))
    assert np.array_equal(drawn["perceived"], np.repeat(drawn["relevance"][..., None], 3, axis=2))


def test_perceived_relevance_stays_within_bounds():
    drawn = whole(replace(SMALL, sigma=(0.8, 0.8)))
    assert drawn["perceived"].min() == 0
    assert drawn["perceived"].max() == 1
    assert (drawn["shape"] >= 2).all()
    assert (drawn["shape"] <= 5).all()


def test_assessors_of_a_batch_are_alike_unless_asked():
    alike, unlike = generate_perceived(SMALL), generate_perceived(replace(SMALL, alike=False))
    assert alike.sigma.shape == unlike.sigma.shape == (5, 3)
    assert (alike.sigma == alike.sigma[:, :1]).all()
    assert len(np.unique(alike.sigma)) == 5
    assert len(np.unique(unlike.sigma)) == 15
    assert alike.sigma.min() >= 0.001
    assert alike.sigma.max() <= 0.3


def test_noise_per_assessor_leans_one_way_throughout_a_batch():
    setting = replace(SMALL, noise_per="assessor", sigma=(0.01, 0.01), spread=(-50.0, -50.0))
    drawn = whole(setting, rng=5)
    error = drawn["perceived"] - drawn["relevance"][..., None]
    error[(drawn["perceived"] <= 0) | (drawn["perceived"] >= 1)] = np.nan
    for batch in range(5):
        own = error[5 * batch : 5 * batch + 5].reshape(-1, 3)
        assert (np.nanmax(own, axis=0) - np.nanmin(own, axis=0)).max() < 1e-12
        assert len(np.unique(np.nanmedian(own, axis=0).round(12))) == 3


def test_preferences_without_noise_follow_the_truth():
    drawn = whole(SMALL)
    assert drawn["left"][0].tolist() == [0, 0, 0, 1, 1, 2]
    assert drawn["right"][0].tolist() == [1, 2, 3, 2, 3, 3]
    for topic in range(23):
        for pair in range(6):
            left, right = (drawn["relevance"][topic, drawn[side][topic, pair]] for side in ("left", "right"))
            assert drawn["strength"][topic, pair, 0] == (1 if left > right else -1)


def test_small_differences_are_ties():
    plain, tied = whole(SMALL), whole(replace(SMALL, tie_threshold=0.1))
    left, right = (
        np.take_along_axis(plain["relevance"], plain[side].astype(int), axis=1) for side in ("left", "right")
    )
    small = np.abs(left - right) <= 0.1
    assert 5 < small.sum() < small.size - 5
    assert np.array_equal(tied["strength"][..., 0], np.where(small, 0, plain["strength"][..., 0]))


def test_some_pairs_of_each_topic_are_chosen():
    drawn = whole(replace(SMALL, n_topics=400, pairs_per_topic=2))
    pair = drawn["left"] * 4 + drawn["right"]
    assert pair.shape == (400, 2)
    assert (pair[:, 0] < pair[:, 1]).all()
    assert (drawn["left"] < drawn["right"]).all()
    _, counts = np.unique(pair, return_counts=True)
    assert len(counts) == 6
    assert abs(counts - 800 / 6).max() < 4 * np.sqrt(800 / 6)
    assert whole(replace(SMALL, pairs_per_topic=99))["left"].shape == (23, 6)


def test_one_document_makes_no_pair():
    assert whole(replace(SMALL, docs_per_topic=1))["strength"].shape == (23, 0, 1)


def test_the_streams_have_names_of_their_own():
    assert len(set(PARTS)) == len(PARTS)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"n_topics": 0}, "n_topics is 0"),
        ({"n_grades": 1}, "n_grades is 1, expected 2"),
        ({"pairs_per_topic": 0}, "pairs_per_topic is 0"),
        ({"sigma": (0.3, 0.1)}, "sigma goes from 0.3 to 0.1"),
        ({"sigma": (-0.1, 0.1)}, "sigma goes from -0.1"),
        ({"spread": (-np.inf, 0.0)}, "spread goes from -inf"),
        ({"shape": (0.0, 1.0)}, "shape begins at 0"),
        ({"noise_per": "annotator"}, "noise_per is 'annotator'"),
        ({"preference_noise": float("nan")}, "preference_noise is nan"),
        ({"tie_threshold": -1.0}, "tie_threshold is -1"),
    ],
)
def test_impossible_settings(setting, words):
    with pytest.raises(SettingError, match=words):
        PerceivedRelevance(**setting)
