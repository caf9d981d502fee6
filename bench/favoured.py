"""Is planted favour found? `python bench/favoured.py [--settings N] [--samples N] [--labels N]`; prints a table.

On TREC DL 2021 (VENIRE_DATA/dl21_full: 63 runs, NIST and language models on the same pairs), P@10 with labels from 2 as
relevant, NIST as reference.  A setting is five runs drawn at random, the first of them re-ranked: its 100 results by
the judge's label, equal labels in their own order, results without a label last.  It counts as planted favour if

    others   (P@10 by the judge - P@10 by NIST) of the re-ranked run, less the mean of this over the other four, is at
             least .15
    itself   the same, less the value of that run before it was re-ranked

and a sample is so many labels of NIST, drawn without replacement from the lists in proportion to their weight, all
labels of the judge being known.  Four cases, each with the same settings and samples:

    planted   share of samples in which the re-ranked run is found (adjusted p < .05 and a negative residual)
    wrong     share of samples in which any other of the five is found beside it
    shuffled  no favour by construction: the five lists of each topic (none re-ranked) are given to the five names at
              random; share of samples in which any of the five is found
    as run    the five runs as they were submitted; share in which any is found.  A judge may well favour one of them

"all" are the shares with all labels of NIST, once per setting; "residual" is the mean difference of the re-ranked run.
"order" is the share of samples in which corrected scores (``corrected_scores``) order the re-ranked run and the best of
the others by all labels of NIST as these labels do, "raw" in which the judge's own labels do.  Pairs whose P@10 by NIST
is equal are left out, and "order+" is "order" for pairs that differ by at least .02: half of the re-ranked runs of a
strong judge are within .04 of the best other run by NIST too.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from venire import evaluate, read_judgments, read_runs
from venire.comparison.corrected_scores import corrected_scores
from venire.comparison.favoured import MARGIN, favoured_systems
from venire.data.judgments import Judgments
from venire.data.runs import Facts, RunRules, Scan
from venire.io.runs import scan
from venire.kernels.ragged import offsets

REFERENCE, MEASURE, DEPTH = "nist", "P(rel=2)@10", 10
JUDGES = ("gpt4_umbrela", "mistral_p18", "mistral_p26", "llama3.2_p19")
LEAST, N_SYSTEMS = 0.15, 5


def five(facts: Facts, chosen: np.ndarray) -> Facts:
    """The lists of some systems, in this order."""
    place = np.full(len(facts.systems), -1)
    place[chosen] = np.arange(len(chosen))
    lists = np.flatnonzero(place[facts.system] >= 0)
    hits = np.concatenate([np.arange(facts.offset[n], facts.offset[n + 1]) for n in lists])
    return replace(
        facts,
        systems=tuple(facts.systems[n] for n in chosen),
        system=place[facts.system[lists]].astype(np.int32),
        topic=facts.topic[lists],
        depth=facts.depth[lists],
        offset=offsets(facts.n_hits[lists]),
        rank=facts.rank[hits],
        item=facts.item[hits],
    )


def reranked(facts: Facts, label: np.ndarray, system: int = 0) -> Facts:
    """One system's results by label, equal labels in their own order, those without a label last."""
    rank, item = facts.rank.copy(), facts.item.copy()
    for n in np.flatnonzero(facts.system == system):
        part = slice(facts.offset[n], facts.offset[n + 1])
        own, docs = facts.rank[part], facts.item[part]
        known = label[docs] >= 0
        order = np.lexsort((own, -label[docs]))[: known.sum()]
        above = np.searchsorted(own[known], own[~known])
        rank[part] = [*range(1, known.sum() + 1), *(own[~known] - above + known.sum())]
        item[part] = [*docs[order], *docs[~known]]
    return replace(facts, rank=rank, item=item)


def shuffled(facts: Facts, rng: np.random.Generator) -> Facts:
    """The lists of every topic given to the systems at random."""
    names = np.array([rng.permutation(len(facts.systems)) for _ in facts.items.topics])
    return replace(facts, system=names[facts.topic, facts.system].astype(np.int32))


def as_runs(facts: Facts) -> Scan:
    return Scan((), RunRules(), facts=facts)


def gaps(judgments: Judgments, facts: Facts, judge: str) -> np.ndarray:
    """P@10 by the judge less that by the reference -> (system,)."""
    by = [
        evaluate(judgments, as_runs(facts), MEASURE, assessor=each).mean("topic").values for each in (judge, REFERENCE)
    ]
    return (by[0] - by[1])[:, 0]


def settings(judgments: Judgments, facts: Facts, judge: str, *, reading: str, rng: np.random.Generator) -> Iterator:
    """Five runs as they are, and with the first re-ranked, where that plants favour; without end."""
    rows = judgments.where(assessor=judge)
    label = np.full(len(judgments.items), -1)
    label[rows.item] = rows.label
    while True:
        plain = five(facts, rng.choice(len(facts.systems), N_SYSTEMS, replace=False))
        planted = reranked(plain, label)
        after = gaps(judgments, planted, judge)
        before = gaps(judgments, plain, judge)[0] if reading == "itself" else after[1:].mean()
        if after[0] - before >= LEAST:
            yield plain, planted


