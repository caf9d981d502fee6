"""Who may judge: invitations, sessions, revocation and erasure.

Tokens and cookies are 256 random bits, returned once and stored as SHA-256: there is nothing to guess, so that a slow
hash with a salt, as for passwords, would protect nothing more.  An invitation is used once; the organiser's token as
often as needed, until there is a new one.  All functions run in the transaction of their connection.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy import ColumnElement, Connection, ScalarSelect, Table, delete, func, insert, select, update

from venire.errors import SettingError, UnknownName, Way
from venire.judging import schema
from venire.judging.answers import COUNTED
from venire.judging.schema import Row

SESSION_DAYS = 30
ORGANISER = ""


@dataclass(frozen=True, kw_only=True)
class Session:
    """Who sends a request: the assessor, or "" for the organiser.

    cookie: in clear, only in the session that was just opened; csrf: what every form has to hand back
    """

    assessor: str
    csrf: str
    expires: float
    cookie: str = ""


@dataclass(frozen=True, kw_only=True)
class Member:
    """Who has access: an invitation that was not used, devices on which they are signed in, tasks in their hands."""

    assessor: str
    kind: str
    invited: bool
    devices: int
    in_hand: int
    revoked: bool


def hashed(secret: str) -> str:
    """Return what is stored of a token or a cookie."""
    return sha256(secret.encode("utf-8", "replace")).hexdigest()


def invite(connection: Connection, assessor: str, *, again: bool, now: float) -> str:
    """Return a new token of an assessor; one that was not used ends.

    Raises
    ------
    SettingError
        If they have joined or their access was revoked, unless they are invited ``again``.
    """
    found = assessor_row(connection, assessor)
    tokens = schema.token
    of_assessor = tokens.c.assessor == found.id
    joined = connection.execute(select(func.count()).where(of_assessor, tokens.c.used.is_not(None))).scalar_one()
    if not again and (joined or found.revoked is not None):
        why = "has joined already" if found.revoked is None else "may no longer judge"
        raise SettingError(f"assessor {assessor!r} {why}", hint=[Way("invite them again", again="")])
    if found.revoked is not None:
        connection.execute(update(schema.assessor).where(schema.assessor.c.id == found.id).values(revoked=None))
    connection.execute(delete(tokens).where(of_assessor, tokens.c.used.is_(None)))
    record(connection, "invite", found.id, now=now)
    return _new_token(connection, found.id, now)


def organiser_token(connection: Connection, *, now: float) -> str:
    """Return a new token of the organiser; earlier ones end."""
    connection.execute(delete(schema.token).where(schema.token.c.assessor.is_(None)))
    return _new_token(connection, None, now)


def _new_token(connection: Connection, assessor: int | None, now: float) -> str:
    secret = secrets.token_urlsafe(32)
    connection.execute(insert(schema.token).values(hash=hashed(secret), assessor=assessor, made=now))
    return secret


def is_known(connection: Connection, token: str) -> bool:
    """Return whether a token is stored, without a write: guesses cost the others nothing."""
    found = select(func.count()).where(schema.token.c.hash == hashed(token))
    return bool(connection.execute(found).scalar_one())


def open_session(connection: Connection, token: str, *, now: float) -> Session | None:
    """Exchange a token for a session; None if it is unknown, used, or has ended."""
    tokens, sessions = schema.token, schema.session
    connection.execute(delete(sessions).where(sessions.c.expires <= now))
    found = connection.execute(select(tokens).where(tokens.c.hash == hashed(token))).one_or_none()
    if found is None or (found.assessor is not None and found.used is not None):
        return None
    name = ORGANISER
    if found.assessor is not None:
        named = select(schema.assessor.c.name).where(schema.assessor.c.id == found.assessor)
        name = connection.execute(named).scalar_one()
    connection.execute(update(tokens).where(tokens.c.hash == found.hash).values(used=now))
    cookie, csrf, expires = secrets.token_urlsafe(32), secrets.token_urlsafe(32), now + SESSION_DAYS * 86_400
    values = {"hash": hashed(cookie), "assessor": found.assessor, "csrf": csrf, "expires": expires}
    connection.execute(insert(sessions).values(**values))
    return Session(cookie=cookie, assessor=name, csrf=csrf, expires=expires)


_SESSION = select(schema.session, schema.assessor.c.name, schema.assessor.c.revoked).outerjoin(schema.assessor)


def session(connection: Connection, cookie: str, *, now: float) -> Session | None:
    """Return the session of a cookie; None if it is unknown or has ended."""
    found = connection.execute(_SESSION.where(schema.session.c.hash == hashed(cookie))).one_or_none()
    if found is None or found.expires <= now or found.revoked is not None:
        return None
    return Session(assessor=found.name or ORGANISER, csrf=found.csrf, expires=found.expires)


def revoke(connection: Connection, assessor: str, *, now: float) -> Row:
    """End the access of an assessor at once: tokens, sessions and leases."""
    found = assessor_row(connection, assessor)
    connection.execute(update(schema.assessor).where(schema.assessor.c.id == found.id).values(revoked=now))
    _end_access(connection, found.id)
    record(connection, "revoke", found.id, now=now)
    return found


def _end_access(connection: Connection, assessor: int) -> None:
    places = schema.place
    connection.execute(delete(schema.token).where(schema.token.c.assessor == assessor))
    connection.execute(delete(schema.session).where(schema.session.c.assessor == assessor))
    connection.execute(delete(places).where(places.c.assessor == assessor, places.c.answer.is_(None)))


def erase(connection: Connection, assessor: str, *, answers: bool, now: float, revision: int) -> str:
    """Remove the name, the access and the comments of an assessor, or all of their answers; return the new name."""
    found = assessor_row(connection, assessor)
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete=ON")
    name = f"erased-{found.id}"
    connection.execute(
        update(schema.assessor)
        .where(schema.assessor.c.id == found.id)
        .values(name=name, revoked=found.revoked or now, erased=now)
    )
    _end_access(connection, found.id)
    given = schema.answer
    n_answers = connection.execute(select(func.count()).where(given.c.assessor == found.id)).scalar_one()
    if answers:
        _delete_answers(connection, found.id, revision)
    else:
        connection.execute(update(given).where(given.c.assessor == found.id).values(comment=""))
    record(connection, "erase", found.id, now=now, answers="removed" if answers else "kept", rows=n_answers)
    return name


def _delete_answers(connection: Connection, assessor: int, revision: int) -> None:
    places, tasks, given = schema.place, schema.task, schema.answer
    held = (places.c.assessor == assessor, places.c.person, places.c.repeat == 0, places.c.status == COUNTED)
    counted = select(places.c.task).where(*held, places.c.answer.is_not(None))
    connection.execute(update(tasks).where(tasks.c.id.in_(counted)).values(taken=tasks.c.taken - 1, changed=revision))
    connection.execute(delete(places).where(places.c.assessor == assessor))
    connection.execute(delete(given).where(given.c.assessor == assessor, given.c.root.is_not(None)))
    connection.execute(delete(given).where(given.c.assessor == assessor))
    connection.execute(delete(schema.reply).where(schema.reply.c.assessor == assessor))


def members(connection: Connection, *, now: float) -> tuple[Member, ...]:
    """Return the access of every assessor, without those who were erased."""
    people, tokens, sessions, places = schema.assessor, schema.token, schema.session, schema.place

    def count(table: Table, *conditions: ColumnElement[bool]) -> ScalarSelect[int]:
        return select(func.count()).where(table.c.assessor == people.c.id, *conditions).scalar_subquery()

    columns = {
        "invited": count(tokens, tokens.c.used.is_(None)),
        "devices": count(sessions, sessions.c.expires > now),
        "in_hand": count(places, places.c.answer.is_(None), places.c.expires > now),
    }
    query = select(people, *(column.label(name) for name, column in columns.items())).where(people.c.erased.is_(None))
    return tuple(
        Member(
            assessor=row.name,
            kind=row.kind,
            invited=row.invited > 0,
            devices=row.devices,
            in_hand=row.in_hand,
            revoked=row.revoked is not None,
        )
        for row in connection.execute(query.order_by(people.c.id))
    )


def assessor_row(connection: Connection, assessor: str) -> Row:
    """Return the row of an assessor; an unknown name is an error."""
    table = schema.assessor
    there = table.c.erased.is_(None)
    found = connection.execute(select(table).where(table.c.name == assessor, there)).one_or_none()
    if found is None:
        raise UnknownName("assessor", assessor, connection.execute(select(table.c.name).where(there)).scalars())
    return found


def record(connection: Connection, kind: str, assessor: int | None = None, *, now: float, **detail: object) -> None:
    """Note an event."""
    values = {"at": now, "kind": kind, "assessor": assessor, "detail": json.dumps(detail)}
    connection.execute(insert(schema.event).values(**values))
