r"""Exact changes: the distribution of the difference between two systems under a new judge, without simulation.

Turpin and Scholer (2009, Australasian Document Computing Symposium) do this for P@n and two labels by a normal
approximation; here it is exact, for any labels and for every measure that adds gains up with fixed weights by rank
(P, CG, DCG, RBP).  With rank weights w, gains g, N topics, and :math:`T_{ij}` the probability that the new judge says j
where the old one said i,

.. math:: \Delta' = \frac1N \sum_d \big(w(r_A(d)) - w(r_B(d))\big)\, g(j_d), \qquad j_d \sim T_{i_d \cdot}

where d goes over the judged documents of all topics and w is 0 for a document that is not shown.  A document that both
systems show is judged once; ``shared=False`` judges it anew for each system, as the paper does.  Documents without a
label stay without one; ``unjudged="lowest"`` takes them as having the lowest label, and judges them anew too.

A label that the new judge gave stands: :math:`j_d` is that label.  Where the new judge is any of n others, the answer
is a mean over them.  Matrices that are stated are of a judge nobody has seen, so that no label is known.

The matrix is taken as known.  Where it is not (``form``), matrices are drawn as in ``forecasts``, and the exact
distributions under each are averaged: what is left to chance is the matrix alone, and ``se`` says how much it matters.
What other judges said of single documents (``Transitions.leaning``) does not enter here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.comparison.forecast import FRAGILE, TIE, Changes
from venire.comparison.shown_documents import Distributions, Shown, refuse_other_than_linear
from venire.data.gains import GainsLike, gains_for
from venire.data.judgments import Judgments
from venire.data.panel import current_assessor, one_label_each
from venire.data.rejudging import Given
from venire.disagreement.transitions import ANY, Transitions, fit_transitions
from venire.errors import SettingError, UnknownName
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.run_sources import RunsLike, as_runs
from venire.io.scanning import Progress
from venire.io.shown_items import with_shown_items
from venire.measures.layout import Case, Layout
from venire.measures.scoring import MeasureLike, Plan
from venire.randomness import seed_of
from venire.results import Tabular
from venire.types import Codes, Floats, Ints, RNGLike

UNJUDGED = ("stay", "lowest")


@dataclass(frozen=True, eq=False)
class ExactChanges(Tabular):
    """What a new judge does to pairs of systems, all (pair,): a, b number the systems.

    delta: the difference now; expected, sd: under the new judge; ahead, tie, behind: probabilities for a; step: down to
    which difference these are told apart, 0 for all; se: standard error of ``ahead``, 0 where the matrix is known;
    n_matrices: how many matrices they are means over.
    """

    systems: tuple[str, ...]
    measure: str
    a: Ints
    b: Ints
    delta: Floats
    expected: Floats
    sd: Floats
    ahead: Floats
    tie: Floats
    behind: Floats
    step: Floats
    se: Floats
    notes: tuple[str, ...] = ()
    n_matrices: int = 1

    @property
    def changes(self) -> Changes:
        """The same by whether the order stays: where it is a tie now, it neither stays nor flips."""
        up, down = self.delta > TIE, self.delta < -TIE
        stays = np.where(up, self.ahead, np.where(down, self.behind, 0.0))
        flips = np.where(up, self.behind, np.where(down, self.ahead, 0.0))
        return Changes(self.delta, self.expected, self.sd, stays, self.tie, flips, self.se)

    def records(self) -> list[dict[str, Any]]:
        """Return one JSON object per pair."""
        found = self.changes
        columns = {
            "delta": found.delta,
            "expected_delta": found.expected,
            "sd": found.sd,
            "p_stays_ahead": found.stays,
            "p_tie": found.tie,
            "p_flips": found.flips,
            "se": found.se,
        }
        rows = np.stack(list(columns.values()), axis=1).tolist()
        return [
            {"a": self.systems[a], "b": self.systems[b], "measure": self.measure}
            | dict(zip(columns, row, strict=True))
            | {"method": method}
            for a, b, row, method in zip(self.a.tolist(), self.b.tolist(), rows, self.methods(), strict=True)
        ]

    def methods(self) -> list[str]:
        """Say how each pair was computed, and down to which difference it is told apart."""
        over = f", over {self.n_matrices} matrices" if self.n_matrices > 1 else ""
        return [("exact" if step == 0 else f"exact to {step:.1g}") + over for step in self.step.tolist()]

    def sentence(self) -> str:
        """Say the main finding in one sentence."""
        if len(self.a) == 1:
            return f"By {self.measure}, {self._of_one()}."
        n = int(self.changes.fragile.sum())
        return (
            f"By {self.measure}, another judge turns {n:,} of {len(self.a):,} pairs of systems round with a "
            f"probability over {FRAGILE:.0%}."
        )

    def _of_one(self) -> str:
        lead, a, b = float(self.delta[0]), self.systems[int(self.a[0])], self.systems[int(self.b[0])]
        ahead, tie, behind = float(self.ahead[0]), float(self.tie[0]), float(self.behind[0])
        if abs(lead) <= TIE:
            return (
                f"{a} and {b} are level; under another judge, {a} is ahead with {ahead:.2f} and {b} with {behind:.2f}"
            )
        if lead < 0:
            a, b, ahead, behind = b, a, behind, ahead
        return (
            f"{a} is ahead of {b} by {abs(lead):.4f}; under another judge it stays ahead with probability {ahead:.2f} "
            f"(level {tie:.2f}, behind {behind:.2f})"
        )


def exact_changes(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measure: MeasureLike = "P@10",
    *,
    assessor: str | None = None,
    new_judge: str = ANY,
    transitions: Transitions | Floats | None = None,
    form: str | None = None,
    n_draws: int = 100,
    pairs: Iterable[tuple[str, str]] | None = None,
    gains: GainsLike = "linear",
    topics: Iterable[str] | None = None,
    shared: bool = True,
    unjudged: str = "stay",
    rng: RNGLike = 0,
    progress: Progress | None = None,
) -> ExactChanges:
    """Compute the distribution of differences between systems under another judge, for pairs (a, b) or all of them.

    transitions : stated ones, or a matrix (label, label) or (topic, label, label), in place of what the labels give;
        two agreement rates, (2, 2), serve a measure of relevant against irrelevant whatever the scale is
    form, n_draws : None takes the matrix as known; a form of ``forecasts`` averages over matrices drawn
    Cost: pairs x shown documents, and what ``kernels.class_sums`` says, per matrix.
    """
    if unjudged not in UNJUDGED:
        raise UnknownName("rule for documents without a label", unjudged, UNJUDGED)
    labels = as_judgments(judgments)
    old = current_assessor(labels, assessor)
    found = fit_transitions(labels, old, new_judge) if transitions is None else transitions
    others = found.new if transitions is None and isinstance(found, Transitions) else ()
    plan = Plan.of([measure], gains_for(gains, labels.scale), 0.0)
    refuse_other_than_linear(plan.measures[0])
    sources = as_runs(runs)
    if unjudged == "lowest":
        labels = with_shown_items(labels, sources)
    case = Case.of(labels, sources, assessor=old, progress=progress)
    layout = Layout.of(case, plan, topics=topics)
    label = one_label_each(case.panel, without=-1 if unjudged == "stay" else 0)
    a, b = _numbered(case.facts.systems, pairs)
    matrices = _matrices(found, form, n_draws, rng, at_hand=bool(others))
    n_judges = max(len(others), 1)
    parts, mean = [], np.zeros(len(case.facts.systems))
    for judge, known in enumerate(_given(case.judgments, others, n_judges if form is None else n_draws)):
        shown = Shown.of(case.facts, layout, plan, label=label, given=known)
        mean = shown.means()
        parts.append(shown.under(matrices if form is None else matrices[judge::n_judges], a, b, shared=shared))
    systems, lead = case.facts.systems, mean[a] - mean[b]
    return ExactChanges(
        systems, plan.names[0], a, b, lead, **_mixed(parts), notes=layout.notes, n_matrices=len(matrices)
    )


def _given(judgments: Judgments, others: tuple[str, ...], most: int) -> Iterator[Codes]:
    """Labels of each of the other judges, so many at most; without any, of one who gave none -> (item,), -1: none."""
    n_items = len(judgments.items)
    if not others:
        yield np.full(n_items, -1, dtype=np.int32)
        return
    labels = Given.of(judgments, others)
    yield from (labels.labels(judge, n_items) for judge in range(min(len(others), most)))


def _numbered(systems: tuple[str, ...], pairs: Iterable[tuple[str, str]] | None) -> tuple[Ints, Ints]:
    """Numbers of the systems of each pair; all pairs, if none are named."""
    if pairs is None:
        first, second = np.triu_indices(len(systems), 1)
        return first.astype(np.int64), second.astype(np.int64)
    number = {name: n for n, name in enumerate(systems)}
    chosen = list(pairs)
    unknown = next((name for pair in chosen for name in pair if name not in number), None)
    if unknown is not None:
        raise UnknownName("system", unknown, systems)
    found = np.array([(number[a], number[b]) for a, b in chosen], dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _matrices(found: Transitions | Floats, form: str | None, n_draws: int, rng: RNGLike, *, at_hand: bool) -> Floats:
    """Return the matrix that is known, or those that ``forecast`` draws with this ``rng``.

    -> (draw, topic or 1, label, label)
    """
    if form is not None:
        if not isinstance(found, Transitions) or n_draws < 1:
            raise SettingError(
                f"a judge of the form {form!r} needs transitions read from labels, and at least one draw of them",
                hint="without a form, the matrix is taken as known",
            )
        draw, seeds = found.matrices(form, at_hand=at_hand), seed_of(rng).spawn(1)[0].spawn(n_draws)
        return np.stack([draw(np.random.default_rng(seed), number) for number, seed in enumerate(seeds)])
    matrix = np.asarray(found.matrix if isinstance(found, Transitions) else found, dtype=np.float64)
    if matrix.ndim not in (2, 3) or (matrix < 0).any() or not np.allclose(matrix.sum(axis=-1), 1):
        raise SettingError("the rows of a matrix of transitions are probabilities, and sum to 1")
    return matrix.reshape(1, -1, *matrix.shape[-2:])


def _mixed(by_judge: list[Distributions]) -> dict[str, Floats]:
    """Average over judges and matrices, and say how sure the average of ``ahead`` is, given these judges."""
    found = Distributions(*(np.concatenate(each) for each in zip(*by_judge, strict=True)))
    n_draws, n_free = len(found.ahead), len(found.ahead) - len(by_judge)
    spread = sum((len(each.ahead) * each.ahead.var(axis=0) for each in by_judge), np.zeros(found.ahead.shape[1]))
    return {
        "expected": found.expected.mean(axis=0),
        "sd": np.sqrt((found.sd**2).mean(axis=0) + found.expected.var(axis=0)),
        "ahead": found.ahead.mean(axis=0),
        "tie": found.tie.mean(axis=0),
        "behind": found.behind.mean(axis=0),
        "step": found.step.max(axis=0),
        "se": np.sqrt(spread / max(n_free, 1) / n_draws),
    }
