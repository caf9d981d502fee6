"""Damaged files of every format: each is read, or refused with an error of ours, and a command ends with 0 or 2.

``make fuzz`` tries ten thousand of each format in processes with limited memory (``fuzz/readers.py``).
"""

from __future__ import annotations

import os
from time import monotonic

import pytest

from damaged_files import FORMS, Form, Unexpected, damaged, exit_code, outcome
from venire.errors import VenireError

N_DAMAGED = int(os.environ.get("VENIRE_MUTATIONS", "400")) // 8
N_COMMANDS = N_DAMAGED // 10
SEED = 3

in_every_format = pytest.mark.parametrize("name", FORMS)


@in_every_format
def test_a_damaged_file_is_read_or_refused(name, tmp_path):
    path, seen = tmp_path / FORMS[name].file, set()
    for number in range(N_DAMAGED):
        path.write_bytes(damaged(name, SEED, number))
        try:
            seen.add(outcome(FORMS[name], path))
        except Exception as error:
            error.add_note(f"damaged({name!r}, {SEED}, {number})")
            raise
    assert seen == ({"read"} if name in ("topics", "inspect") else {"read", "refused"})


@in_every_format
def test_commands_end_with_0_or_2(name, tmp_path):
    path = tmp_path / FORMS[name].file
    for number in range(N_COMMANDS):
        path.write_bytes(damaged(name, SEED, number))
        for command in FORMS[name].commands:
            try:
                assert exit_code(command, path) in (0, 2), command
            except Exception as error:
                error.add_note(f"damaged({name!r}, {SEED}, {number}) by {' '.join(command)}")
                raise


@in_every_format
def test_whole_files_are_read(name, tmp_path):
    path = tmp_path / FORMS[name].file
    for content in FORMS[name].whole():
        path.write_bytes(content)
        assert outcome(FORMS[name], path) == "read"


CONTENTS = {
    "empty": b"",
    "only line ends": b"\n\r\n\n",
    "only comments": b"# one\n# two\n",
    "a byte order mark": b"\xef\xbb\xbf",
    "zero bytes": b"\0" * 100,
    "UTF-16": "topic,doc,label\n1,a,1\n".encode("utf-16"),
    "UTF-16 lines": "1 0 a 1\n".encode("utf-16-le"),
    "CR": b"1 0 a 1\r1 0 b 0\r",
    "CR in a table": b"topic,doc,label\r1,a,1\r",
    "lone surrogates": b"1 0 \xed\xa0\x80 1\n",
    "escaped surrogates": b'{"topic": "\\ud800", "doc": "a", "label": 1}\n',
    "an escaped zero": b'{"topic": "\\u0000", "doc": "a", "label": 1}\n',
    "Parquet's first bytes": b"PAR1",
    "Parquet's first and last": b"PAR1\xff\xff\xff\x7fPAR1",
    "gz without content": b"\x1f\x8b",
    "zst without content": b"\x28\xb5\x2f\xfd",
    "a list": b"[]\n",
    "a quote": b'"',
    "a header and an open quote": b'topic,doc,label\n"' + b"\n" * 1_000,
    "an open quote in a header": b'"topic,doc' + b"\n" * 100_000,
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
@in_every_format
def test_odd_contents_are_read_or_refused(name, content, tmp_path):
    path = tmp_path / FORMS[name].file
    path.write_bytes(content)
    assert outcome(FORMS[name], path) in ("read", "refused")


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
@pytest.mark.parametrize("name", ["odd", "odd.csv", "odd.jsonl", "odd.parquet"])
def test_commands_refuse_odd_contents(name, content, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    for command in (
        ["inspect", "FILE"],
        ["evaluate", "FILE", "RUN"],
        ["evaluate", "QRELS", "FILE"],
        ["clicks", "FILE"],
    ):
        assert exit_code(command, path) in (0, 2)


@pytest.mark.slow
def test_a_decoder_whose_threads_wait_for_each_other_is_ended(tmp_path):
    """A file that a version of polars never finishes; it took two minutes to give up, and now it takes 15 seconds."""
    path = tmp_path / "log.parquet"
    path.write_bytes(damaged("clicks-parquet", 4, 4321))
    begun = monotonic()
    assert outcome(FORMS["clicks-parquet"], path) == "refused"
    assert monotonic() - begun < 100


def test_a_reader_that_fails_would_be_found(tmp_path):
    """Were this not found, the tests above could not fail."""

    def long_message(path: object) -> None:  # noqa: ARG001
        error = VenireError("x")
        error.message = "word " * 10_000
        raise error

    path = tmp_path / "x"
    path.write_bytes(b"x")
    with pytest.raises(ZeroDivisionError):
        outcome(Form("x", list, lambda _: 1 / 0), path)
    with pytest.raises(Unexpected):
        outcome(Form("x", list, long_message), path)
