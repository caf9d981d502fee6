from venire.comparison.agreement_needed import AgreementNeeded as AgreementNeeded, agreement_needed as agreement_needed
from venire.comparison.by_judge import ScoresByJudge as ScoresByJudge, scores_by_judge as scores_by_judge
from venire.comparison.compare import Comparison as Comparison
from venire.comparison.contradictions import Contradictions as Contradictions
from venire.comparison.corrected_scores import (
    CorrectedPairs as CorrectedPairs,
    CorrectedScores as CorrectedScores,
    corrected_on as corrected_on,
    corrected_scores as corrected_scores,
)
from venire.comparison.favoured import (
    FavouredSystems as FavouredSystems,
    favoured_on as favoured_on,
    favoured_systems as favoured_systems,
)
from venire.comparison.forecast import Forecast as Forecast, JudgeSwap as JudgeSwap, forecast as forecast
from venire.comparison.gate import Claim as Claim
from venire.comparison.judge_change import (
    RankCounts as RankCounts,
    min_agreement_to_stay_ahead as min_agreement_to_stay_ahead,
)
from venire.comparison.mutual_evaluation import mutual_evaluation as mutual_evaluation
from venire.comparison.rank_agreement import Robustness as Robustness
from venire.comparison.robustness import between_assessors as between_assessors, between_gains as between_gains
from venire.comparison.significance import (
    HeadToHead as HeadToHead,
    SystemComparison as SystemComparison,
    compare_systems as compare_systems,
    head_to_head as head_to_head,
)
from venire.comparison.stability import Stability as Stability, stability as stability
from venire.comparison.tests import (
    PairedBootstrap as PairedBootstrap,
    PairedT as PairedT,
    SignFlip as SignFlip,
    TukeyHSD as TukeyHSD,
    Wilcoxon as Wilcoxon,
)
from venire.comparison.uncertainty import (
    JudgeModelComparison as JudgeModelComparison,
    UncertaintySources as UncertaintySources,
    compare_judge_models as compare_judge_models,
    uncertainty_sources as uncertainty_sources,
)
from venire.comparison.verdict import Verdict as Verdict, verdict as verdict
