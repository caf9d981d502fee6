"""What every request must satisfy before a handler sees it, and what every response tells the browser.

The Host must be ours (DNS rebinding), and a POST must come from a page of ours: browsers state that in
``Sec-Fetch-Site``, older ones in ``Origin``.  A form has its own secret on top of that (``forms``).
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable
from threading import Lock

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from venire.judging.web.site import Site

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
DOCUMENT_POLICY = (
    "sandbox allow-same-origin; default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
"""No script, no form and no request of a document; the page around it, which is of the same origin, may scroll it."""
HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
SAFE = ("GET", "HEAD")


class Guard:
    """Around the application: refuses requests from elsewhere, and adds the headers of security."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self.app, self.site = app, site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request that may come in."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refused = self.refusal(scope["method"], Headers(scope=scope))
        app = PlainTextResponse(refused, 403) if refused else self.app

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if self.site.secure:
                    headers.setdefault("Strict-Transport-Security", "max-age=31536000")
            await send(message)

        await app(scope, receive, send_with_headers)

    def refusal(self, method: str, headers: Headers) -> str:
        """Return why a request may not come in, or ""."""
        if not self.site.is_host(headers.get("host", "")):
            return "This server has another name."
        came = headers.get("sec-fetch-site")
        if method in SAFE or came in ("same-origin", "none"):
            return ""
        origin = headers.get("origin", "")
        scheme, _, host = origin.partition("://")
        ours = scheme == self.site.parts.scheme and self.site.is_host(host)
        return "" if came is None and (ours or not origin) else "This request comes from another site."


class Attempts:
    """How often an address tried a token that does not exist: at most ``most`` times in ``seconds``."""

    def __init__(self, most: int = 10, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self.seconds, self.clock = most, seconds, clock
        self._failed: defaultdict[str, deque[float]] = defaultdict(deque)
        self._lock = Lock()

    def exhausted(self, who: str) -> bool:
        """Return whether an address has to wait."""
        with self._lock:
            return len(self._recent(who)) >= self.most

    def failed(self, who: str) -> None:
        """Count an attempt, and forget addresses that have not tried for long."""
        with self._lock:
            self._recent(who).append(self.clock())
            for each in [each for each in self._failed if not self._recent(each)]:
                del self._failed[each]

    def _recent(self, who: str) -> deque[float]:
        times = self._failed[who]
        while times and times[0] <= self.clock() - self.seconds:
            times.popleft()
        return times
