"""Queries of the store, each built once: SQLAlchemy keeps their text by identity."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, func, insert, select, update

from venire.judging import schema
from venire.judging.answers import COUNTED

STATE = select(schema.state.c.revision, schema.state.c.paused)
LOCKED = STATE.with_for_update()
BUMP = (
    update(schema.state)
    .values(revision=schema.state.c.revision + 1)
    .returning(schema.state.c.revision, schema.state.c.paused)
)
PLACES = select(
    schema.place.c.task,
    schema.place.c.assessor,
    schema.place.c.repeat,
    schema.place.c.person,
    schema.place.c.expires,
    schema.place.c.answer,
    schema.place.c.status,
    func.coalesce(schema.answer.c.root, schema.answer.c.id).label("root"),
).select_from(schema.place.outerjoin(schema.answer, schema.place.c.answer == schema.answer.c.id))
PLACES = PLACES.where(schema.place.c.task.in_(bindparam("tasks", expanding=True)))
HELD = (
    select(schema.place.c.task, schema.place.c.repeat, schema.place.c.expires, schema.task.c.key.label("task_key"))
    .select_from(schema.place.join(schema.task, schema.place.c.task == schema.task.c.id))
    .where(
        schema.place.c.assessor == bindparam("assessor"),
        schema.place.c.answer.is_(None),
    )
    .order_by(schema.place.c.turn, schema.place.c.expires)
)
DONE = select(func.count()).where(schema.place.c.assessor == bindparam("assessor"), schema.place.c.answer.is_not(None))
TIMES = (
    select(schema.answer.c.received)
    .where(schema.answer.c.assessor == bindparam("assessor"))
    .order_by(schema.answer.c.id.desc())
)
KEY = (
    schema.place.c.task == bindparam("of_task"),
    schema.place.c.assessor == bindparam("of_assessor"),
    schema.place.c.repeat == bindparam("of_repeat"),
)
UPDATE_PLACE = update(schema.place).where(*KEY)
INSERT_ANSWER = insert(schema.answer)
INSERT_PLACE = insert(schema.place)
DELETE_EXPIRED = delete(schema.place).where(
    schema.place.c.assessor == bindparam("of_assessor"),
    schema.place.c.answer.is_(None),
    schema.place.c.expires <= bindparam("now"),
)
DELETE_PLACE = delete(schema.place).where(*KEY)
COUNT = (
    update(schema.task)
    .where(schema.task.c.id == bindparam("of_id"))
    .values(taken=schema.task.c.taken + bindparam("more"), changed=bindparam("now"))
)

_later = schema.answer.alias("later")
ROOT = func.coalesce(schema.answer.c.root, schema.answer.c.id)
IS_LAST = ~select(_later.c.id).where(_later.c.root == ROOT, _later.c.id > schema.answer.c.id).exists()
ANSWERS = (
    select(
        schema.answer,
        schema.task.c.key.label("task_key"),
        schema.task.c.body,
        schema.task.c.needed,
        schema.assessor.c.name,
        schema.assessor.c.kind,
        schema.place.c.status.label("held"),
    )
    .select_from(
        schema.answer.join(schema.task, schema.answer.c.task == schema.task.c.id)
        .join(schema.assessor, schema.answer.c.assessor == schema.assessor.c.id)
        .outerjoin(schema.place, schema.place.c.answer == schema.answer.c.id)
    )
    .where(IS_LAST, schema.answer.c.value.is_not(None))
)
HISTORY = ANSWERS.where(schema.assessor.c.name == bindparam("name")).order_by(schema.answer.c.id.desc())
STORED = ANSWERS.order_by(ROOT)
IS_COUNTED = schema.place.c.status == COUNTED
ACTIVE = select(schema.assessor).where(
    schema.assessor.c.name == bindparam("name"), schema.assessor.c.revoked.is_(None), schema.assessor.c.erased.is_(None)
)
OF_KEY = select(
    schema.answer.c.id, schema.answer.c.root, schema.answer.c.task, schema.answer.c.repeat, schema.answer.c.status
).where(schema.answer.c.assessor == bindparam("assessor"), schema.answer.c.key == bindparam("key"))
