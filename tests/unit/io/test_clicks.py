from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import zstandard

from venire.errors import FormatError, SettingError
from venire.io import click_tally
from venire.io.clicks import read_clicks
from venire.io.tables import blocks

NAMES = ("session", "topic", "rank", "doc", "clicked", "dwell")


def rows(seed: int, *, n_sessions: int = 40) -> list[tuple]:
    """Sessions of two to five results; three topics, few documents."""
    rng = np.random.default_rng(seed)
    log = []
    for session in range(n_sessions):
        topic = int(rng.integers(3))
        docs = rng.permutation(6)[: int(rng.integers(2, 6))]
        for rank, doc in enumerate(docs, start=1):
            clicked = int(rng.random() < 0.5)
            dwell = float(rng.integers(0, 60)) if clicked and rng.random() < 0.9 else None
            log.append((f"s{session}", f"q{topic}", rank, f"d{doc}", clicked, dwell))
    return log


def frame(log: list[tuple], *without: str) -> pl.DataFrame:
    return pl.DataFrame(log, schema=list(NAMES), orient="row", infer_schema_length=None).drop(*without)


def counted(log: list[tuple], *, dwell: float | None = 30.0) -> tuple[Counter, Counter, Counter, Counter]:
    """The same, row by row: impressions, clicks and satisfied clicks of documents, and lists of sessions."""
    shown, clicks, good, lists, last = Counter(), Counter(), Counter(), {}, {}
    for session, topic, rank, doc, clicked, seconds in log:
        item = topic, doc
        shown[item] += 1
        clicks[item] += clicked
        good[item] += bool(dwell is not None and clicked and seconds is not None and seconds >= dwell)
        lists.setdefault((session, topic), []).append((rank, doc))
        if clicked:
            last[session, topic] = item
    if dwell is None:
        good.update(last.values())
    ordered = Counter((topic, tuple(doc for _, doc in sorted(docs))) for (_, topic), docs in lists.items())
    return shown, clicks, good, ordered


def found(clicks) -> tuple[Counter, Counter, Counter, Counter]:
    docs, topics = list(clicks.items.doc), list(clicks.items.topics)
    names = [(topics[topic], doc) for topic, doc in zip(clicks.items.topic, docs, strict=True)]
    counts = [
        Counter(dict(zip(names, each.tolist(), strict=True)))
        for each in (clicks.impressions, clicks.clicks, clicks.satisfied)
    ]
    lists = Counter()
    for n, (topic, times) in enumerate(zip(clicks.lists.topic, clicks.lists.n_shown.tolist(), strict=True)):
        item = clicks.lists.item[clicks.lists.offset[n] : clicks.lists.offset[n + 1]]
        lists[topics[topic], tuple(docs[each] for each in item)] += times
    return (*counts, lists)


def same(clicks, log: list[tuple], *, dwell: float | None = 30.0) -> bool:
    return all(Counter(a) == Counter(b) for a, b in zip(found(clicks), counted(log, dwell=dwell), strict=True))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("size", [150, 1 << 20])
def test_counts_are_those_of_a_loop_however_the_text_is_cut(tmp_path, monkeypatch, seed, size):
    monkeypatch.setattr(blocks, "BLOCK", size)
    log = rows(seed)
    frame(log).write_csv(tmp_path / "log.csv")
    frame(log, "dwell").write_csv(tmp_path / "last.tsv", separator="\t")
    clicks = read_clicks(tmp_path / "log.csv")
    assert same(clicks, log)
    assert clicks.sessions == 40
    assert (clicks.notes[-1].kind, clicks.notes[-1].fields["n"]) == (
        "unknown-dwell-times",
        sum(c and d is None for *_, c, d in log),
    )
    last = read_clicks(tmp_path / "last.tsv")
    assert same(last, log, dwell=None)
    assert last.rule == "the last click of a session"


def test_by_rank():
    log = rows(9)
    for clicks, dwell in ((read_clicks(frame(log)), 30.0), (read_clicks(frame(log, "dwell")), None)):
        ranks = clicks.ranks
        for n, rank in enumerate(ranks.rank.tolist()):
            there = [row for row in log if row[2] == rank]
            assert ranks.impressions[n] == len(there)
            assert ranks.clicks[n] == sum(row[4] for row in there)
        assert ranks.satisfied.sum() == sum(counted(log, dwell=dwell)[2].values())


