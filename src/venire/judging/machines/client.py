"""A client of chat completions, the protocol of OpenAI that most servers of language models speak.

What the server fails at for now (rate limits, errors of the server, time-outs, bodies that are no completion) is asked
again after a while: as long as the server says (Retry-After), else about twice as long as before, with jitter.  What it
refuses for good (no access, no such model, an invalid request) raises ServerRefused.

A server that does not know a part of a request refuses it: structured output, log-probabilities, a temperature.  The
client then leaves that part out, for all requests that follow: JSON Schema, then any JSON object, then plain text.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from venire.errors import SettingError, VenireError
from venire.judging.machines.prompts import Prompt
from venire.judging.machines.replies import Reply
from venire.judging.web.site import is_loopback

if TYPE_CHECKING:
    import httpx

SCHEMA, OBJECT, PLAIN = "json_schema", "json_object", "plain"
FORMAT = re.compile(r"response.?format|json|schema|grammar|structured")
LONGEST_WAIT = 60.0
LONGEST_RETRY_AFTER = 900.0
LARGEST_BODY = 4 << 20
"""Bytes of a reply that are read; a longer one is no completion."""
MOST_LOGPROBS = 20


class ServerRefused(VenireError):  # noqa: N818 - it names what happened
    """A server that refuses a request for good."""


class PromptRefused(ServerRefused):
    """A server that refuses one prompt, where it has answered others: it is too long, or its content is filtered."""


class NoReply(VenireError):  # noqa: N818 - it names what happened
    """A request that failed as often as it may be tried."""


class _Passing(Exception):  # noqa: N818 - it will pass
    """A failure that may pass; after: how many seconds the server asks to wait."""

    def __init__(self, what: str, after: float | None = None) -> None:
        super().__init__(what)
        self.after = after


@dataclass(frozen=True)
class Dialect:
    """Which parts of the protocol the server understands, as far as is known."""

    form: str = SCHEMA
    logprobs: bool = True
    temperature: bool = True

    def without(self, refusal: str, *, guess: bool) -> Dialect | None:
        """Leave out the part that the server's words name; else, if it may be guessed, one after the other."""
        if self.logprobs and "logprobs" in refusal:
            return replace(self, logprobs=False)
        if self.temperature and "temperature" in refusal:
            return replace(self, temperature=False)
        if self.form != PLAIN and (guess or FORMAT.search(refusal)):
            return replace(self, form=OBJECT if self.form == SCHEMA else PLAIN)
        return replace(self, logprobs=False) if self.logprobs and guess else None


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where a model is served; key: sent in a header, and nowhere else."""

    model: str
    url: str
    key: str = ""
    temperature: float | None = 0.0
    timeout: float = 120.0
    attempts: int = 8
    backoff: float = 0.5

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            host, _ = parts.hostname, parts.port
        except ValueError as error:
            raise SettingError(f"the base URL is invalid: {error}") from error
        if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
            raise SettingError(
                f"the base URL is {_without_secrets(self.url)!r}, expected one such as http://127.0.0.1:8000/v1"
            )
        if parts.username is not None or parts.password is not None:
            raise SettingError("the base URL contains a password", hint="put the key into an environment variable")
        if self.key and parts.scheme == "http" and not is_loopback(host):
            raise SettingError(
                f"the key would be sent to {host} without encryption", hint="use https, or unset the key's variable"
            )
        if not self.key.isascii() or not self.key.isprintable():
            raise SettingError("the key has characters that a header cannot hold")

    def __repr__(self) -> str:
        return f"<Endpoint {self.model} at {self.url}>"

    @property
    def completions(self) -> str:
        """The address of chat completions."""
        return f"{self.url.rstrip('/')}/chat/completions"


def _without_secrets(url: str) -> str:
    return re.sub(r"//[^/@]*@|[?#].*", "//...@", url)


class Client:
    """Connections to an endpoint, as many as there are requests at the same time; used with ``async with``.

    Each connection is a pool of its own: httpx looks through all connections of a pool for each request.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        import httpx

        self.endpoint, self.dialect = endpoint, Dialect(temperature=endpoint.temperature is not None)
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        verify = httpx.create_ssl_context()
        self._connect = partial(httpx.AsyncClient, headers=headers, timeout=None, verify=verify)
        self._idle: list[httpx.AsyncClient] = []
        self._understood: Dialect | None = None
        self._random = random.Random()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in self._idle:
            await each.aclose()

    @property
    def temperature(self) -> float | None:
        """The temperature that is sent; None: the server's own."""
        return self.endpoint.temperature if self.dialect.temperature else None

    async def ask(self, prompt: Prompt) -> Reply:
        """Send a prompt until there is a reply; raise NoReply, or ServerRefused."""
        tried = 0
        while True:
            tried += 1
            try:
                return replace(await self._once(prompt), attempts=tried)
            except _Passing as failure:
                if tried >= self.endpoint.attempts:
                    what = f"{self.endpoint.url}: no reply after {tried} attempts: {failure}"
                    raise NoReply(self._safe(what)) from None
                await asyncio.sleep(self._wait(tried, failure.after))

    def _wait(self, tried: int, after: float | None) -> float:
        """Return how many seconds to wait after so many attempts."""
        if after is not None:
            return after * self._random.uniform(1.0, 1.1)
        return min(LONGEST_WAIT, self.endpoint.backoff * 2.0 ** (tried - 1)) * self._random.uniform(0.5, 1.0)

    async def _once(self, prompt: Prompt) -> Reply:
        """Send a prompt, in ever simpler forms until the server understands it."""
        while True:
            sent = self.dialect
            response, body = await self._post(self._request(prompt, sent))
            if response.status_code not in (400, 422):
                reply = _completion(self._checked(response, body))
                self._understood = sent
                return reply
            if self.dialect == sent:  # else another request has learnt meanwhile what the server understands
                known = self._understood == sent
                simpler = sent.without(body.decode("utf-8", "replace").lower(), guess=not known)
                if simpler is None:
                    raise self._refused(response, body, kind=PromptRefused if known else ServerRefused)
                self.dialect = simpler

    def _request(self, prompt: Prompt, dialect: Dialect) -> dict[str, Any]:
        request: dict[str, Any] = {"model": self.endpoint.model, "messages": prompt.messages}
        if dialect.temperature:
            request["temperature"] = self.endpoint.temperature
        if dialect.form == SCHEMA:
            schema = {"name": "answer", "strict": True, "schema": prompt.schema}
            request["response_format"] = {"type": SCHEMA, "json_schema": schema}
        elif dialect.form == OBJECT:
            request["response_format"] = {"type": OBJECT}
        if dialect.logprobs:
            most = max(len(each.choices) for each in prompt.fields)
            request |= {"logprobs": True, "top_logprobs": min(MOST_LOGPROBS, most + 5)}
        return request

    async def _post(self, request: Mapping[str, Any]) -> tuple[httpx.Response, bytes]:
        import httpx

        http = self._idle.pop() if self._idle else self._connect()
        try:
            async with (
                asyncio.timeout(self.endpoint.timeout),
                http.stream("POST", self.endpoint.completions, json=request) as response,
            ):
                body = b""
                async for part in response.aiter_bytes():
                    body += part
                    if len(body) > LARGEST_BODY:
                        raise _Passing("a body that is too long")
                return response, body
        except TimeoutError:
            raise _Passing(f"no reply within {self.endpoint.timeout:g} seconds") from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise _Passing(f"{type(error).__name__} {error}".strip()) from None
        except httpx.InvalidURL as error:
            raise ServerRefused(f"the base URL is invalid: {error}") from None
        finally:
            self._idle.append(http)

    def _checked(self, response: httpx.Response, body: bytes) -> bytes:
        """Return the body of a success; raise what else there is."""
        status = response.status_code
        if (status in (408, 409, 425, 429) or status >= 500) and b"insufficient_quota" not in body:
            after = retry_after(response.headers.get("retry-after"))
            if after is not None and after > LONGEST_RETRY_AFTER:
                raise self._refused(response, body, more=f"; it asks to wait for {after:,.0f} seconds")
            raise _Passing(f"status {status}", after)
        if status != 200:
            raise self._refused(response, body)
        return body

    def _refused(
        self, response: httpx.Response, body: bytes, *, more: str = "", kind: type[ServerRefused] = ServerRefused
    ) -> ServerRefused:
        status = response.status_code
        message = f"{self.endpoint.completions} refuses (status {status}){more}: {_words(body)}"
        return kind(self._safe(message), hint=HINTS.get(status))

    def _safe(self, text: str) -> str:
        return text.replace(self.endpoint.key, "(key)") if self.endpoint.key else text


