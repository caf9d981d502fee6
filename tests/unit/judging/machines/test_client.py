import asyncio
import json
import logging
import time
from email.utils import formatdate

import pytest

from model_server import CUT, MALFORMED, TRUNCATED, Model, ModelServer, Reply, completion
from studies import study_of, task_of
from venire.errors import SettingError
from venire.judging.machines.client import Client, Endpoint, NoReply, PromptRefused, ServerRefused, retry_after
from venire.judging.machines.prompts import Prompts
from venire.judging.machines.replies import distributions, read_reply
from venire.judging.study import KINDS, LABEL

PROMPTS = Prompts(study_of())
PROMPT = PROMPTS.prompt(task_of(LABEL))
KEY = "sk-0123456789abcdef"


def asked(model: Model, *prompts, together=False, **settings):
    """Send prompts to a server of this model; return the replies."""

    async def send(endpoint: Endpoint):
        async with Client(endpoint) as client:
            if together:
                return await asyncio.gather(*map(client.ask, prompts or [PROMPT]))
            return [await client.ask(each) for each in prompts or [PROMPT]]

    with ModelServer(model) as server:
        return asyncio.run(send(Endpoint(**({"model": "toy", "url": server.url, "backoff": 0.001} | settings))))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_task_is_answered_with_a_distribution(kind):
    prompt = PROMPTS.prompt(task_of(kind))
    [reply] = asked(Model(), prompt)
    chosen = read_reply(reply, prompt.fields)
    shares = distributions(reply, prompt.fields)
    assert {name: max(each, key=each.get) for name, each in shares.items()} == chosen
    assert (reply.tokens_in, reply.tokens_out, reply.model, reply.attempts) == (100, 7, "toy-1", 1)


def test_a_request_has_the_schema_and_the_key_in_its_header_alone():
    model = Model()
    asked(model, key=KEY)
    [request], [headers] = model.requests, model.headers
    assert request["response_format"]["json_schema"]["schema"] == PROMPT.schema
    assert (request["model"], request["temperature"], request["logprobs"]) == ("toy", 0.0, True)
    assert headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in json.dumps(request)


@pytest.mark.parametrize("failure", [408, 429, 500, 502, 503, CUT, TRUNCATED, MALFORMED])
def test_a_failure_that_may_pass_is_tried_again(failure):
    def script(_, n: int) -> Reply | None:
        bodies = {CUT: b"", TRUNCATED: b'{"choices": [{', MALFORMED: b'{"choices": []}'}
        if n > 2:
            return None
        return Reply(200, bodies[failure], cut=0 if failure == CUT else None) if failure in bodies else Reply(failure)

    [reply] = asked(Model(script=script))
    assert reply.attempts == 3


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"<html>",
        b'{"choices": [{"message": {"content": null}}]}',
        b'{"choices": {"0": 1}}',
        b"\xff",
        b"[" * 100_000,
        b'{"choices": [{"message": "2"}]}',
        b'{"choices": [{"message": {"content": 2}}]}',
    ],
)
def test_a_body_that_is_no_completion_is_tried_again(body):
    [reply] = asked(Model(script=lambda _, n: Reply(200, body) if n == 1 else None))
    assert reply.attempts == 2


def test_a_body_without_end_is_not_read_to_its_end():
    [reply] = asked(Model(script=lambda _, n: Reply(200, b" " * (5 << 20)) if n == 1 else None))
    assert reply.attempts == 2


def test_a_slow_server_times_out():
    with pytest.raises(NoReply, match=r"no reply after 2 attempts: no reply within 0\.05 seconds"):
        asked(Model(delay=5.0), timeout=0.05, attempts=2)


def test_nobody_at_the_address():
    with ModelServer() as server:
        url = server.url

    async def send():
        async with Client(Endpoint(model="toy", url=url, attempts=2, backoff=0.001)) as client:
            await client.ask(PROMPT)

    with pytest.raises(NoReply, match="ConnectError"):
        asyncio.run(send())


def test_retry_after_is_waited_for():
    begun = time.monotonic()
    asked(Model(script=lambda _, n: Reply(429, headers={"Retry-After": "0.3"}) if n == 1 else None))
    assert time.monotonic() - begun >= 0.3
    with pytest.raises(ServerRefused, match="asks to wait for 86,400 seconds"):
        asked(Model(script=lambda *_: Reply(429, headers={"Retry-After": "86400"})))


