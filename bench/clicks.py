"""A click log at scale: `python bench/clicks.py [N_ROWS]`; or `make|read FILE N_ROWS`, one after the other.

make  write a log in a stream: N_ROWS results in sessions of ten, 20,000 topics with four lists each, dwell times
read  read it and sum it up; prints seconds, the peak in MB and what was found as JSON

Without a verb the log goes to a temporary file, is read in a fresh process, and the peak is held against 1 GiB.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from machine import measured, megabytes

N_ROWS, PER_SESSION, N_TOPICS, N_LISTS, AT_ONCE, MOST_MB = 10_000_000, 10, 20_000, 4, 1_000_000, 1024


def make(path: Path, n_rows: int) -> None:
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(n_rows)
    with path.open("wb") as file:
        for start in range(0, n_rows, AT_ONCE):
            place = np.arange(start, min(start + AT_ONCE, n_rows))
            session, rank = place // PER_SESSION, place % PER_SESSION + 1
            topic = (session * 7_919) % N_TOPICS
            doc = topic * 40 + (rank + 3 * ((session // N_TOPICS) % N_LISTS))
            clicked = rng.random(len(place)) < 0.4 / rank
            dwell = np.where(clicked, rng.exponential(40, len(place)).round(1), np.nan)
            numbers = pl.DataFrame({"s": session, "t": topic, "rank": rank, "d": doc, "c": clicked, "dwell": dwell})
            numbers.select(
                session=pl.format("s{}", "s"),
                topic=pl.format("q{}", "t"),
                rank="rank",
                doc=pl.format("doc{}", "d"),
                clicked=pl.col("c").cast(pl.Int8),
                dwell=pl.col("dwell").fill_nan(None),
            ).write_csv(file, separator="\t", include_header=start == 0)


def read(path: Path, n_rows: int) -> None:
    from venire.io.clicks import read_clicks
    from venire.users.clicks import summarise_clicks

    start = perf_counter()
    summary = summarise_clicks(read_clicks(path))
    work = perf_counter() - start
    found = summary.record()
    if found["impressions"] != n_rows:
        raise SystemExit(f"{path}: {found['impressions']} impressions, {n_rows} were written")
    peak = megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    print(json.dumps({"work": work, "peak": peak, "sessions": found["sessions"], "mean_ctr": found["mean_ctr"]}))


def whole(n_rows: int) -> None:
    """Make and read a log, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.tsv"
        subprocess.run([sys.executable, __file__, "make", path, str(n_rows)], check=True)
        size = path.stat().st_size / 1e6
        printed, _ = measured([sys.executable, __file__, "read", path, n_rows])
    cost = json.loads(printed)
    print(f"{n_rows:,} rows, {size:.0f} MB: {cost['work']:.1f} s, peak {cost['peak']:.0f} MB; bar {MOST_MB} MB")
    if cost["peak"] >= MOST_MB:
        raise SystemExit(1)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        {"make": make, "read": read}[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
    else:
        whole(int(sys.argv[1]) if len(sys.argv) > 1 else N_ROWS)
