"""Certificates on TREC Deep Learning 2021: run times, and how often verdicts from some labels are wrong.

    python bench/certificates.py DATA [--samples N]

DATA holds ``dl21_full``.  The reference is the NIST assessor.  Labels of the reference are drawn from the lists in
proportion to the number of systems that return a document among their first ten; the truth is what all labels say.  A
verdict is wrong if it is PASS where the truth does not meet the criterion, or FAIL where it does; the interval of tau
should contain the true tau in 95 % of the samples.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

from venire import Judgments, certify, read_judgments, read_runs
from venire.certification import Certificate
from venire.certification.certificate import JudgeCertificate
from venire.data.runs import Runs
from venire.io.runs import scan

REFERENCE, MEASURES, SIZES = "nist", ("nDCG@10", "P(rel=2)@10"), (300, 1000, 3000)
JUDGES = ("gpt4_umbrela", "mistral_p18", "mistral_p26", "llama3.2_p19")
MANY = 20


def main() -> None:
    """Print run times and error rates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--samples", type=int, default=5)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    labels = read_judgments(asked.data / "dl21_full" / "judges.tsv.gz", scale="0<1<2<3")
    runs = scan(read_runs(asked.data / "dl21_full" / "runs.trec.gz"), labels.items)
    print_times(labels, runs)
    truth = {measure: certified(labels, runs, measure) for measure in MEASURES}
    for measure in MEASURES:
        for size in SIZES:
            samples = [certified(some_labels(labels, runs, size, seed), runs, measure) for seed in range(asked.samples)]
            print_errors(samples, truth[measure], f"{measure}, {size} labels")


def certified(labels: Judgments, runs: Runs, measure: str) -> Certificate:
    """Certify the judges by one measure."""
    return certify(labels, runs, measure, judges=JUDGES, reference=REFERENCE, n_draws=300)


def print_times(labels: Judgments, runs: Runs) -> None:
    """Print how long one judge and many take, after reading."""
    for measure in MEASURES:
        for names in ([JUDGES[0]], list(labels.assessors[1 : MANY + 1])):
            start = time.perf_counter()
            certify(labels, runs, measure, judges=names, reference=REFERENCE)
            print(f"{measure}: {len(names)} judges in {time.perf_counter() - start:.1f} s")


def some_labels(labels: Judgments, runs: Runs, size: int, seed: int) -> Judgments:
    """Draw so many labels of the reference; those of all others stay."""
    facts = scan(runs, labels.items).facts
    weight = np.bincount(facts.item[facts.rank <= 10], minlength=len(labels.items)).astype(np.float64)
    is_reference = labels.assessor.among(REFERENCE, "assessor")
    own = np.flatnonzero(is_reference)
    chance = weight[labels.item[own]]
    drawn = np.random.default_rng(seed).choice(own, size, replace=False, p=chance / chance.sum())
    kept = ~is_reference
    kept[drawn] = True
    return labels.take(kept)


def print_errors(samples: list[Certificate], truth: Certificate, name: str) -> None:
    """Print how many verdicts are right, wrong and open, and how often intervals hold the truth."""
    true = {each.judge: each for each in truth.judges}
    rows = [(each, true[each.judge]) for sample in samples for each in sample.judges]
    for claim in ("levels", "order", "top", "pairs"):
        found = [verdict_of(each, known, claim) for each, known in rows]
        counts = ", ".join(f"{what} {found.count(what)}" for what in ("right", "wrong", "open"))
        print(f"{name}: {claim}: {counts}")
    held = [_holds(each, known) for each, known in rows]
    print(f"{name}: the interval of tau holds the true tau in {np.mean(held):.0%}")


def verdict_of(found: JudgeCertificate, known: JudgeCertificate, claim: str) -> str:
    """Say whether a verdict is right, wrong or open; pairs are right if few that differ by more than x are reversed."""
    one, other = found.verdict(claim), known.verdict(claim)
    if one is None or other is None or one.verdict == "NOT ENOUGH LABELS":
        return "open"
    if claim != "pairs":
        return "right" if one.verdict == other.verdict else "wrong"
    corrected = known.scores.corrected  # type: ignore[union-attr]
    raw, value = corrected.raw[:, 0], corrected.value[:, 0]
    a, b = np.triu_indices(len(raw), 1)
    beyond = np.abs(raw[a] - raw[b]) > one.found.value + 1e-9
    reversed_ = ((raw[a] - raw[b]) * (value[a] - value[b]) < 0)[beyond].mean()
    return "right" if (reversed_ <= one.criterion) == (one.verdict == "PASS") else "wrong"


def _holds(found: JudgeCertificate, known: JudgeCertificate) -> bool:
    tau = found.scores.order[0].tau  # type: ignore[union-attr]
    return bool(tau.low - 1e-9 <= known.tau <= tau.high + 1e-9)


if __name__ == "__main__":
    main()
