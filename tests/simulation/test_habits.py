"""Simulated assessors, over seeds: those who label differently are found, and those who label alike are left alone."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

from shared_errors import EXPERT, JUDGES, expert_among_judges
from venire import Scale, read_judgments
from venire.agreement.flags import ALIKE, HIGHER, LOWER, OFTEN, ONE_LABEL, UNRELATED, FlaggedProfiles, habits
from venire.agreement.profiles import profiles
from venire.report.scoring_judge import useless_assessors
from venire.simulation import Synthetic, generate
from venire.simulation.assessors import RandomAssessors, parse_assessors

PANEL = "6*careful, lenient, strict, random, lazy, lazy(idle=0.4, level=3), lazy(idle=1.0)"
SAY_NOTHING = {ONE_LABEL, UNRELATED, OFTEN, LOWER}
"""One who always gives the lowest label is one of these, by how hard the topics are."""
N_SEEDS, NEARLY_ALL = 20, 17
SETTINGS = {
    "everyone judges all": {"n_topics": 20, "topic_effect": 0.3},
    "hard topics": {"n_topics": 20, "topic_effect": 0.5},
    "four judge each document": {"n_topics": 40, "topic_effect": 0.0, "pattern": RandomAssessors(4)},
}


def labels(seed, who, **setting):
    setting = Synthetic(assessors=parse_assessors(who), docs_per_topic=60, n_unjudged=0, **setting)
    return generate(setting, rng=seed).judgments


def flags(seed, who, **setting):
    return flags_of(profiles(labels(seed, who, **setting)))


def flags_of(found):
    return {found.assessors[n]: {each.flag for each in some} for n, some in habits(found).items()}


def tally(who, **setting):
    """How often each assessor has each flag, over seeds."""
    counts = Counter()
    for seed in range(N_SEEDS):
        counts.update((name, flag) for name, some in flags(seed, who, **setting).items() for flag in some)
    return counts


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_differences_are_found_and_the_careful_are_left_alone(setting):
    counts = tally(PANEL, **setting)
    assert [name for name, _ in counts if name.startswith("careful")] == []
    assert {(name, flag) for name, flag in counts if name == "lenient1"} == {("lenient1", HIGHER)}
    assert {(name, flag) for name, flag in counts if name == "strict1"} == {("strict1", LOWER)}
    assert counts["lenient1", HIGHER] == counts["random1", UNRELATED] == N_SEEDS
    assert counts["strict1", LOWER] >= NEARLY_ALL
    assert min(counts["lazy1", OFTEN], counts["lazy2", OFTEN]) >= NEARLY_ALL
    assert sum(counts["lazy3", flag] for flag in SAY_NOTHING) >= N_SEEDS


def test_differences_are_found_with_two_labels():
    who = "6*careful, lenient, strict, random, lazy(idle=1.0)"
    counts = tally(who, scale=Scale.parse("0<1"), prevalence=(0.7, 0.3), n_topics=20, topic_effect=0.3)
    assert [name for name, _ in counts if name.startswith("careful")] == []
    for name, flag in (("lenient1", HIGHER), ("strict1", LOWER), ("random1", UNRELATED)):
        assert counts[name, flag] >= NEARLY_ALL
    assert sum(counts["lazy1", flag] for flag in (ONE_LABEL, OFTEN, LOWER)) == N_SEEDS


def test_what_is_significant_and_small_is_not_told():
    """Of 12,000 labels a tenth or less is moved: that is sure by many standard errors, and few would care."""
    setting = {"n_topics": 200, "topic_effect": 0.3}
    who = "6*careful, lenient(shift=0.08), strict(shift=0.18)"
    found = profiles(labels(0, who, **setting))
    for name in ("lenient1", "strict1"):
        n = found.assessors.index(name)
        assert abs(found.shift[n]) > 6 * found.leniency.se[n]
    assert tally(who, **setting) == {}


def test_in_a_large_panel_that_labels_alike_nobody_is_flagged():
    counts = tally("60*careful", n_topics=20, topic_effect=0.3, pattern=RandomAssessors(5))
    assert sum(counts.values()) <= 1


def teams():
    """Two teams of three with 100 items each, linked by 5 items of two members."""
    return [np.arange(3)] * 100 + [np.arange(3, 6)] * 100 + [np.array([0, 3])] * 5


def chain():
    """Ten assessors, each of whom shares 40 items with the next."""
    return [np.array([n, n + 1]) for n in range(9) for _ in range(40)]


@pytest.mark.parametrize("crews", [teams(), chain()], ids=["two teams", "a chain"])
def test_those_linked_by_few_items_are_not_said_to_give_higher_labels_by_accident(crews):
    item, who = np.repeat(np.arange(len(crews)), [len(crew) for crew in crews]), np.concatenate(crews)
    flagged = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        label = rng.choice(4, len(crews), p=[0.5, 0.2, 0.2, 0.1])[item] + rng.normal(0, 0.7, len(item))
        label = np.clip(np.rint(label), 0, 3).astype(int)
        rows = {"topic": ["1"] * len(item), "doc": item.astype(str), "assessor": who.astype(str), "label": label}
        found = habits(profiles(read_judgments(pl.DataFrame(rows))))
        flagged += any(each.flag in {HIGHER, LOWER} for some in found.values() for each in some)
    assert flagged <= 4


def test_an_expert_among_judges_who_share_errors(collections, figure):
    """The expert differs from all others and is right: described without a reference, and never passed over."""
    n, described, passed_over, differ, alike = collections(20), 0, 0, 0, 0
    for seed in range(n):
        labels = expert_among_judges(seed)
        found, trusted = profiles(labels), profiles(labels, reference=EXPERT)
        described += flags_of(found).keys() == {EXPERT}
        passed_over += EXPERT in useless_assessors(found)
        alike += FlaggedProfiles(found).others_alike >= ALIKE
        differ += flags_of(trusted).keys() == set(JUDGES)
    figure("expert alone differs", described / n)
    figure("expert passed over", passed_over / n)
    figure("judges called alike", alike / n)
    figure("against the expert, all judges differ", differ / n)
    assert passed_over == 0
    assert min(described, differ, alike) >= 0.95 * n


def test_judges_like_the_reference_are_left_alone(collections, figure):
    """Eight careful assessors who label alike, one of them the reference: any flag is an accident."""
    n = collections(20)
    setting = {"n_topics": 20, "topic_effect": 0.3}
    flagged = sum(
        bool(habits(profiles(labels(seed, "8*careful", **setting), reference="careful1"))) for seed in range(n)
    )
    figure("any flag against a reference like the others", flagged / n)
    assert flagged <= max(1, 0.03 * n)
