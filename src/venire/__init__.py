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
    from venire.agreement.alpha import alpha
    from venire.agreement.coefficient import Coefficient
    from venire.agreement.cohen import CohenKappa, cohen_kappa
    from venire.agreement.consistency import Consistency, consistency
    from venire.agreement.directed import DirectedAgreement, directed_agreement
    from venire.agreement.gwet import gwet_ac
    from venire.agreement.jaccard import jaccard
    from venire.agreement.kappa import conger_kappa, fleiss_kappa
    from venire.agreement.overlap import Overlap, overlap
    from venire.agreement.pair_confusions import Confusions, confusions
    from venire.agreement.phi import Phi, phi
    from venire.agreement.preference_cycles import transitivity
    from venire.agreement.preference_labels import PreferencesByLabels, preferences_by_labels
    from venire.agreement.preferences import PreferenceAgreement, position_bias, preference_agreement, settled
    from venire.agreement.profiles import Profiles, profiles
    from venire.agreement.raw import raw_agreement
    from venire.agreement.search_task import search_judgments
    from venire.agreement.statistics import statistics
    from venire.analysis.aspect_rankings import AspectRankings, aspect_rankings
    from venire.analysis.aspects import AspectStudy, study_aspects
    from venire.analysis.clicks import ClickSummary, summarise_clicks
    from venire.analysis.compare import Comparison, compare
    from venire.analysis.context_aspects import AspectModel
    from venire.analysis.context_clicks import ClickModel
    from venire.analysis.context_collections import ContextCollection, generate_context
    from venire.analysis.context_files import write_context
    from venire.analysis.context_gain import ContextGain, context_gains
    from venire.analysis.context_lists import Engine
    from venire.analysis.context_settings import ContextSetting
    from venire.analysis.context_sweep import ContextSweep, sweep_context
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
    from venire.analysis.likeness import Robustness
    from venire.analysis.measure_choice import MeasureChoice, choose_measure
    from venire.analysis.mutual import mutual_evaluation
    from venire.analysis.online_correlations import OnlineCorrelations, correlate_online
    from venire.analysis.online_measures import Online, online_scores
    from venire.analysis.pair_tests import PairedBootstrap, PairedT, SignFlip, TukeyHSD, Wilcoxon
    from venire.analysis.pdp import PDP, pdp
    from venire.analysis.pdp_differences import compare_pdp
    from venire.analysis.perceived_collections import generate_perceived
    from venire.analysis.perceived_relevance import PerceivedRelevance
    from venire.analysis.powers import DiscriminativePower, Power
    from venire.analysis.predicted_scores import PredictedScores, score_intervals
    from venire.analysis.preference_people import PreferencePeople, people_of
    from venire.analysis.random_users import UserScores, evaluate_users
    from venire.analysis.resources import count_resources
    from venire.analysis.returned_results import returned
    from venire.analysis.robustness import between_assessors, between_gains
    from venire.analysis.scale_comparison import ScaleComparison, compare_scales
    from venire.analysis.sensitivity import ListOrder, Sensitivity, sensitivity
    from venire.analysis.significance import SystemComparison, compare_systems
    from venire.analysis.stability import Stability, stability
    from venire.analysis.synthetic import Collection, Synthetic, generate
    from venire.analysis.synthetic_files import write_collection
    from venire.analysis.top_lists import top_of_pool, top_of_runs
    from venire.analysis.uncertainty_sources import UncertaintySources, uncertainty_sources
    from venire.analysis.user_preference import UserAgreement, agreement_with_users
    from venire.analysis.user_verdicts import UserVerdicts, user_verdicts
    from venire.analysis.verdicts import Verdict, verdict
    from venire.data.aspects import Aspects, aspects_of
    from venire.data.clicks import Clicks
    from venire.data.context import Context
    from venire.data.gains import Gains, binary, exponential, linear, raw
    from venire.data.grids import read_grid
    from venire.data.judgments import Judgments, Summary
    from venire.data.preferences import Preferences
    from venire.data.runs import RunRules, Runs
    from venire.data.scale import Scale
    from venire.errors import (
        AmbiguousLabels,
        CommentWarning,
        FewPairsWarning,
        FormatError,
        GainsError,
        MeasureError,
        MissingTopicsWarning,
        PairsError,
        PoolFitWarning,
        RepeatedLineWarning,
        ScaleError,
        SelectionWarning,
        SettingError,
        TiedScoresWarning,
        TopicsError,
        UnjudgedWarning,
        UnknownName,
        VenireError,
        VenireWarning,
    )
    from venire.estimate import Estimate
    from venire.io.aspects import read_aspects
    from venire.io.click_logs import read_clicks
    from venire.io.duplicates import read_duplicates
    from venire.io.exchange import ScaledQrels
    from venire.io.exchange_files import write_scaled_qrels
    from venire.io.judgment_sources import read_judgments
    from venire.io.judgment_writing import write_judgments
    from venire.io.preference_groups import read_preference_groups, write_preference_groups
    from venire.io.preferences import read_preferences
    from venire.io.run_scores import run_scores
    from venire.io.run_sources import read_runs
    from venire.measures.ap import AP, GAP, Q
    from venire.measures.bpref import bpref
    from venire.measures.cascade import ERR, RBP, RR, RBPResidual, nERR
    from venire.measures.ccg import CCG, CCGsingle, nCCG
    from venire.measures.context_use import ContextUse
    from venire.measures.dcg import CG, DCG, nDCG
    from venire.measures.evaluate import evaluate
    from venire.measures.measure import Measure, measure
    from venire.measures.names import parse_measure
    from venire.measures.precision import Judged, P, R, Rprec, Success
    from venire.measures.scores import Scores
    from venire.models.aspect_gains import CombinedAspects, combine_aspects
    from venire.models.asymmetry import Asymmetry, asymmetry
    from venire.models.combined_labels import CombinedTable, combine, combined_table, split_units
    from venire.models.conditional_files import read_conditional_labels, write_conditional_labels
    from venire.models.conditional_labels import ConditionalLabels, fit_conditional_labels
    from venire.models.conditional_validation import ConditionalValidation, validate_conditional_labels
    from venire.models.cross_fits import CrossFitted, cross_fitted
    from venire.models.fit_files import read_fit, write_fit
    from venire.models.gain_names import fitted_gains
    from venire.models.intents import explicit_intents, top_intents
    from venire.models.judge_change import RankCounts, smallest_agreement
    from venire.models.latent_labels import DawidSkene, DawidSkeneFit
    from venire.models.many_labels import ManyLabels, observed_weights
    from venire.models.predicted_qrels import predicted_qrels
    from venire.models.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
    from venire.models.several_labels import ItemRelevance, posterior
    from venire.models.topic_groups import GroupComparison, compare_groups
    from venire.models.transitions import Transitions, fit_transitions
    from venire.models.user_disagreement import at_least, udm_weights
    from venire.planning.preference_samples import check_sample_size
    from venire.planning.preference_tests import pairs_to_ask, sample_size
    from venire.planning.topics import TopicPlan, plan_topics
    from venire.report.document import Report
    from venire.report.making import report_on
    from venire.report.page import write_report

