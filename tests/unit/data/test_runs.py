from __future__ import annotations

from venire import read_runs


def test_how_runs_show_themselves(tmp_path):
    for name in "abcd":
        (tmp_path / f"{name}.run").write_text(f"1 Q0 d 1 1.0 {name}\n")
    assert repr(read_runs(tmp_path / "a.run")) == "<Runs: a.run (1 source)>"
    assert repr(read_runs(tmp_path)) == "<Runs: a.run, b.run, c.run, ... (4 sources)>"
