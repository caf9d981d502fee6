"""Words: a number agrees with its noun, and names read as a sentence has them."""

import pytest

from venire.results import counted, first_few, listed, read_number


@pytest.mark.parametrize(("number", "said"), [(0, "0 items"), (1, "1 item"), (2, "2 items"), (2000, "2,000 items")])
def test_a_number_agrees_with_its_noun(number, said):
    assert counted(number, "item") == said


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("", ""),
        ("a", "a"),
        ("ab", "a and b"),
        ("abc", "a, b and c"),
        ("abcd", "a, b, c and 1 more"),
        ("a" * 2003, "a, a, a and 2,000 more"),
    ],
)
def test_names_one_after_another(names, said):
    assert listed(names, 3) == said


@pytest.mark.parametrize(("names", "said"), [("", ""), ("abc", "a, b, c"), ("abcde", "a, b, c and 2 more")])
def test_names_after_a_colon(names, said):
    assert first_few(names, 3) == said


def test_digits_parted_by_underscores_are_no_number():
    assert read_number("1e3") == 1000
    with pytest.raises(ValueError, match="1_000"):
        read_number("1_000")
