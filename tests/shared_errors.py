"""One expert among judges that share their errors: each of them reads documents in the same mistaken way."""

from __future__ import annotations

import numpy as np
import polars as pl

from venire import Judgments, read_judgments

EXPERT = "expert"
JUDGES = tuple(f"llm{n:02d}" for n in range(1, 21))


def expert_among_judges(seed: int = 0, *, n_docs: int = 300, judges: tuple[str, ...] = JUDGES) -> Judgments:
    """The expert is right; for every second document that is not relevant, all judges believe a claim in its text."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(4, n_docs, p=[0.6, 0.2, 0.12, 0.08])
    believed = np.where((truth == 0) & (rng.random(n_docs) < 0.5), rng.choice([2, 3], n_docs), truth)
    labels = {EXPERT: truth} | dict.fromkeys(judges, believed)
    given = [np.clip(each + rng.choice([-1, 0, 1], n_docs, p=[0.05, 0.9, 0.05]), 0, 3) for each in labels.values()]
    columns = {
        "topic": [f"t{n % 20}" for n in range(n_docs)] * len(labels),
        "doc": [f"d{n}" for n in range(n_docs)] * len(labels),
        "assessor": np.repeat(list(labels), n_docs),
        "label": np.concatenate(given),
    }
    return read_judgments(pl.DataFrame(columns), scale="0<1<2<3")
