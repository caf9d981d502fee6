"""Serving the application until it is told to stop."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace

import uvicorn

from venire.errors import SettingError
from venire.judging.store import Store
from venire.judging.web.app import application
from venire.judging.web.site import Site

GRACE = 3
"""Seconds in which requests that run may end when the server stops."""


def serve(store: Store, site: Site, ready: Callable[[Site], None]) -> None:
    """Serve a study; ``ready`` is called with the place, port included, when requests are accepted.

    Nothing is logged of a request: its path may hold a token.
    """
    with _listening(site) as listener:
        site = replace(site, port=listener.getsockname()[1])
        config = uvicorn.Config(
            application(store, site, stopping=lambda: server.should_exit),
            access_log=False,
            log_level="warning",
            server_header=False,
            proxy_headers=site.behind_proxy,
            forwarded_allow_ips="127.0.0.1,::1",
            timeout_graceful_shutdown=GRACE,
            ssl_certfile=site.certificate,
            ssl_keyfile=site.key,
        )
        _load(config, site)
        server = uvicorn.Server(config)
        ready(site)
        server.run(sockets=[listener])


def _load(config: uvicorn.Config, site: Site) -> None:
    """Read the files of TLS before anything is announced."""
    try:
        config.load()
    except OSError as error:  # ssl.SSLError is one
        why = error.strerror or error
        raise SettingError(f"{site.certificate}, {site.key}: {why}", hint="certificate and key are PEM files") from None


def _listening(site: Site) -> socket.socket:
    family = socket.AF_INET6 if ":" in site.host else socket.AF_INET
    try:
        listener = socket.create_server((site.host, site.port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise SettingError(f"{site.host}:{site.port}: {why}", hint="serve at another port") from None
    # Connections inherit it; without it the body of a reply waits 40 ms for the acknowledgment of its head.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
