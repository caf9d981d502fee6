"""What must not change a score: who else judged, where lines stand, how files are cut, how many work on it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from strategies import SCALE, evaluate, grades, qrels_lines, run, run_lines, runs, write
from venire import Scores, read_judgments, read_runs
from venire.engine.local import map_partitions
from venire.io import runs as run_files
from venire.io.lines import chunks

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")

MEASURES = ["nDCG@5", "nDCG", "AP", "P@3", "bpref", "Q", "ERR@5", "RBP(p=0.8)", "RBPResidual(p=0.8)", "Judged@4"]
PANEL = st.lists(grades(lowest=0), min_size=1, max_size=3)


def panel_files(folder: Path, panel: list[object]) -> list[Path]:
    return [write(folder / f"judge{n}.qrels", qrels_lines(judged)) for n, judged in enumerate(panel)]


def assert_equal(one: Scores, other: Scores) -> None:
    """Compare by name, whatever the order of the names."""
    assert one.axes == other.axes
    values = other.values
    for place, axis in enumerate(one.axes):
        assert sorted(one.names[axis]) == sorted(other.names[axis])
        values = values.take([other.names[axis].index(name) for name in one.names[axis]], axis=place)
    np.testing.assert_allclose(one.values, values, rtol=0, atol=1e-12)


@settings(max_examples=50)
@given(panel=PANEL, lists=runs())
def test_scores_per_assessor_are_those_of_each_alone(tmp_path_factory, panel, lists):
    files = panel_files(tmp_path_factory.mktemp("panel"), panel)
    together = evaluate(read_judgments(files, scale=SCALE), lists, MEASURES, per="assessor")
    for number, path in enumerate(files):
        alone = evaluate(read_judgments(path, scale=SCALE), lists, MEASURES)
        found = together.select(assessor=f"judge{number}")
        place = np.ix_(*([found.names[axis].index(name) for name in alone.names[axis]] for axis in ("system", "topic")))
        np.testing.assert_allclose(found.values[place], alone.values, rtol=0, atol=1e-12)
        elsewhere = np.ones(found.values.shape[:2], dtype=bool)
        elsewhere[place] = False
        assert np.isnan(found.values[elsewhere]).all()


def test_copies_that_only_another_assessor_judged_take_no_credit(tmp_path):
    """For the first judge the document above is unjudged, whoever else may have judged it."""
    files = panel_files(tmp_path, [{"1": {"ab": 1}}, {"1": {"a": 1}}])
    lists = {"1": {"a": 2.0, "ab": 1.0}}
    alone = evaluate(read_judgments(files[0]), lists, ["RR", "nDCG"], duplicates=[["a", "ab"]])
    together = evaluate(read_judgments(files), lists, ["RR", "nDCG"], per="assessor", duplicates=[["a", "ab"]])
    assert alone.values[0, 0].tolist() == [0.5, pytest.approx(1 / np.log2(3))]
    assert together.select(assessor="judge0").values[0, 0].tolist() == alone.values[0, 0].tolist()


@settings(max_examples=50)
@given(judged=grades(), lists=runs(), data=st.data())
def test_the_order_of_lines_does_not_matter(tmp_path_factory, judged, lists, data):
    folder = tmp_path_factory.mktemp("lines")
    lines = [line for system, each in lists.items() for line in run_lines(each, system)]
    straight = write(folder / "runs", lines)
    shuffled = write(folder / "shuffled", data.draw(st.permutations(lines)))
    labels = write(folder / "labels", data.draw(st.permutations(qrels_lines(judged))))
    assert_equal(
        evaluate(read_judgments(judged, scale=SCALE), straight, MEASURES),
        evaluate(read_judgments(labels, scale=SCALE), shuffled, MEASURES),
    )


@settings(max_examples=50)
@given(judged=grades(), lists=runs())
def test_one_file_many_files_and_memory_are_the_same(tmp_path_factory, judged, lists):
    folder = tmp_path_factory.mktemp("files")
    judgments = read_judgments(judged, scale=SCALE)
    apart = [write(folder / f"{system}.run", run_lines(each, system)) for system, each in lists.items()]
    whole = write(folder / "all", [line for system, each in lists.items() for line in run_lines(each, system)])
    in_memory = evaluate(judgments, lists, MEASURES)
    assert_equal(in_memory, evaluate(judgments, apart, MEASURES))
    assert_equal(in_memory, evaluate(judgments, whole, MEASURES))
    assert_equal(in_memory, evaluate(judgments, read_runs(apart, system_from="file"), MEASURES))


@settings(max_examples=50)
@given(judged=grades(), lists=runs(), size=st.sampled_from((7, 64, 200)), workers=st.sampled_from((1, 2, 5)))
def test_small_chunks_and_several_workers_give_the_same(tmp_path_factory, judged, lists, size, workers):
    judgments = read_judgments(judged, scale=SCALE)
    folder = tmp_path_factory.mktemp("chunks")
    path = write(folder / "runs", [line for system, each in lists.items() for line in run_lines(each, system)])
    whole = evaluate(judgments, path, MEASURES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_files, "chunks", partial(chunks, size=size))
        patch.setattr("venire.engine.local.os.cpu_count", lambda: workers)
        cut = evaluate(judgments, path, MEASURES)
    assert (cut.names, cut.notes) == (whole.names, whole.notes)
    np.testing.assert_array_equal(cut.values, whole.values)


@given(lists=run(), size=st.integers(1, 300), end=st.sampled_from(("\n", "", "\r\n")))
def test_chunks_are_the_file_and_cut_no_group(tmp_path_factory, lists, size, end):
    path = write(tmp_path_factory.mktemp("chunks") / "run", run_lines(lists, "run"))
    path.write_bytes(path.read_bytes().removesuffix(b"\n") + end.encode())
    with path.open("rb") as file:
        parts = list(chunks(file, size=size))
    assert b"".join(part.data for part in parts) == path.read_bytes() + b"\n" * (end == "")
    assert [part.cut for part in parts] == [False] * (len(parts) - 1) + [end == ""]
    topics = [{line.split()[0] for line in part.data.splitlines()} for part in parts]
    assert sum(map(len, topics)) == len(set().union(*topics))


@given(parts=st.lists(st.integers(), max_size=30), workers=st.integers(1, 4))
def test_workers_answer_in_the_order_of_the_questions(parts, workers):
    assert list(map_partitions(lambda part: part * 2, iter(parts), workers=workers)) == [2 * part for part in parts]


def test_the_first_wrong_line_is_named_however_the_file_is_cut(tmp_path):
    lines = [f"{topic} Q0 d{n} {n} {9 - n} run" for topic in "12345" for n in range(5)]
    lines[17] = "4 Q0 d2 2 high run"
    path = write(tmp_path / "run", ["# a comment", "", *lines, "5 Q0 d9 9 low run"])
    for size in (20, 64, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run_files, "chunks", partial(chunks, size=size))
            with pytest.raises(ValueError, match=r"run:20: score 'high'"):
                evaluate({"1": {"d1": 1}}, path, ["AP"])


def test_a_cut_tag_is_found_however_the_file_is_cut(tmp_path):
    lines = [f"{topic} Q0 d{n} {n} {9 - n} system" for topic in "1234" for n in range(3)]
    path = write(tmp_path / "run", [*lines, "5 Q0 d1 1 1 sys"])
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    for size in (30, 64, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run_files, "chunks", partial(chunks, size=size))
            with pytest.raises(ValueError, match=r"run:13: .*without a line end"):
                evaluate({"1": {"d1": 1}}, path, ["AP"])
