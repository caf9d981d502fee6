from __future__ import annotations

import pytest

from venire.errors import FormatError
from venire.io.side_files import read_groups, read_intent_probabilities


@pytest.fixture
def file(tmp_path):
    def write(content: str | bytes):
        path = tmp_path / "facts.txt"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.mark.parametrize(
    "content",
    [
        "1 nav\n2 inf\n",
        "1\tnav\n2\tinf",
        "1,nav\n2,inf\n",
        "topic group\n1 nav\n2 inf\n",
        "Topic,Group\n1,nav\n2,inf\n",
        "# kinds of queries\n\n1   nav\r\n2 \t inf\r\n",
        "\ufeff1 nav\n2 inf\n",
        "1 nav\n2 inf\n1 nav\n",
    ],
)
def test_topics_and_their_groups(file, content):
    assert read_groups(file(content)) == {"1": "nav", "2": "inf"}


def test_a_group_may_have_a_name_of_several_words(file):
    assert read_groups(file("1\tlooks for a page\n2 two words\n")) == {"1": "looks for a page", "2": "two words"}


def test_names_that_are_not_utf_8_are_kept(file):
    assert read_groups(file(b"\xe9t\xe9 nav\n2 inf\n")) == {"\udce9t\udce9": "nav", "2": "inf"}


def test_a_header_stands_in_the_first_line_alone(file):
    assert read_groups(file("1 nav\ntopic group\n")) == {"1": "nav", "topic": "group"}


@pytest.mark.parametrize("content", ["", "\n\n", "# nothing\n", "topic group\n", "topic,group"])
def test_a_file_without_groups_is_refused(file, content):
    with pytest.raises(FormatError, match="is empty"):
        read_groups(file(content))


def test_a_topic_in_two_groups_is_refused(file):
    with pytest.raises(FormatError, match=r"facts.txt:3: topic '1' is in a second group"):
        read_groups(file("1 nav\n2 inf\n1 inf\n"))


@pytest.mark.parametrize("line", ["1", "1\t", ",nav"])
def test_a_line_with_a_column_missing_is_refused(file, line):
    with pytest.raises(FormatError, match=r"facts.txt:2: found .* expected topic, group"):
        read_groups(file(f"2 inf\n{line}\n"))


@pytest.mark.parametrize("content", ["1 1 0.25\n1 2 .75\n", "topic\tintent\tprobability\n1\t1\t0.25\n1\t2\t0.75\n"])
def test_probabilities_of_intents(file, content):
    assert read_intent_probabilities(file(content)) == {("1", "1"): 0.25, ("1", "2"): 0.75}


@pytest.mark.parametrize("value", ["often", "1.5", "-0.1", "nan", "inf"])
def test_what_is_no_probability_is_refused(file, value):
    with pytest.raises(FormatError, match=r"facts.txt:1: .* is not a number from 0 to 1"):
        read_intent_probabilities(file(f"1 2 {value}\n"))


def test_two_probabilities_for_one_intent_are_refused(file):
    with pytest.raises(FormatError, match=r"facts.txt:2: intent '2' of topic '1' has a second probability"):
        read_intent_probabilities(file("1 2 0.5\n1 2 0.4\n"))


def test_the_same_probability_twice_is_no_harm(file):
    assert read_intent_probabilities(file("1 2 0.5\n1 2 0.50\n")) == {("1", "2"): 0.5}
