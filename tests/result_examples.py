"""One small example of every table and result, by the name of its class; made when asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import venire
from two_judges import judged, lists, table
from venire.agreement.alpha import alpha
from venire.agreement.directed import differences
from venire.agreement.flags import FlaggedProfiles
from venire.aspects.rankings import aspect_rankings
from venire.aspects.study import AspectStudy, study_aspects
from venire.comparison.by_judge import scores_by_judge
from venire.comparison.verdict import verdict
from venire.context.model import fit_conditional_labels
from venire.context.sweep import sweep_context
from venire.context.validation import validate_conditional_labels
from venire.data.clicks import Clicks
from venire.disagreement.combined_labels import CombinedTable
from venire.disagreement.many_labels import sampled
from venire.io.aspects import read_aspects
from venire.io.clicks import read_clicks
from venire.io.runs import scan
from venire.report.document import Chapter, Report
from venire.simulation.context.collection import ContextCollection, ContextSetting, generate_context
from venire.simulation.context.setting import AspectModel
from venire.simulation.perceived import PerceivedCollection
from venire.users.agreement import choose_measure
from venire.users.clicks import summarise_clicks
from venire.users.online_correlations import correlate_online
from venire.users.verdicts import summarise_preferences


@cache
def small() -> venire.simulation.Collection:
    return venire.simulation.generate(venire.simulation.Synthetic(n_topics=6, docs_per_topic=40, n_unjudged=5), rng=7)


@cache
def perceived() -> PerceivedCollection:
    setting = venire.simulation.PerceivedRelevance(
        n_topics=12, n_assessors=3, topics_per_batch=6, preference_assessors=2
    )
    return venire.simulation.generate_perceived(setting, rng=7)


def labels() -> venire.Judgments:
    return small().judgments


def by_topic() -> venire.Judgments:
    return labels().where(assessor="careful1")


@cache
def scores() -> venire.Scores:
    return venire.evaluate(by_topic(), small().runs, ["nDCG@10", "P@5"])


@cache
def fit() -> venire.disagreement.PredictedRelevanceFit:
    return venire.PredictedRelevance(n_draws=50).fit(labels())


@cache
def outlook() -> venire.comparison.Forecast:
    return venire.comparison.forecast(labels(), small().runs, assessor="careful1", n_draws=50)


@cache
def dependence() -> venire.disagreement.Sensitivity:
    return venire.disagreement.sensitivity(labels(), small().runs, setting=fit().setting)


@cache
def pdp(grades: int = 4) -> venire.quality.PDP:
    return venire.pdp(perceived().at(grades), perceived().preferences, k=3, n_draws=20)


@cache
def context() -> ContextCollection:
    return generate_context(ContextSetting(n_topics=20, aspects=AspectModel()), rng=7)


@cache
def clicks() -> Clicks:
    return read_clicks(context().clicks)


@cache
def study() -> AspectStudy:
    few = context().aspects.filter(context().aspects["aspect"].is_in(["overall", "novelty", "topicality"]))
    return study_aspects(read_aspects(few, scale="bad<fair<good<excellent<perfect"), n_draws=20, splits=1, folds=2)


def snippets_and_pages() -> CombinedTable:
    snippets = venire.io.read_grid("Sure Maybe No Sure\nMaybe Sure No Sure", scale="No<Maybe<Sure")
    pages = venire.io.read_grid("Key Rel Non Key\nRel Key Non Key", scale="Non<Rel<Key")
    return venire.disagreement.combined_table(snippets, pages)


def against_self() -> venire.agreement.Consistency:
    judgments = venire.io.read_grid("2 2 1 0 0\n2 0 2 0 1")
    return venire.agreement.consistency(judgments, [["d1", "d2"], ["d4", "d5"]], n_draws=20)


def anyone(function: Callable[..., object], **options: object) -> object:
    return function(labels(), small().runs, assessor="careful1", **options)


@cache
def corrected() -> venire.comparison.CorrectedScores:
    some = labels().take(labels().assessor.among("careful1", "assessor") | (labels().item % 5 == 0))
    return venire.comparison.corrected_scores(some, small().runs, judge="careful1", reference="lenient1", n_draws=20)


def swap() -> venire.comparison.JudgeSwap:
    return venire.comparison.JudgeSwap.of(labels(), small().runs, assessor="careful1")


def chosen(function: Callable[..., object]) -> object:
    return function(perceived().preferences)


@cache
def certificate() -> venire.certification.Certificate:
    return venire.certify(labels(), small().runs, judges="lenient1", reference="careful1", n_draws=20)


EXAMPLES: dict[str, Callable[[], object]] = {
    "AgreementNeeded": lambda: anyone(venire.comparison.agreement_needed, measures="P@10"),
    "Contour": lambda: example("AgreementNeeded").contour(*scores().names["system"][:2]),
    "AgreementDifferences": lambda: differences(venire.agreement.directed_agreement(labels(), by="topic")),
    "AspectClusters": lambda: study().clusters[0],
    "AspectCorrelations": lambda: study().correlations,
    "AspectRankings": lambda: aspect_rankings(
        study().aspects,
        context().runs,
        "nDCG@5",
        base="overall",
        combinations=[{"topicality": 1.0}],
        unjudged="condensed",
        n_draws=10,
        pool="mean",
    ),
    "AspectStudy": study,
    "Aspects": lambda: study().aspects,
    "Certificate": certificate,
    "JudgeCertificate": lambda: certificate().judges[0],
    "OrderAgreement": lambda: certificate().judges[0].scores.order[0],
    "ReferenceAgreement": lambda: certificate().judges[0].agreement,
    "AltTest": lambda: certificate().judges[0].alt_test,
    "AnnotationRounds": lambda: dependence().judgments,
    "Asymmetry": lambda: venire.disagreement.asymmetry(
        labels(), fit().setting, observed=["careful1"], reference=["strict1", "lenient1"]
    ),
    "Changes": lambda: study().changes,
    "Claim": lambda: venire.comparison.Claim(
        anyone(venire.compare, candidate="s01", baseline="s02", n_draws=50), margin=0.02
    ),
    "certification.Claim": lambda: certificate().judges[0].verdict("levels"),
    "ClickSummary": lambda: summarise_clicks(clicks()),
    "Clicks": clicks,
    "AgreementTable": lambda: venire.agreement.agreement_table(labels(), n_draws=20),
    "Coefficient": lambda: alpha(labels(), n_draws=20),
    "Collection": small,
    "CohenKappa": lambda: venire.agreement.cohen_kappa(labels(), n_draws=20),
    "CombinedAspects": lambda: venire.aspects.combine_aspects(study().aspects, ["overall", "novelty"]),
    "CombinedTable": snippets_and_pages,
    "Comparison": lambda: anyone(venire.compare, n_draws=50),
    "MeasureComparison": lambda: example("Comparison").by_measure[0],
    "ConditionalLabels": lambda: fit_conditional_labels(context().judgments),
    "ConditionalValidation": lambda: validate_conditional_labels(context().judgments, folds=2, splits=1, n_draws=10),
    "Confusions": lambda: venire.agreement.confusions(labels()),
    "Consistency": against_self,
    "ContextCollection": context,
    "ContextGain": lambda: example("ContextSweep").gains[0][0],
    "ContextUse": lambda: (
        venire.evaluate(context().judgments, context().runs, "CCG(alpha=0.5)@5", pool="median").context
    ),
    "ContextSweep": lambda: sweep_context(
        context().judgments, context().runs, context().preferences, alphas=(0.0, 0.5), pool="median", n_draws=20
    ),
    "CorrectedPairs": lambda: corrected().pairs(),
    "CorrectedScores": corrected,
    "Counts": lambda: anyone(venire.disagreement.count_relevant),
    "Coverage": lambda: study().coverage,
    "CrossFitted": lambda: venire.context.cross_fitted(context().judgments, folds=2),
    "DawidSkeneFit": lambda: venire.disagreement.DawidSkene().fit(labels()),
    "DirectedAgreement": lambda: venire.agreement.directed_agreement(labels()),
    "DiscriminativePower": lambda: venire.quality.power_of(scores(), test=venire.comparison.PairedT()),
    "Distributions": lambda: study().distributions,
    "Estimate": lambda: fit().estimate("3"),
    "Forecast": outlook,
    "JudgeModelComparison": lambda: venire.comparison.compare_judge_models(swap(), n_draws=20),
    "FlaggedProfiles": lambda: FlaggedProfiles(venire.agreement.profiles(labels())),
    "Gains": lambda: fit().gains(),
    "FavouredSystems": lambda: venire.comparison.favoured_systems(
        labels(), small().runs, ["P@5", "nDCG@5"], judge="lenient1", reference="careful1", families={"few": ["s01"]}
    ),
    "GroupComparison": lambda: venire.disagreement.compare_groups(
        labels(), {topic: "odd" if n % 2 else "even" for n, topic in enumerate(labels().items.topics)}, fit().setting
    ),
    "HeadToHead": lambda: venire.comparison.head_to_head(scores(), *scores().names["system"][:2], measure="nDCG@10"),
    "ItemRelevance": lambda: venire.disagreement.posterior(labels(), fit()),
    "JudgingEffort": lambda: venire.disagreement.double_judgments_needed(fit()),
    "Judgments": labels,
    "LabelPreferencesFit": lambda: pdp().labels,
    "ManyLabels": lambda: venire.disagreement.observed_weights(labels(), [(1, 2), (2, 3)], at_least=5),
    "MeasureChoice": lambda: choose_measure(
        context().judgments, context().runs, context().preferences, "nDCG@5", pool="median", n_draws=20
    ),
    "OnlineCorrelations": lambda: correlate_online(context().judgments, clicks(), "nDCG@5", pool="median", n_draws=20),
    "Overlap": lambda: venire.agreement.overlap(labels()),
    "PDP": pdp,
    "PDPDifference": lambda: venire.quality.compare_pdp(pdp(), pdp(2), names=("four", "two")),
    "PairsToAsk": lambda: venire.planning.pairs_to_ask(by_topic(), 3),
    "PerceivedCollection": perceived,
    "Phi": lambda: venire.agreement.phi(labels(), interval="topics", n_draws=20, chance=False),
    "PositionBias": lambda: chosen(venire.users.position_bias),
    "Power": lambda: venire.quality.power_of(scores(), test=venire.comparison.PairedT()).rows[0],
    "PredictedRelevanceFit": fit,
    "PreferenceAgreement": lambda: venire.users.preference_agreement(perceived().preferences, n_draws=20),
    "Prediction": lambda: study().prediction,
    "PreferenceSummary": lambda: summarise_preferences(context().preferences),
    "Preferences": lambda: perceived().preferences,
    "PreferencesByLabels": lambda: venire.users.preferences_by_labels(
        perceived().preferences, perceived().judgments.where(assessor=perceived().judgments.assessors[0])
    ),
    "Profiles": lambda: venire.agreement.profiles(labels()),
    "QualitySensitivity": lambda: dependence().quality,
    "ScoresByJudge": lambda: scores_by_judge(judged(table()), lists()),
    "Report": lambda: Report("Systems", (Chapter("verdict", "Verdict", "No winner can be named."),), {}),
    "Robustness": lambda: venire.comparison.between_assessors(labels(), small().runs, n_draws=20),
    "Runs": lambda: small().runs,
    "SampleSizeCheck": lambda: venire.planning.check_sample_size(
        perceived().preferences, perceived().judgments, sizes=(5, 10), n_draws=10
    ),
    "ScaleComparison": lambda: venire.quality.compare_scales(
        perceived().judgments, preferences=perceived().preferences, k=3, n_draws=10
    ),
    "Sampled": lambda: sampled(labels(), at_least=5, n=(1, 2), repeats=5),
    "Scan": lambda: scan(small().runs, labels().items),
    "Scores": scores,
    "ScaledQrels": lambda: venire.disagreement.predicted_qrels(labels(), fit().gains(), assessor="careful1"),
    "Sensitivity": lambda: venire.disagreement.sensitivity(labels(), setting=fit().setting, against=("topics",)),
    "Contradictions": lambda: example("ScoresByJudge").contradictions(),
    "Consensus": lambda: chosen(venire.users.consensus),
    "Stability": lambda: venire.comparison.stability(outlook()),
    "Summary": lambda: labels().summary(),
    "SystemComparison": lambda: venire.comparison.compare_systems(
        scores(), "nDCG@10", test=venire.comparison.PairedT(), n_resamples=50
    ),
    "Plan": lambda: venire.plan(by_topic(), small().runs, goal="best", budget=9, reference="expert"),
    "TopLists": lambda: venire.quality.top_of_pool(by_topic(), 5),
    "TopicInfluence": lambda: dependence().topics,
    "TopicPlan": lambda: venire.planning.plan_topics(scores(), "nDCG@10"),
    "Transitions": lambda: outlook().transitions,
    "UncertaintySources": lambda: venire.comparison.uncertainty_sources(swap(), n_draws=50),
    "UserAgreement": lambda: example("MeasureChoice").agreement,
    "UserScores": lambda: anyone(venire.evaluate_users, gains=fit().gains(), users=20),
    "UserVerdicts": lambda: example("PreferenceSummary").verdicts,
    "Verdict": lambda: verdict(scores(), "nDCG@10"),
}


@cache
def example(name: str) -> object:
    """Make the example of a class, once."""
    return EXAMPLES[name]()
