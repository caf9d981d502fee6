from __future__ import annotations

import io
import sys
import warnings

import pytest

from venire.cli.output import collect_warnings, print_warnings, say
from venire.errors import MissingTopicsWarning, UnjudgedWarning


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_errors_are_red_on_a_terminal_only(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    for stream, red in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        say("error", "no")
        assert ("\x1b[31m" in stream.getvalue()) == red
        assert "error:" in stream.getvalue()


def test_no_colour_if_the_user_says_so(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    say("error", "no")
    assert terminal.getvalue() == "error: no\n"


def test_each_warning_is_said_once(capsys):
    with print_warnings(quiet=False):
        for text in ("one", "two", "one"):
            warnings.warn(text, UnjudgedWarning, stacklevel=1)
        warnings.warn("one", MissingTopicsWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: one\nwarning: two\n"


def test_quiet_says_no_warning(capsys):
    with print_warnings(quiet=True):
        warnings.warn("one", UnjudgedWarning, stacklevel=1)
    assert capsys.readouterr().err == ""


def test_warnings_of_others_go_their_usual_way():
    with pytest.warns(DeprecationWarning, match="old"), print_warnings(quiet=True):
        warnings.warn("old", DeprecationWarning, stacklevel=1)


def test_afterwards_warnings_are_as_before():
    before = warnings.showwarning, list(warnings.filters)
    with print_warnings(quiet=True):
        pass
    assert (warnings.showwarning, list(warnings.filters)) == before


def test_what_is_overheard_is_said_too_but_for_some_kinds(capsys):
    with print_warnings(quiet=False), collect_warnings(but=(MissingTopicsWarning,)) as heard:
        warnings.warn("one", UnjudgedWarning, stacklevel=1)
        warnings.warn("two", MissingTopicsWarning, stacklevel=1)
    assert heard == ["one"]
    assert capsys.readouterr().err == "warning: one\nwarning: two\n"


def test_what_is_overheard_is_kept_where_nothing_is_said(capsys):
    with print_warnings(quiet=True), collect_warnings() as heard:
        warnings.warn("one", UnjudgedWarning, stacklevel=1)
    assert heard == ["one"]
    assert capsys.readouterr().err == ""
