"""Sizes that matter, and tests that are corrected for the number of assessors."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from venire import Synthetic, generate, read_grid
from venire.agreement.habits import SHIFTED, habits
from venire.agreement.profiles import Mean, Profiles, Trend, profiles
from venire.analysis.assessors import parse_assessors

HABITS = "5*careful, lenient, strict, random, lazy"


@pytest.fixture(scope="module")
def labels():
    setting = Synthetic(assessors=parse_assessors(HABITS), n_topics=40, docs_per_topic=60, n_unjudged=0)
    return generate(setting, rng=2).judgments


def flags(found: Profiles) -> dict[str, list[str]]:
    return {found.assessors[n]: [each.flag for each in some] for n, some in habits(found).items()}


def repeated(found: Profiles, times: int) -> Profiles:
    """Have the same assessors many times over, each like the first."""

    def tiled(value):
        if isinstance(value, Mean | Trend):
            return type(value)(*(np.tile(each, times) for each in value))
        return np.tile(value, (times,) + (1,) * (value.ndim - 1))

    arrays = {
        each.name: tiled(getattr(found, each.name))
        for each in fields(found)
        if isinstance(getattr(found, each.name), Mean | Trend | np.ndarray)
    }
    return replace(found, assessors=tuple(f"{name}-{n}" for n in range(times) for name in found.assessors), **arrays)


def at_errors(found: Profiles, who: str, errors: float) -> Profiles:
    """Let the shift of one assessor lie so many standard errors from 0."""
    se = found.leniency.se.copy()
    n = found.assessors.index(who)
    se[n] = abs(found.shift[n]) / errors
    return replace(found, leniency=found.leniency._replace(se=se))


def test_height_is_that_of_the_typical_assessor(labels):
    found = profiles(labels)
    mean = (found.labels @ np.arange(4.0)) / found.n_labels
    assert found.height == pytest.approx(mean - found.shift)
    typical = found.height[found.assessors.index("careful1")]
    assert found.height == pytest.approx(np.full(len(found.assessors), typical))


def test_a_shift_must_matter(labels):
    found = profiles(labels)
    n = found.assessors.index("strict1")
    rest = found.height[n]
    for size, told in ((SHIFTED - 0.01, False), (SHIFTED + 0.01, True)):
        shift = found.shift.copy()
        shift[n] = -size * rest
        assert ("strict" in flags(replace(found, shift=shift)).get("strict1", [])) is told


def test_the_more_assessors_the_surer_a_habit_must_be(labels):
    found = at_errors(profiles(labels), "strict1", 3.6)
    assert flags(found)["strict1"] == ["strict"]
    many = flags(repeated(found, 200))
    assert "strict1-0" not in many
    assert many["lenient1-0"] == ["lenient"]


def test_on_a_scale_turned_round_the_lenient_are_strict(labels):
    there, back = flags(profiles(labels)), flags(profiles(replace(labels, label=3 - labels.label)))
    other = {"lenient": "strict", "strict": "lenient"}
    assert back == {name: [other.get(flag, flag) for flag in some] for name, some in there.items()}
    assert there == {"lenient1": ["lenient"], "strict1": ["strict"], "random1": ["random"], "lazy1": ["strict", "lazy"]}


def test_of_two_each_is_held_against_the_other(labels):
    two = profiles(labels.where(assessor=["careful1", "lenient1"]))
    assert flags(two) == {"careful1": ["strict"], "lenient1": ["lenient"]}
    evidence = two.records()[1]["evidence"][0]
    mean = (two.labels @ np.arange(4.0)) / two.n_labels
    size = (mean[1] - mean[0]) / mean[0]
    assert evidence.startswith(f"labels {mean[1] - mean[0]:.2f} higher than the other assessor ({size:.0%} of how far")
    assert flags(profiles(labels.where(assessor=["careful1", "careful2"]))) == {}


def test_evidence_says_from_what_size_on_it_is_told(labels):
    words = {each["assessor"]: each["evidence"] for each in profiles(labels).records()}
    assert "of how far that one is from the lowest label" in words["strict1"][0]
    assert "told from 15% on" in words["strict1"][0]
    assert "of the labels were given without a look (told from 20% on)" in words["lazy1"][1]
    turned = profiles(replace(labels, label=3 - labels.label))
    assert "from the highest label" in turned.records()[turned.assessors.index("strict1")]["evidence"][0]


def test_one_who_strays_where_the_typical_assessor_never_does(labels):
    label = np.zeros_like(labels.label)
    strays = labels.assessor.codes == labels.assessors.index("careful1")
    label[np.flatnonzero(strays)[::3]] = 1
    found = profiles(replace(labels, label=label))
    assert flags(found)["careful1"] == ["lenient"]
    evidence = found.records()[found.assessors.index("careful1")]["evidence"][0]
    assert "(who hardly ever gives another label than the lowest)" in evidence


def grid(*lines):
    return profiles(read_grid("\n".join(" ".join(map(str, line)) for line in lines)))


def test_of_two_the_careful_one_is_not_told_the_habit_of_the_other():
    careful = np.random.default_rng(0).choice(4, 200, p=[0.4, 0.3, 0.2, 0.1])
    for always in (0, 3):
        some = [[each.flag for each in habits] for habits in habits(grid(careful, np.full(200, always))).values()]
        assert some == [["one label"]]


def test_labels_other_than_the_usual_one_are_counted_whole():
    """Of 43 labels 2 differ, where others have 7: not so few that it is no accident, as a single one would be."""
    rare = lambda n: (np.arange(43) < n).astype(int)  # noqa: E731
    assert (1 - 41 / 43) * 43 < 2
    assert not any("one label" in some for some in flags(grid(rare(2), rare(7))).values())
