"""Every limit on what is read: what is at the limit is read, what is beyond it is refused with a way out."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import zstandard

from venire import certify, compare, evaluate, read_clicks, read_judgments, read_preferences, read_runs
from venire.agreement.table import table as agreement_table
from venire.disagreement.files import read_fit
from venire.errors import FormatError, SettingError, UnknownName, VenireError, clipped
from venire.io import within_limits
from venire.io.aspects import read_aspects
from venire.io.duplicates import read_duplicates
from venire.io.files import opened
from venire.io.limits import Limits, current, read_size, shown_size, table
from venire.io.runs import scan
from venire.io.side_files import read_gains_file
from venire.io.tables import parquet
from venire.report.making import report_on

QRELS = "1 0 a 1\n1 0 b 0\n"
FORMATS = Path(__file__).parents[3] / "docs" / "reference" / "formats.md"


@pytest.fixture
def write(tmp_path):
    def written(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


def refused(name: str, read, *args) -> FormatError:
    """Read beyond a limit; the error says which one, and how to raise it."""
    with pytest.raises(FormatError) as caught:
        read(*args)
    assert any(f"{name}=" in way.settings.get("limit", "") for way in caught.value.ways if hasattr(way, "settings"))
    assert "the limit is" in caught.value.message
    return caught.value


def scanned(path: Path, items) -> object:
    return scan(read_runs(path), items)


def test_the_table_in_the_documentation_is_that_of_the_code():
    text = FORMATS.read_text(encoding="utf-8")
    for name, default, what in table():
        assert f"| `{name}` | {default} | {what} |" in text


def test_limits_hold_within_their_block_and_are_checked():
    with within_limits(line_length="4MiB", files=3) as limits:
        assert (limits.line_length, limits.files) == (4 << 20, 3)
        with within_limits(files=5):
            assert current() == Limits(line_length=4 << 20, files=5)
    assert current() == Limits()
    with pytest.raises(UnknownName, match="line-lenght"), within_limits(**{"line-lenght": 1}):
        pass
    with pytest.raises(SettingError, match="below 1"), within_limits(files=0):
        pass


@pytest.mark.parametrize(
    ("text", "size"), [("7", 7), ("4MiB", 4 << 20), ("4m", 4 << 20), ("2 GB", 2 << 30), ("1K", 1024)]
)
def test_sizes_have_units(text, size):
    assert read_size(text) == size
    assert read_size(shown_size(size)) == size


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5M", "1 MiBs", "9" * 5_000])
def test_what_is_no_size(text):
    with pytest.raises(SettingError, match="not a whole number or a size"):
        read_size(text)


@pytest.mark.parametrize("ended", [True, False])
def test_the_length_of_a_line(write, ended):
    """In qrels, runs, tables and JSON lines, with the number of the line."""
    items = read_judgments(write("whole.txt", QRELS)).items
    for name, first, line, read in (
        ("q.txt", QRELS, "1 0 c{} 1", read_judgments),
        ("r.txt", "1 Q0 a 1 2 s\n1 Q0 b 2 1 s\n", "1 Q0 c{} 3 0 s", lambda path: scanned(path, items)),
        ("j.csv", "topic,doc,label\n1,a,1\n", "1,c{},0", read_judgments),
        (
            "j.jsonl",
            '{"topic": 1, "doc": "a", "label": 1}\n' * 2,
            '{"topic": 1, "doc": "c{}", "label": 0}',
            read_judgments,
        ),
        ("p.txt", "1 a b a\n1 a c a\n", "1 a d{} a", read_preferences),
    ):
        whole = line.replace("{}", "x" * (200 - len(line) + 2))
        assert len(whole) == 200
        path = write(name, first + whole + "\n" * ended)
        with within_limits(line_length=200):
            read(path)
        with within_limits(line_length=199):
            assert refused("line-length", read, path).line == 3


def test_the_length_of_a_line_over_chunks(write):
    """A run of several chunks whose last line is long; the compressed file is read again to count lines."""
    items = read_judgments(write("whole.txt", QRELS)).items
    lines = "".join(f"{n // 1000} Q0 d{n} 1 {n} s\n" for n in range(300_000))
    path = write("r.txt.gz", gzip.compress((lines + "x " * (1 << 20)).encode(), 1))
    assert refused("line-length", scanned, path, items).line == 300_001


def test_the_length_of_a_field(write):
    items = read_judgments(write("whole.txt", QRELS)).items
    doc = "d" * 100
    for name, text, read in (
        ("q.txt", f"1 0 {doc} 1\n", read_judgments),
        ("r.txt", f"1 Q0 {doc} 1 1 s\n", lambda path: scanned(path, items)),
        ("j.csv", f"topic,doc,label\n1,{doc},1\n", read_judgments),
        ("j.jsonl", f'{{"topic": 1, "doc": "{doc}", "label": 1}}\n', read_judgments),
        ("c.csv", f"session,topic,doc,clicked\n1,1,{doc},1\n", read_clicks),
        ("p.csv", f"topic,left,right,strength\n1,{doc},b,1\n", read_preferences),
        ("a.csv", f"topic,doc,trust,depth\n1,{doc},1,0\n", read_aspects),
    ):
        path = write(name, text)
        with within_limits(field_length=100):
            read(path)
        with within_limits(field_length=99):
            assert refused("field-length", read, path).line in (1, 2)
    path = write("judges.parquet", b"")
    pl.DataFrame({"topic": ["1"], "doc": [doc], "label": [1]}).write_parquet(path)
    with within_limits(field_length=99):
        refused("field-length", read_judgments, path)


def test_a_field_that_is_not_read_may_be_long(write):
    path = write("j.csv", f"topic,doc,label,body\n1,a,1,{'x' * 100}\n")
    with within_limits(field_length=10):
        read_judgments(path)


def test_the_number_of_columns(write):
    names = [f"w{n}" for n in range(8)]
    wide = write("wide.csv", f"topic,doc,{','.join(names)}\n1,a{',1' * 8}\n1,b{',0' * 8}\n")
    keys = write(
        "j.jsonl", "".join(json.dumps({"topic": 1, "doc": n, "label": 1, f"k{n % 7}": 1}) + "\n" for n in range(50))
    )
    table = write("judges.parquet", b"")
    pl.DataFrame({"topic": ["1"], "doc": ["a"], "label": [1], **{name: [0] for name in names[:7]}}).write_parquet(table)
    with within_limits(columns=10):
        for path in (wide, keys, table):
            read_judgments(path)
    with within_limits(columns=9):
        for path in (wide, keys, table):
            refused("columns", read_judgments, path)


def test_objects_with_keys_of_their_own_are_no_table(write):
    """A column for each of 200,000 keys, with as many rows, would be 40 billion cells."""
    path = write("j.jsonl", "".join(f'{{"t{n}": {{"d": 1}}}}\n' for n in range(200_000)))
    assert refused("columns", read_judgments, path).line == 10_001


@pytest.mark.parametrize("form", ["list", "object", "within texts"])
def test_the_depth_of_json_lines(write, form):
    """At the limit in a key that is not used, it is read; beyond it is refused, whatever the nesting is made of."""

    def nested(depth: int) -> str:
        begin, end = {"list": ("[", "]"), "object": ('{"a":', "}"), "within texts": ('["]",', ',"["]')}[form]
        return begin * (depth - 1) + "1" + end * (depth - 1)

    line = '{{"topic": "1", "doc": "a", "label": 1, "x": {}}}\n'
    path = write("j.jsonl", line.format(nested(64)))
    assert len(read_judgments(path)) == 1
    write("j.jsonl", line.format(1) + line.format(nested(65)))
    assert refused("json-depth", read_judgments, path).line == 2
    write("j.jsonl", line.format(nested(6_000)))
    refused("json-depth", read_judgments, path)


def test_nested_values_are_skipped_unless_they_are_used(write):
    whole = {"topic": "1", "doc": "a\\", "label": 1}
    odd = [{"x": {"topic": "7"}}, {"x": [[1], {"doc": "]"}]}, {"x": '{[\\"'}, {"x": [1, 2]}, {"x": {}}, {"x": None}]
    path = write("j.jsonl", "".join(json.dumps({**whole, "doc": f"a{n}", **each}) + "\n" for n, each in enumerate(odd)))
    assert list(read_judgments(path).items.doc) == [f"a{n}" for n in range(6)]
    write("j.jsonl", json.dumps({**whole, "doc": {"id": 3}}) + "\n")
    with pytest.raises(FormatError, match="'doc' holds"):
        read_judgments(path)


def test_the_depth_of_documents(write):
    for depth, beyond in ((64, False), (65, True), (100_000, True)):
        fit = write("fit.json", "[" * depth + "]" * depth)
        write("q.toml", f'scale = "0<1"\nx = {"[" * (depth - 1)}{"]" * (depth - 1)}')
        qrels = write("q.txt", QRELS)
        if beyond:
            refused("json-depth", read_fit, fit)
            refused("json-depth", read_judgments, qrels)
        else:
            read_judgments(qrels)
            with pytest.raises(FormatError, match="not a saved fit"):
                read_fit(fit)


@pytest.mark.parametrize("part", ["a.", '"a b".', "'a' . "])
def test_the_parts_of_a_key(write, part):
    """The parser would take hours for a key of a million bytes."""
    qrels = write("q.txt", QRELS)
    for n, beyond in ((63, False), (64, True), (100_000, True)):
        write("q.toml", f'scale = "0<1"\n{part * n}b = 1\n')
        if beyond:
            refused("json-depth", read_judgments, qrels)
        else:
            read_judgments(qrels)


@pytest.mark.parametrize("name", ["q.txt", "j.csv", "j.jsonl"])
@pytest.mark.parametrize("digit", ["1", "1.", "-1"])
def test_the_digits_of_a_label(write, name, digit):
    """Python refuses to read or write an integer of 4,301 digits."""
    form = {
        "q.txt": "1 0 a {}\n1 0 b 0\n",
        "j.csv": "topic,doc,label\n1,a,{}\n1,b,0\n",
        "j.jsonl": '{{"topic": 1, "doc": "a", "label": "{}"}}\n{{"topic": 1, "doc": "b", "label": 0}}\n',
    }[name]
    for n, beyond in ((300, False), (301, True), (4_301, True)):
        path = write(name, form.format(digit + "1" * (n - len(digit))))
        if beyond:
            assert refused("digits", read_judgments, path).line == 1 + name.endswith("csv")
        else:
            assert len(read_judgments(path)) >= 1


def test_numbers_of_many_digits_elsewhere(write):
    many = "1" * 5_000
    assert read_judgments(write("q.txt", f"{many} 0 a 1\n2 0 b 0\n")).topics == ("2", many)
    write("t.toml", f"labels = [{many}]")
    with pytest.raises(FormatError, match="is not TOML"):
        read_judgments(write("t.txt", QRELS))
    write("x.toml", f"labels = [0x{many}, 1]")
    refused("digits", read_judgments, write("x.txt", QRELS))
    write("x.toml", f'scale = "0<1"\nmachines = [0x{many}]')
    refused("digits", read_judgments, write("x.txt", QRELS))
    with pytest.raises(FormatError, match="is not JSON"):
        read_fit(write("fit.json", many))
    with pytest.raises(VenireError):
        read_judgments(write("j.jsonl", f'{{"topic": 1, "doc": "a", "label": {many}}}\n'))
    with pytest.raises(FormatError):
        read_judgments({"1": {"a": 10**5_000, "b": 1}})


def test_the_labels_of_a_declared_scale(write):
    qrels = write("q.txt", QRELS)
    for n, beyond in ((10_000, False), (10_001, True), (130_000, True)):
        write("q.toml", f"labels = [{', '.join(map(str, range(n)))}]")
        if beyond:
            assert "table" in str(refused("scale-labels", read_judgments, qrels))
        else:
            assert len(read_judgments(qrels).scale) == n


def test_two_hundred_thousand_labels_in_toml_are_refused(write):
    write("q.toml", f"labels = [{', '.join(map(str, range(200_000)))}]")
    refused("toml-size", read_judgments, write("q.txt", QRELS))
    with within_limits(toml_size="4MiB"):
        assert "table" in str(refused("scale-labels", read_judgments, write("q.txt", QRELS)))


def test_the_labels_of_an_item(write):
    path = write("j.csv", "topic,doc,assessor,label\n" + "".join(f"1,a,w{n},{n % 2}\n" for n in range(100)))
    with within_limits(labels_per_item=100):
        read_judgments(path)
    with within_limits(labels_per_item=99):
        assert refused("labels-per-item", read_judgments, path).line == 2


def test_the_assessors_whose_agreement_is_computed(write):
    path = write("j.csv", "topic,doc,assessor,label\n" + "".join(f"1,a{n % 9},w{n},{n % 2}\n" for n in range(100)))
    labels = read_judgments(path)
    with within_limits(assessors=100):
        agreement_table(labels, names=["raw_agreement"], n_draws=0)
    with within_limits(assessors=99):
        refused("assessors", agreement_table, labels)
        agreement_table(labels.anonymous(), names=["raw_agreement"], n_draws=0)


@pytest.mark.parametrize(
    "judged",
    [
        lambda labels, runs: evaluate(labels, runs, ["P@5"], per="assessor"),
        lambda labels, runs: compare(labels, runs, assessor="w0", n_draws=2),
        lambda labels, runs: certify(labels, runs, reference="w0", n_draws=2),
        lambda labels, runs: report_on(labels, runs, n_draws=2),
    ],
    ids=["evaluate", "compare", "certify", "report"],
)
def test_the_assessors_by_whose_labels_runs_are_scored(judged):
    labels = read_judgments(
        {
            f"w{who}": {f"t{n}": {f"d{doc}": (n + doc * who) % 2 for doc in range(5)} for n in range(4)}
            for who in range(5)
        }
    )
    runs = read_runs(
        {
            name: {f"t{n}": {f"d{doc}": (doc * step + n) % 5 for doc in range(5)} for n in range(4)}
            for name, step in (("A", 2), ("B", 3))
        }
    )
    with within_limits(assessors=3):
        refused("assessors", judged, labels, runs)


def test_the_number_of_files(tmp_path):
    for n in range(4):
        (tmp_path / f"q{n}.txt").write_text(f"1 0 a {n % 2}\n", encoding="ascii")
    several = [str(tmp_path / f"q{n}.txt") for n in range(4)]
    for source in (tmp_path, tmp_path / "*.txt", several):
        with within_limits(files=4):
            assert len(read_judgments(source).assessors) == 4
        with within_limits(files=3):
            refused("files", read_judgments, source)


def test_the_size_of_documents(write):
    with within_limits(document_size=8):
        assert read_gains_file(write("gains.txt", "0 0\n1 1\n")) == {"0": 0.0, "1": 1.0}
        assert read_duplicates(write("same.txt", "a b c d\n"))
        for name, read in (("gains.txt", read_gains_file), ("same.txt", read_duplicates)):
            refused("document-size", read, write(name, "123456789"))
    fit, toml, qrels = write("fit.json", "[1, 2, 3]"), write("q.toml", 'scale = "0<1"'), write("q.txt", QRELS)
    with within_limits(toml_size=13, json_size=9):
        read_judgments(qrels)
        with pytest.raises(FormatError, match="not a saved fit"):
            read_fit(fit)
    with within_limits(toml_size=12, json_size=8):
        refused("toml-size", read_judgments, qrels)
        refused("json-size", read_fit, fit)
    assert toml.stat().st_size == 13


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_the_size_after_decompression(write, pack):
    path = write("q.txt", pack(QRELS.encode() * 1_000))
    with within_limits(decompressed_size=len(QRELS) * 1_000), opened(path) as file:
        assert len(file.read()) == len(QRELS) * 1_000
    with within_limits(decompressed_size=len(QRELS) * 1_000 - 1):
        refused("decompressed-size", read_judgments, path)


BOMBS = """
import gzip, sys, zstandard
from pathlib import Path
from venire import certify, compare, evaluate, read_clicks, read_judgments, read_preferences, read_runs
from venire.errors import FormatError
from venire.io.inspect import inspect_file
from venire.io.runs import scan
items = read_judgments({"1": {"a": 1}}).items
path = Path(sys.argv[1])
for read in (read_judgments, lambda path: scan(read_runs(path), items), read_preferences):
    try:
        read(path)
    except FormatError as error:
        assert "ratio=" in str(error) or "line-length=" in str(error), error
    else:
        raise AssertionError
