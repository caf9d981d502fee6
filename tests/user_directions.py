"""Users who compare two lists, and what is counted of them on fingers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from venire.data.preferences import Preferences
from venire.types import Floats
from venire.users.verdicts import UserVerdicts, user_verdicts


def slow_kappa(mine: Sequence[int], theirs: Sequence[int]) -> float:
    """Cohen's kappa of two lists of answers, by its definition."""
    n = len(mine)
    same = sum(a == b for a, b in zip(mine, theirs, strict=True)) / n
    one, other = Counter(mine), Counter(theirs)
    chance = sum(one[c] * other[c] for c in (-1, 0, 1)) / n**2
    return float("nan") if chance == 1 else (same - chance) / (1 - chance)


def slow_answers(difference: Sequence[float], threshold: float) -> list[int]:
    """The directions of differences, ties up to the threshold."""
    return [0 if abs(each) <= threshold else 1 if each > 0 else -1 for each in difference]


def verdicts_of(utility: Floats, rng: np.random.Generator, *, n_users: int = 5, noise: float = 1.0) -> UserVerdicts:
    """Let users compare lists whose worth differs by utility (topic,), on a scale of -3 to 3."""
    seen = utility[:, None] + noise * rng.standard_normal((len(utility), n_users))
    strength = np.clip(np.round(seen), -3, 3)
    rows = [(f"{t:05d}", "left", "right", strength[t, u], str(u)) for t in range(len(utility)) for u in range(n_users)]
    return user_verdicts(Preferences.of(rows))
