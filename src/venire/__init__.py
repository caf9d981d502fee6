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
    from venire.agreement.consistency import Consistency, consistency
    from venire.agreement.directed import DirectedAgreement, directed_agreement
    from venire.agreement.overlap import Overlap, overlap
    from venire.agreement.pair_confusions import Confusions, confusions
    from venire.agreement.phi import Phi, phi
    from venire.agreement.preference_cycles import transitivity
    from venire.agreement.preference_labels import PreferencesByLabels, preferences_by_labels
    from venire.agreement.preferences import PreferenceAgreement, position_bias, preference_agreement, settled
    from venire.agreement.profiles import Profiles, profiles
    from venire.agreement.search_task import search_judgments
    from venire.analysis.compare import Comparison, compare
    from venire.analysis.comparisons import Robustness
    from venire.analysis.counting import Counts, count_relevant
    from venire.analysis.discriminative_power import discriminative_power, power_of
    from venire.analysis.exact_changes import ExactChanges, exact_changes
    from venire.analysis.forecasts import Forecast, forecast
    from venire.analysis.head_to_head import HeadToHead, head_to_head
    from venire.analysis.judge_forms import FormComparison, compare_forms
    from venire.analysis.judging_effort import JudgingEffort, double_judgments_needed
    from venire.analysis.label_draws import results_to_label
    from venire.analysis.label_preferences import LabelPreferences
    from venire.analysis.label_scales import cut, cuts, extended, log_sums, reduced
    from venire.analysis.mutual import mutual_evaluation
    from venire.analysis.pair_tests import PairedBootstrap, PairedT, SignFlip, TukeyHSD, Wilcoxon
    from venire.analysis.pdp import PDP, pdp
    from venire.analysis.pdp_differences import compare_pdp
    from venire.analysis.perceived_collections import generate_perceived
    from venire.analysis.perceived_relevance import PerceivedRelevance
    from venire.analysis.powers import DiscriminativePower, Power
    from venire.analysis.predicted_scores import PredictedScores, score_intervals
    from venire.analysis.random_users import UserScores, evaluate_users
    from venire.analysis.resources import count_resources
    from venire.analysis.robustness import between_assessors, between_gains
    from venire.analysis.scale_comparison import ScaleComparison, compare_scales
    from venire.analysis.sensitivity import ListOrder, Sensitivity, sensitivity
    from venire.analysis.significance import SystemComparison, compare_systems
    from venire.analysis.stability import Stability, stability
    from venire.analysis.synthetic import Collection, Synthetic, generate
    from venire.analysis.synthetic_files import write_collection
    from venire.analysis.top_lists import top_of_pool, top_of_runs
    from venire.analysis.uncertainty_sources import UncertaintySources, uncertainty_sources
    from venire.data.gains import Gains, binary, exponential, linear, raw
    from venire.data.grids import read_grid
    from venire.data.judgments import Judgments, Summary
    from venire.data.preferences import Preferences
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
    from venire.io.preferences import read_preferences
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
    from venire.models.asymmetry import Asymmetry, asymmetry
    from venire.models.combined_labels import CombinedTable, combine, combined_table, split_units
    from venire.models.fit_files import read_fit, write_fit
    from venire.models.gain_names import fitted_gains
    from venire.models.intents import explicit_intents, top_intents
    from venire.models.latent_labels import DawidSkene, DawidSkeneFit
    from venire.models.many_labels import ManyLabels, observed_weights
    from venire.models.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
    from venire.models.several_labels import ItemRelevance, posterior
    from venire.models.topic_groups import GroupComparison, compare_groups
    from venire.models.transitions import Transitions, fit_transitions
    from venire.models.user_disagreement import at_least, udm_weights
    from venire.planning.preference_samples import check_sample_size
    from venire.planning.preference_tests import pairs_to_ask, sample_size
    from venire.planning.topics import TopicPlan, plan_topics

