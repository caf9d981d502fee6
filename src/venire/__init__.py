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
    from venire.agreement.cohen import CohenKappa, cohen_kappa
    from venire.agreement.confusion import Confusions, confusions
    from venire.agreement.consistency import Consistency, consistency
    from venire.agreement.directed import DirectedAgreement, directed_agreement
    from venire.agreement.kappa import conger_kappa, fleiss_kappa, gwet_ac, raw_agreement
    from venire.agreement.overlap import Overlap, jaccard, overlap
    from venire.agreement.phi import Phi, phi
    from venire.agreement.profiles import Profiles, profiles
    from venire.agreement.resampling import Coefficient
    from venire.agreement.table import AgreementTable, agreement_table
    from venire.aspects.rankings import AspectRankings, CombinedAspects, aspect_rankings, combine_aspects
    from venire.aspects.study import AspectStudy, study_aspects
    from venire.comparison.compare import Comparison, compare
    from venire.comparison.corrected_scores import PredictedScores, score_intervals
    from venire.comparison.forecast import Forecast, forecast
    from venire.comparison.judge_change import RankCounts, min_agreement_to_stay_ahead
    from venire.comparison.mutual_evaluation import mutual_evaluation
    from venire.comparison.rank_agreement import Robustness
    from venire.comparison.robustness import between_assessors, between_gains
    from venire.comparison.significance import HeadToHead, SystemComparison, compare_systems, head_to_head
    from venire.comparison.stability import Stability, stability
    from venire.comparison.tests import PairedBootstrap, PairedT, SignFlip, TukeyHSD, Wilcoxon
    from venire.comparison.uncertainty import (
        JudgeModelComparison,
        UncertaintySources,
        compare_judge_models,
        uncertainty_sources,
    )
    from venire.comparison.verdict import Verdict, verdict
    from venire.context.model import (
        ConditionalLabels,
        CrossFitted,
        cross_fitted,
        fit_conditional_labels,
        read_conditional_labels,
        write_conditional_labels,
    )
    from venire.context.sweep import ContextGain, ContextSweep, context_gains, sweep_context
    from venire.context.validation import ConditionalValidation, validate_conditional_labels
    from venire.data.aspects import Aspects, aspects_of
    from venire.data.clicks import Clicks
    from venire.data.context import Context
    from venire.data.gains import Gains, binary, exponential, linear, raw
    from venire.data.intents import explicit_intents, top_intents
    from venire.data.judgments import Judgments, Summary
    from venire.data.preferences import Preferences
    from venire.data.runs import RunRules, Runs
    from venire.data.scale import Scale
    from venire.disagreement.by_topic import Asymmetry, GroupComparison, asymmetry, compare_groups
    from venire.disagreement.combined_labels import CombinedTable, combine, combined_table, split_units
    from venire.disagreement.counting import Counts, count_relevant
    from venire.disagreement.counting_resources import count_resources
    from venire.disagreement.dawid_skene import DawidSkene, DawidSkeneFit
    from venire.disagreement.double_judgments import JudgingEffort, double_judgments_needed
    from venire.disagreement.files import read_fit, write_fit
    from venire.disagreement.gains import fitted_gains, predicted_qrels
    from venire.disagreement.many_labels import ManyLabels, observed_weights
    from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
    from venire.disagreement.sensitivity import ListOrder, Sensitivity, sensitivity
    from venire.disagreement.several_labels import ItemRelevance, posterior
    from venire.disagreement.top_results import in_top_results, results_to_label
    from venire.disagreement.transitions import Transitions, fit_transitions
    from venire.disagreement.user_disagreement import at_least, udm_weights
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
    from venire.io.aspects import read_aspects
    from venire.io.clicks import read_clicks
    from venire.io.duplicates import read_duplicates
    from venire.io.exchange import (
        ScaledQrels,
        read_preference_groups,
        run_scores,
        write_preference_groups,
        write_scaled_qrels,
    )
    from venire.io.judgments import read_grid, read_judgments, write_judgments
    from venire.io.preferences import read_preferences
    from venire.io.runs import read_runs
    from venire.io.search_task import search_judgments
    from venire.measures.cascade import ERR, RBP, RR, RBPResidual, nERR
    from venire.measures.context.scoring import ContextUse
    from venire.measures.dcg import CCG, CG, DCG, CCGsingle, nCCG, nDCG
    from venire.measures.evaluate import evaluate
    from venire.measures.measure import Measure, measure
    from venire.measures.names import parse_measure
    from venire.measures.precision import AP, GAP, Judged, P, Q, R, Rprec, Success, bpref
    from venire.measures.random_users import UserScores, evaluate_users
    from venire.measures.scores import Scores
    from venire.planning.preferences import check_sample_size, pairs_to_ask, sample_size
    from venire.planning.topics import TopicPlan, plan_topics
    from venire.quality.label_preferences import LabelPreferences
    from venire.quality.label_scales import (
        all_thresholds,
        log_sums,
        merge_labels,
        split_labels,
        threshold_labels,
    )
    from venire.quality.lists import top_of_pool, top_of_runs
    from venire.quality.pdp import PDP, compare_pdp, pdp
    from venire.quality.power import DiscriminativePower, Power, discriminative_power, power_of
    from venire.quality.scales import ScaleComparison, compare_scales
    from venire.report.document import Report
    from venire.report.making import report_on
    from venire.report.page import write_report
    from venire.results import Estimate
    from venire.simulation.context.collection import ContextCollection, generate_context
    from venire.simulation.context.setting import AspectModel, ClickModel, ContextSetting, Engine
    from venire.simulation.folders import write_collection
    from venire.simulation.levels import Collection, Synthetic, generate
    from venire.simulation.perceived import PerceivedRelevance, generate_perceived
    from venire.users.agreement import MeasureChoice, UserAgreement, agreement_with_users, choose_measure
    from venire.users.by_label import PreferencesByLabels, preferences_by_labels
    from venire.users.clicks import ClickSummary, Online, online_scores, summarise_clicks
    from venire.users.online_correlations import OnlineCorrelations, correlate_online
    from venire.users.preferences import PreferenceAgreement, consensus, position_bias, preference_agreement
    from venire.users.verdicts import PreferenceSummary, UserVerdicts, summarise_preferences, user_verdicts

