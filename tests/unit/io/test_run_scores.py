from __future__ import annotations

import pytest

from venire import FormatError, read_runs
from venire.io.exchange import run_scores

LINES = "1 Q0 a 2 0.5 x\n1 Q0 b 1 2 x\n2 Q0 a 1 1e-3 y\n"


def test_files_hold_several_systems(tmp_path):
    path = tmp_path / "two.run"
    path.write_text(LINES)
    assert run_scores(path) == {"x": {"1": {"a": 0.5, "b": 2.0}}, "y": {"2": {"a": 0.001}}}
    assert run_scores(read_runs(path, order="rank"))["x"] == {"1": {"a": -2.0, "b": -1.0}}
    assert set(run_scores(read_runs(path, system_from="file"))) == {"two"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (LINES + LINES, "ranked twice"),
        ("1 Q0 a 2 x\n", "found 5 columns"),
        ("1 Q0 a 1 high x\n", "not a finite number"),
        ("\n", "holds no run lines"),
    ],
)
def test_what_is_no_run_is_refused(tmp_path, content, words):
    path = tmp_path / "x.run"
    path.write_text(content)
    with pytest.raises(FormatError, match=words):
        run_scores(path)


def test_a_document_twice_counts_once_if_so_asked(tmp_path):
    path = tmp_path / "x.run"
    path.write_text("1 Q0 a 1 3 x\n1 Q0 a 2 1 x\n")
    assert run_scores(read_runs(path, repeated="first")) == {"x": {"1": {"a": 3.0}}}


def test_one_system_in_two_sources_is_an_error():
    with pytest.raises(FormatError, match="another source too"):
        run_scores([{"1": {"a": 1.0}}, {"1": {"b": 1.0}}])
