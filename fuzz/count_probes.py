"""Count the steps through hash tables for chosen ids and for random ones: `python fuzz/count_probes.py LIBRARY LOG2`.

LIBRARY is a test build (``test_build.h``).  Prints the steps per id of one scan in which all
2^LOG2 ids are judged and ranked.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np

import sanitized

if __name__ == "__main__":
    sanitized.load(Path(sys.argv[1]))  # before venire is imported

import colliding_ids
from venire.scan.lists import Rules
from venire.scan.scanner import CompiledScanner, Sought
from venire.scan.slices import from_bytes


def main() -> None:
    probes = ctypes.c_long.in_dll(ctypes.CDLL(sys.argv[1]), "probes")
    n_pairs = int(sys.argv[2])
    count = 1 << n_pairs
    kinds = {
        "random": colliding_ids.random(count, 16),
        "solved": colliding_ids.compiled(count),
        "paired": colliding_ids.paired(n_pairs),
        "numbered": [b"doc-%07d" % number for number in range(count)],
    }
    for name, ids in kinds.items():
        before = probes.value
        sought = Sought(from_bytes([b"1"]), np.zeros(len(ids), dtype=np.int32), from_bytes(ids))
        found = CompiledScanner.of(sought, Rules()).scan(b"".join(b"1 Q0 %b 1 1 s\n" % each for each in ids))
        if len(found.item) != len(set(ids)):
            sys.exit(f"{len(found.item)} of {len(ids)} {name} ids were found")
        print(f"{name} {(probes.value - before) / len(ids):.3f}")


if __name__ == "__main__":
    main()
