from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from venire.data.scale import LEVELS, Scale
from venire.errors import FormatError
from venire.io.declarations import beside_name, beside_text, scale_beside

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


@pytest.mark.parametrize("name", ["judges.tsv.gz.toml", "judges.tsv.toml", "judges.toml"])
def test_a_scale_may_stand_beside_the_data_under_three_names(tmp_path, name):
    (tmp_path / name).write_text('labels = ["Non", "Rel"]\nmeasurement = "interval"\n', encoding="utf-8")
    assert scale_beside(tmp_path / "judges.tsv.gz") == Scale(("Non", "Rel"), "interval")
    assert scale_beside(tmp_path / "other.tsv.gz") is None


def test_the_longest_name_counts(tmp_path):
    (tmp_path / "judges.toml").write_text('scale = "a<b"', encoding="utf-8")
    (tmp_path / "judges.tsv.toml").write_text('scale = "c<d"', encoding="utf-8")
    assert scale_beside(tmp_path / "judges.tsv.gz") == Scale.parse("c<d")
    assert scale_beside(tmp_path / "judges.csv") == Scale.parse("a<b")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title = 1", "no scale found"),
        ("scale = ", "is not TOML"),
        ('labels = ["a", ""]', "a scale needs labels, none of them empty"),
        ("labels = [0, 1, inf]", "inf is not a label"),
        ("labels = [0, [1]]", r"\[1\] is not a label"),
    ],
)
def test_a_file_that_holds_no_scale_is_refused(tmp_path, text, said):
    (tmp_path / "judges.toml").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=rf"judges.toml: {said}"):
        scale_beside(tmp_path / "judges.csv")


@given(labels=st.lists(TEXT, min_size=1, max_size=4, unique=True), measurement=st.sampled_from(LEVELS))
def test_any_scale_comes_back(tmp_path_factory, labels, measurement):
    path = tmp_path_factory.mktemp("scale") / "judges.parquet"
    scale = Scale(tuple(labels), measurement)
    assert beside_name(path).name == "judges.parquet.toml"
    beside_name(path).write_bytes(beside_text(scale))
    assert scale_beside(path) == scale
