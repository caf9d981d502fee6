from venire.data.asked import Asked as Asked
from venire.planning.agreement import plan_agreement as plan_agreement
from venire.planning.goals import Goal as Goal
from venire.planning.labels import plan_labels as plan_labels
from venire.planning.plan import plan as plan
from venire.planning.preference_tests import plan_preferences as plan_preferences
from venire.planning.preferences import (
    check_sample_size as check_sample_size,
    pairs_to_ask as pairs_to_ask,
    sample_size as sample_size,
)
from venire.planning.result import Expected as Expected, Plan as Plan, costs as costs
from venire.planning.rounds import plan_systems as plan_systems
from venire.planning.time import minutes_per_label as minutes_per_label
from venire.planning.topics import (
    TopicPlan as TopicPlan,
    plan_more_topics as plan_more_topics,
    plan_topics as plan_topics,
)
