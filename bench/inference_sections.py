"""What is measured of inference: disagreement, other judges, agreement, power, preferences, clicks."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from machine import Cost, package_version
from sections import CACHE, HERE, Costs, Row, Section, in_turns, made, ratio, script, seconds
from sizes import CROWD, N_LABELS

N_CLICKS = 10_000_000
PDP_SIZES = ((1_000, 5), (10_000, 10))


def beside(tasks: Mapping[str, Callable[[], Cost]], repeat: int) -> tuple[Costs, list[Row]]:
    """Do the tasks, the first of which is Venire's, and lay their costs out."""
    costs = in_turns(tasks, repeat)
    rows = []
    for name, repeats in costs.items():
        work, peak = (min(cost[what] for cost in repeats) for what in ("work", "peak"))
        rows.append([name, seconds(work), f"{peak:.0f}", ratio(costs, name), str(len(repeats))])
    return costs, rows


HEADER = ("", "work s", "peak MB", "times venire", "turns")


def disagreement(_: Sequence[str], repeat: int) -> Section:
    names = ("venire", "counts kept", "dictionary loop")
    tasks = {name: script("disagreement.py", name, CROWD) for name in names} | {
        f"venire, {N_LABELS[-1]:,}": script("disagreement.py", "venire", N_LABELS[-1])
    }
    costs = in_turns(tasks, repeat)
    rows = []
    for name, repeats in costs.items():
        work, peak = (min(cost[what] for cost in repeats) for what in ("work", "peak"))
        n = CROWD if name in names else N_LABELS[-1]
        times = ratio(costs, name) if name in names else ""
        rows.append([name.split(",")[0], f"{n:,}", f"{work:.4f}", f"{peak:.0f}", times, str(len(repeats))])
    header = ["", "labels", "work s", "peak MB", "times venire", "turns"]
    about = (
        "p(R|label) with 300 resamples of topics, labels in memory. The dictionary loop goes over all pairs of labels "
        "for every resample; with counts kept, it does so once."
    )
    return Section("disagreement", "Disagreement between assessors", about, header, rows, costs)


def judges(_: Sequence[str], repeat: int) -> Section:
    folder = made("dl21")
    names = ("venire", "qrels rewritten")
    costs, rows = beside({name: script("judges.py", name, folder) for name in names}, repeat)
    about = (
        "2,000 draws of another judge, nDCG@10 of 63 runs on 53 topics, all 1,953 pairs; runs loaded. Rewriting "
        "qrels and calling pytrec_eval is timed on four draws, and extrapolated to 2,000."
    )
    return Section("judges", "Another judge", about, HEADER, rows, costs)


def power(_: Sequence[str], repeat: int) -> Section:
    names = ("venire", "scipy.stats.bootstrap", "loop over resamples")
    costs, rows = beside({name: script("power.py", name) for name in names}, repeat)
    about = (
        "ASLs of all 666 pairs of 37 runs on 160 topics with 1,000 resamples, on one core; for Venire also the "
        "difference required. scipy is timed on 60 pairs, the loop on 6, and extrapolated to 666 pairs."
    )
    return Section("power", "Discriminative power", about, HEADER, rows, costs)


def agreement(_: Sequence[str], repeat: int) -> Section:
    names = ["venire", *(["krippendorff"] if package_version("krippendorff") else []), "venire, interval"]
    names += [*(["evalica, interval"] if package_version("evalica") else []), "venire, 100 grades"]
    costs = in_turns({name: script("agreement.py", name) for name in names}, repeat)
    rows = []
    for name, repeats in costs.items():
        ours = costs["venire" if name in ("venire", "krippendorff") else f"venire, {name.partition(', ')[2]}"]
        work, peak = (min(cost[what] for cost in repeats) for what in ("work", "peak"))
        times, memory = (
            min(cost[what] for cost in repeats) / min(cost[what] for cost in ours) for what in ("work", "peak")
        )
        rows.append([name, seconds(work), f"{peak:.0f}", f"{times:.1f}", f"{memory:.1f}", str(len(repeats))])
    about = (
        "Krippendorff's alpha, ordinal: of 1,000,000 items with 5 labels each by 1,000 assessors (krippendorff gets "
        "counts by item and grade); with an interval from 1,000 resamples, of 20,000 items; and the same of 100,000 "
        "items on 100 grades."
    )
    header = ["", "work s", "peak MB", "times venire", "memory, times venire", "turns"]
    return Section("agreement", "Agreement", about, header, rows, costs)


def pdp(_: Sequence[str], repeat: int) -> Section:
    costs = in_turns({f"{n:,} topics, K = {k}": script("pdp.py", n, k) for n, k in PDP_SIZES}, repeat)
    rows = []
    for name, repeats in costs.items():
        work, each, peak = (min(cost[what] for cost in repeats) for what in ("work", "ms_per_topic", "peak"))
        rows.append([name, seconds(work), f"{each:.3f}", f"{peak:.0f}", str(len(repeats))])
    header = ["", "work s", "ms a topic", "peak MB", "turns"]
    about = "From preferences between documents to the entropy of the order, by topic; Venire only."
    return Section("pdp", "Pairwise discriminative power", about, header, rows, costs)


def clicks(_: Sequence[str], repeat: int) -> Section:
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        path = Path(folder) / "clicks.tsv"
        subprocess.run([sys.executable, HERE / "clicks.py", "make", path, str(N_CLICKS)], check=True)
        size = path.stat().st_size / 1e6
        costs = in_turns({"venire": script("clicks.py", "read", path, N_CLICKS)}, repeat)
    work, peak = (min(cost[what] for cost in costs["venire"]) for what in ("work", "peak"))
    rows = [[f"{N_CLICKS:,}", f"{size:.0f}", seconds(work), f"{N_CLICKS / work:,.0f}", f"{peak:.0f}"]]
    header = ["rows", "file MB", "read s", "rows/s", "peak MB"]
    about = "A click log, read in blocks and counted: impressions, clicks, satisfied clicks, lists shown."
    return Section("clicks", "Click logs", about, header, rows, costs)


def intents(_: Sequence[str], repeat: int) -> Section:
    folder = CACHE / "intents"
    subprocess.run([sys.executable, HERE / "intents.py", "make", folder], check=True, stdout=subprocess.DEVNULL)
    names = ["venire", *(name for name in ("pyndeval", "ir_measures") if package_version("pyndeval"))]
    costs, rows = beside({name: script("intents.py", name, folder) for name in names}, repeat)
    about = "Five measures by intent of 30 runs on 50 topics with 6 intents and 400 judged documents each, from files."
    return Section("intents", "Measures by intent", about, HEADER, rows, costs)


INFERENCE: dict[str, Callable[[Sequence[str], int], Section]] = {
    "disagreement": disagreement,
    "judges": judges,
    "power": power,
    "agreement": agreement,
    "pdp": pdp,
    "clicks": clicks,
    "intents": intents,
}
