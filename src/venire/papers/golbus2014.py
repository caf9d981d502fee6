"""Golbus et al. (2014), WWW, doi:10.1145/2566486.2568015: judgments in context, and what users prefer.

Labels, preferences and clicks of the paper are not published, so most of its numbers cannot be computed again.  What
can: arithmetic on printed inputs, and what is claimed of printed tables.  Tables called *erratum* put a printed form
beside the right one; their numbers are not in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from venire import evaluate, read_judgments, read_runs
from venire.data.preferences import Preferences
from venire.kernels.directions import tie_curves
from venire.papers.table import Table
from venire.types import Floats
from venire.users.verdicts import user_verdicts

PAPER = "golbus2014"

UTILITIES = (3, 1, 2, 0, 1)
"""What five documents are worth: the example at which Eqs. (6) and (7) are compared."""

N_FIFTH, N_TENTH, N_TWICE = 270, 188, 1
"""Section 4.1: queries judged given ranks one and five, queries judged to rank ten, and one that was judged twice."""

TABLE_1 = {
    "topicality": (0.994, 0.993),
    "novelty": (0.227, 0.818),
    "authority": (0.685, 0.550),
    "freshness": (0.749, 0.804),
    "quality": (0.887, 0.909),
}
COMPLETE = {"isolation": 0.184, "condition": 0.426}
"""Shares of documents with a label that is not N/A: by aspect in isolation and in condition, and on all aspects."""

ASPECTS = ("overall", "topicality", "novelty", "quality", "freshness", "authority")
TABLE_3 = (
    (0.607, 0.378, 0.190, 0.189, 0.254),
    (0.373, 0.172, 0.165, 0.215),
    (0.231, 0.149, 0.243),
    (0.280, 0.307),
    (0.303,),
)
"""Spearman correlations between changes of aspects, above the diagonal."""

PREFERRED = {"weak": 91, "strong": 23}
"""Section 4.2: topics in a hundred on which users prefer one of the two lists, slightly or more, and strongly."""


def score(measure: str, labels: Sequence[int], given: Sequence[int] = ()) -> float:
    """Score one list of documents with these labels, and with these labels given the document above, from rank 2 on."""
    import polars as pl

    docs = [f"d{rank}" for rank in range(1, len(labels) + 1)]
    alone = [("1", doc, label, "") for doc, label in zip(docs, labels, strict=True)]
    after = [("1", docs[n + 1], label, docs[n]) for n, label in enumerate(given)]
    columns = zip(("topic", "doc", "label", "given"), zip(*alone, *after, strict=True), strict=True)
    table = pl.DataFrame({name: [str(each) for each in values] for name, values in columns})
    judgments = read_judgments(table, scale="0<1<2<3")
    runs = read_runs({"1": {doc: -rank for rank, doc in enumerate(docs)}})
    return float(evaluate(judgments, runs, [measure], gains="linear").mean().values[0, 0])


def single_sum(cell: str) -> float:
    """CCG@5 by Eq. (6) and by Eq. (7), or whether they are the same."""
    values = {"Eq. (6)": score("CCG@5", UTILITIES), "Eq. (7)": score("CCGsingle@5", UTILITIES)}
    return values[cell] if cell in values else values["Eq. (6)"] == values["Eq. (7)"]


def inner_index(cell: str) -> float:
    """CCG@2 at alpha = 1 of two documents labelled 2, the second of which is worth nothing after the first."""
    if cell == "index j, as in the text":
        return score("CCG(alpha=1)@2", (2, 2), (0,))
    given = (2, 0)  # g(d_1|d_0) = g(d_1), and g(d_2|d_1)
    return sum((i + 1) * given[i] / float(np.log2(i + 2)) for i in range(2))


def stopping(cell: str) -> float:
    """Weight with which a user stops at rank 3: what that rank adds for a document at rank 1."""
    rank = int(cell.removeprefix("rank "))
    first = (1, *[0] * (rank - 1))
    return score(f"CCG@{rank}", first) - score(f"CCG@{rank - 1}", first)


def first_counts_more(cell: str) -> bool:
    """Whether the document at rank one has a larger share in CCG than in DCG, all documents being alike."""
    k = int(cell.removeprefix("@"))
    share = {name: score(f"{name}@{k}", (1, *[0] * (k - 1))) / score(f"{name}@{k}", [1] * k) for name in ("CCG", "DCG")}
    return share["CCG"] > share["DCG"]


def queries(cell: str) -> float:
    """Queries in all; and those judged given rank five, in fifths of the judged ones."""
    if cell == "all":
        return float(N_FIFTH + N_TENTH - N_TWICE)
    return float(round(5 * N_FIFTH / (N_FIFTH + N_TENTH)))


def more_in_condition(aspect: str) -> bool:
    """Whether Table 1 has more labels that are not N/A in condition than in isolation."""
    alone, condition = TABLE_1[aspect]
    return condition > alone


def possible(context: str) -> bool:
    """Whether the complete coverage lies within what the coverage of the aspects allows, however they depend."""
    place = list(COMPLETE).index(context)
    shares = [covered[place] for covered in TABLE_1.values()]
    return max(0.0, sum(shares) - len(shares) + 1) <= COMPLETE[context] <= min(shares)


def correlations() -> Floats:
    """Table 3, both sides of the diagonal -> (aspect, aspect)."""
    rho = np.eye(len(ASPECTS))
    rho[np.triu_indices(len(ASPECTS), 1)] = [value for row in TABLE_3 for value in row]
    return np.maximum(rho, rho.T)


def together(cell: str) -> bool:
    """Whether these aspects, and no other, are one of two clusters of Table 3 (average linkage at 1 - rho)."""
    from scipy.cluster.hierarchy import fcluster, linkage

    distance = 1 - correlations()[np.triu_indices(len(ASPECTS), 1)]
    number = fcluster(linkage(distance, "average"), 2, criterion="maxclust")
    groups = [{name for name, own in zip(ASPECTS, number, strict=True) if own == each} for each in set(number.tolist())]
    return set(cell.split(", ")) in groups


def preferences() -> Preferences:
    """A hundred topics on which five users are of one mind, with the preferences of Section 4.2."""
    strength = [2] * PREFERRED["strong"] + [1] * (PREFERRED["weak"] - PREFERRED["strong"])
    strength += [0] * (100 - len(strength))
    rows = [(f"t{n}", "left", "right", each, f"u{user}") for n, each in enumerate(strength) for user in range(5)]
    return Preferences.of(rows)


def ties(cell: str) -> float:
    """Share of topics on which users call a tie."""
    return float(user_verdicts(preferences()).ties[list(PREFERRED).index(cell)])


def always_tied(cell: str) -> float:
    """What a measure scores against strong preference that always calls a tie."""
    users = user_verdicts(preferences()).directions[1:]
    curves = tie_curves(np.zeros((1, 100)), users, np.ones((1, 100)))
    found = curves.kappa if cell == "kappa" else curves.same
    return float(found[0, 0, 0, curves.open[0].nonzero()[0][-1]])


NOT_THE_SAME = (
    "Eq. (6) weighs utility j by the sum over i = j..k of 1/log2(i+1), Eq. (7) by (k-j+1)/log2(j+1): for 3, 1, 2, 0, 1 "
    "they give 13.816 and 20.911"
)
TOPICALITY = "Table 1 has 99.4% in isolation and 99.3% in condition: a little less, as for authority"

TABLES = [
    Table(
        paper=PAPER,
        where="Eqs. (6), (7)",
        title="erratum: CCG@5 of utilities 3, 1, 2, 0, 1 by both forms",
        compute=single_sum,
        printed={"Eq. (6)": "13.816", "Eq. (7)": "20.911", "the two are the same": "yes"},
        findings={"the two are the same": NOT_THE_SAME},
        note="the two numbers are not in the paper, which calls the forms the same",
    ),
    Table(
        paper=PAPER,
        where="Eq. (6)",
        title="erratum: CCG@2 at alpha = 1, labels 2, 2, the second 0 after the first",
        compute=inner_index,
        printed={"index j, as in the text": "3.262", "index i, as printed": "2.000"},
        note="neither number is in the paper; as printed, a document read on the way to rank i counts as much as the "
        "one at rank i does after the one above",
    ),
    Table(
        paper=PAPER,
        where="Section 3.3.2",
        title="weight with which a user stops",
        compute=stopping,
        printed={"rank 3": "1/2"},
        note="so the logarithm of the paper has base 2",
    ),
    Table(
        paper=PAPER,
        where="Section 3.3.2",
        title="rank one contributes more to CCG than to DCG",
        compute=first_counts_more,
        printed={"@5": "yes", "@10": "yes"},
    ),
    Table(
        paper=PAPER,
        where="Sections 3.2, 4.1",
        title="queries in all, and in fifths those judged given rank five",
        compute=queries,
        printed={"all": "457", "fifths": "3"},
        note="270 and 188, one of them judged twice",
    ),
    Table(
        paper=PAPER,
        where="Sections 4.2, 5.2.2",
        title="share of topics on which users call a tie",
        compute=ties,
        printed={"weak": "9%", "strong": "77%"},
        note="from a preference on 91 and on 23 of a hundred topics",
    ),
    Table(
        paper=PAPER,
        where="Section 5.2.2",
        title="a measure that always calls a tie, against strong preference",
        compute=always_tied,
        printed={"equal verdicts": "77%", "kappa": "0"},
    ),
    Table(
        paper=PAPER,
        where="Table 1",
        title="but for authority, more labels that are not N/A in condition",
        compute=more_in_condition,
        printed={"topicality": "yes", "novelty": "yes", "authority": "no", "freshness": "yes", "quality": "yes"},
        findings={"topicality": TOPICALITY},
    ),
    Table(
        paper=PAPER,
        where="Section 5.1",
        title="the complete coverage is one that Table 1 allows",
        compute=possible,
        printed={"isolation": "yes", "condition": "yes"},
        note="18.4 and 42.6%; between the least and the most that five shares can have in common",
    ),
    Table(
        paper=PAPER,
        where="Table 3",
        title="two clusters of aspects, by average linkage at 1 - rho",
        compute=together,
        printed={"overall, topicality, novelty": "yes", "authority, freshness, quality": "yes"},
        note="the paper reads them off the table",
    ),
]
