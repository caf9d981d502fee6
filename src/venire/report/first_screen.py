"""What the template of the first screen shows: rows, links, drawings and sentences, made from a ``Front``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import numpy as np

from venire.comparison.forecast import TIE
from venire.measures.scores import NOTHING
from venire.report.document import Grid, Report
from venire.report.drawing import NARROW, Axis, axis_of, bars, group_bars, row, ticks
from venire.report.drill import Disputed, Drill, TopicLists
from venire.report.front import Card, Front
from venire.report.leaderboard import Judge, Leaderboard
from venire.results import counted, listed, visible

SIDE_BY_SIDE = ("scores_by_judge",)
FOLDED = {"contradictions": "Contradictions between judges", "favoured": "Systems that a judge favours"}
"""Tables of chapters that are shown with the judges: at once, and folded."""
MOST_ALIKE = 2
"""A table by judge with so many columns has one judge, whose scores are in the leaderboard."""
FEW = 6
"""With no more systems than this, the cards are below the leaderboard, not beside it."""
MOST_JUDGES_NAMED, MOST_LISTED, MOST_PAIRS_NAMED = 5, 20, 3
CONTENTS = {"first": "Verdict", "judges": "Judges", "compare": "Compare", "disputed": "Disputed"}


def first_screen(report: Report, front: Front) -> dict[str, Any]:
    """Return what the template needs besides the report."""
    from markupsafe import Markup

    tables = {part.name: part for each in report.chapters for part in each.parts if isinstance(part, Grid)}
    drilled = {"compare": front.drill is not None, "disputed": front.drill is not None and front.drill.with_documents}
    contents = [(name, title) for name, title in CONTENTS.items() if drilled.get(name, True)]
    found: dict[str, Any] = {
        "front": front,
        "contents": [*contents, ("details", "Findings"), ("method", "Method")],
        "few": FEW,
        "rows": board_rows(front.board),
        "axis": Markup("".join(map(ticks, axes_of(front.board)))),
        "legend": legend(front.board),
        "side_by_side": [part for part in _named(tables, SIDE_BY_SIDE) if len(part.columns) > MOST_ALIKE],
        "folded_side": _named(tables, FOLDED),
        "titles": FOLDED,
        "placed": {*SIDE_BY_SIDE, *FOLDED},
        "data": "",
    }
    return found if front.drill is None else found | drill_parts(front.drill)


def _named(tables: Mapping[str, Grid], names: Iterable[str]) -> list[Grid]:
    return [tables[name] for name in names if name in tables]


def link(*pair: str, topic: str | None = None, doc: str | None = None) -> str:
    """Return the address of a pair of systems, of one of its topics, or of a document; ids are percent-encoded.

    Examples
    --------
    >>> link("a", "b,c", topic="1/2")
    '#pair=a,b%2Cc&topic=1%2F2'
    """
    more = {"topic": topic, "doc": doc}
    parts = [f"pair={','.join(map(_encoded, pair))}"]
    return "#" + "&".join([*parts, *(f"{name}={_encoded(value)}" for name, value in more.items() if value is not None)])


def _encoded(name: str) -> str:
    return quote(visible(name), safe="")


def axes_of(board: Leaderboard) -> tuple[Axis, Axis]:
    """Return the axes for large and for small screens."""
    return axis_of(board, board.n_shown), axis_of(board, board.n_shown, NARROW)


def board_rows(board: Leaderboard) -> list[dict[str, Any]]:
    """Return the rows of the leaderboard."""
    from markupsafe import Markup

    axes, best = axes_of(board), board.systems[0]
    return [
        {
            "system": system,
            "link": link(best, system) if n else link(best, *board.systems[1:2]),
            "score": float(board.score[n]),
            "interval": f"{board.low[n]:.4f} {board.high[n]:.4f}",
            "p_best": _known(board.p_best[n]),
            "twin": int(np.flatnonzero(board.same == board.same[n])[0]) + 1,
            "letters": board.letters(n) or "–".join(map(str, board.alike(n))),
            "drawing": Markup("".join(row(board, n, axis) for axis in axes)),
            "bars": Markup(group_bars(board, n)),
        }
        for n, system in enumerate(board.systems)
    ]


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


DRAWN = {
    "both": "other topics and another {judge}",
    "topics": "other topics",
    "judges": "another {judge}",
}


def legend(board: Leaderboard) -> str:
    """Explain the leaderboard in a few sentences."""
    texts = [f"Dot and line: {board.measure} by the labels of {board.scorer}, 95% interval over topics."]
    others = [each for each in board.judges if each.name != board.scorer]
    if others:
        texts.append(f"{_marks(others)}{_orange(board)}; point at one, or tap it, for its name.")
    if board.source:
        drawn = DRAWN[board.source].format(judge="crowd" if board.crowd else "judge")
        twins = ", or one with the same score on every topic," if board.twins else ""
        texts.append(f"P(best): share of simulated outcomes with {drawn} in which the system{twins} is first.")
    some = f" (below rank {board.n_shown}: first–last such rank)" if board.n_shown < len(board.systems) else ""
    if len(board.systems) > 1:
        texts.append(f"Systems with a common bar do not differ significantly{some}{_undecided(board)}.")
    if board.silent:
        texts.append(f"{listed(board.silent)} {NOTHING}: no score.")
    return " ".join(texts)


def _marks(judges: Sequence[Judge]) -> str:
    """Say how other judges are drawn."""
    kinds = {each.kind == "machine" for each in judges}
    if len(kinds) > 1:
        return "Rings: other judges (diamonds: machines)"
    return "Diamonds: other judges (machines)" if kinds == {True} else "Rings: other judges"


def _orange(board: Leaderboard) -> str:
    """Explain filled marks, if there are any."""
    some = board.reversed[:, : board.n_shown].any()
    best, *twins = (name for name, n in zip(board.systems, board.same, strict=True) if n == board.same[0])
    rows = "their rows" if twins else "its row"
    return f"; filled orange: this judge puts the system ahead of {best} (in {rows}: another ahead)" if some else ""


def _undecided(board: Leaderboard) -> str:
    """Name neighbours in the ranking that do not differ significantly, and do not score the same."""
    shared = (board.member[:, 1:] & board.member[:, :-1]).any(axis=0)
    apart = np.abs(np.diff(board.score[: board.n_shown])) > TIE
    pairs = [f"{board.systems[n]} and {board.systems[n + 1]}" for n in np.flatnonzero(shared & apart).tolist()]
    return f", such as {'; '.join(pairs[:MOST_PAIRS_NAMED])}" if pairs else ""


def drill_parts(drill: Drill) -> dict[str, Any]:
    """Return what the page shows of pairs and documents without its script, and the data for it."""
    from markupsafe import Markup

    a, b = drill.pair
    gaps = [(each.topic, gap) for each, gap in drill.differences()]
    return {
        "pair_sentence": pair_sentence(drill),
        "pair_bars": Markup(bars(gaps, f"{drill.measure} of {a} minus that of {b}, by topic, largest first.")),
        "pair_table": _pair_table(drill),
        "held": held(drill),
        "disputed": _disputed_rows(drill),
        "labels_head": "labels" if len(drill.judges) <= MOST_JUDGES_NAMED else "label × judges",
        "data": Markup(as_json(drill.data())),
    }


def pair_sentence(drill: Drill) -> str:
    """Say on how many topics each of the two systems is better."""
    a, b = drill.pair
    gaps = np.array([gap for _, gap in drill.differences()])
    better, worse = int((gaps > 0).sum()), int((gaps < 0).sum())
    if len(gaps) and not better + worse:
        return f"{a} and {b} score the same on every topic."
    tested = drill.test(bool(drill.different[drill.systems.index(a), drill.systems.index(b)]), adjusted=False)
    mean = f"{gaps.mean():+.3f}" if len(gaps) else "not known"
    return (
        f"{a} against {b}: {mean} {drill.measure} on average over {counted(len(gaps), 'topic')}; better on {better}, "
        f"worse on {worse}, equal on {len(gaps) - better - worse}. {tested}"
    ).rstrip()


def _pair_table(drill: Drill) -> Grid:
    a, b = drill.pair
    rows = [
        [each.topic, gap, listed([drill.judges[j].name for j in each.judges], MOST_JUDGES_NAMED), _differ(drill, each)]
        for each, gap in drill.differences()
    ]
    alike = drill.scored[0] not in {each.name for each in drill.judges} or len({str(row[2]) for row in rows}) < 2
    who, unseen = ("", ("judged_by",)) if alike else (", who judged it", ())
    documents = ", and the documents of the two lists to which judges give different labels (lowest to highest)"
    if not drill.with_documents:
        documents, unseen = "", (*unseen, "judges_differ_on")
    caption = f"{drill.measure} of {a} minus that of {b}, by topic{who}{documents}."
    columns = ["topic", "difference", "judged_by", "judges_differ_on"]
    return Grid("pair_topics", caption, columns, rows, unseen=unseen)


def _differ(drill: Drill, each: TopicLists) -> str:
    """List the documents of a topic on which judges differ, those with most weight first."""
    names = [f"{row.doc} ({_between(drill, row)})" for row in drill.differing(each)]
    return listed(names, MOST_LISTED) or "none"


def _between(drill: Drill, row: Disputed) -> str:
    levels = sorted(drill.scale.index(label) for label in row.labels.values())
    return f"{drill.scale[levels[0]]}–{drill.scale[levels[-1]]}"


def _disputed_rows(drill: Drill) -> list[dict[str, Any]]:
    return [
        {
            **row._asdict(),
            "labels": _labels_of(drill, row),
            "link": link(*drill.pair, topic=row.topic, doc=row.doc),
        }
        for row in drill.disputed
    ]


def _labels_of(drill: Drill, row: Disputed) -> str:
    """List the labels of a document by judge; of many judges, how many gave each label."""
    if len(row.labels) <= MOST_JUDGES_NAMED:
        return ", ".join(f"{judge} {label}" for judge, label in row.labels.items())
    number = Counter(row.labels.values())
    return ", ".join(f"{label}×{number[label]}" for label in reversed(drill.scale) if number[label])


def held(drill: Drill) -> str:
    """State how much of the lists the page holds."""
    systems = (
        f"all {len(drill.systems)}"
        if len(drill.systems) == drill.n_systems
        else f"{len(drill.systems)} of {drill.n_systems}"
    )
    topics = (
        f"all {drill.n_topics}" if len(drill.topics) == drill.n_topics else f"{len(drill.topics)} of {drill.n_topics}"
    )
    what = f"first {drill.depth} results" if drill.with_documents else "scores"
    text = f"This page holds the {what} of {systems} systems on {topics} topics"
    most = "" if len(drill.topics) == drill.n_topics else ", those on which the two systems of the verdict differ most"
    why = "" if drill.with_documents else " Documents are left out: each has several labels by every judge."
    return f"{text}{most}.{why}"


def as_json(value: Any) -> str:
    """Return data as JSON that can stand in a page: no markup, no controls."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    if "\\" in text or "\x7f" in text:  # a name has a control, or another letter that is escaped
        text = json.dumps(_shown(value), separators=(",", ":"), allow_nan=False)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _shown(value: Any) -> Any:
    """Return data with controls of texts as escapes."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {visible(str(name)): _shown(each) for name, each in value.items()}
    return [_shown(each) for each in value] if isinstance(value, list | tuple) else value


def tone(card: Card) -> str:
    """Return the style of a card: how much its probability supports the verdict."""
    p = card.probability
    return "unknown" if p is None else "sure" if p >= 0.9 else "doubt" if p >= 0.5 else "against"
