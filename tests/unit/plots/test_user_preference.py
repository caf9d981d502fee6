from __future__ import annotations

import pytest

from venire.context.sweep import ContextSweep, sweep_context
from venire.simulation.context.collection import ContextSetting, generate_context
from venire.users.agreement import VIEWS
from venire.users.measure_choice import choose_measure

pytest.importorskip("matplotlib")

from venire.plots.context import plot_alphas, plot_ties
from venire.plots.users import plot_choice

MADE = generate_context(ContextSetting(n_topics=25, design="neighbours"), rng=1)
TITLES = ["weak", "strong", "simultaneous, weak", "simultaneous, strong"]


@pytest.fixture(scope="module")
def sweep() -> ContextSweep:
    read = (MADE.judgments, MADE.runs, MADE.preferences)
    return sweep_context(*read, ["CCG@5", "CG@5"], alphas=[0.5, 1], n_draws=20, pool="median")


def test_lines_by_alpha_and_dashes_at_0(sweep: ContextSweep) -> None:
    axes = plot_alphas(sweep).axes
    assert [each.get_title(loc="left") for each in axes[:4]] == TITLES
    lines = {line.get_label(): line for line in axes[1].lines}
    assert lines["CG@5"].get_ydata().tolist() == sweep.curve("kappa", 1, VIEWS[1])[0].tolist()
    dashed = [line.get_ydata()[0] for line in axes[1].lines if line.get_linestyle() == "--"]
    assert dashed == [sweep.curve("kappa", number, VIEWS[1])[0, 0] for number in (0, 1)]
    assert len(axes[0].collections) == 2


def test_the_share_of_ties_goes_from_0_to_1(sweep: ContextSweep) -> None:
    axes = plot_ties(sweep).axes
    assert [each.get_title(loc="left") for each in axes] == [
        f"{name}, {strength}" for strength in ("weak", "strong") for name in ("Cohen's kappa", "Jaccard coefficient")
    ]
    line = axes[3].lines[0]
    assert (line.get_xdata()[0], line.get_xdata()[-1]) == (0, 1)
    assert line.get_ydata().tolist() == sweep.ties.jaccard[0, 1, 0].tolist()


def test_the_best_is_above() -> None:
    found = choose_measure(MADE.judgments, MADE.runs, MADE.preferences, ["nDCG@5", "P@1"], n_draws=20, pool="median")
    axes = plot_choice(found).axes
    assert [each.get_title(loc="left") for each in axes] == TITLES
    ranked = [each["measure"] for each in found.records()[:2]]
    assert [text.get_text() for text in axes[0].get_yticklabels()] == ranked
