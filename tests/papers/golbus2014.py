"""Golbus et al. (2014), WWW, doi:10.1145/2566486.2568015: conditional judgments, and what users prefer.

Labels, preferences and clicks of the paper are not published.  What can be computed is arithmetic on printed inputs,
and what is claimed of printed tables.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy.cluster.hierarchy import fcluster, linkage

from papers.tables import Paper, yes
from venire import evaluate, read_judgments, read_runs
from venire.data.preferences import Preferences
from venire.kernels.directions import tie_curves
from venire.users.verdicts import user_verdicts

PAPER = Paper("golbus2014")

N_FIFTH, N_TENTH, N_TWICE = 270, 188, 1
"""Section 4.1: queries judged given ranks one and five, queries judged to rank ten, and one that was judged twice."""

TABLE_1 = {
    "topicality": (0.994, 0.993),
    "novelty": (0.227, 0.818),
    "authority": (0.685, 0.550),
    "freshness": (0.749, 0.804),
    "quality": (0.887, 0.909),
}
COMPLETE = {"in isolation": 0.184, "conditional": 0.426}
"""Shares of documents with a label that is not N/A: by aspect, in isolation and conditional, and on all aspects."""

ASPECTS = ("overall", "topicality", "novelty", "quality", "freshness", "authority")
TABLE_3 = (
    *(0.607, 0.378, 0.190, 0.189, 0.254),
    *(0.373, 0.172, 0.165, 0.215),
    *(0.231, 0.149, 0.243),
    *(0.280, 0.307),
    0.303,
)
"""Spearman correlations between changes of aspects, above the diagonal."""

PREFERRED = {"weak": 91, "strong": 23}
"""Section 4.2: topics in a hundred on which users prefer one of the two lists, slightly or more, and strongly."""


def score(measure: str, labels: Sequence[int], given: Sequence[int] = ()) -> float:
    """Score one list of documents with these labels, and with these labels given the document above, from rank 2 on."""
    docs = [f"d{rank}" for rank in range(1, len(labels) + 1)]
    alone = [("1", doc, str(label), "") for doc, label in zip(docs, labels, strict=True)]
    after = [("1", docs[n + 1], str(label), docs[n]) for n, label in enumerate(given)]
    table = pl.DataFrame(alone + after, schema=["topic", "doc", "label", "given"], orient="row")
    runs = read_runs({"1": {doc: -rank for rank, doc in enumerate(docs)}})
    found = evaluate(read_judgments(table, scale="0<1<2<3"), runs, [measure], gains="linear")
    return float(found.mean().values[0, 0])


@PAPER.table(
    "Eqs. (6), (7)",
    "erratum: CCG@5 of utilities 3, 1, 2, 0, 1 by both forms",
    stated=yes("the two are the same"),
    implied={"Eq. (6)": "13.816", "Eq. (7)": "20.911"},
    known={
        "the two are the same": "Eq. (6) weighs utility j by the sum over i = j..k of 1/log2(i+1), Eq. (7) by "
        "(k-j+1)/log2(j+1)"
    },
)
def single_sum(cell):
    values = {name: score(f"{name}@5", (3, 1, 2, 0, 1)) for name in ("CCG", "CCGsingle")}
    return {"Eq. (6)": values["CCG"], "Eq. (7)": values["CCGsingle"]}.get(cell, values["CCG"] == values["CCGsingle"])


@PAPER.table(
    "Eq. (6)",
    "erratum: CCG@2 at alpha = 1, labels 2, 2, the second 0 after the first",
    implied={"index j, as in the text": "3.262", "index i, as printed": "2.000"},
)
def inner_index(cell):
    if cell == "index j, as in the text":
        return score("CCG(alpha=1)@2", (2, 2), (0,))
    given = (2, 0)  # g(d_1|d_0) = g(d_1), and g(d_2|d_1)
    return sum((i + 1) * given[i] / float(np.log2(i + 2)) for i in range(2))


@PAPER.table("Section 3.3.2", "weight with which a user stops", printed={"rank 3": "1/2"})
def stopping(_):
    return score("CCG@3", (1, 0, 0)) - score("CCG@2", (1, 0))


@PAPER.table("Section 3.3.2", "rank one contributes more to CCG than to DCG", stated=yes("@5", "@10"))
def first_counts_more(cell):
    k = int(cell.removeprefix("@"))
    ccg, dcg = (score(f"{name}@{k}", (1, *[0] * (k - 1))) / score(f"{name}@{k}", [1] * k) for name in ("CCG", "DCG"))
    return ccg > dcg


@PAPER.table(
    "Sections 3.2, 4.1",
    "queries in all, and the share judged given rank five, to the nearest fifth",
    printed={"all": "457", "share, roughly": "3/5"},
)
def queries(cell):
    n = N_FIFTH + N_TENTH
    return float(n - N_TWICE) if cell == "all" else round(5 * N_FIFTH / n) / 5


def preferences() -> Preferences:
    """A hundred topics on which five users are of one mind, with the preferences of Section 4.2."""
    strength = [2] * PREFERRED["strong"] + [1] * (PREFERRED["weak"] - PREFERRED["strong"])
    strength += [0] * (100 - len(strength))
    rows = [(f"t{n}", "left", "right", each, f"u{user}") for n, each in enumerate(strength) for user in range(5)]
    return Preferences.of(rows)


@PAPER.table(
    "Sections 4.2, 5.2.2", "share of topics on which users call a tie", printed={"weak": "9%", "strong": "77%"}
)
def ties(cell):
    return float(user_verdicts(preferences()).ties[list(PREFERRED).index(cell)])


@PAPER.table(
    "Section 5.2.2",
    "a measure that always calls a tie, against strong preference",
    implied={"equal verdicts": "77%", "kappa": "0"},
)
def always_tied(cell):
    users = user_verdicts(preferences()).directions[1:]
    curves = tie_curves(np.zeros((1, 100)), users, np.ones((1, 100)))
    found = curves.kappa if cell == "kappa" else curves.same
    return float(found[0, 0, 0, curves.open[0].nonzero()[0][-1]])


@PAPER.table(
    "Table 1",
    "except for authority, more conditional labels that are not N/A",
    stated={**dict.fromkeys(TABLE_1, "yes"), "authority": "no"},
    known={"topicality": "Table 1 has 99.4 % in isolation and 99.3 % for conditional labels"},
)
def more_conditional(aspect):
    alone, conditional = TABLE_1[aspect]
    return conditional > alone


@PAPER.table("Section 5.1", "the complete coverage is one that Table 1 allows", implied=yes(*COMPLETE))
def possible(context):
    shares = [covered[list(COMPLETE).index(context)] for covered in TABLE_1.values()]
    return max(0.0, sum(shares) - len(shares) + 1) <= COMPLETE[context] <= min(shares)


@PAPER.table(
    "Table 3",
    "two clusters of aspects, by average linkage at 1 - rho",
    stated=yes("overall, topicality, novelty", "authority, freshness, quality"),
)
def together(cell):
    number = fcluster(linkage(1 - np.array(TABLE_3), "average"), 2, criterion="maxclust")
    groups = [{name for name, own in zip(ASPECTS, number, strict=True) if own == each} for each in set(number.tolist())]
    return set(cell.split(", ")) in groups
