"""Studies in which people and machines give labels and preferences."""

from venire._lazy import lazy_names

lazy_names(__name__)
