"""Gains by the name of a model: ``prm:LABEL``, ``prm:LABEL:M/N`` and ``udm:M/N``, fitted on judgments.

``prm:Key`` is P(a random user finds it relevant, Key or higher | label); ``prm:Key:2/3`` that at least two of three
random users do; ``udm:1/3`` the weights of the User Disagreement Model for one of three users, the assessor among them;
``udm:1/3:Key`` the same with the relevant label named (by default the top label).  ``predicted_qrels`` makes qrels of
such gains for other tools.
"""

from __future__ import annotations

from venire.data.gains import MODELS, Gains, GainsLike, gains_for, names_model
from venire.data.judgments import is_conditional
from venire.data.panel import Pool, build_panel
from venire.data.scale import Scale
from venire.disagreement.predicted_relevance import PredictedRelevance
from venire.errors import GainsError, PairsError
from venire.io.exchange import ScaledQrels, scaled_qrels
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.types import Ints, RNGLike

APART = "fit the model by itself, with more options, and give the saved fit as gains"

LONGEST_SHARE = 40


def fit_gains(
    text: str,
    judgments: JudgmentsLike,
    *,
    keep_lowest: bool = False,
    rng: RNGLike = 0,
    rank: Ints | None = None,
    **setting: object,
) -> Gains:
    """Fit the model of a name, and return its gains; rank as in ``PredictedRelevance.fit``, setting: its parameters.

    keep_lowest: the lowest label keeps the weight that the User Disagreement Model estimates, instead of 0.
    Conditional labels are not used where there are others.
    """
    judgments = as_judgments(judgments)
    alone = ~is_conditional(judgments)
    judgments = judgments.take(alone) if alone.any() and not alone.all() else judgments
    model, relevant, at_least = read_model(text, judgments.scale)
    if keep_lowest and model != "udm":
        raise GainsError(f"the lowest label of {text} has the gain that was estimated", hint="leave out keep_lowest")
    try:
        fit = PredictedRelevance(relevant=relevant, **setting).fit(judgments, rank=rank, rng=rng)  # type: ignore[arg-type]
        if model == "prm":
            return fit.gains(at_least=at_least)
        return fit.udm_gains(at_least, lowest=None if keep_lowest else 0.0)
    except (PairsError, GainsError) as error:
        raise type(error)(error.message, hint=[*error.ways, APART] if error.ways else error.hint) from None


def read_model(text: str, scale: Scale) -> tuple[str, str | None, tuple[int, int]]:
    """Read the name of a model's gains: prm or udm, the relevant label (None: the top label), and M of N users."""
    model, _, rest = text.partition(":")
    if model not in MODELS:
        raise GainsError(f"{text!r} names no model", hint="use prm:LABEL or udm:M/N, as in udm:1/3")
    if model == "prm":
        relevant, at_least = _prm(rest, scale)
    else:
        share, _, label = rest.partition(":")
        relevant, at_least = label or None, read_share(share)
    if relevant == "all" and "all" not in scale.labels:
        hint = f"name one, as in prm:{scale.labels[-1]}"
        raise GainsError(f"{text!r} names all notions of relevance, and gains are for one of them", hint=hint)
    return model, relevant, at_least


def _prm(rest: str, scale: Scale) -> tuple[str | None, tuple[int, int]]:
    """Read LABEL or LABEL:M/N; a label of the scale is a label, whatever it looks like."""
    label, colon, share = rest.rpartition(":")
    if rest not in scale.labels and (colon and "/" in share):
        return label or None, read_share(share)
    return rest or None, (1, 1)


def read_share(text: str) -> tuple[int, int]:
    """Read M/N, as in 1/3: at least M of N users.

    Examples
    --------
    >>> read_share("2/5")
    (2, 5)
    """
    m, slash, n = text.partition("/")
    counts = slash and m.strip().isdecimal() and n.strip().isdecimal() and len(text) <= LONGEST_SHARE
    if not counts or not 1 <= int(m) <= int(n):
        raise GainsError(f"{text!r} is not M/N with 1 <= M <= N", hint="as in 1/3: at least one of three users")
    return int(m), int(n)


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
    labels = as_judgments(judgments)
    others = labels if fit_on is None else as_judgments(fit_on, scale=labels.scale)
    panel = build_panel(labels, assessor=assessor, per=per, pool=pool)
    if isinstance(gains, str) and names_model(gains):
        gains = fit_gains(gains, others, rng=rng)
    resolved = gains_for(gains, labels.scale)
    return scaled_qrels(labels, resolved, panel, scale_by=scale_by, groups=per is not None)
