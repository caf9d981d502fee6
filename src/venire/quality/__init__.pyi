from venire.quality.label_preferences import LabelPreferences as LabelPreferences
from venire.quality.label_scales import (
    all_thresholds as all_thresholds,
    log_sums as log_sums,
    merge_labels as merge_labels,
    split_labels as split_labels,
    threshold_labels as threshold_labels,
)
from venire.quality.lists import top_of_pool as top_of_pool, top_of_runs as top_of_runs
from venire.quality.pdp import PDP as PDP, compare_pdp as compare_pdp
from venire.quality.power import (
    DiscriminativePower as DiscriminativePower,
    Power as Power,
    discriminative_power as discriminative_power,
    power_of as power_of,
)
from venire.quality.scales import ScaleComparison as ScaleComparison, compare_scales as compare_scales
