"""Pipes: FIFOs, standard input and process substitution are read once, in every format, by every reader."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import polars as pl
import pytest
import zstandard

from venire import evaluate, read_aspects, read_clicks, read_judgments, read_preferences, read_runs
from venire.errors import FormatError
from venire.io import pipes, read_duplicates, read_preference_groups, within_limits
from venire.io.fingerprints import files_of
from venire.io.inspect import inspect_file
from venire.io.runs import scan
from venire.io.side_files import read_features, read_gains_file, read_groups, read_intent_probabilities

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs")

QRELS = b"1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 a 0\n2 0 d 1\n"
RUN = b"1 Q0 a 1 3.5 sys\n1 Q0 b 2 2.5 sys\n2 Q0 d 1 2 sys\n"
LONG = b"topic,doc,assessor,label\n1,a,ann,1\n1,a,bob,0\n1,b,ann,1\n"
JSON = b'{"topic": "1", "doc": "a", "label": 1}\n{"topic": "1", "doc": "b", "label": 0}\n'
LOG = b"session,topic,doc,clicked\n1,q,a,1\n1,q,b,0\n"


def parquet() -> bytes:
    file = BytesIO()
    pl.read_csv(LONG).write_parquet(file)
    return file.getvalue()


@contextmanager
def fifo(path: Path, content: bytes) -> Iterator[Path]:
    """Make a FIFO, and write to it, once, when it is read."""
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(content,), daemon=True)
    writer.start()
    yield path
    writer.join(timeout=10)
    assert not writer.is_alive(), "nobody read the pipe"
    path.unlink()


def ranks(source: Path) -> list[int]:
    items = read_judgments({"1": {"a": 1, "b": 0}, "2": {"d": 1}}).items
    return scan(read_runs(source), items).facts.rank.tolist()


READERS = {
    "q.txt": (QRELS, read_judgments),
    "j.csv": (LONG, read_judgments),
    "j.jsonl": (JSON, read_judgments),
    "j": (parquet(), read_judgments),
    "r.txt": (RUN, ranks),
    "r.csv": (b"topic,doc,score,system\n1,a,2,s\n1,b,1,s\n", ranks),
    "log.csv": (LOG, read_clicks),
    "p.txt": (b"1 a b a\n1 b c b\n", read_preferences),
    "p.csv": (b"topic,left,right,strength\n1,a,b,1\n", read_preferences),
    "prefs.txt": (b"1 ann 1 a 2\n1 ann 1 b 1\n", read_preference_groups),
    "a.csv": (b"topic,doc,trust,depth\n1,a,1,0\n1,b,0,1\n", read_aspects),
    "gains.txt": (b"0 0\n1 0.5\n", read_gains_file),
    "groups.txt": (b"1 x\n2 y\n", read_groups),
    "intents.txt": (b"1 x 0.5\n", read_intent_probabilities),
    "same.txt": (b"a b\n", read_duplicates),
    "f.csv": (b"topic,doc,x\n1,a,2\n", read_features),
    "i.txt": (QRELS, inspect_file),
    "i.parquet": (parquet(), inspect_file),
}


@pytest.mark.parametrize(
    "pack", [bytes, gzip.compress, zstandard.ZstdCompressor().compress], ids=["plain", "gz", "zst"]
)
@pytest.mark.parametrize("name", READERS)
def test_every_reader_reads_a_pipe_as_it_reads_a_file(tmp_path, name, pack):
    """Twice, and the writer writes once."""
    content, read = READERS[name]
    (tmp_path / "file").mkdir()
    (tmp_path / "pipe").mkdir()
    whole = tmp_path / "file" / name
    whole.write_bytes(pack(content))
    with fifo(tmp_path / "pipe" / name, pack(content)) as pipe:
        found = [repr(read(path)).replace(str(path.parent), "") for path in (whole, pipe, pipe)]
    assert found[0] == found[1] == found[2]


def test_a_long_pipe_is_kept_in_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(pipes, "KEPT_IN_MEMORY", 1_000)
    content = b"".join(b"%d 0 d%d 1\n" % (n // 100, n) for n in range(300_000))
    with fifo(tmp_path / "q.txt", gzip.compress(content, 1)) as pipe:
        assert [len(read_judgments(pipe)) for _ in range(2)] == [300_000] * 2
    with fifo(tmp_path / "j.parquet", parquet()) as pipe:
        assert len(read_judgments(pipe)) == 3


def test_a_pipe_is_limited(tmp_path):
    limit = within_limits(decompressed_size=10)
    with fifo(tmp_path / "q.txt", QRELS) as pipe, limit, pytest.raises(FormatError, match="in a pipe"):
        read_judgments(pipe)


def test_another_writer_has_other_content(tmp_path):
    path = tmp_path / "q.txt"
    with fifo(path, QRELS) as pipe:
        assert len(read_judgments(pipe)) == 5
    with fifo(path, QRELS[:16]) as pipe:
        assert len(read_judgments(pipe)) == 2


def test_pipes_are_hashed_as_files_are(tmp_path):
    (tmp_path / "whole").write_bytes(QRELS)
    with fifo(tmp_path / "pipe", QRELS) as pipe:
        read_judgments(pipe)
        one, other = files_of([tmp_path / "whole", pipe])
    assert one.sha256 == other.sha256


def test_both_inputs_may_be_pipes(tmp_path):
    with fifo(tmp_path / "q.txt", QRELS) as qrels, fifo(tmp_path / "r.txt", RUN) as run:
        piped = evaluate(read_judgments(qrels), read_runs(run), ["P@1"]).records()
    (tmp_path / "q.txt").write_bytes(QRELS)
    (tmp_path / "r.txt").write_bytes(RUN)
    assert piped == evaluate(read_judgments(tmp_path / "q.txt"), read_runs(tmp_path / "r.txt"), ["P@1"]).records()


VENIRE = f"{sys.executable} -m venire"


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    "line",
    [
        "evaluate <(cat q.txt) <(zcat r.txt.gz)",
        "evaluate <(cat q.txt) <(cat r.txt.gz)",
        "evaluate - r.txt.gz < q.txt",
        "evaluate /dev/stdin r.txt.gz < <(cat q.txt)",
        "evaluate q.txt /dev/stdin < r.txt.gz",
        "evaluate q.txt - < <(zcat r.txt.gz)",
        "evaluate q.txt r.txt.gz --gains <(printf '0 0\\n1 1\\n2 2\\n')",
        "evaluate q.txt r.txt.gz --topics <(printf '1\\n2\\n')",
        "inspect <(cat q.txt)",
        "inspect - < r.txt.gz",
        "agreement <(cat q.txt) <(cat q.txt) --draws 0",
    ],
)
def test_bash_hands_over_pipes(tmp_path, line):
    (tmp_path / "q.txt").write_bytes(QRELS)
    (tmp_path / "r.txt.gz").write_bytes(gzip.compress(RUN))
    done = subprocess.run(
        ["bash", "-c", f"{VENIRE} {line} -q"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    if line.startswith("evaluate"):
        assert done.stdout.split()[2:] == ["sys", "0.8801"]  # the mean of 2 / (2 + 1 / log2(3)) and 1
