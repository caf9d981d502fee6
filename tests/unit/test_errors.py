"""Words of errors: which names there are."""

from __future__ import annotations

import pytest

from venire.errors import known_names


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["bm25", "splade"], "there are 'bm25', 'splade'"),
        (["bm25"], "there is only 'bm25'"),
        ([], "there are none"),
        (["bm25", "old"], "did you mean 'old'?"),
        (list("abcdefghij"), "there are 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' and 2 more"),
    ],
)
def test_known_names_are_listed_by_their_number(names, words):
    assert known_names("olds", names) == words