assert "ratio=" in inspect_file(path).problems[0].hint
status = Path("/proc/self/status").read_text()  # ru_maxrss would be that of the parent before exec, if that is more
print(int(status.partition("VmHWM:")[2].split()[0]) // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("name", ["bomb.gz", "bomb.zst"])
def test_bombs_take_no_memory(tmp_path, name):
    """Two gigabytes of lines in a few hundred kilobytes, and of nothing in a few hundred."""
    path = tmp_path / name
    block = b"1 0 a 1\n" * (1 << 17)
    with path.open("wb") as raw:
        if name.endswith("gz"):
            with gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=9) as file:
                for _ in range(400):
                    file.write(block)
        else:
            with zstandard.ZstdCompressor(level=1).stream_writer(raw) as file:
                for _ in range(2_000):
                    file.write(block)
    done = subprocess.run([sys.executable, "-c", BOMBS, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 500


def test_the_ratio_can_be_raised(write):
    lines = b"".join(b"1 0 d%d 1\n" % n for n in range(1_000_000)) * 8
    path = write("q.txt", zstandard.ZstdCompressor().compress(lines))
    assert len(lines) > 64 << 20
    with within_limits(ratio=10_000), opened(path) as file:
        assert len(file.read()) == len(lines)
    with within_limits(ratio=2):
        refused("ratio", read_judgments, path)


def test_parquet_is_limited_by_its_size_and_any_damage_is_an_error(tmp_path):
    path = tmp_path / "judges.parquet"
    pl.DataFrame({"topic": ["1"] * 3, "doc": ["a", "b", "c"], "label": [0, 1, 1]}).write_parquet(path)
    whole = path.read_bytes()
    for place in range(4, len(whole), 7):
        path.write_bytes(whole[:place] + b"\xff\x7f" + whole[place + 2 :])
        with suppress(VenireError):
            read_judgments(path)
    same = pl.DataFrame({"topic": ["1"], "doc": ["d"], "label": [0]}).select(pl.all().repeat_by(12_000_000).explode())
    same.write_parquet(path, compression="zstd")
    assert path.stat().st_size < 1 << 20
    # In a process of its own: ru_maxrss counts a child with the memory of the process that starts it.
    found = subprocess.run([sys.executable, "-c", DECODED, path], capture_output=True, text=True, check=True)
    words, _, memory = found.stdout.rpartition(" ")
    assert "bytes of memory for each byte of the file" in words
    assert int(memory) < 1 << 20
    path.write_bytes(whole)
    assert len(read_judgments(path)) == 3


def test_sorted_rows_that_compress_well_are_read(tmp_path, monkeypatch):
    path, n = tmp_path / "judges.parquet", 100_000
    row = pl.int_range(n, eager=True)
    columns = {"topic": (row // 20_000).cast(str), "doc": (row % 20_000 // 20).cast(str)}
    columns |= {"assessor": (row % 20).cast(str), "label": np.random.default_rng(1).integers(1, 4, n // 20).repeat(20)}
    pl.DataFrame(columns).write_parquet(path, compression="zstd")
    monkeypatch.setattr(parquet, "FREE", 1 << 20)
    assert len(read_judgments(path)) == n
    with within_limits(ratio=2), pytest.raises(FormatError, match="bytes of memory for each byte") as error:
        read_judgments(path)
    assert "raise the limit" in str(error.value)


DECODED = """
import resource, sys
from pathlib import Path
from venire import FormatError, read_judgments
try:
    read_judgments(sys.argv[1])
except FormatError as error:
    print(error, end=" ")
from venire.io.tables import parquet
while parquet._WAITING:
    parquet._WAITING.pop().end()
status = Path("/proc/self/status")
own = int(status.read_text().partition("VmHWM:")[2].split()[0]) if status.exists() else 0
print(max(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, own))
"""


@pytest.mark.parametrize("code", ["import time; time.sleep(60)", "import os; os.abort()", "print('x')"])
def test_a_decoder_that_hangs_or_ends_is_an_error(tmp_path, monkeypatch, code):
    """So does that of a damaged file now and then."""
    path, script = tmp_path / "judges.parquet", tmp_path / "script.py"
    pl.DataFrame({"topic": ["1"], "doc": ["a"], "label": [0]}).write_parquet(path)
    script.write_text(code, encoding="utf-8")
    monkeypatch.setattr(parquet, "SCRIPT", script)
    monkeypatch.setattr(parquet, "PATIENCE", 1.0)
    monkeypatch.setattr(parquet, "_WAITING", [])
    with pytest.raises(FormatError, match="needs more memory or time"):
        read_judgments(path)


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="the folder of another process is not known here")
def test_a_decoder_that_waits_keeps_no_folder_in_use(tmp_path, monkeypatch):
    """A disk whose folder it worked in could not be removed; the package is found from anywhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parquet, "_WAITING", [])
    monkeypatch.syspath_prepend(".")
    pl.DataFrame({"topic": ["1"], "doc": ["a"], "label": [0]}).write_parquet("judges.parquet")
    assert len(read_judgments("judges.parquet")) == 1
    (decoder,) = parquet._WAITING
    assert Path(f"/proc/{decoder._process.pid}/cwd").readlink() == Path("/")
    decoder.end()


@pytest.mark.parametrize(
    ("text", "most"),
    [("x" * 10_000_000, 300), ("there is no 'y" + "y z" * 5_000 + "' here", 300), ("word " * 100_000, 2_000)],
)
def test_messages_fit_on_a_screen(text, most):
    assert len(clipped(text)) < most
    assert clipped(text)[:10] == text[:10]
    assert clipped(text)[-4:] == text[-4:]


def test_messages_with_long_names_say_what_is_wrong(write):
    name = "n" * 100_000
    with pytest.raises(FormatError) as caught:
        read_judgments(write("q.txt", f"1 0 {name} 1\n1 0 {name} 0\n"))
    assert "but had another label before" in str(caught.value)
    assert len(str(caught.value)) < 1_000
    with pytest.raises(VenireError) as other:
        read_judgments(write("j.csv", f"topic,doc,{name}\n1,a,1\n"))
    assert len(str(other.value)) < 4_000
