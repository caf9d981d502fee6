"""Gains by the name of a model: ``prm:LABEL``, ``prm:LABEL:M/N`` and ``udm:M/N``, fitted on judgments.

``prm:Key`` is P(a random user finds it relevant, Key or higher | label); ``prm:Key:2/3`` that at least two of three
random users do; ``udm:1/3`` the weights of the User Disagreement Model for one of three users, the assessor among them;
``udm:1/3:Key`` the same with what is relevant stated (the top label is, without).
"""

from __future__ import annotations

from collections.abc import Callable

from venire.data.gains import Gains
from venire.data.judgments import Judgments
from venire.errors import GainsError
from venire.models.predicted_relevance import PredictedRelevance
from venire.types import RNGLike

MODELS = ("prm", "udm")


def names_model(text: str) -> bool:
    """Whether gains are named after a model that has to be fitted."""
    return text.partition(":")[0] in MODELS


def fitted_gains(text: str, judgments: Judgments, *, rng: RNGLike = 0, **setting: object) -> Gains:
    """Fit the model that a name states, and return its gains; setting: parameters of PredictedRelevance."""
    model, _, rest = text.partition(":")
    read: dict[str, Callable[[str], tuple[str | None, tuple[int, int]]]] = {"prm": _prm, "udm": _udm}
    if model not in read:
        raise GainsError(f"{text!r} names no model", hint="use prm:LABEL or udm:M/N, as in udm:1/3")
    relevant, at = read[model](rest)
    fit = PredictedRelevance(relevant=relevant, n_draws=0, **setting).fit(judgments, rng=rng)  # type: ignore[arg-type]
    return fit.gains(users=at) if model == "prm" else fit.udm_gains(at)


def _prm(rest: str) -> tuple[str | None, tuple[int, int]]:
    label, colon, share = rest.rpartition(":")
    if colon and "/" in share:
        return label or None, read_share(share)
    return rest or None, (1, 1)


def _udm(rest: str) -> tuple[str | None, tuple[int, int]]:
    share, _, label = rest.partition(":")
    return label or None, read_share(share)


def read_share(text: str) -> tuple[int, int]:
    """Read M/N, as in 1/3: at least M of N users.

    Examples
    --------
    >>> read_share("2/5")
    (2, 5)
    """
    m, slash, n = text.partition("/")
    if not (slash and m.strip().isdecimal() and n.strip().isdecimal()) or not 1 <= int(m) <= int(n):
        raise GainsError(f"{text!r} is not M/N with 1 <= M <= N", hint="as in 1/3: at least one of three users")
    return int(m), int(n)
