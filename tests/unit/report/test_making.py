"""Reports: whole ones, and those of small or poor input, which say what cannot be concluded."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import polars as pl
import pytest

from venire import read_judgments, read_runs
from venire.data.assessors import PRIMARY
from venire.errors import SettingError, VenireError
from venire.io import judgments as judgments_io, runs as runs_io
from venire.report import headline, labels as labels_of_report
from venire.report.document import Report
from venire.report.evidence import Evidence
from venire.report.making import make_report, report_on
from venire.report.page import page
from venire.report.question import Missing, Question
from venire.simulation import Synthetic, generate
from venire.simulation.assessors import OnePerItem
from venire.simulation.systems import Systems

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
ORDER = ("verdict", "judgments", "label_worth", "systems", "another_judge", "quality", "plan", "method")
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


@pytest.fixture(scope="module")
def html(whole):
    return page(whole)


def test_chapters_come_in_order_and_open_with_a_sentence(whole):
    assert tuple(chapter.name for chapter in whole.chapters) == ORDER
    assert all(chapter.finding.endswith(".") and len(chapter.finding) > 30 for chapter in whole.chapters)


def test_the_page_needs_nothing_from_outside(html):
    found = read(html)
    assert all(address.startswith(("#", "data:")) for address in found.addresses)
    assert not re.search(r"url\((?!#)", html)
    assert "@import" not in html
    assert found.tags["svg"] >= 8
    assert max(found.ids.values()) == 1


def test_links_within_the_page_lead_somewhere(html):
    found = read(html)
    inside = {address[1:] for address in found.addresses if address.startswith("#")}
    assert {each for each in inside if not each.startswith("pair=")} <= set(found.ids)


def test_every_picture_says_in_words_what_it_shows(html):
    assert len(re.findall(r'<svg[^>]* role="img" aria-label="[^"]{20,}"', html)) == read(html).tags["svg"]


def test_pictures_follow_the_colours_of_the_page(html):
    assert "#555555" not in html
    assert "var(--ink)" in html


def test_json_has_the_same_content(whole, html):
    content = json.loads(json.dumps(whole.content(), allow_nan=False, default=str))
    assert [key for key in content if key in ORDER] == list(ORDER)
    assert content["verdict"]["verdict"]["best"] in ("s01", "s02", "s03")
    assert content["made_with"]["command"] == "venire report a b"
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
        ({"topics": ("t1",)}, "There is one topic only"),
        ({"topics": ("t1",), "assessors": ("ann", "bob")}, "There is one topic only"),
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
    made = generate(Synthetic(n_topics=10, docs_per_topic=30, pattern=OnePerItem(twice=0.3)), rng=1)
    evidence = Evidence(Question(made.judgments, made.runs, n_draws=50))
    assert evidence.judge == PRIMARY
    assert len(evidence.own) == 300
    assert not isinstance(evidence.sources, Missing)
    maps = [
        part
        for part in labels_of_report.judgments_chapter(evidence).parts
        if getattr(part, "name", "").startswith("confusion_")
    ]
    assert len(maps) == 4  # of the two assessors who share most, and so on: nobody is the judge alone


def test_earlier_judgments_show_what_changed():
    made = generate(SMALL, rng=3)
    before = made.judgments.where(assessor=["careful1", "lenient1"])
    report = make_report(Question(made.judgments, made.runs, n_draws=50, before=before))
    chapter = next(each for each in report.chapters if each.name == "changes")
    assert "more than before" in chapter.finding
    assert [part.name for part in chapter.parts if hasattr(part, "columns")] == ["changes_systems", "changes_labels"]


def test_stages_are_named_before_they_begin():
    seen = []
    make_report(question(), stage=seen.append)
    assert seen[0] == "judgments"
    assert seen[-3:] == ["verdict", "plan", "method"]


def test_one_topic_says_nothing_of_other_topics():
    found = Evidence(question(topics=("t1",), assessors=("ann", "bob"))).verdict
    assert set(found.p_first) <= {"judges", "users"}
    assert found.n_topics == 1
    assert "cannot be tested" in found.sentence()


def test_runs_that_return_nothing_judged_are_told_to_check_names():
    asked = question(assessors=("ann", "bob"))
    runs = read_runs(_table({s: {t: {"e1": 1.0} for t in ("t1", "t2", "t3")} for s in ("x", "y")}))
    evidence = Evidence(replace(asked, runs=runs))
    assert evidence.verdict.winner is None
    assert evidence.verdict.mean.tolist() == [0, 0]
    parts = [part for part in headline.verdict_chapter(evidence).parts if not hasattr(part, "columns")]
    assert "unmatched" in [part.about for part in parts]
    assert not any("0.0000" in part.text for part in parts)


def test_assessors_who_never_met_are_not_called_one_assessor():
    rows = [(t, f"d{n}", "ann" if n % 2 else "bob", n % 3) for t in ("t1", "t2", "t3") for n in range(6)]
    labels = read_judgments(pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row"))
    found = Evidence(replace(question(), judgments=labels)).sources
    assert isinstance(found, Missing)
    assert found.reason == "no item has labels by two assessors"


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"reference": ("cy",)}, "no assessor 'cy'"),
        ({"relevant": "0"}, "every label of 0<1<2"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, error):
    with pytest.raises(VenireError, match=error):
        make_report(replace(question(assessors=("ann", "bob")), **settings))


def test_labels_without_order_are_refused_with_a_way_out():
    rows = {"topic": ["t1"] * 2, "doc": ["d1", "d2"], "assessor": ["ann"] * 2, "label": ["a", "b"]}
    labels = read_judgments(pl.DataFrame(rows), scale="a|b")
    with pytest.raises(SettingError, match="have no order") as caught:
        make_report(replace(question(), judgments=labels))
    assert "a<b" not in caught.value.hint


def test_who_stands_for_users_does_not_score_the_runs():
    asked = replace(question(assessors=("ann", "bob")), reference=("ann",), assessor="bob", relevant="1")
    evidence = Evidence(asked)
    assert evidence.judge == "bob"
    finding = labels_of_report.label_worth_chapter(evidence).finding
    assert "Probability that ann finds" in finding
    assert "relevant (1 or higher), by the label of bob" in finding
    (user,) = [
        part.text for part in headline.verdict_chapter(evidence).parts if getattr(part, "about", "") == "random-user"
    ]
    assert user.startswith("A random user is one of ann, with that assessor's labels (R: 1 or higher)")


def test_where_work_is_shared_users_keep_their_labels():
    made = generate(Synthetic(n_topics=8, docs_per_topic=20, pattern=OnePerItem(twice=0.5)), rng=1)
    users = made.judgments.assessors[:1]
    evidence = Evidence(Question(made.judgments, made.runs, n_draws=50, reference=users))
    theirs = len(made.judgments.where(assessor=list(users)))
    assert evidence.judge == PRIMARY
    assert len(evidence.labels.where(assessor=list(users))) == theirs
    assert not isinstance(evidence.user_fit, Missing)


def test_what_to_do_next_passes_over_systems_that_are_the_same():
    topics = ("t1", "t2", "t3", "t4")
    same = {t: {f"d{n}": float(n % 3 == 2) for n in range(6)} for t in topics}
    other = {t: {f"d{n}": float((n + k) % 3) for n in range(6)} for k, t in enumerate(topics)}
    asked = question(topics=topics, same=True)
    evidence = Evidence(replace(asked, runs=read_runs(_table({"x": same, "y": same, "z": other}))))
    assert (evidence.verdict.twins, evidence.verdict.closest) == (("y",), "z")
    todo = [part for part in headline.verdict_chapter(evidence).parts if getattr(part, "kind", "") == "todo"]
    assert todo[0].about in ("topics", "equal")
    assert "x and z" in todo[0].text


def test_a_fine_scale_keeps_the_page_small():
    rows = [(t, f"d{n}", who, (7 * n + k) % 101) for t in "ab" for n in range(101) for k, who in enumerate("xy")]
    labels = read_judgments(pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row"))
    runs = {s: {t: {f"d{(n * m) % 101}": float(-n) for n in range(20)} for t in "ab"} for m, s in ((2, "p"), (3, "q"))}
    evidence = Evidence(Question(labels, read_runs(_table(runs)), n_draws=50))
    worth = labels_of_report.label_worth_chapter(evidence)
    assert len(page(Report("fine", (worth,), {"version": "1"}))) < 300_000
    assert len(worth.finding) < 400


def test_white_text_on_dark_cells_stays_white_on_dark_pages(html):
    texts = re.findall(r'<text [^>]*?fill="([^"]+)', html)
    assert "#fff" in texts
    assert "var(--paper)" not in texts


def test_a_winner_is_recommended_only_where_nothing_else_is(whole, monkeypatch):
    def todo(parts):
        return [part.about for part in parts if getattr(part, "kind", "") == "todo"]

    assert whole.content()["verdict"]["verdict"]["winner"] is None
    assert "choose" not in todo(whole.chapters[0].parts)
    made = generate(replace(SMALL, systems=Systems(quality=(0.1, 0.2, 6.0), depth=20)), rng=3)
    careful = made.judgments.where(assessor=["careful1", "careful2", "strict1"])
    evidence = Evidence(Question(careful, made.runs, assessor="careful1", relevant="1", n_draws=50))
    assert evidence.verdict.winner == "s03"
    monkeypatch.setattr(headline, "double_judgments", lambda _: [])
    assert todo(headline.verdict_chapter(evidence).parts) == ["choose"]


def test_judgments_are_read_once_and_runs_are_scanned_once(tmp_path, monkeypatch):
    made = generate(SMALL, rng=3)
    path = tmp_path / "judgments.tsv"
    made.judgments.to_polars().write_csv(path, separator="\t")
    calls = Counter()
    for module, name in ((runs_io, "read_facts"), (judgments_io, "read_judgments")):
        original = getattr(module, name)

        def counted(*args, _name=name, _original=original, **options):
            calls[_name] += 1
            return _original(*args, **options)

        monkeypatch.setattr(module, name, counted)
    report_on(path, made.runs, n_draws=20)
    assert calls == {"read_facts": 1, "read_judgments": 1}