def test_all_formats_say_the_same(tmp_path):
    log = rows(2)
    table = frame(log)
    table.write_parquet(tmp_path / "log.parquet")
    table.write_ndjson(tmp_path / "log.jsonl")
    text = table.write_csv().encode()
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(text))
    (tmp_path / "log.csv.zst").write_bytes(zstandard.compress(text))
    (tmp_path / "crlf.csv").write_bytes(b"\xef\xbb\xbf# a log\n" + text.replace(b"\n", b"\r\n\r\n"))
    (tmp_path / "quoted.csv").write_text(table.write_csv(quote_style="always"))
    for path in sorted(tmp_path.iterdir()):
        assert same(read_clicks(path), log), path.name
    assert same(read_clicks(table.to_pandas()), log)
    assert same(read_clicks({name: table[name].to_list() for name in NAMES}), log)
    lines = [{k: v for k, v in row.items() if v is not None} for row in table.to_dicts()]
    (tmp_path / "sparse.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert same(read_clicks(tmp_path / "sparse.jsonl"), log)


def test_frames_and_parquet_are_cut_too(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "ROWS", 7)
    monkeypatch.setattr(blocks, "CELLS", 30)
    log = rows(4)
    frame(log, "dwell").write_parquet(tmp_path / "log.parquet", row_group_size=5)
    assert same(read_clicks(tmp_path / "log.parquet"), log, dwell=None)
    assert same(read_clicks(frame(log)), log)


def test_json_lines_whose_first_lines_have_no_dwell(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 60)
    log = [("s1", "q", 1, "a", 1, None), ("s1", "q", 2, "b", 0, None), ("s2", "q", 1, "a", 1, 31.0)]
    lines = [{n: v for n, v in zip(NAMES, row, strict=True) if v is not None} for row in log]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, lines)))
    clicks = read_clicks(tmp_path / "log.jsonl")
    assert same(clicks, log)
    assert clicks.rule == "dwell of 30 s or more"


@pytest.mark.parametrize("key", ["\\ud800", '\\"', "\\\\", "\\u0000", "\\u0061"])
def test_json_lines_with_an_odd_key_are_read(tmp_path, key):
    line = f'{{"session": "s", "topic": "q", "doc": "a", "clicked": 1, "{key}": 2}}\n'
    (tmp_path / "log.jsonl").write_text(line)
    assert read_clicks(tmp_path / "log.jsonl").impressions.tolist() == [1]


def test_other_spellings_and_settings():
    table = frame(rows(1)).rename({"session": "Session ID", "topic": "qid", "rank": "position", "doc": "URL"})
    table = table.rename({"clicked": "is_click"}).with_columns((pl.col("dwell") * 1000).alias("dwell_ms")).drop("dwell")
    clicks = read_clicks(table, dwell=10)
    assert same(clicks, rows(1), dwell=10.0)
    assert clicks.rule == "dwell of 10 s or more"
    used = "session = Session ID, topic = qid, rank = position, doc = URL, clicked = is_click, dwell = dwell_ms"
    assert (clicks.notes[0].kind, clicks.notes[0].fields["columns"]) == ("columns-used", used)
    words = frame(rows(1)).with_columns(pl.col("clicked").replace_strict({1: "True", 0: "no"}))
    assert same(read_clicks(words), rows(1))
    assert same(read_clicks(frame(rows(1)).with_columns(pl.col("clicked").cast(pl.Boolean))), rows(1))


def test_nan_is_an_empty_dwell_and_words_may_come_late(tmp_path, monkeypatch):
    log = rows(5)
    holes = frame(log).with_columns(pl.col("dwell").fill_null(float("nan")))
    assert same(read_clicks(holes), log)
    monkeypatch.setattr(blocks, "BLOCK", 200)
    late = frame(log).with_columns(pl.col("clicked").cast(pl.String))
    late = pl.concat([late[:80], late[80:].with_columns(pl.col("clicked").replace({"1": "true", "0": "false"}))])
    late.write_csv(tmp_path / "late.csv")
    assert same(read_clicks(tmp_path / "late.csv"), log)


def test_without_ranks_the_order_of_rows_is_the_rank():
    log = rows(6)
    clicks = read_clicks(frame(log, "rank"))
    assert same(clicks, log)
    assert clicks.ranks.impressions.tolist() == read_clicks(frame(log)).ranks.impressions.tolist()
    assert "no-ranks" in [note.kind for note in clicks.notes]


def test_rows_in_another_order_than_rank_show_the_same_list():
    log = rows(8)
    turned = [row for _, own in _by_session(log) for row in reversed(own)]
    assert found(read_clicks(frame(turned)))[3] == counted(log)[3]