def sampled(judgments: Judgments, facts: Facts, n: int | None, rng: np.random.Generator) -> Judgments:
    """All labels of the judge, and n of the reference, drawn from the lists in proportion to their weight."""
    if n is None:
        return judgments
    weight = np.bincount(facts.item[facts.rank <= DEPTH], minlength=len(judgments.items))
    of_reference = judgments.assessor.codes == judgments.assessor.code_of(REFERENCE, "assessor")
    rows = np.flatnonzero(of_reference & (weight[judgments.item] > 0))
    first = np.argsort(rng.exponential(size=len(rows)) / weight[judgments.item[rows]])[:n]
    kept = ~of_reference
    kept[rows[first]] = True
    return judgments.take(kept)


def found(judgments: Judgments, facts: Facts, judge: str, *, n: int | None, rng: np.random.Generator, **more) -> tuple:
    """Whether the first system is found, whether any other is, and the difference of the first."""
    labels = sampled(judgments, facts, n, rng)
    answer = favoured_systems(labels, as_runs(facts), MEASURE, judge=judge, reference=REFERENCE, rng=rng, **more)
    hits = answer.by_system.favoured[:, 0]
    return hits[0], hits[1:].any(), answer.by_system.difference[0, 0]


def ordered(judgments: Judgments, facts: Facts, judge: str, *, n: int | None, rng: np.random.Generator) -> tuple:
    """Whether corrected and raw scores order the first system and the best other as all labels do; the difference."""
    by = [
        evaluate(judgments, as_runs(facts), MEASURE, assessor=each).mean("topic").values for each in (REFERENCE, judge)
    ]
    true, raw = (each[:, 0] for each in by)
    labels = sampled(judgments, facts, n, rng)
    found = corrected_scores(labels, as_runs(facts), MEASURE, judge=judge, reference=REFERENCE, n_draws=2).value[:, 0]
    best = 1 + int(np.argmax(true[1:]))
    truth = np.sign(np.round(true[0] - true[best], 9))
    return *((each[0] - each[best]) * truth > 0 for each in (found, raw)), abs(true[0] - true[best])


def measured(judgments: Judgments, facts: Facts, judge: str, asked: argparse.Namespace) -> dict[str, list]:
    """Outcomes of every case, by whether all labels are known."""
    rng, table = np.random.default_rng(asked.seed), {}
    both = judgments.where(assessor=[judge, REFERENCE])
    source = settings(both, facts, judge, reading=asked.reading, rng=rng)
    for _ in range(asked.settings):
        plain, planted = next(source)
        for n in [None] + [asked.labels] * asked.samples:
            for case, lists in (("planted", planted), ("shuffled", shuffled(plain, rng)), ("as run", plain)):
                table.setdefault((case, n), []).append(found(both, lists, judge, n=n, rng=rng, margin=asked.margin))
            table.setdefault(("order", n), []).append(ordered(both, planted, judge, n=n, rng=rng))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", type=int, default=20, help="settings per judge")
    parser.add_argument("--samples", type=int, default=5, help="samples of labels per setting")
    parser.add_argument("--labels", type=int, default=600)
    parser.add_argument("--margin", type=float, default=MARGIN)
    parser.add_argument("--reading", choices=("others", "itself"), default="others")
    parser.add_argument("--judges", default=",".join(JUDGES))
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    data = os.environ.get("VENIRE_DATA")
    if not data or not (Path(data) / "dl21_full").is_dir():
        raise SystemExit("set VENIRE_DATA to the folder that holds dl21_full")
    warnings.simplefilter("ignore")
    judgments = read_judgments(Path(data) / "dl21_full" / "judges.tsv.gz")
    facts = scan(read_runs(Path(data) / "dl21_full" / "runs.trec.gz"), judgments.items).facts
    heads = f"{'planted':>8} {'wrong':>6} {'shuffled':>8} {'as run':>6} {'residual':>8} order order+   raw"
    print(f"{'judge':<14} {'labels':>6} {'samples':>7} {heads}")
    for judge in asked.judges.split(","):
        table = measured(judgments, facts, judge, asked)
        for n in (asked.labels, None):
            planted, null, real = (np.array(table[case, n], dtype=float) for case in ("planted", "shuffled", "as run"))
            any_null, any_real = (each[:, :2].any(axis=1).mean() for each in (null, real))
            hit, wrong, residual = planted.mean(axis=0)
            shares = f"{hit:>8.3f} {wrong:>6.3f} {any_null:>8.3f} {any_real:>6.3f}"
            order = np.array([each for each in table["order", n] if each[2] > 0], dtype=float)
            right, raw = order[:, :2].mean(axis=0)
            clear = order[order[:, 2] >= 0.02, 0].mean()
            shares += f" {residual:>8.3f} {right:>5.3f} {clear:>6.3f} {raw:>5.3f}"
            print(f"{judge:<14} {n or 'all':>6} {len(planted):>7} {shares}", flush=True)


if __name__ == "__main__":
    main()
