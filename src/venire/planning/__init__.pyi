from venire.planning.preferences import (
    check_sample_size as check_sample_size,
    pairs_to_ask as pairs_to_ask,
    sample_size as sample_size,
)
from venire.planning.topics import TopicPlan as TopicPlan, plan_topics as plan_topics
