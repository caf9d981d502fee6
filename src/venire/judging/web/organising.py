"""Handlers for the organiser: how far the study is, and who may judge."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from venire.judging.access import Session
from venire.judging.web.forms import Form
from venire.judging.web.room import ORGANISER, page, posted, room_of, see, session_of

SECONDS = 1.0
"""Between two looks at the store, for the events that tell a page to load itself again."""


def overview(request: Request) -> Response:
    """Show how far the study is."""
    return page(request, "organise.html", session=session_of(request, ORGANISER))


def invite(request: Request, session: Session, form: Form) -> Response:
    """Make an invitation, and show its link this once."""
    room = room_of(request)
    token = room.store.invite(form.get("name", ""), again=form.get("again") == "1")
    link = f"{room.site.root}/join/{token}"
    return page(request, "invited.html", session=session, name=form.get("name", ""), link=link)


def revoke(request: Request, session: Session, form: Form) -> Response:  # noqa: ARG001
    """End the access of an assessor."""
    room_of(request).store.revoke(form.get("name", ""))
    return see("/organise#assessors")


def pause(request: Request, session: Session, form: Form) -> Response:  # noqa: ARG001
    """Pause the study, or go on."""
    room_of(request).store.pause(form.get("on") == "1")
    return see("/organise")


def reassign(request: Request, session: Session, form: Form) -> Response:  # noqa: ARG001
    """Give a task to another assessor."""
    room_of(request).store.reassign(form.get("task", ""), form.get("name", ""))
    return see("/organise#tasks")


async def events(request: Request) -> Response:
    """Tell the organiser's page when something was stored."""
    await run_in_threadpool(session_of, request, ORGANISER)
    return StreamingResponse(_revisions(request), media_type="text/event-stream")


async def _revisions(request: Request) -> AsyncIterator[str]:
    room, last = room_of(request), -1
    while not (room.stopping() or await request.is_disconnected()):
        revision = await run_in_threadpool(room.store.revision)
        yield f"data: {revision}\n\n" if revision != last else ": still here\n\n"
        last = revision
        await asyncio.sleep(SECONDS)


ROUTES = (
    Route("/organise", overview),
    Route("/organise/invite", posted(ORGANISER, invite), methods=["POST"]),
    Route("/organise/revoke", posted(ORGANISER, revoke), methods=["POST"]),
    Route("/organise/pause", posted(ORGANISER, pause), methods=["POST"]),
    Route("/organise/reassign", posted(ORGANISER, reassign), methods=["POST"]),
    Route("/events", events),
)
