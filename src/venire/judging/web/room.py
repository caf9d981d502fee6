"""What all handlers share: the store, the site, the templates, and who is asking."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from venire.io.templates import templates
from venire.judging.progress import LiveProgress
from venire.judging.web.forms import Form, check_secret, read_form
from venire.judging.web.guard import Attempts
from venire.judging.web.site import Site

if TYPE_CHECKING:
    from jinja2 import Environment

    from venire.judging.access import Session
    from venire.judging.store import Store

ASSESSOR, ORGANISER = "", "-organiser"
"""Roles, as the names of their cookies end: one browser may hold both."""
COOKIE = re.compile(r"[0-9A-Za-z_-]{16,200}", re.ASCII)
TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@dataclass(frozen=True)
class Room:
    """The application's only state."""

    store: Store
    site: Site
    stopping: Callable[[], bool]
    attempts: Attempts = field(default_factory=Attempts)

    @cached_property
    def progress(self) -> LiveProgress:
        """The numbers of the organiser's page."""
        return LiveProgress(self.store)

    @cached_property
    def assets(self) -> dict[str, bytes]:
        """Styles and scripts by name."""
        folder = files("venire.judging.web").joinpath("assets")
        return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}

    @cached_property
    def guidelines(self) -> Markup:
        """The guidelines as HTML; raw HTML in them is shown as text."""
        import nh3
        from markdown_it import MarkdownIt

        made = MarkdownIt("commonmark", {"html": False}).enable("table").render(self.store.study.guidelines)
        return Markup(nh3.clean(made))

    def prepare(self) -> None:
        """Make what all requests share, before many of them ask for it at once and each makes its own."""
        for name in _templates().list_templates():
            _templates().get_template(name)
        self.guidelines, self.assets  # noqa: B018 - made when first asked for

    def asset_path(self, name: str) -> str:
        """Return the address of a style or script, which changes with its content."""
        return f"/static/{sha256(self.assets[name]).hexdigest()[:16]}/{name}"

    def render(self, template: str, **shown: Any) -> str:
        """Return a template, filled in."""
        shared = {"study": self.store.study, "asset": self.asset_path, "guidelines": self.guidelines}
        return _templates().get_template(template).render(shared | shown)

    def session(self, request: Request, role: str) -> Session | None:
        """Return the session of a cookie; None where there is none of this role, or it has ended."""
        cookie = request.cookies.get(self.site.cookie(self.store.study.name, role), "")
        found = self.store.session(cookie) if COOKIE.fullmatch(cookie) else None
        return found if found and (role == ORGANISER) == (not found.assessor) else None


@cache
def _templates() -> Environment:
    """Return the templates, which escape what they show."""
    return templates("venire.judging.web", "templates", keep="\n\t")


def room_of(request: Request) -> Room:
    """Return the room in which a request is handled."""
    room: Room = request.app.state.room
    return room


def session_of(request: Request, role: str) -> Session:
    """Return the session of a request; without one it is refused."""
    found = room_of(request).session(request, role)
    if found is None:
        lost = "This was not stored: your session has expired, or your access to this study was ended. "
        way = "Open the link of your invitation to go on. If it does not work, ask for a new one."
        raise HTTPException(401, (lost if request.method == "POST" else "") + way)
    return found


def page(request: Request, template: str, *, status: int = 200, **shown: Any) -> Response:
    """Return a page; ``home`` is where it leads back to."""
    home = "/organise" if request.url.path.startswith("/organise") else "/"
    return HTMLResponse(room_of(request).render(template, home=home, **shown), status)


def wants_json(request: Request) -> bool:
    """Return whether our script asks, rather than a browser that shows the answer."""
    return "application/json" in request.headers.get("accept", "")


def see(path: str) -> Response:
    """Send a browser on after a POST, so that loading the page again does not repeat it."""
    return RedirectResponse(path, 303)


def refused(request: Request, status: int, message: str, hint: str = "") -> Response:
    """Return an error in words, without a path of this computer."""
    if wants_json(request):
        return JSONResponse({"error": message, "hint": hint}, status)
    return page(request, "message.html", status=status, title=message, words=hint)


def posted(role: str, handler: Callable[[Request, Session, Form], Response]) -> Callable[[Request], Any]:
    """Return the endpoint of a form of one role: it names the assessor who is asked, and holds the session's secret."""

    async def endpoint(request: Request) -> Response:
        form = await read_form(request)
        return await run_in_threadpool(checked, request, form)

    def checked(request: Request, form: Form) -> Response:
        session = session_of(request, role)
        if form.get("assessor", session.assessor) != session.assessor:
            raise HTTPException(409, f"This browser is now used by {session.assessor}.")
        check_secret(form, session.csrf)
        return handler(request, session, form)

    return endpoint
