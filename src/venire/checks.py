"""Checks of settings: each raises a SettingError that says what was found and what was expected."""

from __future__ import annotations

from math import isfinite
from typing import Any

from venire.errors import SettingError


def need_share(what: str, value: float) -> None:
    """Raise unless the value is a share between 0 and 1."""
    if not 0 <= value <= 1:
        raise SettingError(f"{what} is {value:g}, expected a share between 0 and 1")


def need_at_least(least: float, what: str, value: float) -> None:
    """Raise if the value is too small, or not a number."""
    if not value >= least:
        raise SettingError(f"{what} is {value:g}, expected {least:g} or more")


def need_number(what: str, value: Any, low: float, high: float, expected: str, *, ends: bool = True) -> None:
    """Raise unless the value, which may be anything, is a finite number from low to high; ends: these, too."""
    try:
        within = isfinite(value) and low <= value <= high and (ends or value not in (low, high))
    except (TypeError, ValueError, OverflowError):
        within = False
    if not within:
        raise SettingError(f"{what} is {value!r}, expected {expected}")


def need_rates(a0: float, a1: float) -> None:
    """Raise unless both agreement rates are probabilities."""
    if not (0 <= a0 <= 1 and 0 <= a1 <= 1):
        raise SettingError(f"agreement {a0:g},{a1:g}: expected two rates from 0 to 1, such as 0.9,0.7")
