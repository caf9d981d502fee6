from venire.context.model import (
    ConditionalLabels as ConditionalLabels,
    CrossFitted as CrossFitted,
    cross_fitted as cross_fitted,
    fit_conditional_labels as fit_conditional_labels,
    read_conditional_labels as read_conditional_labels,
)
from venire.context.sweep import (
    ContextGain as ContextGain,
    ContextSweep as ContextSweep,
    context_gains as context_gains,
    sweep_context as sweep_context,
)
from venire.context.validation import (
    ConditionalValidation as ConditionalValidation,
    validate_conditional_labels as validate_conditional_labels,
)
