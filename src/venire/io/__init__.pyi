from venire.io.answers import Answers as Answers, as_answers as as_answers
from venire.io.duplicates import read_duplicates as read_duplicates
from venire.io.exchange import (
    ScaledQrels as ScaledQrels,
    ranx_runs as ranx_runs,
    read_preference_groups as read_preference_groups,
    run_scores as run_scores,
    write_preference_groups as write_preference_groups,
    write_scaled_qrels as write_scaled_qrels,
)
from venire.io.judgments import read_grid as read_grid
from venire.io.limits import Limits as Limits, within_limits as within_limits
from venire.io.plans import read_plan as read_plan, write_plan as write_plan
from venire.io.search_task import search_judgments as search_judgments
from venire.io.sources.nuggets import read_nuggets as read_nuggets
from venire.io.texts import read_texts as read_texts