HINTS = {
    401: "is the key in the environment variable, and is it valid for this server?",
    403: "may this key use the model?",
    404: "does the server know the model, and does the base URL end where its documentation says, often in /v1?",
}


def _words(body: bytes) -> str:
    """Return what a server says about an error."""
    text = body.decode("utf-8", "replace")
    try:
        found = json.loads(text)["error"]
        text = str(found.get("message", found)) if isinstance(found, dict) else str(found)
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    return " ".join(text.split())[:300] or "(no message)"


def retry_after(text: str | None) -> float | None:
    """Return the seconds of a Retry-After header, which are stated as such or as a date; None if it is not readable.

    >>> retry_after("3"), retry_after("soon"), retry_after(None)
    (3.0, None, None)
    """
    if text is None:
        return None
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text.strip()):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _completion(body: bytes) -> Reply:
    """Read the body of a completion; raise _Passing if it is none."""
    try:
        found = json.loads(body)
        choice = found["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal") or ""
        usage, logprobs = found.get("usage") or {}, choice.get("logprobs") or {}
        tokens = logprobs.get("content") or ()
        if not isinstance(content, str) and not refusal:
            raise _Passing("a completion without content")
        return Reply(
            content=content if isinstance(content, str) else "",
            tokens=tuple(each for each in tokens if isinstance(each, dict)),
            refusal=str(refusal),
            finish=str(choice.get("finish_reason") or "stop"),
            model=str(found.get("model") or ""),
            tokens_in=_count(usage.get("prompt_tokens")),
            tokens_out=_count(usage.get("completion_tokens")),
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise _Passing("a body that is no completion") from error


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
