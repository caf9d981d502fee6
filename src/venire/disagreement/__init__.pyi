from venire.disagreement.by_topic import (
    Asymmetry as Asymmetry,
    GroupComparison as GroupComparison,
    asymmetry as asymmetry,
    compare_groups as compare_groups,
)
from venire.disagreement.combined_labels import (
    CombinedTable as CombinedTable,
    combine as combine,
    combined_table as combined_table,
    split_units as split_units,
)
from venire.disagreement.counting import Counts as Counts, count_relevant as count_relevant
from venire.disagreement.counting_resources import count_resources as count_resources
from venire.disagreement.dawid_skene import DawidSkene as DawidSkene, DawidSkeneFit as DawidSkeneFit
from venire.disagreement.double_judgments import (
    JudgingEffort as JudgingEffort,
    double_judgments_needed as double_judgments_needed,
)
from venire.disagreement.files import read_fit as read_fit, write_fit as write_fit
from venire.disagreement.gains import predicted_qrels as predicted_qrels
from venire.disagreement.many_labels import ManyLabels as ManyLabels, observed_weights as observed_weights
from venire.disagreement.predicted_relevance import PredictedRelevanceFit as PredictedRelevanceFit
from venire.disagreement.sensitivity import (
    ListOrder as ListOrder,
    Sensitivity as Sensitivity,
    sensitivity as sensitivity,
)
from venire.disagreement.several_labels import ItemRelevance as ItemRelevance, posterior as posterior
from venire.disagreement.top_results import in_top_results as in_top_results, results_to_label as results_to_label
from venire.disagreement.transitions import Transitions as Transitions, fit_transitions as fit_transitions
from venire.disagreement.user_disagreement import at_least as at_least, udm_weights as udm_weights
