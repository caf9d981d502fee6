"""What a label says about other people: predicted relevance, user disagreement, transitions, several labels."""

from venire._lazy import lazy_names

lazy_names(__name__)
