"""Venire: search evaluation that knows its judges disagree.

>>> from venire import evaluate, read_judgments, read_runs
>>> judgments = read_judgments({"q1": {"d1": 2, "d2": 0}})
>>> evaluate(judgments, read_runs({"q1": {"d1": 0.7, "d2": 0.3}}), ["nDCG@10", "P@1"]).mean().values.tolist()
[[1.0, 1.0]]

Names are imported when they are first used.  Those that most people need are here; the rest are in the packages
``venire.agreement``, ``venire.disagreement``, ``venire.comparison``, ``venire.users``, ``venire.quality``,
``venire.context``, ``venire.aspects``, ``venire.planning``, ``venire.simulation`` and ``venire.measures``.
"""

from venire._lazy import lazy_names

lazy_names(__name__)
