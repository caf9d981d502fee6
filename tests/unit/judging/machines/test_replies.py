import json
from math import log

import pytest
from hypothesis import given, strategies as st

from model_server import tokens_of
from venire.judging.machines.prompts import Field
from venire.judging.machines.replies import Reply, UnreadableReply, distributions, read_reply
from venire.judging.study import Defined


def field_of(name: str, *choices: str) -> Field:
    return Field(name, tuple(map(Defined, choices)))


LABEL = field_of("label", "0", "1", "2")
ASPECTS = (field_of("trust", "low", "high", "N/A"), field_of("clarity", "low", "high", "N/A"))


@pytest.mark.parametrize(
    "text",
    [
        '{"label": "2"}',
        ' {"label":"2"}\n',
        '{"label": 2}',
        "2",
        '```json\n{"label": "2"}\n```',
        "```\n2\n```",
        '<think>is it 0 or 1?</think>\n{"label": "2"}',
    ],
)
def test_an_answer_is_read(text):
    assert read_reply(Reply(content=text), [LABEL]) == {"label": "2"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        "label 2",
        '{"label": "3"}',
        '{"label": 2.0}',
        '{"label": true}',
        '{"label": null}',
        '{"label": ["2"]}',
        '{"label": "2", "why": "x"}',
        '{"label": "2", "label": "1"}',
        '{"label": "2"} {"label": "1"}',
        '{"Label": "2"}',
        '{"label": "2"',
        'The answer is {"label": "2"}',
        '["2"]',
        "null",
        '{"label": NaN}',
        '{"label": " 2"}',
        "[" * 100_000,
        '<think>{"label": "2"}',
        '```json\n{"label": "2"}\n```\n```json\n{"label": "1"}\n```',
        "0 or 1",
        "02",
        "٢",
    ],
)
def test_anything_else_is_unreadable(text):
    with pytest.raises(UnreadableReply):
        read_reply(Reply(content=text), [LABEL])


def test_a_refusal_and_a_reply_that_was_cut_off_say_so():
    with pytest.raises(UnreadableReply, match="refused"):
        read_reply(Reply(content='{"label": "2"}', refusal="I cannot"), [LABEL])
    with pytest.raises(UnreadableReply, match="cut off"):
        read_reply(Reply(content='{"label": "', finish="length"), [LABEL])


def test_several_fields_are_all_needed():
    both = '{"clarity": "high", "trust": "N/A"}'
    assert read_reply(Reply(content=both), ASPECTS) == {"trust": "N/A", "clarity": "high"}
    for text in ('{"trust": "low"}', "low", '{"trust": "low", "clarity": "no"}'):
        with pytest.raises(UnreadableReply):
            read_reply(Reply(content=text), ASPECTS)


choices = st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=4, unique=True)


@given(choices, st.data(), st.booleans())
def test_every_choice_is_read_back(names, data, ascii_only):
    field = field_of(data.draw(st.text(max_size=5)), *names)
    chosen = data.draw(st.sampled_from(names))
    text = json.dumps({field.name: chosen}, ensure_ascii=ascii_only)
    assert read_reply(Reply(content=text), [field]) == {field.name: chosen}


@given(st.text(max_size=30) | st.from_regex(r'\{"label": ?("[0-3]"|[0-3])[,}]?', fullmatch=True), choices)
def test_what_is_read_is_always_a_choice(text, names):
    for field in (LABEL, field_of("label", *names)):
        try:
            found = read_reply(Reply(content=text), [field])
        except UnreadableReply:
            continue
        assert found["label"] in field.names


def reply_of(*tokens: tuple[str, dict[str, float]]) -> Reply:
    """Return a reply of these tokens, each with the probabilities of what might have stood there."""
    listed = [
        {
            "token": text,
            "logprob": log(top.get(text, 1.0)),
            "top_logprobs": [{"token": each, "logprob": log(p)} for each, p in top.items()],
        }
        for text, top in tokens
    ]
    return Reply(content="".join(text for text, _ in tokens), tokens=listed)


def test_probabilities_are_normalised_over_the_choices():
    reply = reply_of(('{"label": "', {}), ("2", {"2": 0.6, "1": 0.2, "7": 0.1}), ('"}', {}))
    assert distributions(reply, [LABEL])["label"] == pytest.approx({"0": 0, "1": 0.25, "2": 0.75})


@pytest.mark.parametrize(
    "tokens",
    [
        [('{"', {}), ("label", {}), ('":', {}), (' "2', {' "2': 0.6, ' "1': 0.2, " 2": 0.1}), ('"}', {})],
        [('{"label":', {}), (' "', {}), ('2"}', {'2"}': 0.6, '1"}': 0.1, "1": 0.1})],
        [('{"label":', {}), (" ", {}), ("2", {"2": 0.6, "1": 0.2}), ("}", {})],
        [("2", {"2": 0.6, "1": 0.2, "The": 0.2})],
    ],
)
def test_tokens_may_be_cut_anywhere(tokens):
    assert distributions(reply_of(*tokens), [LABEL])["label"] == pytest.approx({"0": 0, "1": 0.25, "2": 0.75})


def test_words_are_told_apart_by_how_they_begin():
    field = field_of("label", "Non", "Rel", "HRel")
    reply = reply_of(('{"label": "', {}), ("H", {"H": 0.5, "Re": 0.3, "Non": 0.2}), ('Rel"}', {}))
    assert distributions(reply, [field])["label"] == pytest.approx({"Non": 0.2, "Rel": 0.3, "HRel": 0.5})
    shared = field_of("label", "Rel", "Relevant")
    assert distributions(reply_of(('{"label": "', {}), ("Rel", {"Rel": 0.9}), ('"}', {})), [shared]) == {}


def test_each_aspect_has_its_distribution():
    answer = {"trust": "low", "clarity": "N/A"}
    tokens = tokens_of(answer, {each.name: [*each.names] for each in ASPECTS})
    reply = Reply(content=json.dumps(answer), tokens=tokens)
    found = distributions(reply, ASPECTS)
    assert found["trust"] == pytest.approx({"low": 0.8 / 0.95, "high": 0.1 / 0.95, "N/A": 0.05 / 0.95})
    assert max(found["clarity"], key=found["clarity"].get) == "N/A"


def test_no_log_probabilities_no_distribution():
    assert distributions(Reply(content='{"label": "2"}'), [LABEL]) == {}
    odd = [{"token": '{"label": "2"}', "logprob": None, "top_logprobs": [3, {"token": "x"}]}]
    assert distributions(Reply(content='{"label": "2"}', tokens=odd), [LABEL]) == {}
    other = [{"token": "elsewhere", "logprob": 0.0}]
    assert distributions(Reply(content='{"label": "2"}', tokens=other), [LABEL]) == {}


@given(st.lists(st.tuples(st.text(max_size=4), st.floats(max_value=0)), max_size=5), st.integers(0, 14))
def test_a_distribution_sums_to_one_or_is_not_there(listed, cut):
    content = '{"label": "2"}'
    top = [{"token": text, "logprob": value} for text, value in listed]
    tokens = [{"token": part, "logprob": -1.0, "top_logprobs": top} for part in (content[:cut], content[cut:]) if part]
    for shares in distributions(Reply(content=content, tokens=tokens), [LABEL]).values():
        assert sum(shares.values()) == pytest.approx(1)
        assert min(shares.values()) >= 0
