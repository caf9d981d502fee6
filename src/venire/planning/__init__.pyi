from venire.data.asked import Asked as Asked
from venire.planning.every_goal import plan as plan
from venire.planning.goals import Goal as Goal
from venire.planning.plan import plan_systems as plan_systems
from venire.planning.preferences import (
    check_sample_size as check_sample_size,
    pairs_to_ask as pairs_to_ask,
    sample_size as sample_size,
)
from venire.planning.result import Expected as Expected, Plan as Plan
from venire.planning.topics import TopicPlan as TopicPlan, plan_topics as plan_topics
