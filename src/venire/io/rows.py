"""Rows as read from a source, and their assembly into Judgments.

A reader returns one ``Rows`` per file: labels still as text, each row with the line it came from.  ``assemble`` joins
them, infers or checks the scale, numbers the items, and resolves repeated labels, in one place for every format.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from venire.data.ids import Category, joined, narrow
from venire.data.judgments import FACETS, Items, Judgments, Undrawn, given_items, is_conditional, number_items
from venire.data.scale import NOT_APPLICABLE, Scale, is_digits, is_integer, is_negative, is_number, whole
from venire.errors import FormatError, RepeatedLineWarning, ScaleError, known_names
from venire.io.declarations import DECLARED, PROMPT, Role
from venire.io.limits import current, over
from venire.results import Note
from venire.scan.codes import gather
from venire.scan.names import ordered_rows, sorted_rows
from venire.types import Bools, Codes, Floats, Ints, Words

NEGATIVE = ("unjudged", "lowest")
DUPLICATE_LABELS = ("error", "keep", "first", "last")
MOST_COMBINATIONS = 1 << 62
AT_ONCE = 1 << 16
NONE = Category.of([])
MOST_SHOWN = 12


@dataclass(frozen=True, eq=False)
class Rows:
    """Labels of one source, all columns (row,); ``duplicate_labels`` is what its format does with second labels.

    rest: a hash of the columns that are not read, in which rows may differ; None if there are none.  extra: columns by
    their names in the source, to choose rows by.  roles: who is declared as the reference or as a machine.  columns:
    names of all columns of a table.  recognised: it was taken for a wide table by the names of its columns.
    """

    source: str
    topic: Category
    doc: Category
    assessor: Category
    label: Category
    line: Ints | range
    facets: Mapping[str, Category] = field(default_factory=dict)
    time: Floats | None = None
    probability: Floats | None = None
    rest: Words | None = None
    extra: Mapping[str, Category] = field(default_factory=dict)
    scale: Scale | None = None
    roles: tuple[Role, ...] = ()
    duplicate_labels: str = "keep"
    notes: tuple[Note, ...] = ()
    columns: tuple[str, ...] = ()
    named_after_file: bool = False
    recognised: bool = False


def rows_of_qrels(
    source: str, columns: Sequence[Category], line: Ints, *, second: Mapping[str, Category], scale: Scale | None = None
) -> Rows:
    """Make Rows of the columns of qrels: topic, doc, label; second: the second column, as assessor or as intent."""
    topic, doc, label = columns
    intent = {name: column for name, column in second.items() if name == "intent"}
    who = second.get("assessor") or Category.constant("assessor", len(line))
    return Rows(source, topic, doc, who, label, line, intent, scale=scale, duplicate_labels="error")


def assemble(
    parts: Sequence[Rows],
    *,
    scale: Scale | None = None,
    negative: str = "unjudged",
    duplicate_labels: str | None = None,
    not_applicable: str = NOT_APPLICABLE,
    where: Mapping[str, Sequence[str]] | None = None,
) -> Judgments:
    """Make Judgments of rows.

    negative: integers below zero that the scale does not have are ``"unjudged"`` (left out, as trec_eval does) or
    ``"lowest"``.  duplicate_labels: a second label by one assessor for one item is an ``"error"``, or both are kept
    (``"keep"``), or the ``"first"`` or ``"last"`` counts, by time where rows have one, else by their order; None
    leaves it to the format.  not_applicable: a label that, unless the scale has it, is no judgment.  where: values of
    ``extra`` columns; other rows are left out before repeats are resolved, and count for the scale only.
    Rows come out by item, assessor and facets, several labels of one assessor for one item in the order of the source,
    so that results do not depend on the order of rows.  Cost: O(n log n) in the rows.
    """
    _check_choice("negative", negative, NEGATIVE)
    _check_choice("duplicate_labels", duplicate_labels or "keep", DUPLICATE_LABELS)
    label = joined([part.label for part in parts])
    _refuse_digits(label, parts)
    declared = scale or _declared(parts)
    label = _set_aside(label, not_applicable, declared)
    scale = declared or inferred_scale(label, parts, lowest=negative == "lowest")
    levels = np.append(_levels(list(label.names), scale, negative), np.int32(-1))
    level = gather(narrow(levels, len(levels)), label.codes)
    _refuse_unknown(level, label, scale, parts)
    judged, undrawn = level >= 0, (level == -1) & (label.codes >= 0)
    n_judged = int(judged.sum())
    if where:
        rows = _chosen(parts, where)
        judged, undrawn = judged & rows, undrawn & rows
    chosen = slice(None) if judged.all() else np.flatnonzero(judged)
    notes = [note for part in parts for note in part.notes]
    if scale.inferred:
        notes.append(_inference(scale))
    if absent := int((label.codes < 0).sum()):
        template = "{n:label} {label} (not applicable), taken as unjudged"
        notes.append(Note("not-applicable", template, n=absent, label=not_applicable))
    if below := len(level) - n_judged - absent:
        notes.append(Note("negative-labels", "{n:label} below zero, taken as unjudged", n=below))
    items, item = number_items(joined([part.topic for part in parts]), joined([part.doc for part in parts]))
    parts = [replace(part, topic=NONE, doc=NONE) for part in parts]
    facets = {
        name: joined([part.facets.get(name) or Category.constant("", len(part.line)) for part in parts])
        for name in FACETS
        if any(name in part.facets for part in parts)
    }
    time, assessor = joined_column(parts, "time", np.nan), joined([part.assessor for part in parts])
    probability = joined_column(parts, "probability", np.nan)
    if probability is not None:
        asked = judged | undrawn
        apart = any(len(np.unique(each.codes[asked])) > 1 for each in facets.values())  # rows of several samples
        drawn = np.where(judged, np.nan_to_num(probability, nan=1.0), np.nan)
        left = np.where(undrawn & (not apart), probability, np.nan)
        items = replace(items, undrawn=_undrawn(items, item, assessor, drawn=drawn, left=left))
    judgments = Judgments(scale, items, item, assessor, level, facets, time, tuple(notes))
    reference, machines = _declared_roles(parts, judgments.assessors)
    prompts, odd = _declared_prompts(parts, judgments.assessors)
    judgments = replace(judgments, reference=reference, machines=machines, prompts=prompts, probability=probability)
    judgments = replace(judgments, notes=(*judgments.notes, *odd))
    if "given" in facets:
        _refuse_given(judgments, parts)
        after = int(is_conditional(judgments).sum())
        if 0 < after < len(judgments):
            template = "{n:,} of {of:,} labels are conditional (given after another document) and count apart"
            note = Note("conditional-labels", template, n=after, of=len(judgments))
            judgments = replace(judgments, notes=(*judgments.notes, note))
    rules = [DUPLICATE_LABELS.index(duplicate_labels or part.duplicate_labels) for part in parts]
    return _widened(_resolve_repeats(judgments, chosen, np.array(rules, dtype=np.int8), parts))


def _undrawn(items: Items, item: Codes, assessor: Category, *, drawn: Floats, left: Floats) -> Undrawn:
    """Find items that were not drawn; drawn, left (row,): probabilities of rows with a label, and of these; or NaN."""
    sample = items.topic[item].astype(np.int64) * len(assessor.names) + assessor.codes
    known, lowest = np.fmax(drawn, left), np.ones(len(items.topics) * len(assessor.names))
    np.fmin.at(lowest, sample, known)
    rows = np.flatnonzero(~np.isnan(left))
    rows = rows[np.argsort(item[rows], kind="stable")]
    return Undrawn(item[rows], assessor.take(rows), left[rows], strata=bool((known > lowest[sample]).any()))


def _widened(judgments: Judgments) -> Judgments:
    """Return codes of 32 bits, as arithmetic with them expects; until here they are as narrow as they can be."""
    columns = {"assessor": judgments.assessor, **judgments.facets}
    wide = {name: Category(each.codes.astype(np.int32, copy=False), each.names) for name, each in columns.items()}
    assessor = wide.pop("assessor")
    return replace(judgments, label=judgments.label.astype(np.int32, copy=False), assessor=assessor, facets=wide)


def named(rows: Rows, assessor: str) -> Rows:
    """Name the one assessor of rows; what is declared of that assessor holds under the new name."""
    before = list(rows.assessor.names)
    roles = tuple(role._replace(assessor=assessor) if role.assessor in before else role for role in rows.roles)
    return replace(rows, assessor=Category.constant(assessor, len(rows.line)), roles=roles)


def _declared_roles(parts: Sequence[Rows], assessors: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the reference and the machines of all parts; raise where one is unknown, or both by two declarations."""
    found: dict[str, Role] = {}
    for role in (role for part in parts for role in part.roles if role.kind != PROMPT):
        if role.assessor not in assessors:
            message = f"{role.kind}: there is no assessor {role.assessor!r}"
            hint = f"{known_names(role.assessor, assessors)}; or read the file with their labels, too"
            raise FormatError(role.where, role.line, message, hint=hint)
        before = found.setdefault(role.assessor, role)
        if before.kind != role.kind:
            message = (
                f"assessor {role.assessor!r} is declared under {role.kind}, but under {before.kind} in {before.where}"
            )
            raise FormatError(role.where, role.line, message, hint="declare each assessor as one of them")
    return [tuple(name for name, role in found.items() if role.kind == kind) for kind in DECLARED]


