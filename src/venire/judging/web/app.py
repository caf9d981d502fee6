"""The application: its routes, and errors in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from venire.errors import FormatError, VenireError
from venire.judging.web import assessing, joining, organising
from venire.judging.web.guard import Guard
from venire.judging.web.room import ASSESSOR, ORGANISER, TYPES, Room, posted, refused, room_of
from venire.judging.web.site import Site

if TYPE_CHECKING:
    from venire.judging.store import Store

ASSET_AGE = "public, max-age=31536000, immutable"


def application(store: Store, site: Site, *, stopping: Callable[[], bool] = lambda: False) -> Starlette:
    """Return the application of a study; ``stopping`` tells streams when the server is about to end."""
    made = Starlette(
        routes=[
            Route("/", assessing.judge),
            Route("/next", assessing.upcoming),
            Route("/answer", posted(ASSESSOR, assessing.answer), methods=["POST"]),
            Route("/history", assessing.history),
            Route("/guidelines", assessing.guidelines),
            Route("/doc/{task}/{side}", assessing.document),
            Route("/join/{token}", joining.invitation),
            Route("/join", joining.join, methods=["POST"]),
            Route("/leave", posted(ASSESSOR, joining.leave(ASSESSOR)), methods=["POST"]),
            Route("/organise/leave", posted(ORGANISER, joining.leave(ORGANISER)), methods=["POST"]),
            *organising.ROUTES,
            Route("/static/{hash}/{name}", asset),
            Route("/health", health),
        ],
        middleware=[Middleware(Guard, site=site)],
        exception_handlers={HTTPException: told, VenireError: told, Exception: told},
    )
    room = made.state.room = Room(store, site, stopping)
    room.prepare()
    return made


def told(request: Request, error: Exception) -> Response:
    """Say what is wrong; of an error that is not the visitor's nothing is told but that it happened."""
    if isinstance(error, HTTPException):
        return refused(request, error.status_code, error.detail)
    if isinstance(error, VenireError):
        message = error.what if isinstance(error, FormatError) else error.message
        return refused(request, 422, message, error.hint or "")
    return refused(request, 500, "Something went wrong here.", "Nothing that was stored is lost. Load the page again.")


def asset(request: Request) -> Response:
    """Return a style or a script, which may be kept for ever: its address changes with its content."""
    room, name = room_of(request), request.path_params["name"]
    if name not in room.assets or request.url.path != room.asset_path(name):
        raise HTTPException(404, "There is no such file.")
    kind = TYPES[name.rpartition(".")[2]]
    return Response(room.assets[name], media_type=kind, headers={"Cache-Control": ASSET_AGE})


def health(request: Request) -> Response:  # noqa: ARG001 - the signature of a handler
    """Say that the server is there, to whoever watches over it."""
    return PlainTextResponse("ok")
