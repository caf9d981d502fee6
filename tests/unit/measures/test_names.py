"""Measures by name: read, written, refused."""

import pytest

from their_measures import their_measure
from venire import evaluate, parse_measure
from venire.errors import MeasureError
from venire.measures import AP, ERR, RBP, P, nDCG
from venire.measures.dcg import CCG, DCG
from venire.measures.names import KINDS, OTHER_NAMES, spelled


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("nDCG@10", nDCG(10)),
        ("P@5", P(5)),
        ("P(rel=2)@5", P(5, rel="2")),
        (" AP ( rel = 'HRel' ) ", AP(rel="HRel")),
        ("RBP(p=0.5)", RBP(p=0.5)),
        ("nDCG(dcg='exp-log2')@20", nDCG(20, dcg="exp-log2")),
        ("nDCG(dcg=zipf)", nDCG(dcg="zipf")),
        ("ERR@20", ERR(20)),
        ("CCG(alpha=0.5)@5", CCG(5, alpha=0.5)),
        ("DCG(alpha=0.3,dcg='exp-log2')@5", DCG(5, alpha=0.3, dcg="exp-log2")),
    ],
)
def test_names_read_as_values(text, measure):
    assert parse_measure(text) == measure
    assert parse_measure(str(measure)) == measure


@pytest.mark.parametrize("text", ["P(rel=2)@5", "nDCG@10", "RBP(p=0.8)", "AP", "R@100", "RR", "Rprec", "Success@3"])
def test_names_are_spelled_as_ir_measures_spells_them(text):
    assert str(their_measure(text)).replace("RBP", "RBP(p=0.8)") in (text, "RBP(p=0.8)(p=0.8)")
    assert str(parse_measure(text)) == text


@pytest.mark.parametrize(
    "text", ["CCG(alpha=0.5)@5", "CCGsingle(alpha=1.0)@3", "nCCG(alpha=0.5)@5", "DCG(alpha=0.3,dcg='exp-log2')@5"]
)
def test_alpha_is_written_as_it_is_read(text):
    assert str(parse_measure(text)) == text


def test_alpha_0_is_written_as_the_measure_in_isolation():
    assert str(parse_measure("nDCG(alpha=0)@5")) == "nDCG@5"
    assert parse_measure("CCG(alpha=0)@5") == CCG(5)


@pytest.mark.parametrize(
    ("text", "own"),
    [
        *[("ndcg@10", "nDCG@10"), ("NDCG@10", "nDCG@10"), ("ndcg_cut_10", "nDCG@10"), ("ndcg", "nDCG")],
        *[("map", "AP"), ("MAP@100", "AP@100"), ("map_cut_100", "AP@100"), ("MRR@10", "RR@10"), ("recip_rank", "RR")],
        *[("P_10", "P@10"), ("prec@5", "P@5"), ("recall_100", "R@100"), ("Recall@100", "R@100"), ("rprec", "Rprec")],
        *[("success_1", "Success@1"), ("rbp(p=0.5)", "RBP(p=0.5)"), ("Bpref", "bpref"), ("p(rel=2)@5", "P(rel=2)@5")],
        *[("nDCG@10", "nDCG@10"), ("P( rel = HRel )@5", "P( rel = HRel )@5"), ("P(rel=a_1)@5", "P(rel=a_1)@5")],
    ],
)
def test_names_of_other_tools_and_any_case_are_read(text, own):
    assert spelled(text) == own
    assert parse_measure(text) == parse_measure(own)


def test_no_two_measures_differ_only_in_case():
    assert len({name.lower() for name in KINDS} | set(OTHER_NAMES)) == len(KINDS) + len(OTHER_NAMES)


def test_scores_are_named_in_our_spelling():
    scores = evaluate({"1": {"d": 1}}, {"1": {"d": 2.0}}, ["ndcg_cut_10", "map"])
    assert scores.names["measure"] == ("nDCG@10", "AP")


@pytest.mark.parametrize("kind", KINDS.values())
def test_every_measure_reads_back_from_its_own_name(kind):
    assert parse_measure(str(kind(k=7))) == kind(k=7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nDGC@10", "did you mean 'nDCG'"),
        ("nDCG@0", "a whole number from 1 to"),
        ("nDCG@ten", "cannot be read as a measure"),
        ("P", "write P@10"),
        ("RBP(p=1)", "strictly between 0 and 1"),
        ("RBP(p=x)", "expected a number"),
        ("RBP(q=0.8)", "did you mean 'p'|has no parameter 'q'"),
        ("nDCG(dcg=log3)@5", "'log3' is not a discount"),
        ("GAP(rel=1)", "takes no parameters"),
        ("CG(rel=1)", "has no parameter 'rel'"),
        ("CCG(alpha=1.5)@5", "alpha is 1.5, expected a weight from 0 to 1"),
        ("DCG(alpha=-0.1)@5", "expected a weight from 0 to 1"),
        ("ERR(alpha=nan)@5", "expected a weight from 0 to 1"),
        ("CCG(alpha=0.5)", r"write CCG\(alpha=0.5\)@5"),
        ("nDCG(alpha=0.5)", r"write nDCG\(alpha=0.5\)@10"),
        ("P(2)@5", "write name=value"),
        ("", "cannot be read as a measure"),
    ],
)
def test_what_is_no_measure_is_refused_with_a_way_out(text, message):
    with pytest.raises(MeasureError, match=message):
        parse_measure(text)
