"""What venire compare prints beside its pairs: the influence of the judge model, and the sources of uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from venire.comparison.compare import Comparison

FEWER_DRAWS = 500
"""The most draws for these details."""


class Details(NamedTuple):
    """Records for JSON, by key, and sentences."""

    records: dict[str, Any]
    words: list[str]


def details(found: Comparison, *, n_draws: int, rng: int) -> Details:
    """Compare judge models, and for one pair also sources of uncertainty and topics; of the first measure.

    There are none where agreement rates were stated: then the judge model is known.
    """
    from venire.comparison import head_to_head
    from venire.comparison.uncertainty import compare_judge_models, uncertainty_sources

    first, swap = found.by_measure[0], found.swap.only(0)
    if swap.given is None or len(swap.systems) < 2:
        return Details({}, [])
    drawing: dict[str, Any] = {"n_draws": min(n_draws, FEWER_DRAWS), "rng": rng}
    models = compare_judge_models(swap, **drawing)
    if len(first.tested.a) > 1:
        whole = len(first.tested.a) == len(swap.systems) * (len(swap.systems) - 1) // 2
        return Details({"judge_models": models.records()}, [models.sentence()] if whole else [])
    a, b = (swap.systems[int(side[0])] for side in (first.tested.a, first.tested.b))
    sources = uncertainty_sources(swap, **drawing)
    topic_by_topic = head_to_head(swap.scores, a, b)
    stays = {name: one.stays[pair_number(one.forecast.systems, a, b)] for name, one in models.found.items()}
    shown = ", ".join(f"{p:.2f} ({name})" for name, p in stays.items())
    records = {
        "judge_models": [{"judge_model": name, "p_stays_ahead": float(p)} for name, p in stays.items()],
        "sources": sources.records([(a, b)]),
        "topics": topic_by_topic.records(),
    }
    words = [f"By judge model, the order stays with probability {shown}."]
    return Details(records, [*words, sources.sentence(a, b), topic_by_topic.sentence()])


def pair_number(systems: Sequence[str], a: str, b: str) -> int:
    """Return the number of a pair among all pairs of systems, first with second, first with third, ..."""
    low, high = sorted((systems.index(a), systems.index(b)))
    return low * len(systems) - low * (low + 1) // 2 + high - low - 1