def _declared_prompts(parts: Sequence[Rows], assessors: tuple[str, ...]) -> tuple[dict[str, str], list[Note]]:
    """Return hashes of prompts by assessor, and notes on those of nobody; raise where one has two."""
    found, notes = dict[str, str](), list[Note]()
    for role in (role for part in parts for role in part.roles if role.kind == PROMPT):
        if role.assessor not in assessors:
            text = "{where}: a prompt of {name}, who is no assessor, is not used"
            notes.append(Note("unknown-prompt", text, where=str(role.where), name=role.assessor))
        elif not role.text or found.setdefault(role.assessor, role.text) != role.text:
            message = f"the prompt of {role.assessor} has {'two hashes' if role.text else 'no hash'}"
            raise FormatError(role.where, role.line, message, hint="state one hash for each assessor")
    return found, notes


def _chosen(parts: Sequence[Rows], where: Mapping[str, Sequence[str]]) -> Bools:
    """Mark the rows that have one of these values in each of these columns; a source without a column has "" there."""
    rows = np.ones(sum(len(part.line) for part in parts), dtype=np.bool_)
    for name, values in where.items():
        column = joined([part.extra.get(name) or Category.constant("", len(part.line)) for part in parts])
        rows &= column.among(values, name)
    return rows


def _set_aside(label: Category, not_applicable: str, declared: Scale | None) -> Category:
    """Give rows with the label for not applicable the code -1, unless the declared scale has that label."""
    names = list(label.names)
    if not_applicable not in names or (declared is not None and not_applicable in declared.labels):
        return label
    code = names.index(not_applicable)
    others = np.delete(np.arange(len(names)), code)
    place = np.insert(np.arange(len(others), dtype=np.int32), code, np.int32(-1))
    return Category(gather(place, label.codes), label.names.take(others))


