"""Demeester et al. (2014), WSDM, doi:10.1145/2556195.2556268: the User Disagreement Model.

What follows from numbers that the paper prints is computed from them; what follows from its own judgments
(RelFeedback10, here ``rf10_crowd``) needs that data set.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from papers.tables import Paper, data, fedweb13, rf10, rf10_frame, yes
from venire import PredictedRelevance, evaluate, read_judgments, read_runs
from venire.agreement.consistency import consistency
from venire.disagreement.gains import read_share
from venire.disagreement.many_labels import observed_weights, sampled
from venire.disagreement.user_disagreement import udm_weights
from venire.io import read_duplicates, read_grid

PAPER = Paper("demeester2014")
LEVELS = {"Non": 0, "Rel": 1, "HRel": 2}
"""Levels of the RelFeedback10 labels."""

PREDICTED = {"1/3": "0.51", "2/3": "0.09", "2/4": "0.21", "2/5": "0.35"}
"""Table 1, predicted P(M/N) given Rel."""

P_KEY = {"Key": 0.5, "HRel": 0.23, "Rel": 0.15, "Non": 0.0}
"""Table 3, high-quality lists of ten results; p(Key|Key) is not printed, and has no influence on 1/N."""

CASES = {"Maybe, HRel": 87 / 372, "Sure, HRel, if the cases are its own": 87 / 372, "No, HRel": 5 / 36}
"""Section 7: how often the other assessor gave the top level, over how often the two labels occurred."""

FIGURE_4 = """
    Key   HRel  HRel  HRel  Rel   HRel  Non  Rel
    HRel  Rel   HRel  Key   Rel   Rel   Rel  Non
    HRel  Key   Rel   HRel  HRel  HRel  Rel  Rel
    Rel   HRel  Key   Rel   Rel   HRel  Non  Non"""
"""Four users, eight documents, the third user is the assessor: labels of our own that fit what Section 4.2 says."""


def below_top(share: str, p: float) -> float:
    """Weight of a label below the top, Eq. (5)."""
    return float(udm_weights(*read_share(share), np.array([p]), np.array([False]))[0])


@PAPER.table(
    "Table 1",
    "predicted P(M/N) given Rel, from one p",
    printed={f"{share}, p = {p}": text for p in (".2985", ".30") for share, text in PREDICTED.items()},
    known={"2/4, p = .30": "p is not printed; .30 gives .216, and every p between .2981 and .2992 all four values"},
)
def predicted(cell):
    share, _, p = cell.partition(", p = ")
    return below_top(share, float(p))


@PAPER.table(
    "Table 1",
    "predicted P(M/N) given Rel, from the paper's data",
    printed={f"{share}, every {what} once": text for what in ("pair", "item") for share, text in PREDICTED.items()},
    known={
        "2/4, every item once": "p = .3017 gives .218, and .21 needs .2992 or less; the paper has 140 items more than "
        "the published file"
    },
    needs="rf10_crowd",
)
def predicted_from_data(cell):
    share, _, weight = cell.removesuffix(" once").partition(", every ")
    fit = PredictedRelevance(estimator="labels", weight=weight, n_draws=0).fit(rf10())
    return below_top(share, float(fit.p[0, LEVELS["Rel"]]))


@PAPER.table(
    "Table 1",
    "experimental P(M/N) given Rel",
    printed={"1/3": "0.49", "2/3": "0.10", "2/4": "0.23", "2/5": "0.35"},
    known={"1/3": "probably because the paper has 2,738 items with six labels or more and the published file 2,598"},
    needs="rf10_crowd",
)
def observed(share):
    return float(observed_weights(rf10(), [read_share(share)], at_least=6).observed[0, LEVELS["Rel"]])


@PAPER.table(
    "Sections 3.1, 3.2",
    "the RelFeedback10 labels",
    printed={"judged results": "20,232", "results with 6 labels or more": "2,738", "crowd labels equal to gold": "39%"},
    known={
        "results with 6 labels or more": "2,598 without labels for broken links, 2,997 with them; how the paper counts "
        "is not known"
    },
    needs="rf10_crowd",
)
def rf10_fact(cell):
    if cell == "results with 6 labels or more":
        return float(rf10().summary().n_items)
    frame = rf10_frame()
    if cell == "judged results":
        return float(frame.select("topicID", "docID").n_unique())
    gold = frame.filter(frame["gold"] >= 0)
    return float((gold["gold"] == gold["label"]).mean())


@cache
def from_other_labels():
    return sampled(rf10(), at_least=6, rng=0)


@PAPER.table(
    "Figure 1",
    "p(HRel|label) from n other labels",
    stated=yes(
        *(f"HRel > Rel > Non, n = {n}" for n in range(1, 6)),
        *(f"smaller sd at n = 5 than at n = 1, {label}" for label in ("HRel", "Rel", "Non")),
    ),
    needs="rf10_crowd",
)
def figure_1(cell):
    found = from_other_labels()
    what, _, which = cell.partition(", ")
    if what == "HRel > Rel > Non":
        non, rel, hrel = found.mean[found.n.index(int(which.removeprefix("n = ")))]
        return bool(hrel > rel > non)
    sd = found.sd[:, LEVELS[which]]
    return bool(sd[-1] < sd[0])


@PAPER.table(
    "Figure 5",
    "experimental P(1/N) below the predicted one",
    stated=yes(*(f"1/{n} given {label}" for n in (4, 5, 6) for label in ("Rel", "Non"))),
    needs="rf10_crowd",
)
def figure_5(cell):
    share, _, label = cell.partition(" given ")
    found = observed_weights(rf10(), [read_share(share)], at_least=6)
    return bool(found.observed[0, LEVELS[label]] < found.predicted[0, LEVELS[label]])


@PAPER.table(
    "Section 4.2",
    "weights and count of the example of Figure 4",
    printed={"Key": "1", "HRel": "1/2", "Rel": "1/3", "Non": "0", "count": "4"},
)
def figure_4(cell):
    everyone = read_grid(FIGURE_4, scale="Non<Rel<HRel<Key")
    if cell == "Non":
        return float(PredictedRelevance(relevant="Key", n_draws=0).fit(everyone).p[0, 0])
    labels = everyone.where(assessor="U3").label_counts()
    top = everyone.label_counts()[:, -1] > 0
    weights = labels[top].sum(axis=0) / np.maximum(labels.sum(axis=0), 1)
    gains = dict(zip(everyone.scale.labels, weights.tolist(), strict=True))
    if cell != "count":
        return gains[cell]
    runs = read_runs({"1": {doc: -rank for rank, doc in enumerate(everyone.items.doc)}})
    return float(evaluate(everyone.where(assessor="U3"), runs, ["CG"], gains=gains).mean().values[0, 0])


@PAPER.table(
    "Tables 3, 4",
    "P(1/3) of page labels by Eq. (3)",
    printed={"Key": "1", "HRel": "0.41", "Rel": "0.28", "Non": "0"},
)
def page_weight(label):
    return float(udm_weights(1, 3, np.array([P_KEY[label]]), np.array([label == "Key"]))[0])


@PAPER.table(
    "Section 7",
    "erratum: P(1/3) of snippet and page labels from the printed cases",
    printed={"Maybe, HRel": "0.31", "No, HRel": "0.26"},
    implied={"Sure, HRel, if the cases are its own": "0.41"},
    known={"Maybe, HRel": "87 of 372 cases give .41, the weight of the row (Sure, HRel): probably a mix-up of rows"},
)
def snippet_and_page(labels):
    return below_top("1/3", CASES[labels])


@PAPER.table(
    "Eq. (7)",
    "erratum: GAP of a list with one of three top results, R_i",
    implied={"over the list": "1.0", "over all judged results": "0.33"},
)
def gap_of_one_of_three(cell):
    judged = ["a", "b", "c"] if cell == "over all judged results" else ["a"]
    judgments = read_judgments({"1": dict.fromkeys(judged, 1)}, scale="0<1")
    return float(evaluate(judgments, read_runs({"1": {"a": 1.0}}), ["GAP"]).mean().values[0, 0])


@PAPER.table(
    "Section 3.3.2",
    "p(Key|Key) of one assessor over copies of a page",
    printed={"every page once": "0.92"},
    known={
        "every page once": "the paper's number is of FedWeb12, whose double judgments we do not have; this is FedWeb13"
    },
    needs="fedweb13",
)
def self_consistency(_):
    copies = read_duplicates(data("fedweb13") / "duplicates.txt.gz")
    return float(consistency(fedweb13(), copies, weight="page", n_draws=0).own.spread.p[0, -1])
