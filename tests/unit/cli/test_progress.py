from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

from venire.cli import output as progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_a_terminal(monkeypatch) -> Terminal:
    """Make standard error a terminal; done in the test itself, since pytest puts its own one in place before it."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def test_no_bar_without_a_terminal(capsys):
    with progress.bar([], quiet=False) as advance:
        assert advance is None
    assert capsys.readouterr().err == ""


def test_no_bar_when_quiet(monkeypatch):
    on_a_terminal(monkeypatch)
    with progress.bar([], quiet=True) as advance:
        assert advance is None


def test_no_bar_for_what_is_quick(monkeypatch, run):
    terminal = on_a_terminal(monkeypatch)
    with progress.bar([run], quiet=False) as advance:
        assert advance is not None
        advance(10)
    assert terminal.getvalue() == ""


def test_no_bar_where_the_number_of_bytes_is_unknown(monkeypatch):
    on_a_terminal(monkeypatch)
    with progress.bar([Path("-")], quiet=False) as advance:
        assert advance is None


def test_stages_are_named(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    with progress.stages(2, quiet=False) as stage:
        stage("first")
        stage("second")
    assert "first" in terminal.getvalue()
    assert "2/2" in terminal.getvalue()


def test_a_bar_for_what_takes_long(monkeypatch, run):
    terminal = on_a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    with progress.bar([run], quiet=False) as advance:
        advance(10)
        advance(20)
    assert "reading" in terminal.getvalue()


def test_bytes_are_known_for_plain_files_only(run, tmp_path):
    packed = tmp_path / "x.gz"
    packed.write_bytes(gzip.compress(b"x"))
    assert progress.total_bytes([run, run]) == 2 * run.stat().st_size
    assert progress.total_bytes([run, packed]) is None
    assert progress.total_bytes([Path("-")]) is None
    assert progress.total_bytes([object()]) is None
