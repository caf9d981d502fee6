"""Results of venire disagreement, laid out: parameters, weights, both directions, groups of topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from venire.cli.rendering import Table
from venire.errors import GainsError, VenireError

if TYPE_CHECKING:
    from venire.cli.output import Output
    from venire.data.judgments import Judgments
    from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit

Share = tuple[int, int]
Place = tuple[str, str, int, int]
"""A notion of relevance, a label, M and N."""


def counted_weights(
    labels: Judgments, fit: PredictedRelevanceFit, shares: Sequence[Share]
) -> tuple[dict[Place, Mapping[str, Any]], list[str]]:
    """Weights counted on items with N labels or more, next to the prediction; and what to say about them."""
    from venire.disagreement.many_labels import observed_weights

    if not shares or fit.setting.estimator == "one-sided":
        return {}, []
    found: dict[Place, Mapping[str, Any]] = {}
    words: list[str] = []
    for name in fit.relevant.names:
        try:
            seen = observed_weights(labels, shares, relevant=name)
        except VenireError as error:
            return {}, [f"weights cannot be counted: {error.message}"]
        found |= {(name, str(each["label"]), each["M"], each["N"]): each for each in seen.records()}  # type: ignore[misc]
        words.append(seen.sentence(np.array([_weights(fit, share, name, keep=True) for share in shares], dtype=float)))
    return found, words


def udm_records(
    fit: PredictedRelevanceFit, shares: Sequence[Share], counted: Mapping[Place, Mapping[str, Any]], *, keep: bool
) -> list[dict[str, Any]]:
    """Weights of the User Disagreement Model, one record per share, notion of relevance and label.

    ``weight`` is what a label is worth as a gain, nothing for the lowest unless it is kept; ``estimated`` what the
    model says of each; ``counted`` the same on items with N labels or more, ``correlated`` the prediction for users who
    are not independent given the label; None where too few items have N labels.
    """
    return [
        {
            **{"relevant": name, "label": label, "M": m, "N": n, "weight": weights[level]},
            "estimated": estimated[level],
            "counted": counted.get((name, label, m, n), {}).get("observed"),
            "correlated": counted.get((name, label, m, n), {}).get("correlated"),
        }
        for m, n in shares
        for name in fit.relevant.names
        for weights, estimated in [[_weights(fit, (m, n), name, keep=each) for each in (keep, True)]]
        for level, label in reversed(list(enumerate(fit.scale.labels)))
    ]


def neglected_words(weights: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say which label counts for nothing although the model estimates something else."""
    lost = [each for each in weights if each["estimated"] is not None and each["weight"] != each["estimated"]]
    if not lost:
        return []
    several = len({each["relevant"] for each in lost}) > 1
    estimated = ", ".join(
        f"{each['estimated']:.4f} for {each['M']}/{each['N']}" + f" ({each['relevant']})" * several for each in lost
    )
    return [
        f"the lowest label, {lost[0]['label']}, weighs 0 as Demeester et al. (2014) propose, where the model estimates "
        f"{estimated}; --keep-lowest keeps that"
    ]


def _weights(fit: PredictedRelevanceFit, share: Share, name: str, *, keep: bool) -> list[float | None]:
    """Weights by label; None for all of them where a label was never judged twice and so has none."""
    try:
        return [float(value) for value in fit.udm_gains(share, name, lowest=None if keep else 0.0).values]
    except GainsError:
        return [None] * len(fit.scale)


def parameter_table(fit: PredictedRelevanceFit, weights: Sequence[Mapping[str, Any]], *, people: bool) -> Table:
    """Lay a fit out, a row per notion of relevance and label; people see numbers that rest on few pairs bracketed."""
    from venire.disagreement.files import KEYS, parameters
    from venire.kernels.shares import FEW_PAIRS

    shares = list(dict.fromkeys((each["M"], each["N"]) for each in weights))
    shown = [kind for kind in ("weight", "estimated", "counted") if any(each[kind] is not None for each in weights)]
    if all(each["weight"] == each["estimated"] for each in weights):
        shown = [kind for kind in shown if kind != "estimated"]
    found = {(each["relevant"], each["label"], each["M"], each["N"]): each for each in weights}
    rows = []
    for record in parameters(fit):
        cells = [record[key] for key in KEYS]
        if people and record["pairs"] < FEW_PAIRS:
            cells[2:8] = [None if cell is None else f"({cell:.4f})" for cell in cells[2:8]]
        for m, n in shares:
            cells += [found[record["relevant"], record["label"], m, n][kind] for kind in shown]
        rows.append(cells)
    return Table(
        [*KEYS, *(f"{'udm' if kind == 'weight' else kind}:{m}/{n}" for m, n in shares for kind in shown)], rows
    )


def both_ways(labels: Judgments, setting: PredictedRelevance, rng: int) -> dict[str, Any]:
    """Compare both directions where both sides are named."""
    if not (setting.observed and setting.reference):
        return {}
    from venire.disagreement.by_topic import asymmetry

    found = asymmetry(labels, setting, observed=setting.observed, reference=setting.reference, rng=rng)
    return {"asymmetry": found.records()}


def asymmetry_words(both: Mapping[str, Any], setting: PredictedRelevance) -> list[str]:
    """Say where it matters who of both sides is observed: where the interval of the difference leaves out 0."""
    told = [each for each in both.get("asymmetry", ()) if each["low"] is not None]
    notable = [each for each in told if each["low"] > 0 or each["high"] < 0]
    one, other = (", ".join(names) for names in (setting.observed, setting.reference))
    if told and not notable:
        return [f"it makes no notable difference whether {one} or {other} is observed"]
    by_notion: dict[str, list[str]] = {}
    for each in notable:
        by_notion.setdefault(each["relevant"], []).append(
            f"after {each['label']} by {one} {each['observed_first']:.2f}, by {other} {each['reference_first']:.2f} "
            f"(difference {each['low']:+.2f} to {each['high']:+.2f})"
        )
    said = "it matters who is observed; {} by the other: {}"
    return [said.format(name, "; ".join(words)) for name, words in by_notion.items()]


def write_groups(out: Output, labels: Judgments, path: str, setting: PredictedRelevance, rng: int) -> None:
    """Write the fits of groups of topics, one below the other, and whether they differ."""
    from venire.disagreement.by_topic import compare_groups
    from venire.disagreement.files import KEYS, parameters
    from venire.disagreement.predicted_relevance import warnings_of
    from venire.io.group_files import read_groups

    compared = compare_groups(labels, read_groups(Path(path)), setting, rng=rng)
    records = [{"group": name, **record} for name, fit in compared.fits.items() for record in parameters(fit)]
    words = [f"{name}: {word}" for name, fit in compared.fits.items() for word in warnings_of(fit)]
    tests = [
        {"relevant": name, "statistic": float(statistic), "p_value": float(p), "p_adjusted": float(adjusted)}
        for name, statistic, p, adjusted in zip(
            compared.names, compared.statistic, compared.p_value, compared.p_adjusted, strict=True
        )
    ]
    table = Table(["group", *KEYS], [list(record.values()) for record in records])
    estimator = next(iter(compared.fits.values())).setting.estimator
    if out.format == "json":
        out.json({"estimator": estimator, "parameters": records, "udm": [], "warnings": words, "groups": tests})
    else:
        out.table("parameters", table)
    out.notes([compared.sentence(), *labels.notes, *words])