_NAMES_IN = {
    "agreement.consistency": "Consistency consistency",
    "agreement.directed": "DirectedAgreement directed_agreement",
    "agreement.overlap": "Overlap overlap",
    "agreement.pair_confusions": "Confusions confusions",
    "agreement.phi": "Phi phi",
    "agreement.preference_cycles": "transitivity",
    "agreement.preference_labels": "PreferencesByLabels preferences_by_labels",
    "agreement.preferences": "PreferenceAgreement position_bias preference_agreement settled",
    "agreement.profiles": "Profiles profiles",
    "agreement.search_task": "search_judgments",
    "analysis.compare": "Comparison compare",
    "analysis.comparisons": "Robustness",
    "analysis.counting": "Counts count_relevant",
    "analysis.discriminative_power": "discriminative_power power_of",
    "analysis.exact_changes": "ExactChanges exact_changes",
    "analysis.forecasts": "Forecast forecast",
    "analysis.head_to_head": "HeadToHead head_to_head",
    "analysis.judge_forms": "FormComparison compare_forms",
    "analysis.judging_effort": "JudgingEffort double_judgments_needed",
    "analysis.label_draws": "results_to_label",
    "analysis.label_preferences": "LabelPreferences",
    "analysis.label_scales": "cut cuts extended log_sums reduced",
    "analysis.mutual": "mutual_evaluation",
    "analysis.pair_tests": "PairedBootstrap PairedT SignFlip TukeyHSD Wilcoxon",
    "analysis.pdp": "PDP pdp",
    "analysis.pdp_differences": "compare_pdp",
    "analysis.perceived_collections": "generate_perceived",
    "analysis.perceived_relevance": "PerceivedRelevance",
    "analysis.powers": "DiscriminativePower Power",
    "analysis.predicted_scores": "PredictedScores score_intervals",
    "analysis.random_users": "UserScores evaluate_users",
    "analysis.resources": "count_resources",
    "analysis.robustness": "between_assessors between_gains",
    "analysis.scale_comparison": "ScaleComparison compare_scales",
    "analysis.sensitivity": "ListOrder Sensitivity sensitivity",
    "analysis.significance": "SystemComparison compare_systems",
    "analysis.stability": "Stability stability",
    "analysis.synthetic": "Collection Synthetic generate",
    "analysis.synthetic_files": "write_collection",
    "analysis.top_lists": "top_of_pool top_of_runs",
    "analysis.uncertainty_sources": "UncertaintySources uncertainty_sources",
    "data.gains": "Gains binary exponential linear raw",
    "data.grids": "read_grid",
    "data.judgments": "Judgments Summary",
    "data.preferences": "Preferences",
    "data.runs": "RunRules Runs",
    "data.scale": "Scale",
    "errors": (
        "AmbiguousLabels FewPairsWarning FormatError GainsError MeasureError MissingTopicsWarning "
        "PairsError RepeatedLineWarning ScaleError SettingError UnjudgedWarning UnknownName VenireError "
        "VenireWarning"
    ),
    "estimate": "Estimate",
    "io.duplicates": "read_duplicates",
    "io.judgment_sources": "read_judgments",
    "io.judgment_writing": "write_judgments",
    "io.preferences": "read_preferences",
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
    "models.asymmetry": "Asymmetry asymmetry",
    "models.combined_labels": "CombinedTable combine combined_table split_units",
    "models.fit_files": "read_fit write_fit",
    "models.gain_names": "fitted_gains",
    "models.intents": "explicit_intents top_intents",
    "models.latent_labels": "DawidSkene DawidSkeneFit",
    "models.many_labels": "ManyLabels observed_weights",
    "models.predicted_relevance": "PredictedRelevance PredictedRelevanceFit",
    "models.several_labels": "ItemRelevance posterior",
    "models.topic_groups": "GroupComparison compare_groups",
    "models.transitions": "Transitions fit_transitions",
    "models.user_disagreement": "at_least udm_weights",
    "planning.preference_samples": "check_sample_size",
    "planning.preference_tests": "pairs_to_ask sample_size",
    "planning.topics": "TopicPlan plan_topics",
}
_HOME_OF = {name: home for home, names in _NAMES_IN.items() for name in names.split()}

# fmt: off
__all__ = [  # noqa: RUF022 - by the alphabet, many to a line
    "AP", "AmbiguousLabels", "Asymmetry", "CG", "Collection", "CombinedTable", "Comparison", "Confusions",
    "Consistency", "Counts", "DCG", "DawidSkene", "DawidSkeneFit", "DirectedAgreement", "DiscriminativePower", "ERR",
    "Estimate", "ExactChanges", "FewPairsWarning", "Forecast", "FormComparison", "FormatError", "GAP", "Gains",
    "GainsError", "GroupComparison", "HeadToHead", "ItemRelevance", "Judged", "JudgingEffort", "Judgments",
    "LabelPreferences", "ListOrder", "ManyLabels", "Measure", "MeasureError", "MissingTopicsWarning", "Overlap", "P",
    "PDP", "PairedBootstrap", "PairedT", "PairsError", "PerceivedRelevance", "Phi", "Power", "PredictedRelevance",
    "PredictedRelevanceFit", "PredictedScores", "PreferenceAgreement", "Preferences", "PreferencesByLabels", "Profiles",
    "Q", "R", "RBP", "RBPResidual", "RR", "RepeatedLineWarning", "Robustness", "Rprec", "RunRules", "Runs", "Scale",
    "ScaleComparison", "ScaleError", "Scores", "Sensitivity", "SettingError", "SignFlip", "Stability", "Success",
    "Summary", "Synthetic", "SystemComparison", "TopicPlan", "Transitions", "TukeyHSD", "UncertaintySources",
    "UnjudgedWarning", "UnknownName", "UserScores", "VenireError", "VenireWarning", "Wilcoxon", "asymmetry", "at_least",
    "between_assessors", "between_gains", "binary", "bpref", "check_sample_size", "combine", "combined_table",
    "compare", "compare_forms", "compare_groups", "compare_pdp", "compare_scales", "compare_systems", "confusions",
    "consistency", "count_relevant", "count_resources", "cut", "cuts", "directed_agreement", "discriminative_power",
    "double_judgments_needed", "evaluate", "evaluate_users", "exact_changes", "explicit_intents", "exponential",
    "extended", "fit_transitions", "fitted_gains", "forecast", "generate", "generate_perceived", "head_to_head",
    "linear", "log_sums", "measure", "mutual_evaluation", "nDCG", "nERR", "observed_weights", "overlap", "pairs_to_ask",
    "parse_measure", "pdp", "phi", "plan_topics", "position_bias", "posterior", "power_of", "preference_agreement",
    "preferences_by_labels", "profiles", "raw", "read_duplicates", "read_fit", "read_grid", "read_judgments",
    "read_preferences", "read_runs", "reduced", "results_to_label", "sample_size", "score_intervals",
    "search_judgments", "sensitivity", "settled", "split_units", "stability", "top_intents", "top_of_pool",
    "top_of_runs", "transitivity", "udm_weights", "uncertainty_sources", "write_collection", "write_fit",
    "write_judgments",
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
