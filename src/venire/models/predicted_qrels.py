"""predicted_qrels: from judgments to qrels of predicted relevance, for other tools, in one step."""

from __future__ import annotations

from venire.data.gains import Gains, GainsLike, gains_for, names_model
from venire.data.judgments import Judgments
from venire.data.panel import Pool, convene
from venire.io.exchange import ScaledQrels, scaled_qrels
from venire.io.judgment_sources import JudgmentsLike, read_judgments
from venire.models.gain_names import fitted_gains
from venire.types import RNGLike


def predicted_qrels(
    judgments: JudgmentsLike,
    gains: GainsLike = "prm",
    *,
    assessor: str | None = None,
    per: str | None = None,
    pool: str | Pool | None = None,
    fit_on: JudgmentsLike | None = None,
    scale_by: int | None = None,
    rng: RNGLike = 0,
) -> ScaledQrels:
    """Make qrels of gains, as trec_eval, pytrec_eval, ir_measures and ranx read them.

    Parameters
    ----------
    judgments : as ``read_judgments`` takes them; also Qrel rows of ir_measures, and Qrels of ranx
    gains : "prm" (P(a random user finds it relevant, with the top label | label)), "prm:LABEL", "udm:M/N"; or any gains
        that ``evaluate`` takes
    assessor, per, pool
        Whose labels get the gains, as in ``evaluate``; with ``per="assessor"`` the qrels are judgment groups.
    fit_on : judgments that a model is fitted on, if not these
    scale_by : how many times its gain the relevance of a document is; None: 1 where all gains are whole, else 1000

    Returns
    -------
    ScaledQrels, which ir_measures takes as they are; ``to_dict()`` is for pytrec_eval, ``to_ranx()`` for ranx, and
    ``write_scaled_qrels`` writes a file.

    Examples
    --------
    >>> two = {"ann": {"q1": {"d1": 2, "d2": 1, "d3": 0}}, "bob": {"q1": {"d1": 2, "d2": 2, "d3": 0}}}
    >>> predicted_qrels(two, {"0": 0, "1": 0.4, "2": 0.9}, assessor="ann").to_dict()
    {'q1': {'d1': 900, 'd2': 400, 'd3': 0}}
    """
    labels = read_judgments(judgments)
    others = labels if fit_on is None else read_judgments(fit_on, scale=labels.scale)
    panel = convene(labels, assessor=assessor, per=per, pool=pool)
    settled = _settled(gains, labels, others, rng)
    return scaled_qrels(labels, settled, panel, scale_by=scale_by, groups=per is not None)


def _settled(gains: GainsLike, labels: Judgments, others: Judgments, rng: RNGLike) -> Gains:
    if isinstance(gains, str) and names_model(gains):
        gains = fitted_gains(gains, others, rng=rng)
    return gains_for(gains, labels.scale)
