r"""The labels of a reference, predicted from the labels of other judges.

The *reference* are the people whose labels count; *judges* (often language models) labelled nearly all items, the
reference some of them.  For every item, ``ReferenceLabels`` has a distribution over the labels of the reference given
the label of the judge: a row of the transition matrix, estimated from the items that both labelled, with the prior of
``disagreement.transitions``.  Items without a label of the judge have a row of their own.

Where reference labels were sampled with known probabilities :math:`\pi_i`, an item counts :math:`c_i/\pi_i`, with
:math:`c_i` the weight of the item in the lists that are scored (Hájek 1971: shares are ratios of weighted sums), scaled
so that the weights sum to their effective number :math:`(\sum w)^2/\sum w^2` (Kish 1965).  Without probabilities every
label counts the same, which is right if results were drawn from the lists in proportion to their weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venire.data.judgments import Judgments
from venire.data.panel import build_panel
from venire.disagreement.transitions import OWN, prior_of
from venire.errors import PairsError, SettingError, UnknownName
from venire.results import listed
from venire.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class ReferenceLabels:
    """What is known and predicted of the labels of the reference, for every item.

    shares (item, label): labels that the reference gave, the mean over its members; 0 where none did
    group (item,): the label of the judge, one more than the last where it gave none
    rows (item, label): the predicted distribution over labels
    weight (item,): how much the label of the reference counts; 0 where there is none
    """

    shares: Floats
    group: Ints
    rows: Floats
    weight: Floats
    model: str

    @property
    def known(self) -> Bools:
        """Whether the reference labelled the item -> (item,)."""
        return np.asarray(self.weight > 0)

    @property
    def n_labels(self) -> int:
        """How many items the reference labelled."""
        return int(self.known.sum())


def reference_names(judgments: Judgments, reference: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the members of the reference: those named, or those that the judgments declare."""
    declared: Sequence[str] = getattr(judgments, "reference", ())
    names = (reference,) if isinstance(reference, str) else tuple(declared if reference is None else reference)
    if not names:
        raise SettingError("nothing says who the reference is", hint="name the assessors whose labels count")
    for name in names:
        if name not in judgments.assessors:
            raise UnknownName("assessor", name, judgments.assessors)
    return names


def predict_labels(
    judgments: Judgments, judges: Sequence[str], reference: Sequence[str], *, importance: Floats
) -> ReferenceLabels:
    """Predict the labels of the reference from those of judges; judgments in isolation.  O(rows).

    importance (item,): the weight of the items in the lists that are scored
    """
    counts = judgments.where(assessor=reference).label_counts().astype(np.float64)
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    known = total[:, 0] > 0
    group = build_panel(judgments, assessor=judges[0]).labels(0, 1)[0].astype(np.int64)
    n_labels = counts.shape[1]
    group[group < 0] = n_labels
    if not (known & (group < n_labels)).any():
        raise PairsError(
            f"no item was labelled by {judges[0]!r} and by the reference ({listed(reference)})",
            hint="have the reference label some of the results that the systems return",
        )
    weight = known.astype(np.float64)
    rows = matrix_rows(shares * weight[:, None], group, ordered=judgments.scale.ordered)
    return ReferenceLabels(shares, group, rows[group], weight, "matrix")


def matrix_rows(weighted: Floats, group: Ints, *, ordered: bool) -> Floats:
    """Estimate the distribution over labels of the reference in each group, the last without a label.

    weighted (item, label): shares times the weight of the item -> (label + 1, label)
    """
    n_labels = weighted.shape[1]
    counts = np.zeros((n_labels + 1, n_labels))
    np.add.at(counts, group, weighted)
    prior = np.empty_like(counts)
    prior[:-1] = prior_of(counts[:-1], ordered=ordered)
    overall = counts.sum(axis=0) + 1.0 / n_labels
    prior[-1] = OWN * overall / overall.sum()
    rows = counts + prior
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))