def _refuse_digits(label: Category, parts: Sequence[Rows]) -> None:
    """Raise at the first label that is a number of more digits than a number has."""
    length = label.names.slices.end - label.names.slices.start
    for code in np.flatnonzero(length > current().digits).tolist():
        if is_number(label.names[code]) or is_digits(label.names[code]):
            row = int(np.flatnonzero(label.codes == code)[0])
            raise over("digits", *locate_row(parts, row), f"a label of {length[code]:,} digits", hint="round it")


def _refuse_crowded(judgments: Judgments, order: Ints | Codes | slice, parts: Sequence[Rows]) -> None:
    """Raise where an item has more labels than any has; judgments by item, whose rows had another order before."""
    item, most = judgments.item, current().labels_per_item
    crowded = np.flatnonzero(item[most:] == item[:-most]) if len(item) > most else item[:0]
    if len(crowded):
        wrong = int(item[crowded[0]])
        rows, items = np.flatnonzero(item == wrong), judgments.items
        found = f"{len(rows):,} labels of {items.doc[wrong]!r} for topic {items.topics[int(items.topic[wrong])]!r}"
        place = locate_row(parts, int((rows if isinstance(order, slice) else order[rows]).min()))
        raise over("labels_per_item", *place, found, hint="check which columns are the topic and the document")


