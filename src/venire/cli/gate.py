"""Gates of compare and certify: conditions on numbers and verdicts, which a result must meet for exit code 0."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

import click

from venire.cli.output import Output, say
from venire.errors import known_names
from venire.results import read_number

if TYPE_CHECKING:
    from venire.comparison.compare import Comparison

CONDITION = re.compile(r"\s*(?P<name>[a-z_]+)\s*(?P<sign>>=|<=|>|<)\s*(?P<value>[-+.0-9e]+)\s*")
VERDICT = re.compile(r"\s*(?P<name>[a-z_]+)\s*(?P<sign>=)\s*(?P<value>[A-Za-z][A-Za-z ]*?)\s*")
SIGNS: dict[str, Callable[[float, float], bool]] = {
    **{">=": operator.ge, "<=": operator.le},
    **{">": operator.gt, "<": operator.lt},
}
PASSED, NOT_PASSED = 0, 1
ASSUMED = "the first system of RUNS; --baseline names another"
"""Why a system is the baseline that nobody named."""
Results = Mapping[str, Sequence[tuple[bool, str]]]
"""By candidate or judge: whether each condition holds, with words."""


class Condition(NamedTuple):
    """A condition: a name, a sign, and a number, or a word after ``=``."""

    name: str
    sign: str
    value: float | str

    @property
    def number(self) -> float:
        """The number, of a condition on one."""
        return float(self.value)

    def holds(self, found: float | str | None) -> bool:
        """Whether a value meets the condition; one that is not known does not."""
        if isinstance(self.value, str):
            return found == self.value
        if found is None or isinstance(found, str):
            return False
        return bool(SIGNS[self.sign](found, self.value))

    def text(self, found: float | str | None, *, by: str) -> str:
        """Return what was found, by which measure, and what was required."""
        shown = "unknown" if found is None else found if isinstance(found, str) else f"{found:.4g}"
        required = self.value if isinstance(self.value, str) else f"{self.sign} {self.value:g}"
        return f"{self.name} = {shown} by {by}, required {required}"


def read_condition(
    text: str, numbers: Sequence[str], verdicts: Mapping[str, Sequence[str]] | None = None, *, example: str
) -> Condition:
    """Read a condition on a number, as in tau>=0.9, or on a verdict, as in levels=PASS.

    numbers: names of numbers; verdicts: words by name.
    """
    verdicts = verdicts or {}
    match = CONDITION.fullmatch(text) or (VERDICT.fullmatch(text) if verdicts else None)
    if match is None:
        signs = ", ".join([*SIGNS, "="] if verdicts else SIGNS)
        words = f"{text!r} is not a condition, expected one of {signs} between a name and a value, as in {example}"
        raise click.BadParameter(words, param_hint="--require")
    name, sign, number = match["name"], match["sign"], match["value"]
    known = verdicts if sign == "=" else numbers
    if name not in known:
        raise click.BadParameter(f"{name!r} is not known; {known_names(name, known)}", param_hint="--require")
    if sign == "=":
        if number not in verdicts[name]:
            expected = known_names(number, verdicts[name])
            raise click.BadParameter(f"{number!r} is not a verdict; {expected}", param_hint="--require")
        return Condition(name, sign, number)
    try:
        value = read_number(number)
    except ValueError:
        raise click.BadParameter(f"{number!r} is not a number", param_hint="--require") from None
    if not isfinite(value) or (name.startswith("p_") and not 0 <= value <= 1):
        expected = "a probability from 0 to 1" if name.startswith("p_") else "a finite number"
        raise click.BadParameter(f"{text!r} has {number}, expected {expected}", param_hint="--require")
    return Condition(name, sign, value)


def of_candidates(found: Comparison, conditions: Sequence[Condition], *, assumed: bool = False) -> Results:
    """Return whether each candidate of ``venire compare`` meets each condition, with words.

    Besides the conditions, nothing may object to the claim (``comparison.gate``), and the candidate must be ahead,
    unless a condition allows a negative difference.  So it cannot pass in both directions.

    assumed: nobody named the baseline, and the words say which system it is
    """
    from venire.comparison.gate import objections

    allowed = [-each.number for each in conditions if each.name == "delta" and each.sign in (">", ">=")]
    margin = min(allowed, default=0.0)
    ahead = margin <= 0 or any(each.name.startswith("p_stays") for each in conditions)
    results = {pair: [(False, text) for text in texts] for pair, texts in objections(found, margin=margin).items()}
    untested = set(found.untested)
    for record in found.records():
        pair = record["a"], record["b"]
        if pair in untested:
            continue
        of_pair = results[pair]
        if ahead and not (record["delta"] or 0) > 0:
            of_pair.append((False, f"{record['a']} is not ahead of {record['b']} by {record['measure']}"))
        of_pair += [
            (each.holds(record[each.name]), each.text(record[each.name], by=record["measure"])) for each in conditions
        ]
    why = f" ({ASSUMED})" if assumed else ""
    return {f"{a} against {b}{why}": of_pair for (a, b), of_pair in results.items()}


def report(results: Results, out: Output) -> int:
    """Print whether all conditions are met, or who does not meet which, a line each; return the exit code."""
    failed = {name: [text for holds, text in found if not holds] for name, found in results.items()}
    for name, texts in failed.items():
        if texts:
            say("error", f"not passed: {name}: {'; '.join(texts)}")
    if any(failed.values()):
        return NOT_PASSED
    out.notes([f"passed: {name}: {'; '.join(text for _, text in found)}" for name, found in results.items()])
    return PASSED