def test_scattered_sessions_have_right_counts_and_last_clicks():
    log = rows(3)
    scattered = [row for n in range(5) for _, own in _by_session(log) for row in own[n : n + 1]]
    clicks = read_clicks(frame(scattered, "dwell"))
    assert [Counter(a) == Counter(b) for a, b in zip(found(clicks), counted(log, dwell=None), strict=True)][:3] == [
        True,
        True,
        True,
    ]
    assert clicks.sessions == 40
    assert clicks.notes[-1].kind == "scattered-sessions"


def test_a_document_twice_in_a_session_is_one_result():
    log = [("s", "q", 1, "a", 0, None), ("s", "q", 2, "b", 1, 5.0), ("s", "q", 1, "a", 1, 40.0)]
    clicks = read_clicks(frame(log))
    assert (clicks.impressions.tolist(), clicks.clicks.tolist(), clicks.satisfied.tolist()) == ([1, 1], [1, 1], [1, 0])
    assert {note.kind: note.fields for note in clicks.notes}["repeated-results"] == {"n": 1}
    last = read_clicks(frame(log, "dwell"))
    assert last.satisfied.tolist() == [1, 0], "the last row is the last click"


def test_the_last_click_stands_at_the_rank_of_the_result_it_belongs_to():
    """Two rows of one document are one result at the better rank, and so is its satisfied click."""
    log = [("s", "q", 1, "a", 1, None), ("s", "q", 2, "b", 0, None), ("s", "q", 9, "a", 1, None)]
    ranks = read_clicks(frame(log, "dwell")).ranks
    assert (ranks.rank.tolist(), ranks.clicks.tolist(), ranks.satisfied.tolist()) == ([1, 2], [1, 0], [1, 0])
    log[1] = ("s", "q", 9, "b", 0, None)
    ranks = read_clicks(frame(log, "dwell")).ranks
    assert (ranks.rank.tolist(), ranks.clicks.tolist(), ranks.satisfied.tolist()) == ([1, 9], [1, 0], [1, 0])


def test_repeated_rows_take_no_rank():
    log = [("s", "q", 0, "a", 0, None), ("s", "q", 0, "a", 1, None), ("s", "q", 0, "b", 1, None)]
    ranks = read_clicks(frame(log, "rank", "dwell")).ranks
    assert (ranks.rank.tolist(), ranks.clicks.tolist(), ranks.satisfied.tolist()) == ([1, 2], [1, 1], [0, 1])


@pytest.mark.parametrize("seed", range(20))
def test_no_rank_has_more_satisfied_clicks_than_clicks(seed):
    rng = np.random.default_rng(seed)
    log = [
        (f"s{session}", "q", int(rng.integers(1, 20)), f"d{rng.integers(4)}", int(rng.random() < 0.5), None)
        for session in range(10)
        for _ in range(6)
    ]
    for clicks in (read_clicks(frame(log, "dwell")), read_clicks(frame(log, "rank", "dwell"))):
        assert (clicks.ranks.satisfied <= clicks.ranks.clicks).all()
        assert clicks.ranks.satisfied.sum() == clicks.satisfied.sum()
        assert (clicks.satisfied <= clicks.clicks).all()


def test_wide(tmp_path):
    text = "qid\turls\tclicks\n1\t5 6 7\t0 1 1\n1\t5 6 7\t1 0 0\n2\t8  9\t0 0\n"
    (tmp_path / "log.tsv").write_text(text)
    clicks = read_clicks(tmp_path / "log.tsv")
    assert clicks.sentence().startswith("3 sessions: 8 impressions of 5 documents for 2 topics, 3 clicks, 2 satisfied")
    assert (clicks.clicks.tolist(), clicks.satisfied.tolist()) == ([1, 1, 1, 0, 0], [1, 0, 1, 0, 0])
    (tmp_path / "more.tsv").write_text(text)
    assert read_clicks([tmp_path / "log.tsv", tmp_path / "more.tsv"]).sessions == 6
    lists = pl.DataFrame(
        {
            "topic": [1, 1, 2],
            "docs": [[5, 6, 7], [5, 6, 7], [8, 9]],
            "clicks": [[0, 1, 1], [1, 0, 0], [0, 0]],
            "dwells": [[None, 12.0, 40.0], [30.0, None, None], [None, None]],
        }
    )
    again = read_clicks(lists)
    assert (again.clicks.tolist(), again.satisfied.tolist()) == ([1, 1, 1, 0, 0], [1, 0, 1, 0, 0])
    one = read_clicks({"topic": ["1"], "doc": ["a b"], "clicked": ["1 0"], "dwell": ["31 -"]}, wide=True)
    assert one.satisfied.tolist() == [1, 0]


