"""Venire: search evaluation that knows its judges disagree.

>>> from venire import evaluate, read_judgments, read_runs
>>> judgments = read_judgments({"q1": {"d1": 2, "d2": 0}})
>>> evaluate(judgments, read_runs({"q1": {"d1": 0.7, "d2": 0.3}}), ["nDCG@10", "P@1"]).mean().values.tolist()
[[1.0, 1.0]]

Names are loaded when first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from venire.analysis.synthetic import Collection, Synthetic, generate
    from venire.analysis.synthetic_files import write_collection
    from venire.data.gains import Gains, binary, exponential, linear, raw
    from venire.data.grids import read_grid
    from venire.data.judgments import Judgments, Summary
    from venire.data.runs import RunRules, Runs
    from venire.data.scale import Scale
    from venire.errors import (
        AmbiguousLabels,
        FewPairsWarning,
        FormatError,
        GainsError,
        MeasureError,
        MissingTopicsWarning,
        PairsError,
        RepeatedLineWarning,
        ScaleError,
        SettingError,
        UnjudgedWarning,
        UnknownName,
        VenireError,
        VenireWarning,
    )
    from venire.estimate import Estimate
    from venire.io.duplicates import read_duplicates
    from venire.io.judgment_sources import read_judgments
    from venire.io.judgment_writing import write_judgments
    from venire.io.run_sources import read_runs
    from venire.measures.ap import AP, GAP, Q
    from venire.measures.bpref import bpref
    from venire.measures.cascade import ERR, RBP, RR, RBPResidual, nERR
    from venire.measures.dcg import CG, DCG, nDCG
    from venire.measures.evaluate import evaluate
    from venire.measures.measure import Measure, measure
    from venire.measures.names import parse_measure
    from venire.measures.precision import Judged, P, R, Rprec, Success
    from venire.measures.scores import Scores
    from venire.models.predicted_relevance import PredictedRelevance, PredictedRelevanceFit

_NAMES_IN = {
    "analysis.synthetic": "Collection Synthetic generate",
    "analysis.synthetic_files": "write_collection",
    "data.gains": "Gains binary exponential linear raw",
    "data.grids": "read_grid",
    "data.judgments": "Judgments Summary",
    "data.runs": "RunRules Runs",
    "data.scale": "Scale",
    "errors": (
        "AmbiguousLabels FewPairsWarning FormatError GainsError MeasureError MissingTopicsWarning PairsError "
        "RepeatedLineWarning "
        "ScaleError SettingError UnjudgedWarning UnknownName VenireError VenireWarning"
    ),
    "estimate": "Estimate",
    "io.duplicates": "read_duplicates",
    "io.judgment_sources": "read_judgments",
    "io.judgment_writing": "write_judgments",
    "io.run_sources": "read_runs",
    "measures.ap": "AP GAP Q",
    "measures.bpref": "bpref",
    "measures.cascade": "ERR RBP RR RBPResidual nERR",
    "measures.dcg": "CG DCG nDCG",
    "measures.evaluate": "evaluate",
    "measures.measure": "Measure measure",
    "measures.names": "parse_measure",
    "measures.precision": "Judged P R Rprec Success",
    "measures.scores": "Scores",
    "models.predicted_relevance": "PredictedRelevance PredictedRelevanceFit",
}
_HOME_OF = {name: home for home, names in _NAMES_IN.items() for name in names.split()}

# fmt: off
__all__ = [  # noqa: RUF022 - by the alphabet, many to a line
    "AP", "AmbiguousLabels", "CG", "Collection", "DCG", "ERR", "Estimate", "FewPairsWarning", "FormatError", "GAP",
    "Gains", "GainsError", "Judged", "Judgments", "Measure", "MeasureError", "MissingTopicsWarning", "P", "PairsError",
    "PredictedRelevance", "PredictedRelevanceFit", "Q", "R", "RBP", "RBPResidual", "RR", "RepeatedLineWarning", "Rprec",
    "RunRules", "Runs", "Scale", "ScaleError", "Scores", "SettingError", "Success", "Summary", "Synthetic",
    "UnjudgedWarning", "UnknownName", "VenireError", "VenireWarning", "binary", "bpref", "evaluate", "exponential",
    "generate", "linear", "measure", "nDCG", "nERR", "parse_measure", "raw", "read_duplicates", "read_grid",
    "read_judgments", "read_runs", "write_collection", "write_judgments",
]
# fmt: on


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("venire")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'venire' has no attribute {name!r}")
    return getattr(import_module(f"venire.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
