"""What could go wrong in silence when runs and qrels are read is said: ties, comments, topics that do not meet."""

from __future__ import annotations

import pytest

from venire import evaluate, read_judgments, read_runs, write_judgments
from venire.errors import CommentWarning, FormatError, TiedScoresWarning, VenireError
from venire.scan import scanner

QRELS = {"1": {"a": 1, "b": 0}, "2": {"a": 1, "b": 0}}


def run(score, *, topics=("1", "2"), tag: str = "sys") -> str:
    return "".join(f"{t} Q0 {d} {rank} {score(rank)} {tag}\n" for t in topics for rank, d in enumerate("ab", start=1))


@pytest.fixture(params=["compiled", "numpy"])
def either_scanner(request, monkeypatch):
    if request.param == "numpy":
        made = scanner.NumpyScanner.of
        monkeypatch.setattr("venire.io.runs.make_scanner", made)
    elif not scanner.COMPILED:
        pytest.skip("no C compiler")


@pytest.mark.usefixtures("either_scanner")
def test_a_run_whose_scores_all_tie(tmp_path):
    flat, other = tmp_path / "flat.run", tmp_path / "other.run"
    flat.write_text(run(lambda _: 1.0, tag="flat"))
    other.write_text(run(lambda _: 1.0, topics=["1"], tag="other") + run(lambda rank: -rank, topics=["2"], tag="other"))
    with pytest.warns(TiedScoresWarning, match="all scores of flat tie.*order by rank"):
        found = evaluate(QRELS, [flat, other], ["RR"])
    assert found.values[0, :, 0].tolist() == [0.5, 0.5]
    by_rank = evaluate(QRELS, read_runs([flat, other], order="rank"), ["RR"])
    assert by_rank.values[0, :, 0].tolist() == [1.0, 1.0]


def test_only_one_document_is_no_tie(recwarn):
    evaluate({"1": {"a": 1}}, {"1": {"a": 2.0}}, ["RR"])
    assert not [each for each in recwarn if each.category is TiedScoresWarning]


@pytest.mark.usefixtures("either_scanner")
def test_no_topic_in_common(tmp_path):
    path = tmp_path / "x.run"
    path.write_text(run(lambda rank: -rank, topics=["T1", "T2"]))
    with pytest.raises(VenireError, match="no topic in common: the runs have 'T1', 'T2', the judgments '1', '2'"):
        evaluate(QRELS, path, ["RR"])
    judged = read_judgments(QRELS)
    path.write_text(run(lambda rank: -rank, topics=["1", "T2"]))
    with pytest.raises(VenireError, match="no topic in common"):
        evaluate(judged, path, ["RR"], topics=["2"])


def test_comments_that_look_like_data_are_said(tmp_path):
    path = tmp_path / "x.qrels"
    path.write_text("# made by hand\n1 0 a 1\n#2 0 a 1\n#3 0 b 1\n")
    with pytest.warns(CommentWarning, match=r"x\.qrels:3: '#2 0 a 1' begins with '#'.* \(2 such lines\)"):
        assert read_judgments(path).topics == ("1",)
    path = tmp_path / "x.run"
    path.write_text("# a run of our own kind\n" + run(lambda rank: -rank) + "#3 Q0 a 1 2.5 sys\n")
    with pytest.warns(CommentWarning, match=r"x\.run:6: "):
        evaluate(QRELS, path, ["RR"])


def test_topics_that_would_be_comments_are_not_written_as_qrels(tmp_path):
    judged = read_judgments({"#1": {"a": 1}, "2": {"a": 0}})
    with pytest.raises(FormatError, match="topic '#1' begins with '#'"):
        write_judgments(judged, tmp_path / "x.qrels")
    write_judgments(judged, tmp_path / "x.tsv")
    assert read_judgments(tmp_path / "x.tsv").topics == ("#1", "2")
