"""Handlers for the organiser: how far the study is, who may judge, and the answers as files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from venire.judging.access import Session
from venire.judging.answers import COUNTED
from venire.judging.exports import CONTENTS, export
from venire.judging.progress import Progress, Quality
from venire.judging.study import PERSON
from venire.judging.web.forms import Form
from venire.judging.web.room import ORGANISER, Room, page, posted, room_of, see, session_of

ALPHA = "krippendorff_alpha"
SECONDS = 1.0
"""Between two looks at the store, for the events that tell a page to load itself again."""


def overview(request: Request) -> Response:
    """Show how far the study is, and what its labels say so far."""
    room, session = room_of(request), session_of(request, ORGANISER)
    progress = room.progress()
    return page(
        request,
        "organise.html",
        session=session,
        paused=room.store.paused,
        progress=progress,
        on_labels=[(each, _alpha(each)) for each in progress.quality if not each.aspect],
        on_aspects=[(each, _alpha(each)) for each in progress.quality if each.aspect],
        several_views=len({each.view for each in progress.quality}) > 1,
        profiles=_profiles(progress),
        standings={name: room.store.standing(name) for name in room.store.study.people},
        members={each.assessor: each for each in room.store.members()},
        contents=_contents(room),
    )


def tasks(request: Request) -> Response:
    """Show the tasks of a topic: who has answered them, and to whom they can be given."""
    room, session = room_of(request), session_of(request, ORGANISER)
    topic = room.store.study.topics.get(request.query_params.get("topic", ""))
    if topic is None:
        raise HTTPException(404, "There is no such topic.")
    given: dict[str, list[str]] = {}
    for each in room.store.stored():
        if each.kind == PERSON and each.status == COUNTED and not each.repeat:
            given.setdefault(each.task.key, []).append(each.assessor)
    asked = [(each, given.get(each.key, [])) for each in room.store.tasks.values() if each.topic == topic.topic]
    return page(request, "tasks.html", session=session, topic=topic, asked=asked)


def exported(request: Request) -> Response:
    """Return the answers as CSV, as ``judging.exports`` makes it."""
    room = room_of(request)
    session_of(request, ORGANISER)
    content = request.query_params.get("of", "")
    if content not in _contents(room):
        raise HTTPException(404, "There is nothing of this kind.")
    name = f"{room.store.study.name}-{content}.csv"
    body = export(room.store.study, room.store.stored(), content).frame.write_csv()
    return Response(body, media_type="text/csv", headers={"Content-Disposition": f'attachment; filename="{name}"'})


def invite(request: Request, session: Session, form: Form) -> Response:
    """Make an invitation, and show its link this once."""
    room, name = room_of(request), form.get("name", "")
    link = f"{room.site.root}/join/{room.store.invite(name, again=True)}"
    return page(request, "invited.html", session=session, name=name, link=link)


def revoke(request: Request, session: Session, form: Form) -> Response:  # noqa: ARG001 - a handler's signature
    """End the access of an assessor."""
    room_of(request).store.revoke(form.get("name", ""))
    return see("/organise")


def pause(request: Request, session: Session, form: Form) -> Response:  # noqa: ARG001
    """Pause the study, or go on."""
    room_of(request).store.pause(form.get("on") == "1")
    return see("/organise")


def reassign(request: Request, session: Session, form: Form) -> Response:  # noqa: ARG001
    """Give a task to another assessor."""
    room_of(request).store.reassign(form.get("task", ""), form.get("name", ""))
    return see("/organise")


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


def _alpha(quality: Quality) -> Mapping[str, Any] | None:
    """Return Krippendorff's alpha of a view, for ordered labels where they are ordered; None where it is unknown."""
    rows = [] if quality.agreement is None else quality.agreement.records()
    return next((row for row in rows if row["name"] == ALPHA and row["value"] is not None), None)


def _profiles(progress: Progress) -> dict[str, Mapping[str, Any]]:
    """Return how each assessor compares with the reference, in the first view or aspect in which that is known."""
    known = [each.assessors.records() for each in progress.quality if each.assessors is not None]
    return {str(row["assessor"]): row for rows in reversed(known) for row in rows}


def _contents(room: Room) -> list[str]:
    """Return what can be exported: what the study asks for."""
    kinds = {each.kind for each in room.store.tasks.values()}
    return [name for name, of in CONTENTS.items() if kinds & set(of)]


ROUTES = (
    Route("/organise", overview),
    Route("/organise/tasks", tasks),
    Route("/organise/export", exported),
    Route("/organise/invite", posted(ORGANISER, invite), methods=["POST"]),
    Route("/organise/revoke", posted(ORGANISER, revoke), methods=["POST"]),
    Route("/organise/pause", posted(ORGANISER, pause), methods=["POST"]),
    Route("/organise/reassign", posted(ORGANISER, reassign), methods=["POST"]),
    Route("/events", events),
)