def inferred_scale(label: Category, parts: Sequence[Rows] = (), *, lowest: bool = False) -> Scale:
    """Infer the scale from the labels that occur (``Scale.infer``); an error names the line of the first bad label."""
    _refuse_digits(label, parts)
    try:
        return Scale.infer(label.names, lowest=lowest)
    except ScaleError as error:
        wrong = next((code for code, name in enumerate(label.names) if not is_number(name)), None)
        if wrong is None:
            raise
        row = int(np.flatnonzero(label.codes == wrong)[0])
        raise FormatError(*locate_row(parts, row), error.message, hint=error.hint) from None


def _inference(scale: Scale) -> Note:
    """Note that the scale was not declared."""
    return Note(
        "inferred-scale",
        "the scale {scale} is inferred from the labels that occur; linear gains are {gains}",
        scale="<".join(scale.labels if len(scale) <= MOST_SHOWN else [*scale.labels[:4], "...", scale.labels[-1]]),
        gains="their numbers"
        if scale.measurement == "ordinal"
        else "positions on it, as the labels are not whole numbers",
    )


def _check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ScaleError(f"{what}={value!r} is not a rule", hint=known_names(value, known))


def _declared(parts: Sequence[Rows]) -> Scale | None:
    scales = {part.scale: part.source for part in parts if part.scale is not None}
    if len(scales) > 1:
        (one, first), (other, second) = list(scales.items())[:2]
        raise ScaleError(f"{first} declares the scale {one}, {second} declares {other}", hint="state the scale")
    return next(iter(scales), None)


def _levels(labels: Sequence[str], scale: Scale, negative: str) -> Codes:
    """Return the level of each label text, -1 unjudged, -2 unknown -> (label text,)."""
    known = {label: level for level, label in enumerate(scale.labels)}
    below = 0 if negative == "lowest" else -1

    def level(label: str) -> int:
        if label in known:
            return known[label]
        plain = whole(label)
        if is_integer(plain) and str(int(plain)) in known:
            return known[str(int(plain))]
        return below if is_negative(label) else -2

    return np.array([level(label) for label in labels], dtype=np.int32)


def _refuse_unknown(level: Codes, label: Category, scale: Scale, parts: Sequence[Rows]) -> None:
    unknown = np.flatnonzero(level == -2)
    if len(unknown):
        source, line = locate_row(parts, int(unknown[0]))
        text = label.names[int(label.codes[unknown[0]])]
        hint = f"{known_names(text, scale.labels)}; or declare another scale"
        raise FormatError(source, line, f"label {text!r} is not on the scale {scale}", hint=hint)


def _refuse_given(judgments: Judgments, parts: Sequence[Rows]) -> None:
    """Raise at the first document that is given itself, or given one that is not among the topic's items."""
    given = given_items(judgments)
    wrong = np.flatnonzero((given == -2) | (given == judgments.item))
    if not len(wrong):
        return
    row, items = int(wrong[0]), judgments.items
    number = int(judgments.item[row])
    doc, topic = items.doc[number], items.topics[int(items.topic[number])]
    given_name = judgments.facets["given"]
    before = given_name.names[int(given_name.codes[row])]
    if before == doc:
        message = f"document {doc!r} is given itself for topic {topic!r}, expected another that was read before it"
        raise FormatError(*locate_row(parts, row), message, hint="leave given empty for a label in isolation")
    message = f"document {doc!r} is given {before!r}, which is not in the collection: it has no label for {topic!r}"
    present = items.doc.take(np.flatnonzero(items.topic == items.topic[number]))
    hint = f"{known_names(before, present)}; read the labels in isolation together with the conditional labels"
    raise FormatError(*locate_row(parts, row), message, hint=hint)


