"""What contenders found, in one form: a value per system, topic and measure.

`python bench/answers.py OURS THEIRS` says how far two of them are apart.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sizes import OURS, RANX, TREC

Scores = dict[tuple[str, str, str], float]  # system, topic, measure; on dl21 the assessor stands for the measure

OUR_NAME = {**dict(zip(TREC, OURS, strict=True)), **dict(zip(RANX, OURS, strict=True))}


def flat(found: object, workload: str) -> Scores:
    """Bring any contender's answer into one form."""
    if hasattr(found, "axes"):
        return from_venire(found)
    scores: Scores = {}
    if workload == "dl21":
        for assessor, by_system in found.items():
            for system, answer in by_system.items():
                scores |= {(system, topic, assessor): value for topic, _, value in cells(answer)}
        return scores
    for system, answer in found.items():
        scores |= {(system, topic, name): value for topic, name, value in cells(answer)}
    return scores


def from_venire(found: object) -> Scores:
    last = "assessor" if "assessor" in found.axes else "measure"
    values = found.select(measure="nDCG@10").values if last == "assessor" else found.values
    systems, topics, names = (found.names[axis] for axis in ("system", "topic", last))
    return {
        (systems[i], topics[j], names[k]): float(value)
        for (i, j, k), value in np.ndenumerate(values)
        if not np.isnan(value)
    }


def cells(answer: object) -> list[tuple[str, str, float]]:
    """Topic, our name of the measure, value."""
    if isinstance(answer, str):  # trec_eval prints
        rows = [line.split() for line in answer.splitlines()]
        return [(topic, OUR_NAME[name], float(value)) for name, topic, value in rows if topic != "all"]
    if isinstance(answer, list):  # ir_measures gives a list
        return [(each.query_id, str(each.measure), each.value) for each in answer]
    if set(answer) <= set(RANX):  # ranx gives topics by measure, pytrec_eval measures by topic
        return [(topic, OUR_NAME[name], value) for name, row in answer.items() for topic, value in row.items()]
    return [(topic, OUR_NAME[name], value) for topic, row in answer.items() for name, value in row.items()]


def save(scores: Scores, out: Path) -> None:
    keys = sorted(scores)
    np.savez(out, keys=np.array(["\t".join(key) for key in keys]), values=np.array([scores[key] for key in keys]))


def apart(ours: Path, theirs: Path) -> str:
    """Largest difference over systems, topics and measures that both scored; and how many cells one lacks."""
    with np.load(ours) as one, np.load(theirs) as other:
        both, here, there = np.intersect1d(one["keys"], other["keys"], return_indices=True)
        largest = np.abs(one["values"][here] - other["values"][there]).max(initial=0.0)
        lacking = len(one["keys"]) + len(other["keys"]) - 2 * len(both)
    return f"{largest:.0e}" + (f", {lacking:,} cells in one alone" if lacking else "")


if __name__ == "__main__":
    print(apart(Path(sys.argv[1]), Path(sys.argv[2])))
