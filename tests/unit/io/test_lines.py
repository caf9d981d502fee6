"""Chunks of whole groups of lines, from any file."""

import gzip
from io import BytesIO

import pytest
import zstandard

from venire import FormatError, read_judgments
from venire.io.files import opened
from venire.io.lines import chunks, read_bytes


def cut(text, size):
    return [(chunk.data, chunk.cut) for chunk in chunks(BytesIO(text), size=size)]


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_chunks_end_where_a_group_of_lines_ends(size):
    text = b"1 a\n1 b\n2 c\n2 d\n2 e\n3 f\n"
    parts = [data for data, _ in cut(text, size)]
    assert b"".join(parts) == text
    groups = [{line.split()[0] for line in part.splitlines()} for part in parts]
    assert sum(map(len, groups)) == 3


def test_a_last_line_without_its_end_gets_one_and_is_marked():
    assert cut(b"1 a\n2 b", 100) == [(b"1 a\n2 b\n", True)]


def test_a_byte_order_mark_is_dropped():
    assert cut(b"\xef\xbb\xbf1 a\n", 100) == [(b"1 a\n", False)]


def test_one_long_group_is_one_chunk_read_in_growing_steps():
    reads = []

    class Watched(BytesIO):
        def read(self, size=-1, /):
            reads.append(size)
            return super().read(size)

    text = b"1 a b c d e\n" * 10_000
    assert [chunk.data for chunk in chunks(Watched(text), size=1_000)] == [text]
    assert len(reads) < 12


@pytest.mark.parametrize("name", ["plain", "x.gz", "x.zst"])
def test_compression_is_found_by_the_first_bytes(tmp_path, name):
    text = b"1 Q0 a 1 2.0 s\n" * 50_000
    pack = {"plain": bytes, "x.gz": gzip.compress, "x.zst": zstandard.ZstdCompressor().compress}[name]
    (tmp_path / "file").write_bytes(pack(text) + (pack(b"2 Q0 b 1 1 s\n") if name != "plain" else b""))
    assert read_bytes(tmp_path / "file") == text + (b"2 Q0 b 1 1 s\n" if name != "plain" else b"")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_compressed_file_that_was_cut_off_is_an_error(tmp_path, pack):
    packed = pack(bytes(range(33, 127)) * 100_000)
    (tmp_path / "file").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(FormatError, match="end early or are damaged"):
        read_bytes(tmp_path / "file")
    (tmp_path / "file").write_bytes(packed[:10] + b"damaged" + packed[17:])
    with pytest.raises(FormatError, match="end early or are damaged"):
        read_bytes(tmp_path / "file")


def test_what_cannot_be_opened_is_an_error(tmp_path):
    with pytest.raises(FormatError, match="no such file"), opened(tmp_path / "nowhere"):
        pass
    with pytest.raises(FormatError, match="is a folder"), opened(tmp_path):
        pass


def test_a_file_with_a_long_name_is_read(tmp_path):
    """Its TOML would have a name that is too long."""
    path = tmp_path / ("q" * 252)
    path.write_bytes(b"1 0 a 1\n1 0 b 0\n")
    assert len(read_judgments(path)) == 2
