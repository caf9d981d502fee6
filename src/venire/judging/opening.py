"""A database is brought to a study when it is opened: its versions, its assessors and its tasks.

Nothing is removed: tasks that a study no longer has are kept with their answers, and no longer given.  Where scale or
guidelines are new, answers that are none on the new scale are kept as surplus, and their tasks are open again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from venire.errors import SettingError, UnknownName, VenireError, Way
from venire.judging import queries, schema
from venire.judging.answers import COUNTED, refuse_value
from venire.judging.database import lock
from venire.judging.schema import Row
from venire.judging.study import PERSON, Study
from venire.judging.tasks import Task


def synchronise(
    connection: Connection,
    study: Study,
    tasks: Mapping[str, Task],
    now: float,
    *,
    new_version: bool = False,
    as_it_is: bool = False,
) -> None:
    """Bring versions, assessors and tasks of the database to those of the study.

    as_it_is: change nothing in a database that has a version, whatever the study file says now.
    """
    lock(connection)
    revision = _own_state(connection, study) + 1
    if as_it_is and connection.execute(select(schema.version.c.id).limit(1)).first() is not None:
        return
    is_new = _own_version(connection, study, now, new_version=new_version)
    if is_new:
        _vacate(connection, study, revision)
    is_changed = _own_assessors(connection, study)
    is_changed |= _own_tasks(connection, tasks, revision)
    if is_new or is_changed:
        connection.execute(queries.BUMP)


def _own_state(connection: Connection, study: Study) -> int:
    """Return the revision, locked; a database of another study is refused."""
    found = connection.execute(select(schema.state).with_for_update()).one_or_none()
    if found is None:
        connection.execute(insert(schema.state).values(id=1, study=study.name, revision=0, paused=False))
        return 0
    if found.study != study.name:
        hint = "name another database, or the study's own name"
        raise SettingError(f"the database is of the study {found.study!r}, not {study.name!r}", hint=hint)
    return int(found.revision)


def _own_version(connection: Connection, study: Study, now: float, *, new_version: bool) -> bool:
    """Note a new version; return whether there is one."""
    versions = schema.version
    last = connection.execute(select(versions).order_by(versions.c.id.desc()).limit(1)).one_or_none()
    if last is not None and last.fingerprint == study.fingerprint:
        return False
    if last is not None and not new_version:
        raise SettingError(
            f"{study.path}: scale, aspects or guidelines are not those of the answers so far",
            hint=[
                "undo the change",
                Way("start a new version, in which answers so far are marked as of the old one", new_version=""),
            ],
        )
    shown = {
        "scale": [asdict(each) for each in study.scale],
        "aspects": [asdict(each) for each in study.aspects],
        "guidelines": study.guidelines,
        "ties": study.ties,
    }
    row = {"id": 1 if last is None else last.id + 1, "fingerprint": study.fingerprint, "at": now}
    connection.execute(insert(versions).values(**row, shown=json.dumps(shown)))
    return True


def _own_assessors(connection: Connection, study: Study) -> bool:
    """Add the assessors that are new; return whether there are any."""
    table = schema.assessor
    known = {row.name: row for row in connection.execute(select(table))}
    new = [{"name": each.name, "kind": each.kind} for each in study.assessors if each.name not in known]
    for each in study.assessors:
        if each.name in known and known[each.name].kind != each.kind:
            raise SettingError(
                f"assessor {each.name!r} is a {each.kind} in the study and a {known[each.name].kind} in the database",
                hint="give the new one another name",
            )
    if new:
        connection.execute(insert(table), new)
    return bool(new)


def _own_tasks(connection: Connection, tasks: Mapping[str, Task], revision: int) -> bool:
    """Add the tasks that are new, and end those that are gone; return whether there are any."""
    table, people = schema.task, schema.assessor
    judges = {row.name: row.id for row in connection.execute(select(people.c.name, people.c.id))}
    columns = (table.c.id, table.c.key, table.c.body, table.c.needed, table.c.active)
    known = {row.key: row for row in connection.execute(select(*columns))}
    new = [_task_row(task, judges, revision) for key, task in tasks.items() if key not in known]
    if new:
        connection.execute(insert(table), new)
    values: dict[str, Any] = {
        "active": bindparam("to_active"),
        "needed": bindparam("to_needed"),
        "body": bindparam("to_body"),
    }
    changed = [
        {"of_id": row.id, "to_active": key in tasks, "to_needed": needed, "to_body": body}
        for key, row in known.items()
        for needed, body in [(tasks[key].needed, _body(tasks[key])) if key in tasks else (row.needed, row.body)]
        if (row.active, row.needed, row.body) != (key in tasks, needed, body)
    ]
    if changed:
        change = update(table).where(table.c.id == bindparam("of_id")).values(changed=revision, **values)
        connection.execute(change, changed)
    return bool(new or changed)


def _vacate(connection: Connection, study: Study, revision: int) -> None:
    """Take the place from answers that are none on the new scale; they are kept as surplus, and the task is open."""
    for row in connection.execute(queries.ANSWERS.where(schema.place.c.answer.is_not(None))).all():
        try:
            refuse_value(study, task_of(row), json.loads(row.value))
        except VenireError:
            key = {"of_task": row.task, "of_repeat": row.repeat, "of_assessor": row.assessor}
            connection.execute(queries.DELETE_PLACE, key)
            if row.kind == PERSON and row.repeat == 0 and row.held == COUNTED:
                connection.execute(queries.COUNT, {"of_id": row.task, "more": -1, "now": revision})


def _task_row(task: Task, judges: Mapping[str, int], revision: int) -> dict[str, Any]:
    if task.judge and task.judge not in judges:
        raise UnknownName("assessor", task.judge, judges)
    row = {"key": task.key, "body": _body(task), "needed": task.needed, "judge": judges.get(task.judge)}
    return {**row, "active": True, "taken": 0, "changed": revision}


_IN_BODY = tuple(each.name for each in fields(Task) if each.name not in ("needed", "judge"))


def _body(task: Task) -> str:
    """Return a task as JSON, without what has a column of its own, and without names of people."""
    return json.dumps({name: getattr(task, name) for name in _IN_BODY})


def task_of(row: Row) -> Task:
    """Return a task that the study no longer has."""
    return Task(**json.loads(row.body), needed=row.needed)
