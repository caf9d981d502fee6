"""The numbers of NTCIREVAL at cut-offs: those of pyNTCIREVAL 0.0.3, with linear grades, for ERR and nERR 2^level - 1.

At a cut-off k, Q and AP of NTCIREVAL are divided by the number of relevant documents or by k, whichever is less.
"""

from __future__ import annotations

import numpy as np
import pytest

from venire import evaluate

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")

LABELS = {"many": "11123210012301", "few": "030100", "mixed": "201030110"}  # of d0, d1, ...
LISTS = {
    "many": "d0 u1 d7 d4 d3 d1 u2 d11 d8 d2",
    "few": "u1 d3 d0 d1 u2 d2 u3",
    "mixed": "d4 d0 d1 u1 d3 d6 d2 d7 d5 d8",
}
NUMBERS = """
AP                0.3628787879   0.5000000000   0.7392857143
AP@1              1.0000000000   0.0000000000   1.0000000000
AP@3              0.3333333333   0.2500000000   0.6666666667
AP@5              0.4200000000   0.5000000000   0.4000000000
AP@8              0.4239583333   0.5000000000   0.7392857143
ERR               0.3326691945   0.2539062500   0.9022204081
Q                 0.3017031004   0.5416666667   0.8377380952
Q(beta=10)        0.2832549016   0.6082251082   0.9098083886
Q(beta=10)@1      0.3548387097   0.0000000000   1.0000000000
Q(beta=10)@3      0.1182795699   0.1309523810   0.6666666667
Q(beta=10)@5      0.2525369727   0.6082251082   0.4000000000
Q(beta=10)@8      0.3089199341   0.6082251082   0.9098083886
Q@1               0.5000000000   0.0000000000   1.0000000000
Q@3               0.1666666667   0.1666666667   0.6666666667
Q@5               0.2915966387   0.5416666667   0.4000000000
Q@8               0.3361380593   0.5416666667   0.8377380952
RBP(p=0.95)       0.1450029956   0.0587020833   0.1184535021
nDCG@1            0.3333333333   0.0000000000   1.0000000000
nDCG@3            0.1696989245   0.1737653429   0.8949990021
nDCG@5            0.4072525498   0.5296052412   0.7638577637
nDCG@8            0.5119432981   0.5296052412   0.9439859857
nERR@1            0.1428571429   0.0000000000   1.0000000000
nERR@3            0.1341719078   0.0707964602   0.9963898917
nERR@5            0.3479148268   0.2876106195   0.9923930020
nERR@8            0.3563825796   0.2876106195   0.9965715136
"""


@pytest.fixture(scope="module")
def collection():
    judged = {topic: {f"d{n}": int(label) for n, label in enumerate(labels)} for topic, labels in LABELS.items()}
    run = {topic: {doc: -float(rank) for rank, doc in enumerate(docs.split())} for topic, docs in LISTS.items()}
    return judged, run


@pytest.mark.parametrize("line", NUMBERS.split("\n")[1:-1], ids=lambda line: line.split()[0])
def test_scores_as_with_ntcireval(collection, line):
    name, *numbers = line.split()
    scores = evaluate(*collection, [name])
    found = [scores.values[0, scores.names["topic"].index(topic), 0] for topic in LABELS]
    expected = np.array(numbers, dtype=np.float64)
    k = int(name.partition("@")[2] or 1000)
    if name.startswith("AP"):  # ours is that of trec_eval: over all relevant documents
        relevant = np.array([sum(label > "0" for label in labels) for labels in LABELS.values()])
        expected = expected * np.minimum(relevant, k) / relevant
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
