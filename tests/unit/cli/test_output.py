from __future__ import annotations

import pytest

from json_results import loaded
from venire.cli.output import Output, Table

ODD = "caf\udce9"  # a name of bytes that are not UTF-8
TABLE = Table(("system", "AP"), [(ODD, 0.5), ("zoë", None)])


def test_a_file_gets_what_standard_output_would(tmp_path, capfdbinary):
    for form in ("table", "json", "csv", "markdown", "latex"):
        Output(format=form, path=None, quiet=False).table("scores", TABLE)
        Output(format=form, path=tmp_path / form, quiet=False).table("scores", TABLE)
        shown = capfdbinary.readouterr().out
        assert shown
        assert (tmp_path / form).read_bytes() == shown


def test_bytes_that_are_not_utf8_come_out_as_they_went_in(capfdbinary):
    Output(format="csv", path=None, quiet=False).table("scores", TABLE)
    assert capfdbinary.readouterr().out == b"system,AP\ncaf\xe9,0.5\nzo\xc3\xab,\n"


def test_json_is_utf8_whatever_the_names(capfdbinary):
    Output(format="json", path=None, quiet=False).table("scores", TABLE, beside={"n": 1})
    document = loaded(capfdbinary.readouterr().out.decode("utf-8"))
    assert document == {"scores": [{"system": ODD, "AP": 0.5}, {"system": "zoë", "AP": None}], "n": 1}


@pytest.mark.parametrize("quiet", [False, True])
def test_notes_are_said_once_unless_quiet(capsys, quiet):
    Output(format="table", path=None, quiet=quiet).notes(["a", "b", "a"])
    captured = capsys.readouterr()
    assert captured.err == ("" if quiet else "note: a\nnote: b\n")
    assert captured.out == ""
