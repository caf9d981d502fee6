from venire.types import Codes, Ints, Octets

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
    def scan(
        self, data: bytes, /
    ) -> tuple[
        list[bytes], list[bytes], bytes, bytes, bytes, bytes, bytes, bytes, int, tuple[int, str, int] | None
    ]: ...

class Names:
    def __new__(cls, seed: int, /) -> Names: ...
    def add(self, stream: object, /) -> bytes: ...
    def add_slices(self, buffer: Octets, start: Ints, end: Ints, /) -> bytes: ...
    def all(self) -> tuple[bytes, bytes]: ...

def compacted(buffer: Octets, start: Ints, end: Ints, /) -> bytes: ...
def ordered_rows(major: Codes, minor: Codes, n_groups: int, /) -> bytes: ...