_NAMES_IN = {
    "agreement.alpha": "alpha",
    "agreement.coefficient": "Coefficient",
    "agreement.cohen": "CohenKappa cohen_kappa",
    "agreement.consistency": "Consistency consistency",
    "agreement.directed": "DirectedAgreement directed_agreement",
    "agreement.gwet": "gwet_ac",
    "agreement.jaccard": "jaccard",
    "agreement.kappa": "conger_kappa fleiss_kappa",
    "agreement.overlap": "Overlap overlap",
    "agreement.pair_confusions": "Confusions confusions",
    "agreement.phi": "Phi phi",
    "agreement.preference_cycles": "transitivity",
    "agreement.preference_labels": "PreferencesByLabels preferences_by_labels",
    "agreement.preferences": "PreferenceAgreement position_bias preference_agreement settled",
    "agreement.profiles": "Profiles profiles",
    "agreement.raw": "raw_agreement",
    "agreement.search_task": "search_judgments",
    "agreement.statistics": "statistics",
    "analysis.aspect_rankings": "AspectRankings aspect_rankings",
    "analysis.aspects": "AspectStudy study_aspects",
    "analysis.clicks": "ClickSummary summarise_clicks",
    "analysis.compare": "Comparison compare",
    "analysis.context_aspects": "AspectModel",
    "analysis.context_clicks": "ClickModel",
    "analysis.context_collections": "ContextCollection generate_context",
    "analysis.context_files": "write_context",
    "analysis.context_gain": "ContextGain context_gains",
    "analysis.context_lists": "Engine",
    "analysis.context_settings": "ContextSetting",
    "analysis.context_sweep": "ContextSweep sweep_context",
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
    "analysis.likeness": "Robustness",
    "analysis.measure_choice": "MeasureChoice choose_measure",
    "analysis.mutual": "mutual_evaluation",
    "analysis.online_correlations": "OnlineCorrelations correlate_online",
    "analysis.online_measures": "Online online_scores",
    "analysis.pair_tests": "PairedBootstrap PairedT SignFlip TukeyHSD Wilcoxon",
    "analysis.pdp": "PDP pdp",
    "analysis.pdp_differences": "compare_pdp",
    "analysis.perceived_collections": "generate_perceived",
    "analysis.perceived_relevance": "PerceivedRelevance",
    "analysis.powers": "DiscriminativePower Power",
    "analysis.predicted_scores": "PredictedScores score_intervals",
    "analysis.preference_people": "PreferencePeople people_of",
    "analysis.random_users": "UserScores evaluate_users",
    "analysis.resources": "count_resources",
    "analysis.returned_results": "returned",
    "analysis.robustness": "between_assessors between_gains",
    "analysis.scale_comparison": "ScaleComparison compare_scales",
    "analysis.sensitivity": "ListOrder Sensitivity sensitivity",
    "analysis.significance": "SystemComparison compare_systems",
    "analysis.stability": "Stability stability",
    "analysis.synthetic": "Collection Synthetic generate",
    "analysis.synthetic_files": "write_collection",
    "analysis.top_lists": "top_of_pool top_of_runs",
    "analysis.uncertainty_sources": "UncertaintySources uncertainty_sources",
    "analysis.user_preference": "UserAgreement agreement_with_users",
    "analysis.user_verdicts": "UserVerdicts user_verdicts",
    "analysis.verdicts": "Verdict verdict",
    "data.aspects": "Aspects aspects_of",
    "data.clicks": "Clicks",
    "data.context": "Context",
    "data.gains": "Gains binary exponential linear raw",
    "data.grids": "read_grid",
    "data.judgments": "Judgments Summary",
    "data.preferences": "Preferences",
    "data.runs": "RunRules Runs",
    "data.scale": "Scale",
    "errors": (
        "AmbiguousLabels CommentWarning FewPairsWarning FormatError GainsError MeasureError MissingTopicsWarning "
        "PairsError PoolFitWarning RepeatedLineWarning ScaleError SelectionWarning SettingError TiedScoresWarning "
        "TopicsError UnjudgedWarning UnknownName VenireError VenireWarning"
    ),
    "estimate": "Estimate",
    "io.aspects": "read_aspects",
    "io.click_logs": "read_clicks",
    "io.duplicates": "read_duplicates",
    "io.exchange": "ScaledQrels",
    "io.exchange_files": "write_scaled_qrels",
    "io.judgment_sources": "read_judgments",
    "io.judgment_writing": "write_judgments",
    "io.preference_groups": "read_preference_groups write_preference_groups",
    "io.preferences": "read_preferences",
    "io.run_scores": "run_scores",
    "io.run_sources": "read_runs",
    "measures.ap": "AP GAP Q",
    "measures.bpref": "bpref",
    "measures.cascade": "ERR RBP RR RBPResidual nERR",
    "measures.ccg": "CCG CCGsingle nCCG",
    "measures.context_use": "ContextUse",
    "measures.dcg": "CG DCG nDCG",
    "measures.evaluate": "evaluate",
    "measures.measure": "Measure measure",
    "measures.names": "parse_measure",
    "measures.precision": "Judged P R Rprec Success",
    "measures.scores": "Scores",
    "models.aspect_gains": "CombinedAspects combine_aspects",
    "models.asymmetry": "Asymmetry asymmetry",
    "models.combined_labels": "CombinedTable combine combined_table split_units",
    "models.conditional_files": "read_conditional_labels write_conditional_labels",
    "models.conditional_labels": "ConditionalLabels fit_conditional_labels",
    "models.conditional_validation": "ConditionalValidation validate_conditional_labels",
    "models.cross_fits": "CrossFitted cross_fitted",
    "models.fit_files": "read_fit write_fit",
    "models.gain_names": "fitted_gains",
    "models.intents": "explicit_intents top_intents",
    "models.judge_change": "RankCounts smallest_agreement",
    "models.latent_labels": "DawidSkene DawidSkeneFit",
    "models.many_labels": "ManyLabels observed_weights",
    "models.predicted_qrels": "predicted_qrels",
    "models.predicted_relevance": "PredictedRelevance PredictedRelevanceFit",
    "models.several_labels": "ItemRelevance posterior",
    "models.topic_groups": "GroupComparison compare_groups",
    "models.transitions": "Transitions fit_transitions",
    "models.user_disagreement": "at_least udm_weights",
    "planning.preference_samples": "check_sample_size",
    "planning.preference_tests": "pairs_to_ask sample_size",
    "planning.topics": "TopicPlan plan_topics",
    "report.document": "Report",
    "report.making": "report_on",
    "report.page": "write_report",
}
_HOME_OF = {name: home for home, names in _NAMES_IN.items() for name in names.split()}

