"""Forms: what a browser sends, as the nouns of a study; anything else is refused with the reason."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from secrets import compare_digest
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

from venire.errors import SettingError
from venire.judging.answers import LONGEST_REASON, Answer, Value
from venire.judging.study import ASPECTS, LISTS, PREFERENCE, Study
from venire.judging.tasks import Task

MOST_BYTES, MOST_FIELDS = 64 << 10, 200
MOST_COMMENT = 4_000
LONGEST_AGO, LONGEST_SECONDS = 90 * 86_400.0, 86_400.0
KEY = re.compile(r"[0-9A-Za-z-]{8,64}", re.ASCII)
HASH = re.compile(r"[0-9a-f]{1,128}", re.ASCII)
ENCODED = "application/x-www-form-urlencoded"

Form = Mapping[str, str]


async def read_form(request: Request) -> Form:
    """Return the fields of a form; a body that is no form, or too large, is refused."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != ENCODED:
        raise HTTPException(415, "A form was expected.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise HTTPException(413, "The form is too large.")
    try:
        fields = parse_qsl(
            body.decode("utf-8", "replace"), keep_blank_values=True, errors="replace", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        raise HTTPException(422, "The form has too many fields.") from None
    return {name: value.replace("\0", "\ufffd") for name, value in fields}


def check_secret(form: Form, secret: str) -> None:
    """Refuse a form that no page of this session holds."""
    if not compare_digest(form.get("csrf", "").encode(), secret.encode()):
        raise HTTPException(403, "This page is out of date. Load it again.")


def read_answer(form: Form, study: Study, tasks: Mapping[str, Task]) -> Answer:
    """Return the answer that a form holds."""
    task = tasks.get(form.get("task", ""))
    if task is None:
        raise SettingError("this task is not part of the study any more", hint="load the page again")
    replaces = _matching(form, "replaces", KEY, optional=True)
    withdrawn = form.get("withdraw") == "1"
    if withdrawn and not replaces:
        raise SettingError("there is no answer to withdraw")
    now = time.time()
    return Answer(
        key=_matching(form, "key", KEY),
        task=task.key,
        value=None if withdrawn else read_value(form, study, task),
        shown=_matching(form, "shown", HASH),
        at=now - (_number(form, "ago", LONGEST_AGO) or 0.0),
        repeat=1 if form.get("repeat") == "1" else 0,
        swapped=form.get("swapped") == "1",
        seconds=_seconds(form, now),
        comment=form.get("comment", "").strip()[:MOST_COMMENT],
        replaces=replaces,
    )


def read_value(form: Form, study: Study, task: Task) -> Value:
    """Return what was answered to a task of this kind; the store refuses what is not on the scale."""
    if "cannot" in form:
        reason = (form["cannot"] or form.get("reason", "")).strip()[:LONGEST_REASON]
        if not reason:
            raise SettingError("why it cannot be judged is not stated", hint="choose a reason, or write one")
        return {"cannot": reason}
    if task.kind == ASPECTS:
        return {"labels": {each.name: form.get(f"aspect {each.name}", "") for each in study.aspects}}
    if task.kind in (PREFERENCE, LISTS):
        strength = form.get("strength", "")
        return {"strength": int(strength) if re.fullmatch("-?[0-9]", strength, re.ASCII) else None}
    return {"label": form.get("label", "")}


def _matching(form: Form, name: str, pattern: re.Pattern[str], *, optional: bool = False) -> str:
    value = form.get(name, "")
    if not (pattern.fullmatch(value) or (optional and not value)):
        raise SettingError(f"the form's field {name} is missing or damaged", hint="load the page again")
    return value


def _seconds(form: Form, now: float) -> float | None:
    """Return how long a task was on the screen: as the browser's script measured it, or else since it was sent."""
    if "seconds" in form:
        return _number(form, "seconds", LONGEST_SECONDS)
    began = _number(form, "began", math.inf)
    return None if began is None else min(max(0.0, now - began), LONGEST_SECONDS)


def _number(form: Form, name: str, most: float) -> float | None:
    try:
        value = float(form.get(name, "nan"))
    except ValueError:
        return None
    return min(max(value, 0.0), most) if math.isfinite(value) else None
