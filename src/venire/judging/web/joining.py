"""From an invitation to a session, and out of it again."""

from __future__ import annotations

import re
import time

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from venire.judging.access import Session
from venire.judging.web.forms import Form, read_form
from venire.judging.web.room import ASSESSOR, ORGANISER, page, room_of, see

TOKEN = re.compile(r"[0-9A-Za-z_-]{8,200}", re.ASCII)


def invitation(request: Request) -> Response:
    """Show a button, and change nothing: previews of mails open links too."""
    token = request.path_params["token"]
    if not TOKEN.fullmatch(token):
        raise HTTPException(404, "This link is not complete.")
    return page(request, "join.html", token=token)


async def join(request: Request) -> Response:
    """Exchange a token for a session."""
    return await run_in_threadpool(_join, request, await read_form(request))


def _join(request: Request, form: Form) -> Response:
    room, who = room_of(request), request.client.host if request.client else ""
    if room.attempts.exhausted(who):
        raise HTTPException(429, "Too many links that do not work were tried. Wait a minute.")
    token = form.get("token", "")
    session = room.store.open_session(token) if TOKEN.fullmatch(token) else None
    if session is None:
        room.attempts.failed(who)
        raise HTTPException(403, "This link does not work any more. Ask the organiser for a new one.")
    role = ASSESSOR if session.assessor else ORGANISER
    response = see("/" if session.assessor else "/organise")
    response.set_cookie(
        room.site.cookie(room.store.study.name, role),
        session.cookie,
        max_age=max(0, int(session.expires - time.time())),
        secure=room.site.secure,
        httponly=True,
        samesite="strict",
    )
    return response


def leave(role: str):  # type: ignore[no-untyped-def]
    """Return the handler that ends a session in this browser."""

    def handler(request: Request, session: Session, form: Form) -> Response:  # noqa: ARG001
        room = room_of(request)
        response = page(request, "message.html", title="You have left the study in this browser.", words="")
        name = room.site.cookie(room.store.study.name, role)
        response.delete_cookie(name, secure=room.site.secure, httponly=True, samesite="strict")
        return response

    return handler
