"""Replies: what a language model said, read strictly, and how probable it found each choice.

An answer is one JSON object with exactly the fields that were asked for, each exactly one of its choices.  It may stand
in a code fence, follow a block of reasoning in ``<think>`` tags, or, where there is a single field, be the bare choice.
Anything else cannot be read: no choice is searched for within a text, since "not 2 but 1" contains two of them.

Distributions come from the log-probabilities of the token with which the value of a field begins.  For each of the
tokens that the server lists there, its probability is that of the one choice which it begins; the probabilities are
divided by their sum.  A choice without a listed token has 0.  Where a token begins two choices ("Rel" of "Rel" and
"Relevant"), there is no distribution.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import exp
from typing import Any

from venire.judging.machines.prompts import Field

_REASONING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*)\n\s*```\Z", re.DOTALL)


class UnreadableReply(Exception):  # noqa: N818 - it names the state of the reply
    """A reply that is not an answer, and why."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a server returned: the text, the log-probabilities of its tokens if they were offered, and the usage."""

    content: str
    tokens: Sequence[Mapping[str, Any]] = ()
    refusal: str = ""
    finish: str = "stop"
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    attempts: int = 1


def read_reply(reply: Reply, fields: Sequence[Field]) -> dict[str, str]:
    """Return the choice for each field, or raise UnreadableReply."""
    if reply.refusal:
        raise UnreadableReply("refused by the model")
    text = _REASONING.sub("", reply.content).strip()
    fenced = _FENCE.match(text)
    text = fenced[1].strip() if fenced else text
    if len(fields) == 1 and text in fields[0].names:
        return {fields[0].name: text}
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except RecursionError as error:
        raise UnreadableReply("not JSON") from error
    except ValueError as error:
        raise UnreadableReply("cut off" if reply.finish == "length" else "not JSON") from error
    return _chosen(found, fields)


def _once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise UnreadableReply("a field twice")
    return found


def _no_constant(word: str) -> object:
    raise UnreadableReply(f"{word} is no choice")


def _chosen(found: object, fields: Sequence[Field]) -> dict[str, str]:
    if not isinstance(found, dict) or found.keys() != {each.name for each in fields}:
        raise UnreadableReply("not the fields that were asked for")
    return {each.name: _choice(found[each.name], each) for each in fields}


def _choice(value: object, field: Field) -> str:
    """Return the choice; a whole number stands for the choice that is written so."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or text not in field.names:
        raise UnreadableReply(f"no choice of {field.name}")
    return text


def distributions(reply: Reply, fields: Sequence[Field]) -> dict[str, dict[str, float]]:
    """Return the probability of each choice by field, for the fields where the log-probabilities state it.

    The reply must be readable.
    """
    found = {each.name: _distribution(reply, each, single=len(fields) == 1) for each in fields}
    return {name: shares for name, shares in found.items() if shares}


def _distribution(reply: Reply, field: Field, *, single: bool) -> dict[str, float]:
    texts = [str(each.get("token", "")) for each in reply.tokens]
    start = "".join(texts).find(reply.content)
    value = _value_at(reply.content, field, single=single)
    if start < 0 or value is None or not texts:
        return {}
    ends = [*accumulate(map(len, texts))]
    where = next(n for n, end in enumerate(ends) if end > start + value)
    lead = texts[where][: start + value - (ends[where] - len(texts[where]))]
    return _shares(_alternatives(reply.tokens[where]), lead, field)


def _value_at(content: str, field: Field, *, single: bool) -> int | None:
    """Return where the value of a field begins in the text, after its quotation mark."""
    names = [*re.finditer(rf'{re.escape(json.dumps(field.name, ensure_ascii=False))}\s*:\s*"?(?=.)', content)]
    if names:
        return names[-1].end()
    bare = content.strip()
    return content.find(bare) if single and bare in field.names else None


def _alternatives(token: Mapping[str, Any]) -> list[tuple[str, float]]:
    listed = token.get("top_logprobs")
    every = [token, *(listed if isinstance(listed, list) else [])]
    pairs = {str(each.get("token", "")): each.get("logprob") for each in every if isinstance(each, Mapping)}
    return [(text, exp(min(value, 0.0))) for text, value in pairs.items() if isinstance(value, int | float)]


def _shares(alternatives: Sequence[tuple[str, float]], lead: str, field: Field) -> dict[str, float]:
    shares = dict.fromkeys(field.names, 0.0)
    for text, probability in alternatives:
        begun = [name for name in field.names if text.startswith(lead) and _begins(text[len(lead) :], name)]
        if len(begun) > 1:
            return {}
        for name in begun:
            shares[name] += probability
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()} if total > 0 else {}


def _begins(token: str, choice: str) -> bool:
    """Tell whether a token is the beginning of a choice, or the choice and what follows it."""
    literal = json.dumps(choice, ensure_ascii=False)[1:-1]
    whole = token.startswith(literal) and token[len(literal) : len(literal) + 1] in ('"', ",", "}", " ", "\n", "")
    return bool(token) and (whole or literal.startswith(token))
