from venire.aspects.rankings import (
    AspectRankings as AspectRankings,
    CombinedAspects as CombinedAspects,
    aspect_rankings as aspect_rankings,
    combine_aspects as combine_aspects,
)
from venire.aspects.study import AspectStudy as AspectStudy, study_aspects as study_aspects
