"""Agreement: `python bench/agreement.py CONTENDER`; prints what it cost as JSON.

Krippendorff's alpha, ordinal, of 1,000,000 items with 5 labels each by 1,000 assessors, five grades:

venire            from the long table, rows in no order
krippendorff      from counts by item and grade, which it is given

With an interval from 1,000 resamples, of 20,000 items with 5 labels each:

venire, interval    from the long table, items drawn anew
evalica, interval   from a table of assessors and items, pairs of labels drawn anew

And 100,000 items with 5 labels of 100 grades each, with 1,000 resamples:

venire, 100 grades
"""

from __future__ import annotations

import json
import resource
import sys
from time import perf_counter

import numpy as np
from machine import megabytes

from venire import Judgments, Scale
from venire.agreement.alpha import alpha
from venire.data.ids import Category, Ids
from venire.data.judgments import Items

N_ASSESSORS, PER_ITEM, N_DRAWS, PER_TOPIC = 1_000, 5, 1_000, 200
SIZES = {"interval": (20_000, 5), "100 grades": (100_000, 100)}
WHOLE = (1_000_000, 5)


def drawn(n_items: int, n_labels: int) -> Judgments:
    """Labels around the quality of an item; every item is judged by five different assessors, rows in no order."""
    docs, names = (Ids.of(map(str, range(n))) for n in (n_items, N_ASSESSORS))
    rng = np.random.default_rng(n_items)
    turn = np.arange(n_items * PER_ITEM, dtype=np.int32)
    rng.shuffle(turn)
    item = turn // PER_ITEM
    turn %= PER_ITEM
    turn *= rng.integers(1, 199, n_items, dtype=np.int32)[item]
    turn += rng.integers(0, N_ASSESSORS, n_items, dtype=np.int32)[item]
    turn %= N_ASSESSORS
    label = rng.random(n_items, dtype=np.float32)[item]
    label += rng.random(len(item), dtype=np.float32) * np.float32(0.6)
    label *= n_labels / 1.6
    n_topics = n_items // PER_TOPIC
    items = Items(Ids.of(map(str, range(n_topics))), np.arange(n_items, dtype=np.int32) // PER_TOPIC, docs)
    scale = Scale(tuple(map(str, range(n_labels))))
    return Judgments(scale, items, item, Category(turn, names), label.astype(np.int32))


def venire(judgments: Judgments) -> float:
    return alpha(judgments, "ordinal", n_draws=0).value


def with_interval(judgments: Judgments) -> float:
    return alpha(judgments, "ordinal", resample="items", n_draws=N_DRAWS).value


def krippendorff(counts: np.ndarray) -> float:
    from krippendorff import alpha as theirs

    return float(theirs(value_counts=counts, level_of_measurement="ordinal"))


def evalica(table: object) -> float:
    from evalica import alpha_bootstrap

    return float(alpha_bootstrap(table, "ordinal", n_resamples=N_DRAWS, random_state=0).alpha)


def as_frame(judgments: Judgments) -> object:
    """A table of five rows, the first to fifth label of every item: which assessor gave it makes no difference."""
    import pandas as pd

    order = np.argsort(judgments.item, kind="stable")
    return pd.DataFrame(judgments.label[order].reshape(-1, PER_ITEM).T.astype(np.float64))


CONTENDERS = {
    "venire": (venire, lambda judgments: judgments),
    "krippendorff": (krippendorff, lambda judgments: judgments.label_counts()),
    "venire, interval": (with_interval, lambda judgments: judgments),
    "evalica, interval": (evalica, as_frame),
    "venire, 100 grades": (with_interval, lambda judgments: judgments),
}

if __name__ == "__main__":
    contender = sys.argv[1]
    work_on, prepared = CONTENDERS[contender]
    work_on(prepared(drawn(1_000, 5)))  # loads what is loaded when first needed
    given = prepared(drawn(*SIZES.get(contender.partition(", ")[2], WHOLE)))
    start = perf_counter()
    value = work_on(given)
    work = perf_counter() - start
    peak = megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    print(json.dumps({"work": work, "peak": peak, "alpha": value}))