# fmt: off
__all__ = [  # noqa: RUF022 - by the alphabet, many to a line
    "AP", "AmbiguousLabels", "AspectModel", "AspectRankings", "AspectStudy", "Aspects", "Asymmetry", "CCG", "CCGsingle",
    "CG", "ClickModel", "ClickSummary", "Clicks", "Coefficient", "CohenKappa", "Collection", "CombinedAspects",
    "CombinedTable", "CommentWarning", "Comparison", "ConditionalLabels", "ConditionalValidation", "Confusions",
    "Consistency", "Context",
    "ContextCollection", "ContextGain", "ContextSetting", "ContextSweep", "ContextUse", "Counts", "CrossFitted", "DCG",
    "DawidSkene", "DawidSkeneFit", "DirectedAgreement", "DiscriminativePower", "ERR", "Engine", "Estimate",
    "ExactChanges", "FewPairsWarning", "Forecast", "FormComparison", "FormatError", "GAP", "Gains", "GainsError",
    "GroupComparison", "HeadToHead", "ItemRelevance", "Judged", "JudgingEffort", "Judgments", "LabelPreferences",
    "ListOrder", "ManyLabels", "Measure", "MeasureChoice", "MeasureError", "MissingTopicsWarning", "Online",
    "OnlineCorrelations", "Overlap", "P", "PDP", "PairedBootstrap", "PairedT", "PairsError", "PerceivedRelevance",
    "Phi", "PoolFitWarning", "Power", "PredictedRelevance", "PredictedRelevanceFit", "PredictedScores",
    "PreferenceAgreement",
    "PreferencePeople", "Preferences", "PreferencesByLabels", "Profiles", "Q", "R", "RBP", "RBPResidual", "RR",
    "RankCounts", "RepeatedLineWarning", "Report", "Robustness", "Rprec", "RunRules", "Runs", "Scale",
    "ScaleComparison", "ScaleError", "ScaledQrels", "Scores", "SelectionWarning", "Sensitivity", "SettingError",
    "SignFlip", "Stability", "Success", "Summary", "Synthetic", "SystemComparison", "TiedScoresWarning",
    "TopicPlan", "TopicsError", "Transitions", "TukeyHSD", "UncertaintySources",
    "UnjudgedWarning", "UnknownName", "UserAgreement", "UserScores", "UserVerdicts", "VenireError", "VenireWarning",
    "Verdict", "Wilcoxon", "agreement_with_users", "alpha", "aspect_rankings", "aspects_of", "asymmetry", "at_least",
    "between_assessors", "between_gains", "binary", "bpref", "check_sample_size", "choose_measure", "cohen_kappa",
    "combine", "combine_aspects", "combined_table", "compare", "compare_forms", "compare_groups", "compare_pdp",
    "compare_scales", "compare_systems", "confusions", "conger_kappa", "consistency", "context_gains",
    "correlate_online", "count_relevant", "count_resources", "cross_fitted", "cut", "cuts", "directed_agreement",
    "discriminative_power", "double_judgments_needed", "evaluate", "evaluate_users", "exact_changes",
    "explicit_intents", "exponential", "extended", "fit_conditional_labels", "fit_transitions", "fitted_gains",
    "fleiss_kappa", "forecast", "generate", "generate_context", "generate_perceived", "gwet_ac", "head_to_head",
    "jaccard", "linear", "log_sums", "measure", "mutual_evaluation", "nCCG", "nDCG", "nERR", "observed_weights",
    "online_scores", "overlap", "pairs_to_ask", "parse_measure", "pdp", "people_of", "phi", "plan_topics",
    "position_bias", "posterior", "power_of", "predicted_qrels", "preference_agreement", "preferences_by_labels",
    "profiles", "raw", "raw_agreement", "read_aspects", "read_clicks", "read_conditional_labels", "read_duplicates",
    "read_fit", "read_grid", "read_judgments", "read_preference_groups", "read_preferences", "read_runs", "reduced",
    "report_on", "results_to_label", "returned", "run_scores", "sample_size", "score_intervals", "search_judgments",
    "sensitivity", "settled", "smallest_agreement", "split_units", "stability", "statistics", "study_aspects",
    "summarise_clicks", "sweep_context", "top_intents", "top_of_pool", "top_of_runs", "transitivity", "udm_weights",
    "uncertainty_sources", "user_verdicts", "validate_conditional_labels", "verdict", "write_collection",
    "write_conditional_labels", "write_context", "write_fit", "write_judgments", "write_preference_groups",
    "write_report", "write_scaled_qrels",
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
