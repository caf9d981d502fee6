"""Measures, scores, and scores for random users."""

from venire._lazy import lazy_names

lazy_names(__name__)
