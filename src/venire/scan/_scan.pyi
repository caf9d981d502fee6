from typing import Any

from numpy.typing import NDArray

from venire.types import Codes, Floats, Ints, Octets

Found = tuple[list[bytes], list[bytes], bytes, bytes, bytes, bytes, bytes, bytes, int, tuple[int, str, int] | None]

class Scanner:
    def __new__(
        cls,
        topic_bytes: Octets,
        topic_start: Ints,
        topic_end: Ints,
        item_topic: Codes,
        doc_bytes: Octets,
        doc_start: Ints,
        doc_end: Ints,
        by_rank: bool,
        single_precision: bool,
        keep_first: bool,
        longest_line: int,
        most_lines: int,
        seed: int,
        /,
    ) -> Scanner: ...
    def stop(self) -> None: ...
    def scan(self, data: bytes, /) -> Found: ...
    def scan_rows(
        self,
        topic_bytes: Octets,
        topic_start: Ints,
        topic_end: Ints,
        system_bytes: Octets,
        system_start: Ints,
        system_end: Ints,
        doc_bytes: Octets,
        doc_start: Ints,
        doc_end: Ints,
        score: Floats,
        /,
    ) -> Found: ...

class Names:
    def __new__(cls, seed: int, /) -> Names: ...
    def add(self, stream: object, /) -> bytes: ...
    def add_slices(self, buffer: Octets, start: Ints, end: Ints, /) -> bytes: ...
    def all(self) -> tuple[bytes, bytes]: ...

class ClickCounter:
    def __new__(cls, topics: Names, docs: Names, seed: int, dwell: float, longest: int, /) -> ClickCounter: ...
    def scan(
        self,
        data: bytes,
        roles: bytes,
        separator: str,
        keys: tuple[bytes, ...] | None,
        unit: float,
        quoted: bool,
        most: int,
        /,
    ) -> int: ...
    def read(
        self, session: object, topic: object, doc: object, rank: NDArray[Any] | None, flags: Octets, /
    ) -> tuple[int, int] | None: ...
    def count(self, number: int, has_dwell: bool, /) -> None: ...
    def end(self) -> None: ...
    def counts(self) -> tuple[bytes, bytes, bytes, bytes, bytes, bytes, int, int, int]: ...

def compacted(buffer: Octets, start: Ints, end: Ints, which: Codes | None, /) -> tuple[bytes, bytes]: ...
def ordered_rows(
    major: Codes,
    minor: NDArray[Any],
    carried: NDArray[Any] | None,
    n_groups: int,
    first: int,
    last: int,
    to_major: Codes | None,
    to_minor: Codes | None,
    to_carried: Codes,
    /,
) -> bool: ...
def ordered_names(
    group: Codes,
    first: int,
    last: int,
    buffer: Octets,
    start: Ints,
    end: Ints,
    to_place: Codes,
    to_bytes: Octets,
    to_end: Ints,
    /,
) -> None: ...
def gathered(table: NDArray[Any], codes: NDArray[Any], out: NDArray[Any], /) -> None: ...
def counted(codes: Codes, n_names: int, /) -> bytes: ...
def homes(group: Codes, codes: Codes, n_names: int, /) -> bytes | None: ...
