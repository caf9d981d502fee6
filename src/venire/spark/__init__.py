"""The same numbers on Spark: data frames of a cluster in, the results of the local functions out."""

from venire._lazy import lazy_names

lazy_names(__name__)
