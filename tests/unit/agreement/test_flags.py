"""Sizes that matter, tests that are corrected for the number of assessors, and against whom these are compared."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from shared_errors import EXPERT, JUDGES, expert_among_judges
from venire.agreement.flags import HIGHER, LOWER, OFTEN, ONE_LABEL, SHIFTED, UNRELATED, FlaggedProfiles, habits
from venire.agreement.profiles import Mean, Profiles, Trend, profiles
from venire.errors import UnknownName
from venire.io import read_grid
from venire.simulation import Synthetic, generate
from venire.simulation.assessors import parse_assessors

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
        assert (LOWER in flags(replace(found, shift=shift)).get("strict1", [])) is told


def test_the_more_assessors_the_surer_a_habit_must_be(labels):
    found = at_errors(profiles(labels), "strict1", 3.6)
    assert flags(found)["strict1"] == [LOWER]
    many = flags(repeated(found, 200))
    assert "strict1-0" not in many
    assert many["lenient1-0"] == [HIGHER]


def test_on_a_reversed_scale_higher_labels_are_lower(labels):
    there, back = flags(profiles(labels)), flags(profiles(replace(labels, label=3 - labels.label)))
    other = {HIGHER: LOWER, LOWER: HIGHER}
    assert back == {name: [other.get(flag, flag) for flag in some] for name, some in there.items()}
    expected = {"lenient1": [HIGHER], "strict1": [LOWER], "random1": [UNRELATED], "lazy1": [LOWER, OFTEN]}
    assert there == expected


def test_of_two_each_is_compared_with_the_other(labels):
    two = profiles(labels.where(assessor=["careful1", "lenient1"]))
    assert flags(two) == {"careful1": [LOWER], "lenient1": [HIGHER]}
    evidence = FlaggedProfiles(two).records()[1]["evidence"][0]
    mean = (two.labels @ np.arange(4.0)) / two.n_labels
    size = (mean[1] - mean[0]) / mean[0]
    assert evidence.startswith(f"labels {mean[1] - mean[0]:.2f} higher than the other assessor")
    assert f"{size:.0%} of" in evidence
    assert flags(profiles(labels.where(assessor=["careful1", "careful2"]))) == {}


def test_evidence_is_what_was_seen(labels):
    found = profiles(labels)
    words = {each["assessor"]: each["evidence"] for each in FlaggedProfiles(found).records()}
    assert "from the lowest label" in words["strict1"][0]
    n = found.assessors.index("lazy1")
    own, rest = labels.assessor.codes == n, labels.assessor.codes != n
    shares = [(labels.label[some] == 0).mean() for some in (own, rest)]
    assert f"gives 0 more often than the others: {shares[0]:.0%} against {shares[1]:.0%}" in words["lazy1"][1]
    turned = profiles(replace(labels, label=3 - labels.label))
    assert (
        "from the highest label" in FlaggedProfiles(turned).records()[turned.assessors.index("strict1")]["evidence"][0]
    )


def test_one_who_strays_where_the_typical_assessor_never_does(labels):
    label = np.zeros_like(labels.label)
    strays = labels.assessor.codes == labels.assessors.index("careful1")
    label[np.flatnonzero(strays)[::3]] = 1
    found = profiles(replace(labels, label=label))
    assert flags(found)["careful1"] == [HIGHER]
    evidence = FlaggedProfiles(found).records()[found.assessors.index("careful1")]["evidence"][0]
    assert "from the lowest label, 0.00" in evidence


def grid(*lines):
    return profiles(read_grid("\n".join(" ".join(map(str, line)) for line in lines)))


def test_of_two_the_careful_one_is_not_told_the_habit_of_the_other():
    careful = np.random.default_rng(0).choice(4, 200, p=[0.4, 0.3, 0.2, 0.1])
    for always in (0, 3):
        some = [[each.flag for each in habits] for habits in habits(grid(careful, np.full(200, always))).values()]
        assert some == [[ONE_LABEL]]


def test_labels_other_than_the_usual_one_are_counted_whole():
    """Of 43 labels 2 differ, where others have 7: not so few that it is no accident, as a single one would be."""
    rare = lambda n: (np.arange(43) < n).astype(int)  # noqa: E731
    assert (1 - 41 / 43) * 43 < 2
    assert flags(grid(rare(2), rare(7))) == {}


def test_nearly_one_label_is_not_one_label():
    """Labels that differ, be they few, can still score systems."""
    others = np.tile([0, 1, 0, 2], 50)
    for n_other, flag in ((0, ONE_LABEL), (1, OFTEN)):
        one = np.where(np.arange(200) < n_other, others.max(), 0)
        assert flags(grid(one, others, others)) == {"U1": [flag]}


ACCUSING = ("lazy", "strict", "lenient", "random", "careless", "without a look", "stands out", "stand out")


def test_an_expert_among_judges_who_share_errors_is_described_and_not_accused():
    found = profiles(expert_among_judges())
    assert flags(found) == {EXPERT: [LOWER, OFTEN]}
    flagged = FlaggedProfiles(found)
    record = flagged.records()[found.assessors.index(EXPERT)]
    words = " ".join([flagged.sentence(), *map(str, flagged.notes), *record["evidence"]])
    assert [word for word in ACCUSING if word in words] == []
    assert f"{found.own[0, 0]:.0%} against {found.usual[0, 0]:.0%}" in record["evidence"][1]
    assert flagged.others_alike == pytest.approx(0.81, abs=0.02)
    assert [note.kind for note in flagged.notes] == ["not-who-is-right", "others-alike"]


def test_others_who_differ_among_themselves_are_not_called_alike(labels):
    found = FlaggedProfiles(profiles(labels))
    assert found.others_alike < 0.6
    assert [note.kind for note in found.notes] == ["not-who-is-right"]


def test_against_the_expert_the_judges_are_those_who_differ():
    found = profiles(expert_among_judges(), reference=EXPERT)
    assert set(flags(found)) == set(JUDGES)
    assert all(HIGHER in some for some in flags(found).values())
    assert FlaggedProfiles(found).notes == ()
    assert FlaggedProfiles(found).sentence().startswith("20 of 20 assessors differ from expert: llm01")
    assert found.records()[0]["agreement"] is None


def test_with_a_reference_the_others_do_not_matter():
    """Each is compared with the reference as if nobody else were there."""
    labels = expert_among_judges()
    found = profiles(labels, reference=[EXPERT])
    for name in JUDGES[:3]:
        two = profiles(labels.where(assessor=[EXPERT, name]))
        n, m = found.assessors.index(name), two.assessors.index(name)
        for column in ("agreement", "chance", "kappa", "difference", "leniency", "leniency_low"):
            assert found.columns()[column][n] == pytest.approx(two.columns()[column][m])
        assert found.shift[n] == found.leniency.value[n]


def test_a_reference_of_several_is_compared_with_the_rest_of_it():
    labels = expert_among_judges(judges=JUDGES[:3])
    found = profiles(labels, reference=[EXPERT, "llm01"])
    two = profiles(labels.where(assessor=[EXPERT, "llm01"]))
    assert found.leniency.value[:2] == pytest.approx(two.leniency.value)
    both = [profiles(labels, reference=name).leniency.value[2] for name in (EXPERT, "llm01")]
    assert found.leniency.value[2] == pytest.approx(np.mean(both))


def test_labels_unrelated_to_the_reference_are_named_though_all_are():
    rng = np.random.default_rng(1)
    expert, judge = rng.choice(3, (2, 2000))
    labels = read_grid("\n".join(" ".join(map(str, each)) for each in (expert, judge, judge, judge)))
    assert flags(profiles(labels)) == {"U1": [UNRELATED]}
    assert flags(profiles(labels, reference="U1")) == {name: [UNRELATED] for name in ("U2", "U3", "U4")}


def test_an_unknown_reference_is_refused(labels):
    with pytest.raises(UnknownName):
        profiles(labels, reference="nobody")


def test_nearly_all_is_not_said_to_be_all():
    others = np.tile([0, 1, 0, 2], 100)
    (some,) = habits(grid(np.append(1, np.zeros(399, dtype=int)), others, others)).values()
    assert "more than 99% against 50%" in some[0].evidence
