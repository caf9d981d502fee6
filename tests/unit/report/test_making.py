"""Reports: whole ones, and those of small or poor input, which say what cannot be concluded."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser

import polars as pl
import pytest

from venire import Synthetic, generate, read_judgments, read_runs
from venire.analysis.patterns import Single
from venire.analysis.systems import Systems
from venire.data.primary import PRIMARY
from venire.report import judging
from venire.report.evidence import Evidence, Missing, Question
from venire.report.making import make_report
from venire.report.page import page

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
ORDER = ("verdict", "judgments", "label_worth", "systems", "another_judge", "quality", "method")
SMALL = Synthetic(n_topics=12, docs_per_topic=25, n_unjudged=5, systems=Systems(quality=(0.5, 2.0, 3.0), depth=20))


class Reader(HTMLParser):
    """What a page holds: ids, addresses, text."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: Counter[str] = Counter()
        self.addresses: list[str] = []
        self.tags: Counter[str] = Counter()

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        for name, value in attrs:
            if name == "id":
                self.ids[value] += 1
            if name in ("src", "href", "xlink:href"):
                self.addresses.append(value)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    return reader


@pytest.fixture(scope="module")
def whole():
    made = generate(SMALL, rng=3)
    return make_report(Question(made.judgments, made.runs, n_draws=200, command="venire report a b"))


def test_chapters_come_in_order_and_open_with_a_sentence(whole):
    assert tuple(chapter.name for chapter in whole.chapters) == ORDER
    assert all(chapter.finding.endswith(".") and len(chapter.finding) > 30 for chapter in whole.chapters)


def test_the_page_needs_nothing_from_outside(whole):
    html = page(whole)
    found = read(html)
    assert all(address.startswith(("#", "data:")) for address in found.addresses)
    assert not re.search(r"url\((?!#)", html)
    assert "@import" not in html
    assert found.tags["svg"] >= 8
    assert max(found.ids.values()) == 1


def test_links_within_the_page_lead_somewhere(whole):
    found = read(page(whole))
    assert {address[1:] for address in found.addresses if address.startswith("#")} <= set(found.ids)


def test_every_picture_says_in_words_what_it_shows(whole):
    assert len(re.findall(r'<svg[^>]* role="img" aria-label="[^"]{20,}"', page(whole))) == read(page(whole)).tags["svg"]


def test_pictures_follow_the_colours_of_the_page(whole):
    html = page(whole)
    assert "#555555" not in html
    assert "var(--ink)" in html


def test_json_has_the_same_content(whole):
    content = json.loads(json.dumps(whole.content(), allow_nan=False, default=str))
    assert [key for key in content if key in ORDER] == list(ORDER)
    assert content["verdict"]["verdict"]["best"] in ("s01", "s02", "s03")
    assert content["made_with"]["command"] == "venire report a b"
    html = page(whole)
    for chapter in whole.chapters:
        for part in content[chapter.name]["parts"]:
            assert part["kind"] not in ("table", "picture") or f'id="{part["name"]}"' in html


def test_names_are_text_never_markup():
    runs = {'<b>"x"&': {"t1": {"d1": 2.0, "d2": 1.0}, "t2": {"d1": 2.0}}, "y": {"t1": {"d2": 1.0}, "t2": {"d1": 1.0}}}
    rows = {"topic": ["t1", "t1", "t2"], "doc": ["d1", "d2", "d1"], "assessor": ["<i>a"] * 3, "label": [1, 0, 1]}
    frame = pl.DataFrame(rows)
    report = make_report(Question(read_judgments(frame), read_runs(_table(runs)), n_draws=50))
    html = page(report)
    assert "<b>" not in html
    assert "<i>a" not in html
    assert "&lt;b&gt;" in html


def _table(runs):
    return pl.DataFrame(
        [
            {"system": system, "topic": topic, "doc": doc, "score": score}
            for system, topics in runs.items()
            for topic, docs in topics.items()
            for doc, score in docs.items()
        ]
    )


def question(*, assessors=("ann",), topics=("t1", "t2", "t3"), systems=("x", "y"), same=False) -> Question:
    rows = [
        (topic, f"d{n}", who, (n + len(who) * (not same)) % 3)
        for topic in topics
        for n in range(6)
        for who in assessors
    ]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    runs = {
        s: {t: {f"d{n}": float((n * (k + 2)) % 7) for n in range(6)} for t in topics} for k, s in enumerate(systems)
    }
    return Question(read_judgments(frame), read_runs(_table(runs)), n_draws=50)


@pytest.mark.parametrize(
    ("poor", "said"),
    [
        ({}, "there is one assessor only"),
        ({"topics": ("t1",)}, "1 topics are too few"),
        ({"systems": ("x",)}, "There is one system only"),
        ({"systems": ("x",), "topics": ("t1",), "assessors": ("ann", "bo")}, "There is one system only"),
        ({"assessors": ("ann", "bob"), "same": True}, "No winner can be named"),
    ],
)
def test_poor_input_gets_a_report_that_says_what_cannot_be_concluded(poor, said):
    report = make_report(question(**poor))
    html = page(report)
    assert said in html
    assert "nan" not in json.dumps(report.content(), default=str).lower().replace("significan", "")
    assert ">nan<" not in html


def test_where_assessors_shared_the_work_every_topic_is_scored():
    made = generate(Synthetic(n_topics=10, docs_per_topic=30, pattern=Single(twice=0.3)), rng=1)
    evidence = Evidence(Question(made.judgments, made.runs, n_draws=50))
    assert evidence.judge == PRIMARY
    assert len(evidence.own) == 300
    assert not isinstance(evidence.sources, Missing)
    maps = [part for part in judging.chapter(evidence).parts if getattr(part, "name", "").startswith("confusion_")]
    assert len(maps) == 4  # of the two assessors who share most, and so on: nobody is the judge alone


def test_earlier_judgments_show_what_changed():
    made = generate(SMALL, rng=3)
    before = made.judgments.where(assessor=["careful1", "lenient1"])
    report = make_report(Question(made.judgments, made.runs, n_draws=50, before=before))
    chapter = next(each for each in report.chapters if each.name == "changes")
    assert "more than before" in chapter.finding
    assert [part.name for part in chapter.parts if hasattr(part, "columns")] == ["changes_systems", "changes_labels"]


def test_stages_are_told_before_they_begin():
    told = []
    make_report(question(), stage=told.append)
    assert told[0] == "judging"
    assert told[-1] == "verdict"
