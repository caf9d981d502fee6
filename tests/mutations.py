"""Run files, whole and damaged: the same bytes for the same seed and number, on every machine.

A mutation knows nothing of the right answer; what a damaged file is worth, the twins and ``slow_reader`` must agree on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

Rng = np.random.Generator
T = TypeVar("T")

# Lengths around whole words of eight bytes, ids that begin alike, ids that are no UTF-8, ids that look like others.
STEM = b"clueweb09-en0000-00-0000"
DOCS = [b"a", b"b", b"aa", b"ab", b"a\x7f", b"\xe4", b"\xff\xff", "ö".encode(), b"#1", b"Q0", b"-", b"1.5"]
DOCS += [STEM[:length] for length in (7, 8, 9, 15, 16, 17)]
DOCS += [STEM + b"%d" % number for number in (0, 1, 2, 10, 11, 100)]
DOCS += [b"doc-%04d" % number for number in range(12)]
TOPICS = [b"1", b"2", b"10", b"topic-01", b"topic-02", b"a-topic-with-a-long-name", "ä".encode(), b"\xff", b"404", b"x"]
TAGS = [b"s", b"sys", b"system-2", b"a-system-with-a-long-name", b"sy", "№1".encode(), b"\xfe"]
JUDGED = {topic: [doc for m, doc in enumerate(DOCS) if (m + n) % 3] for n, topic in enumerate(TOPICS[:-2])}

EDGES = b"0 -0 +0 1 -1 +1 1. .5 1e0 1E5 1e+5 1e-5 0e999 1e22 1e23 1e-22 1e-23 1e308 1e309 1e-308 1e-324 1e-400".split()
EDGES += b"9007199254740992 9007199254740993 9007199254740993e22 18446744073709551615 18446744073709551616".split()
EDGES += b"123456789012345678901234567890 0.1 0.10000000000000001 2.2250738585072011e-308 1e00000000000000001".split()
EDGES += b"3.4028235677973366e38 16777217 0.000000000000000000000000000001 1e2147483648 1e-99999999999999999999".split()
EDGES += b"nan NaN inf -inf Infinity 1e . - + e5 1e+ 1e1.5 1.2.3 --1 +-1 1,5 1_0 0x1 0x1p3 1f 1L 1e5e5 12a".split()
EDGES += [b"\xd9\xa3", b"\xef\xbc\x91", b"1" * 400, b"0" * 400 + b"1", b"0." + b"0" * 400 + b"1e401", b"1" + b"0" * 308]
ODD = [bytes([byte]) for byte in b"\0\1\t\n\v\f\r\x1a\x1c\x1f !#+-.09eE\x7f\x80\xbf\xff"]


def mutated_run(seed: int, number: int) -> bytes:
    """Make one file: one in eight is whole, the others went through one to four mutations, or a rare one."""
    rng = np.random.default_rng([seed, number])
    data = whole_run(rng)
    if rng.random() < 0.005:
        return pick(rng, RARE)(data, rng)
    if number % 8:
        for _ in range(1 + below(rng, 4)):
            data = pick(rng, USUAL)(data, rng)
    return data


def below(rng: Rng, limit: int) -> int:
    return int(rng.random() * limit)


def pick(rng: Rng, choices: Sequence[T]) -> T:
    return choices[below(rng, len(choices))]


# ---- whole files ------------------------------------------------------------------------------------------------


def whole_run(rng: Rng) -> bytes:
    """Write lists of several systems and topics in one of the ways files come in."""
    tags, topics = (rng.permutation(len(names))[: 1 + below(rng, 4)].tolist() for names in (TAGS, TOPICS))
    lists = [run_list(rng, TOPICS[topic], TAGS[tag]) for tag in tags for topic in topics]
    if rng.random() < 0.3:
        lists = [lists[n] for n in rng.permutation(len(lists))]
    lines = [line for each in lists for line in each]
    if rng.random() < 0.15:
        lines = [lines[n] for n in rng.permutation(len(lines))]
    if rng.random() < 0.2:
        for extra in (b"", b" \t", b"# a comment", b"#"):
            lines.insert(below(rng, len(lines) + 1), extra)
    data = b"".join(line + b"\n" for line in lines)
    if rng.random() < 0.1:
        data = data.replace(b"\n", b"\r\n")
    return b"\xef\xbb\xbf" + data if rng.random() < 0.05 else data


def run_list(rng: Rng, topic: bytes, tag: bytes) -> list[bytes]:
    """Write one list, in order or not, with ties or without, its scores all in one style."""
    chosen = rng.permutation(len(DOCS))[: below(rng, 14)].tolist()
    lowest, spread = pick(rng, [(0, 3), (0, 40), (0, 1_000), (0, 1e9), (7, 1e-6)])  # the last: ties of single precision
    scores = lowest + spread * rng.random(len(chosen))
    scores = np.sort(scores)[::-1] if rng.random() < 0.6 else scores
    style = pick(rng, [b"%d", b"%.1f", b"%.3f", b"%.6f", b"%.9f", b"%.17g", b"%e", b"%.0E", b"-%d", b"+%.2f", b"%d."])
    blank = pick(rng, [b" ", b" ", b"\t", b"  ", b" \t "])
    return [
        blank.join([topic, b"Q0", DOCS[doc], b"%d" % rank, style % score, tag])
        for rank, (doc, score) in enumerate(zip(chosen, scores.tolist(), strict=True), start=1)
    ]


# ---- mutations of bytes -------------------------------------------------------------------------------------------


def flip_bit(data: bytes, rng: Rng) -> bytes:
    place = below(rng, len(data))
    return data[:place] + bytes([data[place] ^ 1 << below(rng, 8)]) + data[place + 1 :] if data else data


def replace_byte(data: bytes, rng: Rng) -> bytes:
    place = below(rng, len(data))
    return data[:place] + pick(rng, ODD) + data[place + 1 :]


def insert_bytes(data: bytes, rng: Rng) -> bytes:
    place = below(rng, len(data) + 1)
    return data[:place] + pick(rng, [pick(rng, ODD) * (1 + below(rng, 9)), rng.bytes(1 + below(rng, 9))]) + data[place:]


def delete_bytes(data: bytes, rng: Rng) -> bytes:
    place = below(rng, len(data))
    return data[:place] + data[place + 1 + below(rng, pick(rng, [1, 1, 8, 200])) :]


def truncate(data: bytes, rng: Rng) -> bytes:
    return data[: pick(rng, [below(rng, len(data)), max(0, len(data) - 1 - below(rng, 20))])]


def drop_last_end(data: bytes, rng: Rng) -> bytes:  # noqa: ARG001 - all mutations are called alike
    return data.rstrip(b"\r\n")


def splice(data: bytes, rng: Rng) -> bytes:
    other = whole_run(rng)
    return data[: below(rng, len(data))] + other[below(rng, len(other)) :]


def add_mark(data: bytes, rng: Rng) -> bytes:
    place = pick(rng, [0, data.rfind(b"\n") + 1])
    return data[:place] + b"\xef\xbb\xbf" + data[place:]


# ---- mutations of lines and fields --------------------------------------------------------------------------------


def on_lines(change: Callable[[list[bytes], Rng], None]) -> Callable[[bytes, Rng], bytes]:
    def mutation(data: bytes, rng: Rng) -> bytes:
        lines = data.split(b"\n")
        change(lines, rng)
        return b"\n".join(lines)

    return mutation


def on_fields(change: Callable[[list[bytes], Rng], None]) -> Callable[[bytes, Rng], bytes]:
    def mutation(lines: list[bytes], rng: Rng) -> None:
        place = below(rng, len(lines))
        if fields := lines[place].split():
            change(fields, rng)
            lines[place] = pick(rng, [b" ", b"\t"]).join(fields)

    return on_lines(mutation)


def swap_lines(lines: list[bytes], rng: Rng) -> None:
    one, other = below(rng, len(lines)), below(rng, len(lines))
    lines[one], lines[other] = lines[other], lines[one]


def repeat_line(lines: list[bytes], rng: Rng) -> None:
    lines.insert(below(rng, len(lines) + 1), pick(rng, lines))


def drop_line(lines: list[bytes], rng: Rng) -> None:
    del lines[below(rng, len(lines))]


def join_lines(lines: list[bytes], rng: Rng) -> None:
    place = below(rng, len(lines))
    lines[place : place + 2] = [b"".join(lines[place : place + 2])]


def begin_line(lines: list[bytes], rng: Rng) -> None:
    place = below(rng, len(lines))
    lines[place] = pick(rng, [b" ", b"\t", b"\v", b"#", b" #", b"\t#", b"\r"]) + lines[place]


def drop_field(fields: list[bytes], rng: Rng) -> None:
    del fields[below(rng, len(fields))]


def add_field(fields: list[bytes], rng: Rng) -> None:
    fields.insert(below(rng, len(fields) + 1), pick(rng, [*fields, b"more", b"#", b"\0"]))


def swap_fields(fields: list[bytes], rng: Rng) -> None:
    fields[below(rng, len(fields))] = pick(rng, fields)


def rename(fields: list[bytes], rng: Rng) -> None:
    column, names = pick(rng, [(0, TOPICS), (2, DOCS), (5, TAGS)])
    fields[min(column, len(fields) - 1)] = pick(rng, names)


def change_number(fields: list[bytes], rng: Rng) -> None:
    fields[min(3 + below(rng, 2), len(fields) - 1)] = pick(rng, EDGES) if rng.random() < 0.6 else long_number(rng)


def long_number(rng: Rng) -> bytes:
    """Write about as many digits as a double holds, or more: where reading by short cuts would go wrong."""
    value = float(rng.random() * 10.0 ** below(rng, 17))
    text = b"%.*e" % (pick(rng, [14, 15, 15, 16, 16, 17, 18, 25]), value)
    return pick(rng, [text, text.replace(b"e+", b"e"), text.replace(b"e", b"E"), b"%.20f" % value])


def add_tie(lines: list[bytes], rng: Rng) -> None:
    """Add a number between twice the double nearest to it: read one step too high or too low, its rank changes."""
    topic, number = pick(rng, TOPICS), pick(rng, [long_number(rng), long_number(rng), b"-0", b"1e-400"])
    nearest = repr(float(number) + 0.0).encode()  # not -0.0
    docs = {b"a": nearest, b"aa": number, b"ab": nearest}
    place = below(rng, len(lines))
    lines[place:place] = [b"%b Q0 %b %b %b tie" % (topic, doc, score, score) for doc, score in docs.items()]


def lengthen(fields: list[bytes], rng: Rng) -> None:
    place = below(rng, len(fields))
    fields[place] = (fields[place] * 3_000)[: 1 + below(rng, pick(rng, [40, 40, 2_000]))]


USUAL = [flip_bit, replace_byte, insert_bytes, delete_bytes, truncate, drop_last_end, splice, add_mark]
USUAL += [on_lines(change) for change in (swap_lines, repeat_line, drop_line, join_lines, begin_line, add_tie, add_tie)]
USUAL += [on_fields(change) for change in (drop_field, add_field, swap_fields, rename, rename, lengthen)]
USUAL += [on_fields(change_number)] * 3


# ---- mutations too large, or too dull, to be frequent -------------------------------------------------------------

LONG = 100_000


def long_field(fields: list[bytes], rng: Rng) -> None:
    place = below(rng, len(fields))
    fields[place] = (fields[place] * LONG)[: LONG - below(rng, 9)]


def long_exponent(fields: list[bytes], rng: Rng) -> None:
    zeros, exponent = pick(rng, [(LONG, 1_000_000), (LONG, LONG + 1), (LONG - 1, LONG), (LONG, -1_000_000)])
    fields[min(4, len(fields) - 1)] = b"0." + b"0" * zeros + b"1e%d" % exponent


def long_line(lines: list[bytes], rng: Rng) -> None:
    place = below(rng, len(lines))
    filler = pick(rng, [b" ", b" \t", b" x", b"#"])
    lines[place] += filler * (LONG // len(filler))


def repeat_all(data: bytes, rng: Rng) -> bytes:
    return data * (2 + below(rng, 20))


def nothing(data: bytes, rng: Rng) -> bytes:
    return pick(rng, [b"", b"\n", b"\n\n", b"#\n", b"\xef\xbb\xbf", b" ", b"\r\n", b"\0", data[:1]])


RARE = [on_fields(long_field), on_fields(long_exponent), on_lines(long_line), repeat_all, nothing]