HEAD = "session,topic,rank,doc,clicked,dwell\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (HEAD + "1,q,1,a,1,3\n1,q,2,b,2,3\n", 3, "'2' is not a click flag"),
        (HEAD + "1,q,1,a,,3\n", 2, "'' is not a click flag"),
        (HEAD + "\n1,q,0,a,1,3\n", 3, "rank '0' is not a whole number from 1 on"),
        (HEAD + "1,q,x,a,1,3\n", 2, "rank 'x' is not"),
        (HEAD + "1,q,,a,1,3\n", 2, "rank '' is not"),
        (HEAD + "1,q,1,a,1,-3\n", 2, "dwell '-3' is not a number of seconds from 0 on"),
        (HEAD + "1,q,1,a,1,soon\n", 2, "dwell 'soon' is not"),
        (HEAD + "1,q,1,a,1,inf\n", 2, "dwell 'inf' is not"),
        (HEAD + "1,,1,a,1,3\n", 2, "the topic is empty"),
        (HEAD + "1,q,1,a,1\n", 2, "found 5 fields, expected 6"),
        (HEAD, None, "holds no results"),
        ("topic,doc,clicked\nq,a,1\n", 1, "no column for the session: found topic, doc, clicked"),
        ("session,topic,doc,click,clicked\n", 1, "columns 'click' and 'clicked' could both be the clicked"),
        ("topic,docs,clicks\nq,a b,1 0\nq,a b,1\n", 3, "found 1 click flag for 2 documents"),
        ("topic,docs,clicks\nq,,\n", 2, "there are no documents"),
        ("topic,docs,clicks\nq,a b,1 x\n", 2, "'x' is not a click flag"),
    ],
)
def test_errors_name_the_line(tmp_path, text, line, message):
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(FormatError) as error:
        read_clicks(path)
    assert (
        error.value.message == f"{path}{'' if line is None else f':{line}'}: " + error.value.message.split(": ", 1)[1]
    )
    assert message in error.value.message
    assert error.value.hint


def test_errors_in_later_blocks_name_their_line(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 50)
    body = "".join(f"{n},q,1,a,1,3\n" for n in range(30))
    (tmp_path / "log.csv").write_text(HEAD + body + "31,q,1,a,1,-1\n")
    with pytest.raises(FormatError, match=r"log\.csv:32: dwell '-1'"):
        read_clicks(tmp_path / "log.csv")
    lines = [json.dumps({"session": n, "topic": "q", "doc": "a", "clicked": 1 + (n == 30)}) for n in range(31)]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    with pytest.raises(FormatError, match=r"log\.jsonl:31: '2' is not a click flag"):
        read_clicks(tmp_path / "log.jsonl")


def test_one_session_for_everything_is_refused(monkeypatch):
    monkeypatch.setattr(click_tally, "MOST_ROWS", 10)
    log = [("all", "q", n, f"d{n}", 0, None) for n in range(1, 20)]
    with pytest.raises(FormatError, match="session 'all' shows over 10 results"):
        read_clicks(frame(log))
    with pytest.raises(SettingError, match="dwell time of -1"):
        read_clicks(frame(log), dwell=-1)


@pytest.mark.parametrize(
    ("name", "sessions", "topics", "clicks", "satisfied"),
    [("clicks_train", 7_018, 3_389, 7_528, 4_645), ("clicks_test", 1_791, 447, 1_967, 1_236)],
)
def test_sogou(data_dir: Path, name, sessions, topics, clicks, satisfied):
    path = data_dir / "serp_prefs_clicks_sogou" / f"{name}.tsv.gz"
    log = read_clicks(path)
    assert (log.sessions, len(log.topics)) == (sessions, topics)
    assert (log.clicks.sum(), log.satisfied.sum()) == (clicks, satisfied)
    with gzip.open(path, "rt") as file:
        flags = [line.split("\t")[2].split() for line in file][1:]
    assert log.impressions.sum() == sum(map(len, flags))
    assert log.clicks.sum() == sum(each.count("1") for each in flags)
    assert log.satisfied.sum() == sum("1" in each for each in flags)


def _by_session(log: list[tuple]) -> list[tuple[str, list[tuple]]]:
    own: dict[str, list[tuple]] = {}
    for row in log:
        own.setdefault(row[0], []).append(row)
    return list(own.items())