def locate_row(parts: Sequence[Rows], row: int) -> tuple[str, int]:
    """Return the source and line of a row of the joined table."""
    for part in parts:
        if row < len(part.line):
            return part.source, int(part.line[row])
        row -= len(part.line)
    raise IndexError(row)


def _resolve_repeats(
    judgments: Judgments, rows: Ints | slice, rules: NDArray[np.int8], parts: Sequence[Rows]
) -> Judgments:
    """Keep, drop or refuse second labels by one assessor for one item, as the rule of its part says, and sort the rows.

    Cost: a sort of the rows; all else concerns repeated rows only.
    """
    error, keep, first, last = (DUPLICATE_LABELS.index(name) for name in DUPLICATE_LABELS)
    if (plain := _sorted_plainly(judgments, rows)) is not None:
        return plain
    chosen: Any = _sorted_rows(judgments, rows)
    in_order = judgments if isinstance(chosen, slice) else judgments.take(chosen)
    _refuse_crowded(in_order, chosen, parts)
    columns = (in_order.assessor, *in_order.facets.values())
    like = _repeats([in_order.item, *(each.codes for each in columns)])
    if not like.any():
        return in_order
    ordered = np.arange(len(judgments)) if isinstance(chosen, slice) else chosen
    place = np.flatnonzero(np.append(like, False) | np.append(False, like))
    same, suspects = np.cumsum(~np.append(False, like)[place]), ordered[place]
    time = np.zeros(len(suspects)) if judgments.time is None else np.nan_to_num(judgments.time[suspects], nan=-np.inf)
    by_time = np.lexsort((suspects, time, same))
    rule = rules[np.searchsorted(np.cumsum([len(part.line) for part in parts]), suspects, side="right")]
    again, rule_of = np.append(False, np.diff(same[by_time]) == 0), rule[by_time]
    refused = again & (rule_of == error)
    if refused.any():
        _warn_or_refuse(judgments, suspects[by_time], np.flatnonzero(refused), parts)
    again_later = np.append(again[1:], False)
    superseded = (again & (rule_of == first)) | (again_later & (rule_of == last))
    rest = joined_column(parts, "rest", np.uint64(0))
    cells: list[NDArray[Any]] = [same, judgments.label[suspects], time, *([] if rest is None else [rest[suspects]])]
    kept, others = (_copies([each[which] for each in cells]) for which in (rule == keep, rule >= first))
    counts = "first" if (rules == first).any() else "last"
    judgments = _with_counts(judgments, int(superseded.sum()), others, counts, kept)
    remains = np.ones(len(ordered), dtype=np.bool_)
    remains[place[by_time[refused | superseded]]] = False
    return judgments.take(ordered[remains])


def joined_column(parts: Sequence[Any], name: str, missing: Any) -> NDArray[Any] | None:
    """Concatenate a column that some parts have, None if none has it; missing: the value in the other parts."""
    columns = [getattr(part, name) for part in parts]
    if all(column is None for column in columns):
        return None
    filled = zip(parts, columns, strict=True)
    return np.concatenate([np.full(len(part.line), missing) if column is None else column for part, column in filled])


def _sorted_plainly(judgments: Judgments, rows: Ints | slice) -> Judgments | None:
    """Sort all rows by item and assessor; None where some are left out or repeated, or have more than a label."""
    more = judgments.facets or judgments.time is not None or judgments.probability is not None
    who = judgments.assessor
    if more or not isinstance(rows, slice) or len(who.names) > current().labels_per_item or _ascends(judgments.item):
        return None
    found = sorted_rows(judgments.item, who.codes, judgments.label, len(judgments.items))
    if found is None:
        return None
    item, codes, label = found
    return replace(judgments, item=item, assessor=Category(codes, who.names), label=label)


def _ascends(codes: Codes) -> bool:
    """Return whether no code is below the one before."""
    blocks = (codes[begin : begin + AT_ONCE + 1] for begin in range(0, len(codes), AT_ONCE))
    return all(bool((block[1:] >= block[:-1]).all()) for block in blocks)


