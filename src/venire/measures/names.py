"""Names of measures, read and written: ``nDCG@10``, ``P(rel=2)@5``, ``RBP(p=0.8)``; spelled as ir_measures does.

The names of trec_eval (``ndcg_cut_10``, ``P_10``, ``recip_rank``) and ndeval (``alpha-nDCG@10``, ``strec@10``), and any
case, are read too; the name written is ours.
"""

from __future__ import annotations

import re
from math import inf

from venire.errors import MeasureError, known_names
from venire.measures.cascade import ERR, RBP, RR, RBPResidual, nERR
from venire.measures.dcg import CCG, CG, DCG, CCGsingle, nCCG, nDCG
from venire.measures.intents import (
    AP_IA,
    ERR_IA,
    NRBP,
    P_IA,
    AllScore,
    D_nDCG,
    Dsharp_nDCG,
    StRecall,
    VitalScore,
    WeightedScore,
    alpha_DCG,
    alpha_nDCG,
    nERR_IA,
    nNRBP,
)
from venire.measures.measure import Measure, alpha_of, defaults
from venire.measures.precision import AP, GAP, Judged, P, Q, R, Rprec, Success, bpref
from venire.measures.sampled import infAP, statAP
from venire.results import read_number

KINDS: dict[str, type[Measure]] = {
    kind.__name__: kind
    for kind in (
        *(P, R, Success, RR, AP, Rprec, bpref, CG, DCG, nDCG, CCG, CCGsingle, nCCG),
        *(GAP, Q, ERR, nERR, RBP, RBPResidual, Judged, infAP, statAP),
        *(alpha_DCG, alpha_nDCG, ERR_IA, nERR_IA, NRBP, nNRBP, P_IA, AP_IA, StRecall, D_nDCG, Dsharp_nDCG),
        *(AllScore, VitalScore, WeightedScore),
    )
}
WITHOUT_HIGHEST = (CG, DCG, CCG, CCGsingle, statAP, alpha_nDCG, nERR_IA, nNRBP)
"""Measures whose scores may exceed 1."""
OTHER_NAMES = {
    **{"map": "AP", "mrr": "RR", "recip_rank": "RR", "recall": "R", "prec": "P", "precision": "P"},
    **{"ndcg_cut": "nDCG", "map_cut": "AP", "strec": "StRecall", "i_rec": "StRecall", "map_ia": "AP_IA"},
}
"""Names of trec_eval, ndeval and of papers, in lower case, - written as _ and # as sharp, and ours."""
_ANY_CASE = {name.lower(): name for name in KINDS}
_QUOTED = r"'[^']*'|\"[^\"]*\""
_FORM = re.compile(
    rf"\s*(?P<name>[A-Za-z_#-]*[A-Za-z])\s*(\((?P<params>({_QUOTED}|[^)'\"])*)\))?\s*([@_]\s*(?P<k>\d+))?\s*"
)
_PARAM = re.compile(rf"\s*(?P<name>\w+)\s*=\s*(?P<value>{_QUOTED}|[^,'\"]+?)\s*(,|$)")
MOST_DIGITS = 18
"""Digits of a depth, as many as fit into 64 bits."""


def parse_measure(text: str) -> Measure:
    """Read the name of a measure, in any case, or its name in trec_eval.

    Examples
    --------
    >>> parse_measure("RBP(p=0.5)@10")
    RBP(k=10, p=0.5, rel=None)
    >>> str(parse_measure("P( rel = HRel )@5"))
    'P(rel=HRel)@5'
    >>> [str(parse_measure(name)) for name in ("ndcg_cut_10", "map", "MRR@10", "D#-nDCG@10", "ERR-IA@20")]
    ['nDCG@10', 'AP', 'RR@10', 'Dsharp_nDCG@10', 'ERR_IA@20']
    """
    form = _FORM.fullmatch(text)
    if form is None or len(form["k"] or "") > MOST_DIGITS:
        raise MeasureError(f"{text!r} cannot be read as a measure", hint="write nDCG@10, P(rel=2)@5 or RBP(p=0.8)")
    kind = _kind(form["name"], text)
    known = defaults(kind)
    parameters: dict[str, object] = {}
    for name, value in _parameters(form["params"] or "", text):
        if name not in known:
            expected = known_names(name, known) if known else f"{kind.__name__} takes no parameters"
            raise MeasureError(f"{text!r}: {kind.__name__} has no parameter {name!r}", hint=expected)
        parameters[name] = _value(value, name, text, known[name])
    return kind(k=int(form["k"]) if form["k"] else None, **parameters)


def range_of(text: str) -> tuple[float, float]:
    """Return the lowest and the highest score that a measure of this name can have; infinite where none is known.

    Examples
    --------
    >>> range_of("nDCG@10"), range_of("DCG@10"), range_of("my own")
    ((0.0, 1.0), (0.0, inf), (-inf, inf))
    """
    try:
        measure = parse_measure(text)
    except MeasureError:
        return -inf, inf
    return 0.0, inf if type(measure) in WITHOUT_HIGHEST or alpha_of(measure) > 0 else 1.0


def spelled(text: str) -> str:
    """Return the name of a measure as we write it: the parameters as given, the rest in our spelling.

    Examples
    --------
    >>> spelled("ndcg_cut_10"), spelled("mrr@5"), spelled("RBP(p=0.80)")
    ('nDCG@10', 'RR@5', 'RBP(p=0.80)')
    """
    form = _FORM.fullmatch(text)
    if form is None or (form["name"] in KINDS and "_" not in text[form.end("name") :]):
        return text
    parameters = "" if form["params"] is None else f"({form['params']})"
    return _kind(form["name"], text).__name__ + parameters + (f"@{form['k']}" if form["k"] else "")


def _kind(name: str, text: str) -> type[Measure]:
    plain = name.lower().replace("#-", "#_").replace("#", "sharp").replace("-", "_")
    own = OTHER_NAMES.get(plain) or _ANY_CASE.get(plain)
    if own is None:
        raise MeasureError(f"{text!r}: there is no measure {name!r}", hint=known_names(name, KINDS, most=len(KINDS)))
    return KINDS[own]


def _parameters(text: str, whole: str) -> list[tuple[str, str]]:
    found, place = [], 0
    while place < len(text):
        match = _PARAM.match(text, place)
        if match is None:
            raise MeasureError(f"{whole!r}: cannot read {text[place:]!r}", hint="write name=value, name=value")
        found.append((match["name"], _unquoted(match["value"])))
        place = match.end()
    return found


def _unquoted(value: str) -> str:
    return value[1:-1] if value[0] in "'\"" else value


def _value(value: str, name: str, text: str, default: object) -> object:
    """Read the value of a parameter as what its default is: a truth value, a number, or a text."""
    if isinstance(default, bool):
        if value.lower() not in ("true", "false"):
            raise MeasureError(f"{text!r}: {name} is {value!r}, expected True or False")
        return value.lower() == "true"
    return _number(value, name, text) if isinstance(default, float) else value


def _number(value: str, name: str, text: str) -> float:
    try:
        return read_number(value)
    except ValueError:
        raise MeasureError(f"{text!r}: {name} is {value!r}, expected a number") from None
