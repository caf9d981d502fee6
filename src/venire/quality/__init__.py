"""What judgments can distinguish: discriminative power, pairwise discriminative power, label scales."""

from venire._lazy import lazy_names

lazy_names(__name__)