_NAMES_IN = {
    "agreement.alpha": "alpha",
    "agreement.cohen": "CohenKappa cohen_kappa",
    "agreement.confusion": "Confusions confusions",
    "agreement.consistency": "Consistency consistency",
    "agreement.directed": "DirectedAgreement directed_agreement",
    "agreement.kappa": "conger_kappa fleiss_kappa gwet_ac raw_agreement",
    "agreement.overlap": "Overlap jaccard overlap",
    "agreement.phi": "Phi phi",
    "agreement.profiles": "Profiles profiles",
    "agreement.resampling": "Coefficient",
    "agreement.table": "AgreementTable agreement_table",
    "aspects.rankings": "AspectRankings CombinedAspects aspect_rankings combine_aspects",
    "aspects.study": "AspectStudy study_aspects",
    "comparison.compare": "Comparison compare",
    "comparison.corrected_scores": "PredictedScores score_intervals",
    "comparison.forecast": "Forecast forecast",
    "comparison.judge_change": "RankCounts min_agreement_to_stay_ahead",
    "comparison.mutual_evaluation": "mutual_evaluation",
    "comparison.rank_agreement": "Robustness",
    "comparison.robustness": "between_assessors between_gains",
    "comparison.significance": "HeadToHead SystemComparison compare_systems head_to_head",
    "comparison.stability": "Stability stability",
    "comparison.tests": "PairedBootstrap PairedT SignFlip TukeyHSD Wilcoxon",
    "comparison.uncertainty": "JudgeModelComparison UncertaintySources compare_judge_models uncertainty_sources",
    "comparison.verdict": "Verdict verdict",
    "context.model": "ConditionalLabels CrossFitted cross_fitted fit_conditional_labels read_conditional_labels "
    "write_conditional_labels",
    "context.sweep": "ContextGain ContextSweep context_gains sweep_context",
    "context.validation": "ConditionalValidation validate_conditional_labels",
    "data.aspects": "Aspects aspects_of",
    "data.clicks": "Clicks",
    "data.context": "Context",
    "data.gains": "Gains binary exponential linear raw",
    "data.intents": "explicit_intents top_intents",
    "data.judgments": "Judgments Summary",
    "data.preferences": "Preferences",
    "data.runs": "RunRules Runs",
    "data.scale": "Scale",
    "disagreement.by_topic": "Asymmetry GroupComparison asymmetry compare_groups",
    "disagreement.combined_labels": "CombinedTable combine combined_table split_units",
    "disagreement.counting": "Counts count_relevant",
    "disagreement.counting_resources": "count_resources",
    "disagreement.dawid_skene": "DawidSkene DawidSkeneFit",
    "disagreement.double_judgments": "JudgingEffort double_judgments_needed",
    "disagreement.files": "read_fit write_fit",
    "disagreement.gains": "fitted_gains predicted_qrels",
    "disagreement.many_labels": "ManyLabels observed_weights",
    "disagreement.predicted_relevance": "PredictedRelevance PredictedRelevanceFit",
    "disagreement.sensitivity": "ListOrder Sensitivity sensitivity",
    "disagreement.several_labels": "ItemRelevance posterior",
    "disagreement.top_results": "in_top_results results_to_label",
    "disagreement.transitions": "Transitions fit_transitions",
    "disagreement.user_disagreement": "at_least udm_weights",
    "errors": (
        "AmbiguousLabels CommentWarning FewPairsWarning FormatError GainsError MeasureError "
        "MissingTopicsWarning PairsError PoolFitWarning RepeatedLineWarning ScaleError "
        "SelectionWarning SettingError TiedScoresWarning TopicsError UnjudgedWarning UnknownName "
        "VenireError VenireWarning"
    ),
    "results": "Estimate",
    "io.aspects": "read_aspects",
    "io.clicks": "read_clicks",
    "io.duplicates": "read_duplicates",
    "io.exchange": "ScaledQrels read_preference_groups run_scores write_preference_groups write_scaled_qrels",
    "io.judgments": "read_grid read_judgments write_judgments",
    "io.preferences": "read_preferences",
    "io.runs": "read_runs",
    "io.search_task": "search_judgments",
    "measures.cascade": "ERR RBP RBPResidual RR nERR",
    "measures.context.scoring": "ContextUse",
    "measures.dcg": "CCG CCGsingle CG DCG nCCG nDCG",
    "measures.evaluate": "evaluate",
    "measures.measure": "Measure measure",
    "measures.names": "parse_measure",
    "measures.precision": "AP GAP Judged P Q R Rprec Success bpref",
    "measures.random_users": "UserScores evaluate_users",
    "measures.scores": "Scores",
    "planning.preferences": "check_sample_size pairs_to_ask sample_size",
    "planning.topics": "TopicPlan plan_topics",
    "quality.label_preferences": "LabelPreferences",
    "quality.label_scales": "all_thresholds log_sums merge_labels split_labels threshold_labels",
    "quality.lists": "top_of_pool top_of_runs",
    "quality.pdp": "PDP compare_pdp pdp",
    "quality.power": "DiscriminativePower Power discriminative_power power_of",
    "quality.scales": "ScaleComparison compare_scales",
    "report.document": "Report",
    "report.making": "report_on",
    "report.page": "write_report",
    "simulation.context.collection": "ContextCollection generate_context",
    "simulation.context.setting": "AspectModel ClickModel ContextSetting Engine",
    "simulation.folders": "write_collection",
    "simulation.levels": "Collection Synthetic generate",
    "simulation.perceived": "PerceivedRelevance generate_perceived",
    "users.agreement": "MeasureChoice UserAgreement agreement_with_users choose_measure",
    "users.by_label": "PreferencesByLabels preferences_by_labels",
    "users.clicks": "ClickSummary Online online_scores summarise_clicks",
    "users.online_correlations": "OnlineCorrelations correlate_online",
    "users.preferences": "PreferenceAgreement consensus position_bias preference_agreement",
    "users.verdicts": "PreferenceSummary UserVerdicts summarise_preferences user_verdicts",
}
_HOME_OF = {name: home for home, names in _NAMES_IN.items() for name in names.split()}

