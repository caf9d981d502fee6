"""venire preferences, to plan tests: which pairs of documents to ask people about, and how many would be enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from venire.cli.output import Output
from venire.cli.rendering import Table
from venire.cli.sections import gathered, option, whole_number

if TYPE_CHECKING:
    from venire.data.judgments import Judgments
    from venire.data.preferences import Preferences
    from venire.planning.preferences import SampleSizeCheck

PLAN = "Plan"
PAIR_KEYS = ("topic", "left", "right", "label_left", "label_right")
MODES = ("individual", "aggregate")
KEYS = ("mode", "per_label_pair", "mean_error", "error_95", "expected_95")

planning = gathered(
    "plan",
    {
        "ask": whole_number(
            "--ask",
            section=PLAN,
            least=1,
            metavar="B",
            help="Write which pairs of documents to ask people about: B for every two labels of JUDGMENTS, spread over "
            "topics.  PDP takes about 40 in individual mode and 160 in aggregate mode.  Needs no preferences.",
        ),
        "within": option(
            "--within",
            section=PLAN,
            type=click.FloatRange(0, 1, min_open=True),
            metavar="X",
            help="Say how many tests for every two labels of JUDGMENTS put p(a > b) within X, by drawing from those "
            "at hand, and by theory.",
        ),
    },
)


def write_pairs(out: Output, labels: Judgments, n: int, rng: int) -> None:
    """Write which pairs of documents to ask people about."""
    from venire.planning.preferences import pairs_to_ask

    found = pairs_to_ask(labels, n, rng=rng)
    rows = [[record[key] for key in PAIR_KEYS] for record in found.records()]
    out.table("pairs", Table(PAIR_KEYS, rows), beside={"warnings": _short(labels, found.short, n)})
    out.notes([found.sentence(), *labels.notes])


def _short(labels: Judgments, short: tuple[tuple[int, int, int], ...], n: int) -> list[str]:
    from venire.results import counted

    names = labels.scale.labels
    return [
        f"{names[a]} against {names[b]}: {counted(room, 'pair')} of documents, {n:,} asked for" for a, b, room in short
    ]


def write_needed(
    out: Output, labels: Judgments, preferences: Preferences, *, within: float, n_draws: int, rng: int
) -> None:
    """Write how far p(a > b) from so many tests is from that of all tests, and how many are enough."""
    from venire.planning.preferences import check_sample_size

    n_draws = max(n_draws, 2)
    found = [check_sample_size(preferences, labels, mode=mode, n_draws=n_draws, rng=rng) for mode in MODES]
    rows = [{"mode": each.mode, **record} for each in found for record in each.records()]
    needed = [_needed(each, within) for each in found]
    beside = {"needed": needed, "warnings": [*map(str, labels.notes), *map(str, preferences.notes)]}
    out.table("tests", Table(KEYS, [[row[key] for key in KEYS] for row in rows]), beside=beside)
    words = [_in_words(each, largest=found[0].sizes[-1]) for each in needed]
    out.notes([*words, *(each.sentence() for each in found), *labels.notes, *preferences.notes])


def _needed(found: SampleSizeCheck, within: float) -> dict[str, Any]:
    """How many tests are enough, by drawing and by Eq. (12), corrected."""
    numbers = {"by_drawing": found.enough(within), "by_equation": found.by_equation(within)}
    return {"mode": found.mode, "within": within, **numbers}


def _in_words(needed: dict[str, Any], *, largest: int) -> str:
    n = needed["by_drawing"]
    tests = f"{n} test is" if n == 1 else f"{n} tests are"
    enough = f"more than {largest} tests for every two labels are needed" if n is None else f"{tests} enough"
    return (
        f"{needed['mode']} mode: {enough} to put p(a > b) within {needed['within']:g} in 95% of cases; by Chu et al. "
        f"(2021), Eq. 12, corrected: {needed['by_equation']:,}"
    )
