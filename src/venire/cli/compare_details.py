"""What venire compare says beside its pairs: how much the form of judge matters, and where uncertainty comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from venire.comparison.compare import Comparison
    from venire.data.judgments import Judgments
    from venire.data.runs import Runs

FEWER_DRAWS = 500
"""Details are drawn this often at most."""


class Details(NamedTuple):
    """Records for JSON, by key, and sentences."""

    records: dict[str, Any]
    words: list[str]


def details(
    found: Comparison,
    labels: Judgments,
    runs: Runs,
    judge: Mapping[str, Any],
    *,
    topics: list[str] | None,
    rng: int,
) -> Details:
    """Compare forms of judge, and for one pair also sources of uncertainty and topics; of the first measure.

    Nothing is said where agreement rates were stated: then the judge is known.
    """
    from venire import head_to_head
    from venire.comparison.uncertainty import compare_forms, uncertainty_sources

    first = found.by_measure[0]
    if judge["agreement"] is not None or len(first.forecast.systems) < 2:
        return Details({}, [])
    asked = {
        "assessor": judge["assessor"],
        "new_judge": judge["new_judge"],
        "gains": found.gains,
        "n_draws": min(judge["n_draws"], FEWER_DRAWS),
        "topics": topics,
        "rng": rng,
    }
    forms = compare_forms(labels, runs, first.forecast.measure, **asked)
    if len(first.tested.a) > 1:
        whole = len(first.tested.a) == len(first.forecast.systems) * (len(first.forecast.systems) - 1) // 2
        return Details({"forms": forms.records()}, [forms.sentence()] if whole else [])
    a, b = (first.forecast.systems[int(side[0])] for side in (first.tested.a, first.tested.b))
    sources = uncertainty_sources(labels, runs, first.forecast.measure, **asked)
    topic_by_topic = head_to_head(found.scores, a, b, measure=found.scores.names["measure"][0])
    by_form = {form: one.stays[pair_number(one.forecast.systems, a, b)] for form, one in forms.found.items()}
    said = ", ".join(f"{p:.2f} ({form})" for form, p in by_form.items())
    records = {
        "forms": [{"form": form, "p_stays_ahead": float(p)} for form, p in by_form.items()],
        "sources": sources.records([(a, b)]),
        "topics": topic_by_topic.records(),
    }
    words = [f"By form of judge, the order stays with probability {said}."]
    return Details(records, [*words, sources.sentence(a, b), topic_by_topic.sentence()])


def pair_number(systems: Sequence[str], a: str, b: str) -> int:
    """Place of a pair among all pairs of systems, first with second, first with third, ..."""
    low, high = sorted((systems.index(a), systems.index(b)))
    return low * len(systems) - low * (low + 1) // 2 + high - low - 1
