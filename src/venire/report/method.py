"""Method: how every number was made, from which papers, and how to make it again."""

from __future__ import annotations

from venire.report.document import Chapter, Grid, Part, Words
from venire.report.evidence import Evidence
from venire.report.making import made_with

FORMULAS = (
    (
        "winner",
        "the system with the highest mean, if paired t-tests over topics tell it from every other one (p <= .05 each)",
        "Berger 1982, Technometrics 24, 295-300",
    ),
    (
        "p(R|label)",
        "share of the pairs of labels starting at the label that end in a relevant one; interval from resampled topics",
        "Demeester et al. 2015, Eqs. 4, 5, doi:10.1007/s10791-015-9275-x",
    ),
    (
        "UDM weight P(M/N)",
        "probability that at least M of N users, the assessor among them, find it relevant",
        "Demeester et al. 2014, Eqs. 1-5, doi:10.1145/2556195.2556268",
    ),
    (
        "random user",
        "mean score over simulated users whose relevance is drawn with p(R|label)",
        "Demeester et al. 2015",
    ),
    (
        "another judge",
        "labels drawn anew from transitions between assessors, shrunk; half the draws resample topics",
        "Turpin and Scholer 2009, generalised",
    ),
    ("significance", "paired t-test over topics, Holm's adjustment over all pairs", "Holm 1979"),
    ("alpha", "1 - observed / expected disagreement of two labels of an item", "Krippendorff 2004"),
    (
        "discriminative power",
        "share of pairs of systems told apart by a paired bootstrap test at 5 %",
        "Sakai 2006, doi:10.1145/1148170.1148261",
    ),
    (
        "PDP",
        "entropy of the order of K documents under Plackett-Luce preferences of their labels",
        "Chu et al. 2021, doi:10.1145/3459637.3482428",
    ),
)


def chapter(evidence: Evidence) -> Chapter:
    """Write it."""
    made = made_with(evidence.question)
    parts: list[Part] = [
        Words(str(made["command"]) or "made from Python, by venire.report_on", "command"),
        Grid("formulas", "How each number is made.", ["number", "how", "reference"], FORMULAS),
        Grid(
            "versions",
            "Versions and settings.",
            ["what", "value"],
            [[k, str(v)] for k, v in made.items() if k != "command"],
        ),
    ]
    finding = (
        f"Every number comes from the files named in the command below, with seed {made['rng']}: the same command "
        "makes the same report."
    )
    return Chapter("method", "Method", finding, tuple(parts))
