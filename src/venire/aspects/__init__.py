"""Labels on several aspects of relevance."""

from venire._lazy import lazy_names

lazy_names(__name__)