def _sorted_rows(judgments: Judgments, rows: Ints | slice) -> Ints | Codes | slice:
    """Order rows by item, assessor and facets, as they were where they agree; rows in that order stay as they are."""
    item, who = judgments.item[rows], judgments.assessor.codes[rows]
    later = item[1:] >= item[:-1]
    if later.all():
        later = (item[1:] > item[:-1]) | (who[1:] >= who[:-1])
    if not judgments.facets:
        if later.all():
            return rows
        order = ordered_rows(item, who, len(judgments.items))
        return order if isinstance(rows, slice) else rows[order]
    same = _same_judgment(judgments)[rows]
    if (same[1:] >= same[:-1]).all():
        return rows
    order = np.argsort(same, kind="stable")
    return order if isinstance(rows, slice) else rows[order]


def _repeats(columns: Sequence[Codes]) -> Bools:
    """Mark rows that agree with the one before in every column."""
    like: Bools | None = None
    for column in columns:
        agrees = column[1:] == column[:-1]
        like = agrees if like is None else like & agrees
        if not like.any():
            break
    return np.zeros(0, dtype=np.bool_) if like is None else like


def _copies(columns: Sequence[NDArray[Any]]) -> int:
    """Count the rows that equal an earlier one in every column (row,)."""
    order = np.lexsort(columns)
    like = [column[order[1:]] == column[order[:-1]] for column in columns]
    return int(np.logical_and.reduce(like).sum()) if len(order) else 0


def _with_counts(judgments: Judgments, n_dropped: int, n_copies: int, counts: str, n_kept: int) -> Judgments:
    """Note how many rows were dropped, identical ones and further labels of an item, and how many were kept."""
    notes, n_others = [], n_dropped - n_copies
    if n_copies:
        notes.append(Note("identical-rows", "{n:row} identical to another in every column, dropped", n=n_copies))
    if n_others:
        template = "{n:label} dropped where one assessor labelled an item several times: the {counts} label counts"
        notes.append(Note("superseded-labels", template, n=n_others, counts=counts))
    if n_kept:
        template = "{n:row} identical to another in every column, kept as further labels"
        notes.append(Note("identical-rows-kept", template, n=n_kept))
    dropped = {"identical_rows": n_copies, "superseded_labels": n_others} if n_dropped else {}
    return replace(judgments, dropped=dropped, notes=(*judgments.notes, *notes))


def _same_judgment(judgments: Judgments) -> Ints:
    """Number the combinations of item, assessor and facets -> (row,)."""
    number, size = judgments.item.astype(np.int64), len(judgments.items)
    for column in (judgments.assessor, *judgments.facets.values()):
        if size > MOST_COMBINATIONS // max(len(column.names), 1):
            distinct, number = np.unique(number, return_inverse=True)
            size = len(distinct)
        number = number * len(column.names) + column.codes
        size *= len(column.names)
    return number


def _warn_or_refuse(judgments: Judgments, order: Ints, places: Ints, parts: Sequence[Rows]) -> None:
    """Raise at the first repeat with another label; where all repeat the label they had, only warn."""
    differs = judgments.label[order[places]] != judgments.label[order[places - 1]]
    row = int(order[places[differs]].min()) if differs.any() else int(order[places].min())
    source, line = locate_row(parts, row)
    doc = judgments.items.doc[int(judgments.item[row])]
    topic = judgments.items.topics[int(judgments.items.topic[judgments.item[row]])]
    if not differs.any():
        more = f" (and {len(places) - 1:,} more such lines)" if len(places) > 1 else ""
        what = f"document {doc!r} is judged twice for topic {topic!r} with the same label{more}; the second is ignored"
        warnings.warn(RepeatedLineWarning(what, where=source, line=line), stacklevel=5)
        return
    label = judgments.scale.labels[judgments.label[row]]
    raise FormatError(
        source,
        line,
        f"document {doc!r} gets label {label!r} for topic {topic!r}, but had another label before",
        hint="if the second column of qrels says who judged, or for which intent, read it as the assessor or as the "
        "intent; else keep both labels, or the first or last of them",
    )
