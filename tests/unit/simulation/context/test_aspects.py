from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from venire.errors import SettingError
from venire.simulation.context.collection import ContextCollection, ContextSetting, generate_context
from venire.simulation.context.setting import GOLBUS_ASPECTS, Aspect, AspectModel, ClickModel

NAMES = ("topicality", "novelty", "freshness", "authority", "quality")
FIRST, SECOND = ("overall", "topicality", "novelty"), ("authority", "freshness", "quality")
QUIET = ClickModel(sessions=0)


@pytest.fixture(scope="module")
def collection() -> ContextCollection:
    return generate_context(ContextSetting(n_topics=700, aspects=AspectModel(), clicks=QUIET), rng=2)


@pytest.fixture(scope="module")
def wide(collection) -> pl.DataFrame:
    """Return grades by aspect, -1 for N/A, a row per judgment whose overall label is a grade."""
    labels = ("N/A", *collection.setting.scale.labels)
    grade = pl.col("label").replace_strict({label: n - 1 for n, label in enumerate(labels)}, return_dtype=pl.Int32)
    keys = ["topic", "doc", "given", "assessor"]
    table = collection.aspects.with_columns(grade.alias("grade")).pivot(on="aspect", index=keys, values="grade")
    return table.filter(pl.col("overall") >= 0)


def covered(names: Iterable[str]) -> pl.Expr:
    return pl.all_horizontal([pl.col(name) >= 0 for name in names])


def test_a_row_for_every_judgment_and_aspect(collection):
    assert collection.aspects.columns == ["topic", "doc", "given", "assessor", "aspect", "label"]
    assert collection.aspects.height == 6 * len(collection.judgments)
    assert tuple(collection.aspects["aspect"][:6]) == ("overall", *NAMES)
    overall = collection.aspects.filter(pl.col("aspect") == "overall")
    judged = collection.judgments.to_polars()
    assert overall.select("topic", "doc", "given", "assessor").equals(
        judged.select("topic", "doc", "given", "assessor")
    )
    same = overall["label"] == judged["label"]
    assert (overall["label"].filter(~same) == "N/A").all()


def test_spam_is_not_applicable_in_everything(collection):
    table = collection.aspects
    spam = table.filter((pl.col("aspect") == "overall") & (pl.col("label") == "N/A"))
    share = spam.height / len(collection.judgments)
    assert 0.005 < share < 0.05
    rest = table.join(spam.select("topic", "doc"), on=["topic", "doc"], how="semi")
    assert set(rest["label"]) == {"N/A"}


@pytest.mark.parametrize(("place", "condition", "complete"), [(0, False, 0.184), (1, True, 0.426)])
def test_coverage_is_that_of_table_1(wide, place, condition, complete):
    rows = wide.filter((pl.col("given") != "") == condition)
    found = [(rows[aspect.name] >= 0).mean() for aspect in GOLBUS_ASPECTS]
    assert found == pytest.approx([aspect.covered[place] for aspect in GOLBUS_ASPECTS], abs=0.015)
    assert rows.select(covered(NAMES)).to_series().mean() == pytest.approx(complete, abs=0.02)


def test_correlations_are_near_table_2(wide):
    printed = {
        False: {"topicality": 0.923, "novelty": 0.863, "quality": 0.484, "authority": 0.48, "freshness": 0.444},
        True: {"topicality": 0.865, "novelty": 0.69, "quality": 0.511, "authority": 0.41, "freshness": 0.469},
    }
    for condition, values in printed.items():
        rows = wide.filter(((pl.col("given") != "") == condition) & covered(NAMES))
        for name, value in values.items():
            assert spearmanr(rows[name], rows["overall"])[0] == pytest.approx(value, abs=0.1)


def test_changes_come_in_two_clusters_as_in_table_3(wide):
    alone = wide.filter(pl.col("given") == "").drop("given")
    both = wide.filter(pl.col("given") != "").join(alone, on=["topic", "doc", "assessor"], suffix="_alone")
    rho = {}
    for one in (*FIRST, *SECOND):
        for other in (*FIRST, *SECOND):
            rows = both.filter(covered(name + end for name in (one, other) for end in ("", "_alone")))
            change = [rows[name] - rows[name + "_alone"] for name in (one, other)]
            rho[one, other] = 1.0 if one == other else spearmanr(*change)[0]
    within = [rho[a, b] for group in (FIRST, SECOND) for a in group for b in group if a < b]
    across = [rho[a, b] for a in FIRST for b in SECOND]
    assert min(within) > max(across) + 0.02
    assert np.mean([rho[a, b] for a in SECOND for b in SECOND if a < b]) == pytest.approx(0.297, abs=0.06)
    assert np.mean(across) == pytest.approx(0.2, abs=0.06)
    assert rho["overall", "topicality"] == pytest.approx(0.607, abs=0.1)


def test_aspects_change_no_label(collection):
    plain = generate_context(ContextSetting(n_topics=700, clicks=QUIET), rng=2)
    assert plain.aspects is None
    assert plain.judgments.to_polars().equals(collection.judgments.to_polars())


def test_other_aspects():
    one = Aspect(name="trust", covered=(1.0, 0.0), relevance=1.0, noise=(0.0, 0.0))
    setting = ContextSetting(n_topics=20, aspects=AspectModel(aspects=(one,), spam=0.0), clicks=QUIET)
    found = generate_context(setting, rng=1).aspects.pivot(on="aspect", index=["topic", "doc", "given"], values="label")
    alone = found.filter(pl.col("given") == "")
    assert (alone["trust"] == alone["overall"]).all()
    assert set(found.filter(pl.col("given") != "")["trust"]) == {"N/A"}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Aspect(name="overall", covered=(1.0, 1.0)), "'overall' cannot name an aspect"),
        (lambda: Aspect(name="trust", covered=(1.0, 1.5)), "coverage of trust is 1.5"),
        (lambda: Aspect(name="trust", covered=(1.0, 1.0), noise=(0.1, -1.0)), "noise of trust is -1"),
        (lambda: AspectModel(aspects=()), "the aspects are none"),
        (lambda: AspectModel(aspects=GOLBUS_ASPECTS[:1] * 2), "the aspects topicality, topicality"),
        (lambda: AspectModel(doubt=(2.0, 0.0)), "doubt is 2"),
    ],
)
def test_aspects_that_cannot_be(make, words):
    with pytest.raises(SettingError, match=words):
        make()