# fmt: off
__all__ = [  # noqa: RUF022 - by the alphabet, many to a line
    "AP", "AgreementTable", "AmbiguousLabels", "AspectModel", "AspectRankings", "AspectStudy", "Aspects", "Asymmetry",
    "CCG", "CCGsingle",
    "CG", "ClickModel", "ClickSummary", "Clicks", "Coefficient", "CohenKappa", "Collection", "CombinedAspects",
    "CombinedTable", "CommentWarning", "Comparison", "ConditionalLabels", "ConditionalValidation", "Confusions",
    "Consistency", "Context",
    "ContextCollection", "ContextGain", "ContextSetting", "ContextSweep", "ContextUse", "Counts", "CrossFitted", "DCG",
    "DawidSkene", "DawidSkeneFit", "DirectedAgreement", "DiscriminativePower", "ERR", "Engine", "Estimate",
    "FewPairsWarning", "Forecast", "FormatError", "GAP", "Gains", "GainsError",
    "GroupComparison", "HeadToHead", "ItemRelevance", "JudgeModelComparison",
    "Judged", "JudgingEffort", "Judgments", "LabelPreferences",
    "ListOrder", "ManyLabels", "Measure", "MeasureChoice", "MeasureError", "MissingTopicsWarning", "Online",
    "OnlineCorrelations", "Overlap", "P", "PDP", "PairedBootstrap", "PairedT", "PairsError", "PerceivedRelevance",
    "Phi", "PoolFitWarning", "Power", "PredictedRelevance", "PredictedRelevanceFit", "PredictedScores",
    "PreferenceAgreement",
    "PreferenceSummary", "Preferences", "PreferencesByLabels", "Profiles", "Q", "R", "RBP", "RBPResidual", "RR",
    "RankCounts", "RepeatedLineWarning", "Report", "Robustness", "Rprec", "RunRules", "Runs", "Scale",
    "ScaleComparison", "ScaleError", "ScaledQrels", "Scores", "SelectionWarning", "Sensitivity", "SettingError",
    "SignFlip", "Stability", "Success", "Summary", "Synthetic", "SystemComparison", "TiedScoresWarning",
    "TopicPlan", "TopicsError", "Transitions", "TukeyHSD", "UncertaintySources",
    "UnjudgedWarning", "UnknownName", "UserAgreement", "UserScores", "UserVerdicts", "VenireError", "VenireWarning",
    "Verdict", "Wilcoxon", "agreement_table",
    "agreement_with_users", "alpha", "aspect_rankings", "aspects_of", "asymmetry", "at_least",
    "between_assessors", "between_gains", "binary", "bpref", "check_sample_size", "choose_measure", "cohen_kappa",
    "combine", "combine_aspects", "combined_table", "compare", "compare_groups", "compare_judge_models", "compare_pdp",
    "compare_scales", "compare_systems", "confusions", "conger_kappa", "consistency", "context_gains",
    "correlate_online", "count_relevant", "count_resources", "cross_fitted", "threshold_labels", "all_thresholds",
    "directed_agreement",
    "discriminative_power", "double_judgments_needed", "evaluate", "evaluate_users",
    "explicit_intents", "exponential", "split_labels", "fit_conditional_labels", "fit_transitions", "fitted_gains",
    "fleiss_kappa", "forecast", "generate", "generate_context", "generate_perceived", "gwet_ac", "head_to_head",
    "in_top_results",
    "jaccard", "linear", "log_sums", "measure", "mutual_evaluation", "nCCG", "nDCG", "nERR", "observed_weights",
    "online_scores", "overlap", "pairs_to_ask", "parse_measure", "pdp", "summarise_preferences", "phi", "plan_topics",
    "position_bias", "posterior", "power_of", "predicted_qrels", "preference_agreement", "preferences_by_labels",
    "profiles", "raw", "raw_agreement", "read_aspects", "read_clicks", "read_conditional_labels", "read_duplicates",
    "read_fit", "read_grid", "read_judgments", "read_preference_groups", "read_preferences", "read_runs",
    "merge_labels",
    "report_on", "results_to_label", "run_scores", "sample_size", "score_intervals", "search_judgments",
    "sensitivity", "consensus", "min_agreement_to_stay_ahead", "split_units", "stability", "study_aspects",
    "summarise_clicks", "sweep_context", "top_intents", "top_of_pool", "top_of_runs", "udm_weights",
    "uncertainty_sources", "user_verdicts", "validate_conditional_labels", "verdict", "write_collection",
    "write_conditional_labels", "write_fit", "write_judgments", "write_preference_groups",
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
