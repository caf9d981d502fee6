"""Checks: what settings must be; each refuses with what was found and what was expected."""

from __future__ import annotations

from venire.errors import SettingError


def need_share(what: str, value: float) -> None:
    """Refuse what is no share of a whole."""
    if not 0 <= value <= 1:
        raise SettingError(f"{what} is {value:g}, expected a share between 0 and 1")


def need_at_least(least: float, what: str, value: float) -> None:
    """Refuse what is too small, or not a number."""
    if not value >= least:
        raise SettingError(f"{what} is {value:g}, expected {least:g} or more")


def need_rates(a0: float, a1: float) -> None:
    """Refuse rates of agreement that are no probabilities."""
    if not (0 <= a0 <= 1 and 0 <= a1 <= 1):
        raise SettingError(f"agreement {a0:g},{a1:g}: expected two rates from 0 to 1", hint="as in --agreement 0.9,0.7")