def test_retry_after_may_be_a_date():
    assert retry_after(formatdate(time.time() + 30, usegmt=True)) == pytest.approx(30, abs=2)
    assert retry_after(formatdate(0, usegmt=True)) == 0
    assert retry_after("Tue, 99 Nov 9999") is None


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404])
def test_a_refusal_stops_and_says_what_the_server_said(status):
    body = json.dumps({"error": {"message": f"no: {KEY}"}}).encode()
    model = Model(script=lambda *_: Reply(status, body))
    with pytest.raises(ServerRefused, match=rf"status {status}\): no: \(key\)"):
        asked(model, key=KEY)
    assert len(model.requests) <= 4


def test_a_quota_that_is_used_up_does_not_pass():
    model = Model(script=lambda *_: Reply(429, b'{"error": {"code": "insufficient_quota", "message": "no money"}}'))
    with pytest.raises(ServerRefused, match=r"status 429\): no money"):
        asked(model)
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("refuses", "left"),
    [
        (("json_schema",), {"response_format": {"type": "json_object"}, "logprobs": True, "temperature": 0.0}),
        (("response_format",), {"logprobs": True, "temperature": 0.0}),
        (("logprobs",), {"temperature": 0.0}),
        (("temperature",), {"logprobs": True}),
        (("response_format", "logprobs", "temperature"), {}),
    ],
)
def test_what_a_server_does_not_know_is_left_out_from_then_on(refuses, left):
    model = Model(refuses=refuses)
    first, second = asked(model, PROMPT, PROMPTS.prompt(task_of(LABEL, "d2")))
    assert read_reply(first, PROMPT.fields) == {"label": "2"}
    assert read_reply(second, PROMPT.fields) == {"label": "0"}
    assert bool(first.tokens) == ("logprobs" not in refuses)
    sent = model.requests[-1]
    assert {key: sent[key] for key in left} == left
    assert not {*refuses} & {*sent}
    assert (first.attempts, second.attempts) == (1, 1)


def test_a_server_that_refuses_without_a_word_is_asked_ever_more_simply():
    model = Model(script=lambda request, _: Reply(400, b"no") if len(request) > 3 else None)
    asked(model, PROMPT, PROMPTS.prompt(task_of(LABEL, "d2")), together=True)
    assert {*model.requests[-1]} == {"model", "messages", "temperature"}


def test_one_prompt_that_is_refused_where_others_were_answered():
    def script(request, _) -> Reply | None:
        return Reply(400, b'{"error": "too long"}') if "Football" in request["messages"][1]["content"] else None

    model = Model(script=script)
    with pytest.raises(PromptRefused, match="too long"):
        asked(model, PROMPT, PROMPTS.prompt(task_of(LABEL, "d2")))
    assert len(model.requests) == 2


def test_the_key_is_in_no_log_and_no_error(caplog):
    caplog.set_level(logging.DEBUG)
    for script in (lambda *_: Reply(401, KEY.encode()), lambda *_: Reply(500, KEY.encode())):
        with pytest.raises((ServerRefused, NoReply)) as caught:
            asked(Model(script=script), key=KEY, attempts=2)
        assert KEY not in str(caught.value)
    endpoint = Endpoint(model="toy", url="https://host/v1", key=KEY)
    assert KEY not in f"{endpoint!r} {caplog.text}"
    assert caplog.text


@pytest.mark.parametrize(
    "url",
    [
        "",
        "host/v1",
        "ftp://host",
        "http://",
        "http://host:port/v1",
        "http://me:secret@host/v1",
        "https://host/v1?key=secret",
    ],
)
def test_an_invalid_base_url(url):
    with pytest.raises(SettingError, match="the base URL") as caught:
        Endpoint(model="toy", url=url)
    assert "secret" not in str(caught.value)


def test_a_key_is_not_sent_in_clear():
    with pytest.raises(SettingError, match="without encryption") as caught:
        Endpoint(model="toy", url="http://host/v1", key=KEY)
    assert KEY not in str(caught.value)
    for url in ("https://host/v1", "http://127.0.0.1:8000/v1", "http://localhost/v1", "http://[::1]:8000/v1"):
        Endpoint(model="toy", url=url, key=KEY)
    with pytest.raises(SettingError, match="a header cannot hold"):
        Endpoint(model="toy", url="https://host/v1", key="a\nb")


def test_reading_and_refusing_of_content():
    [reply] = asked(
        Model(script=lambda *_: Reply(200, json.dumps(completion(None, message={"refusal": "no"})).encode()))
    )
    assert reply.refusal == "no"
    [reply] = asked(
        Model(script=lambda *_: Reply(200, json.dumps(completion('{"la', finish="length", usage=None)).encode()))
    )
    assert (reply.finish, reply.tokens_in) == ("length", None)
