from venire.users.agreement import (
    MeasureChoice as MeasureChoice,
    UserAgreement as UserAgreement,
    agreement_with_users as agreement_with_users,
    choose_measure as choose_measure,
)
from venire.users.clicks import (
    ClickSummary as ClickSummary,
    Online as Online,
    online_scores as online_scores,
    summarise_clicks as summarise_clicks,
)
from venire.users.online_correlations import (
    OnlineCorrelations as OnlineCorrelations,
    correlate_online as correlate_online,
)
from venire.users.preferences import (
    PreferenceAgreement as PreferenceAgreement,
    PreferencesByLabels as PreferencesByLabels,
    consensus as consensus,
    position_bias as position_bias,
    preference_agreement as preference_agreement,
    preferences_by_labels as preferences_by_labels,
)
from venire.users.verdicts import (
    PreferenceSummary as PreferenceSummary,
    UserVerdicts as UserVerdicts,
    summarise_preferences as summarise_preferences,
    user_verdicts as user_verdicts,
)
