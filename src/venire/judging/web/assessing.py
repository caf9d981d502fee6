"""Handlers for assessors: the task, the answer, what was answered before, guidelines and documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from venire.judging.answers import REFUSED, Given, Lease
from venire.judging.study import IMAGE, LISTS
from venire.judging.web.documents import image_of, page_of
from venire.judging.web.forms import Form, read_answer
from venire.judging.web.guard import DOCUMENT_POLICY
from venire.judging.web.room import ASSESSOR, Room, page, refused, room_of, see, session_of, wants_json
from venire.judging.web.screens import REASONS, SIDES, Screen, document_of, screen

if TYPE_CHECKING:
    from venire.judging.access import Session

MOST_AHEAD = 5
"""Tasks that a browser has in hand at once: the one on the screen, and those that come next."""
MOST_HISTORY = 50


def judge(request: Request) -> Response:
    """Show the task that comes next, or the one whose answer is to be changed."""
    room, session = room_of(request), session_of(request, ASSESSOR)
    changed = request.query_params.get("change", "")
    shown = _changed(room, session, changed) if changed else _next(room, session)
    return page(request, "judge.html", screen=shown, **_told(room, session))


def upcoming(request: Request) -> Response:
    """Return the next tasks, apart from those that the browser has already (``have``), as our script asks for them."""
    room, session = room_of(request), session_of(request, ASSESSOR)
    asked = request.query_params.get("n", "")
    n = min(int(asked), MOST_AHEAD) if asked.isascii() and asked.isdigit() and len(asked) < 3 else 2
    have = set(request.query_params.get("have", "").split(","))
    screens = [screen(room.store.study, lease) for lease in room.store.next_tasks(session.assessor, n=n)] if n else []
    told = _told(room, session)
    return JSONResponse(
        {
            "assessor": session.assessor,
            "csrf": session.csrf,
            "standing": vars(told["standing"]),
            "tasks": [
                {"id": each.id, "html": room.render("task.html", screen=each, **told)}
                for each in screens
                if each.id not in have
            ],
        }
    )


def answer(request: Request, session: Session, form: Form) -> Response:
    """Store an answer, a change or a withdrawal, and go on."""
    room = room_of(request)
    receipt = room.store.answer(session.assessor, read_answer(form, room.store.study, room.store.tasks))
    if wants_json(request):
        return JSONResponse(vars(receipt))
    if receipt.status == REFUSED:
        return refused(request, 403, "This answer was not stored.", receipt.why)
    return see("/history" if form.get("withdraw") else "/")


def history(request: Request) -> Response:
    """List the last answers, to change or withdraw them."""
    room, session = room_of(request), session_of(request, ASSESSOR)
    given = [
        (each, screen(room.store.study, _again(room, each), replaces=each.key))
        for each in room.store.history(session.assessor, n=MOST_HISTORY)
    ]
    return page(request, "history.html", given=given, **_told(room, session))


def guidelines(request: Request) -> Response:
    """Show the guidelines."""
    return page(request, "guidelines.html", **_told(room_of(request), session_of(request, ASSESSOR)))


def document(request: Request) -> Response:
    """Show a document of a task: HTML and text as a page that may do nothing, images as images."""
    room = room_of(request)
    session_of(request, ASSESSOR)
    task, side = room.store.tasks.get(request.path_params["task"]), request.path_params["side"]
    name = getattr(task, side) if task and task.kind != LISTS and side in SIDES else ""
    if not name:
        raise HTTPException(404, "There is no such document.")
    found = document_of(room.store.study, name)
    headers = {"Content-Security-Policy": DOCUMENT_POLICY}
    if found.kind != IMAGE:
        return HTMLResponse(page_of(found), headers=headers)
    image = image_of(found)
    if image is None:
        raise HTTPException(404, "This image cannot be shown.")
    return Response(image[0], media_type=image[1], headers=headers)


def _next(room: Room, session: Session) -> Screen | None:
    leases = room.store.next_tasks(session.assessor, n=1)
    return screen(room.store.study, leases[0]) if leases else None


def _changed(room: Room, session: Session, key: str) -> Screen:
    found = next((each for each in room.store.history(session.assessor, n=MOST_HISTORY) if each.key == key), None)
    if found is None or found.value is None:
        raise HTTPException(404, "This answer cannot be changed any more.")
    lease = _again(room, found)
    return screen(room.store.study, lease, given=found.value, comment=found.comment, replaces=found.key)


def _again(room: Room, given: Given) -> Lease:
    """Return what an answer was given to, to be shown again."""
    shown = room.store.shown(given.task)
    return Lease(task=given.task, shown=shown, expires=0.0, repeat=given.repeat, swapped=given.swapped)


def _told(room: Room, session: Session) -> dict[str, Any]:
    """Return what every page of an assessor states: who is asked, the secret of the forms, and where they stand."""
    return {"session": session, "standing": room.store.standing(session.assessor), "reasons": REASONS}
