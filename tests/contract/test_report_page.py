"""The page of a report, driven in Chromium: the first screen, from the verdict to a document and back, and its policy.

Accessibility is checked with axe-core, where it is installed: ``npm install --prefix build --no-save axe-core@4``.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pytest

import labelled_intents
from chromium import AXE, LARGE, SMALL, launched
from two_judges import judged, lists, table
from venire import read_judgments, read_runs, report_on, write_report
from venire.io.texts import read_texts
from venire.simulation import Synthetic, generate
from venire.simulation.systems import Systems

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")]

HOSTILE = ("<script>alert(1)</script>", '"quo\'ted"', "שלום,מערכת", "a&b=c#d%e/f")
WORDS = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let n = 0;
  while (walk.nextNode()) {
    const parent = walk.currentNode.parentElement;
    if (parent.closest("script, style, option, title, .unseen") || !parent.checkVisibility()) continue;
    n += walk.currentNode.textContent.split(/\\s+/).filter((each) => /\\w/.test(each)).length;
  }
  return n;
}"""


@pytest.fixture(scope="module")
def chromium():
    with launched() as browser:
        yield browser


class Visit:
    """An open page, and everything that it asked for or complained about."""

    def __init__(self, chromium, path, *, size=LARGE, scheme="light", address="", script=True):
        self.context = chromium.new_context(viewport=size, color_scheme=scheme, java_script_enabled=script)
        self.page = self.context.new_page()
        self.page.set_default_timeout(5000)
        self.complaints, self.asked = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri() + address)

    def __enter__(self):
        return self.page

    def __exit__(self, *_):
        assert self.complaints == []
        assert [url for url in self.asked if not url.startswith(("file:", "data:", "blob:"))] == []
        self.context.close()


def written(folder, *args, **how):
    path = folder / "report.html"
    write_report(report_on(*args, n_draws=100, **how), path)
    return path


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    quality = (1.6, 2.1, 1.1, 3.2, 1.9, 1.4, 2.2, 0.8)
    made = generate(Synthetic(n_topics=20, docs_per_topic=60, systems=Systems(quality=quality)), rng=3)
    return written(tmp_path_factory.mktemp("demo"), made.judgments, made.runs)


@pytest.fixture(scope="module")
def contradicting(tmp_path_factory):
    return written(tmp_path_factory.mktemp("two"), judged(table()), read_runs(lists()))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Systems, topics, documents, judges and texts that are markup, have quotes, or are written from right to left."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = [
        (topic, doc, judge, str((n + t + k * (n % 2)) % 3))
        for t, topic in enumerate(HOSTILE)
        for n, doc in enumerate(HOSTILE)
        for k, judge in enumerate(HOSTILE[:3])
    ]
    runs = {
        system: {
            topic: {doc: float((n * (k + 2) + t) % 7) for n, doc in enumerate(HOSTILE)}
            for t, topic in enumerate(HOSTILE)
        }
        for k, system in enumerate(HOSTILE[:3])
    }
    (folder / "topics.tsv").write_text("".join(f"{each}\t<img src=x onerror=alert(1)>\n" for each in HOSTILE), "utf-8")
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    return written(folder, read_judgments(frame), read_runs(runs), texts=read_texts(topics=folder / "topics.tsv"))


@pytest.fixture(scope="module")
def intents(tmp_path_factory):
    """Labels for intents: the page has scores by topic, and no documents."""
    folder = tmp_path_factory.mktemp("intents")
    return written(folder, labelled_intents.frame(), labelled_intents.runs(), measure="alpha_nDCG@10", reference="nist")


PAGES = ("demo", "contradicting", "hostile", "intents")


def bottom(page, selector):
    return max(
        box["y"] + box["height"] for box in (each.bounding_box() for each in page.locator(selector).all()) if box
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_the_first_screen_holds_verdict_leaderboard_and_cards(chromium, request, name, scheme):
    with Visit(chromium, request.getfixturevalue(name), scheme=scheme) as page:
        for selector in (".verdict", ".change", "#leaderboard tbody tr", ".card"):
            assert bottom(page, selector) <= LARGE["height"], selector
        assert page.locator(".card").count() == 3
        assert page.evaluate("document.documentElement.scrollWidth") <= LARGE["width"]
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        assert dark == (scheme == "dark")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_small_screen_holds_the_verdict_and_three_rows(chromium, request, name, scheme):
    with Visit(chromium, request.getfixturevalue(name), size=SMALL, scheme=scheme) as page:
        assert bottom(page, ".verdict") <= SMALL["height"]
        assert bottom(page, "#leaderboard tbody tr:nth-child(-n+3)") <= SMALL["height"]
        assert page.evaluate("document.documentElement.scrollWidth") <= SMALL["width"]
        for chart in page.locator("#leaderboard svg, .chart svg").all():
            box = chart.bounding_box()
            assert box is None or box["x"] + box["width"] <= SMALL["width"]


@pytest.mark.parametrize("name", PAGES)
def test_at_most_1200_words_are_seen_before_anything_is_unfolded(chromium, request, name):
    with Visit(chromium, request.getfixturevalue(name)) as page:
        assert 150 < page.evaluate(WORDS) <= 1200


def test_evidence_uses_the_width_below_its_heading(chromium, demo):
    with Visit(chromium, demo) as page:
        for name in ("verdict", "label_worth"):
            page.locator(f"#{name} summary").first.click()
            heading, evidence = (page.locator(f"#{name} {part}").first.bounding_box() for part in ("h3", ".evidence"))
            assert heading["y"] < evidence["y"]
            parts = [each.bounding_box() for each in page.locator(f"#{name} .evidence > *").all()]
            assert any(box["x"] > LARGE["width"] / 2 for box in parts), name


def test_the_verdict_is_one_sentence_of_at_most_25_words(chromium, request):
    for name in PAGES[:2]:
        with Visit(chromium, request.getfixturevalue(name)) as page:
            verdict = page.locator(".verdict").inner_text()
            assert len(verdict.split()) <= 25
            assert verdict.count(". ") == 0


def test_from_the_verdict_to_a_document_and_back_by_mouse(chromium, demo):
    with Visit(chromium, demo) as page:
        page.locator("#leaderboard tbody tr:nth-child(3) a").click()
        best, third = (page.locator(f"#leaderboard tbody tr:nth-child({n}) a").inner_text() for n in (1, 3))
        assert page.locator("#pick-a option:checked").inner_text() == best
        assert page.locator("#pick-b option:checked").inner_text() == third
        assert page.locator(".chart a").count() == 20
        page.locator(".chart a").first.click()
        topic = page.locator("#topic-title")
        assert topic.inner_text().startswith("Topic ")
        assert page.locator(".lists table").count() == 2
        button = page.locator(".lists tbody th button").first
        button.click()
        assert button.get_attribute("aria-expanded") == "true"
        assert button.inner_text() in page.locator(".lists tr.open:visible").first.inner_text()
        page.locator(".crumbs a", has_text=third).click()
        topic.wait_for(state="detached")  # the address changes first
        page.go_back()
        assert page.locator("#topic-title").count() == 1
        page.locator(".crumbs a", has_text="Verdict").click()
        assert page.evaluate("location.hash") == "#first"
        assert page.locator(".verdict").is_visible()


def focus(page):
    return page.evaluate(
        "document.activeElement.id || document.activeElement.className.baseVal || document.activeElement.tagName"
    )


def test_from_the_verdict_to_a_document_and_back_by_keyboard(chromium, demo):
    with Visit(chromium, demo) as page:
        page.locator("#leaderboard tbody tr:nth-child(2) a").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("#explorer .chart a")
        assert focus(page) == "compare-title"
        for _ in range(12):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.closest('.chart') !== null"):
                break
        first = page.evaluate("document.activeElement.getAttribute('aria-label')")
        page.keyboard.press("ArrowRight")
        second = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert first != second
        page.keyboard.press("Enter")
        page.wait_for_selector("#topic-title")
        assert focus(page) == "topic-title"
        assert second.startswith(page.locator("#topic-title").inner_text())
        for _ in range(12):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('.lists button')"):
                break
        page.keyboard.press("Space")
        assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
        for _ in range(12):
            page.keyboard.press("Shift+Tab")
            if page.evaluate("document.activeElement.getAttribute('href')") == "#first":
                break
        page.keyboard.press("Enter")
        page.wait_for_function("location.hash === '#first' && scrollY < 100")


def test_another_pair_can_be_chosen(chromium, demo):
    with Visit(chromium, demo) as page:
        before = page.locator("#explorer > p").first.inner_text()
        page.locator("#pick-b").select_option(index=5)
        page.wait_for_function("location.hash.startsWith('#pair=')")
        assert page.locator("#explorer > p").first.inner_text() != before
        assert focus(page) == "pick-b"
        forward = page.locator("#pick-a option:checked").inner_text()
        page.locator("#pick-swap").click()
        page.wait_for_function(
            "name => document.querySelector('#pick-b option:checked').textContent === name", arg=forward
        )


def test_a_topic_is_found_by_its_number(chromium, demo):
    with Visit(chromium, demo) as page:
        assert sorted(page.locator(".topics span").all_inner_texts(), key=int) == [str(n) for n in range(1, 21)]
        page.locator("#pick-topic").focus()
        page.keyboard.type("1")  # of which others are longer
        assert page.locator("#topic-title").count() == 0
        page.keyboard.type("7")
        page.wait_for_selector("#topic-title")
        assert page.locator("#topic-title").inner_text() == "Topic 17"
        assert focus(page) == "topic-title"
        choose = "each => { each.value = '1'; each.dispatchEvent(new InputEvent('input')); }"
        page.locator("#pick-topic").evaluate(choose)
        page.wait_for_function("document.getElementById('topic-title').textContent === 'Topic 1'")  # from the list
        page.locator("#pick-topic").fill("99")
        page.keyboard.press("Enter")
        assert not page.locator("#pick-topic").evaluate("each => each.checkValidity()")
        page.locator("#pick-topic").fill("")
        page.keyboard.press("Enter")
        page.locator("#topic-title").wait_for(state="detached")


@pytest.mark.parametrize("size", [LARGE, SMALL])
def test_a_topic_with_labels_for_intents_has_differences_by_judge(chromium, intents, size):
    with Visit(chromium, intents, size=size) as page:
        page.locator("#pick-topic").fill("q3")
        page.wait_for_selector("#topic-title")
        shown = page.locator("#explorer").inner_text()
        assert re.search(r"By judge: nist \S?0\.\d{3}, \w+ \S?0\.\d{3}, \w+ \S?0\.\d{3}\.", shown)
        assert "document" not in shown
        assert page.locator("#disputed").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_a_tap_names_judges_and_lists_of_documents_unfold(chromium, demo):
    with Visit(chromium, demo) as page:
        box = page.locator("#leaderboard tbody tr svg.row .dot").first.bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        told = page.locator("#leaderboard tbody svg.row .dot title").first.text_content()
        assert told in page.locator("#leaderboard .readout").inner_text()
        more, links = page.locator("#compare .differ button"), page.locator("#compare .differ a")
        left = int(re.search(r"and (\d+) more", more.inner_text())[1])
        assert (links.count(), left > 0) == (5, True)
        while more.count():
            more.click()
        assert links.count() == 5 + left


PAIR_OF_ADDRESS = """location.hash.startsWith("#pair=" + ["a", "b"].map((each) =>
    encodeURIComponent(document.querySelector(`#pick-${each} option:checked`).textContent)).join(","))"""


def chosen(page):
    page.wait_for_function(PAIR_OF_ADDRESS)
    return [page.locator(f"#pick-{each} option:checked").inner_text() for each in "ab"]


def test_a_cell_of_the_map_is_a_pair(chromium, demo):
    with Visit(chromium, demo) as page:
        page.locator("#another_judge summary").click()
        box = page.locator("#stability_map .cells").bounding_box()
        page.mouse.move(box["x"] + box["width"] * 5.5 / 8, box["y"] + box["height"] * 2.5 / 8)
        names = page.locator("#leaderboard tbody th").all_inner_texts()
        told = page.locator("#stability_map .readout").inner_text()
        assert re.fullmatch(rf"{names[2]} is ahead of {names[5]} with probability (>99|<1|\d+)%\.", told)
        page.mouse.click(box["x"] + box["width"] * 5.5 / 8, box["y"] + box["height"] * 2.5 / 8)
        assert chosen(page) == [names[2], names[5]]


def test_a_cell_of_the_map_is_chosen_by_keyboard(chromium, demo):
    with Visit(chromium, demo) as page:
        page.locator("#another_judge summary").focus()
        page.keyboard.press("Enter")
        page.locator("#stability_map a").wait_for(state="attached")
        for _ in range(6):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('#stability_map a')"):
                break
        names = page.locator("#leaderboard tbody th").all_inner_texts()
        for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowUp"):
            page.keyboard.press(key)
        label = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert label == f"Compare {names[1]} with {names[3]}"
        page.keyboard.press("Enter")
        assert chosen(page) == [names[1], names[3]]


@pytest.mark.parametrize("name", [name for name in PAGES if name != "intents"])
def test_a_link_opens_a_view_at_once(chromium, request, name):
    with Visit(chromium, request.getfixturevalue(name)) as page:
        link = page.locator("#disputed tbody th a").first
        address, doc = link.get_attribute("href"), link.inner_text()
    assert re.fullmatch(r"#pair=[^,&<>\"' ]+,[^,&<>\"' ]+&topic=[^&<>\"' ]+&doc=[^&<>\"' ]+", address)
    with Visit(chromium, request.getfixturevalue(name), address=address) as page:
        assert page.locator("#topic-title").is_visible()
        assert page.locator("tr.chosen button").first.inner_text() == doc
        assert page.locator("tr.chosen button").first.get_attribute("aria-expanded") == "true"


def test_a_link_to_something_else_says_so(chromium, demo):
    with Visit(chromium, demo, address="#pair=s01,nobody&topic=99%ZZ") as page:
        assert "does not hold nobody, 99%ZZ" in page.locator("#explorer .warning").inner_text()
    with Visit(chromium, demo, address="#agreement_statistics") as page:
        assert page.locator("#agreement_statistics").is_visible()


def test_hostile_ids_are_shown_as_text(chromium, hostile):
    address = f"#pair={quote(HOSTILE[0], safe='')},{quote(HOSTILE[2], safe='')}&topic={quote(HOSTILE[3], safe='')}"
    with Visit(chromium, hostile, address=address) as page:
        assert page.locator("#pick-a option:checked").inner_text() == HOSTILE[0]
        assert page.locator("#pick-b option:checked").inner_text() == HOSTILE[2]
        assert page.locator("#topic-title").inner_text() == f"Topic {HOSTILE[3]}: <img src=x onerror=alert(1)>"
        shown = page.locator(".lists tbody th button").all_inner_texts()
        assert {*HOSTILE} == {*shown}
        assert page.locator("main script, main img").count() == 0
        assert (
            page.locator("#leaderboard tbody th").all_inner_texts() == page.locator("#pick-a option").all_inner_texts()
        )


def test_labels_that_differ_are_marked_and_documents_without_a_label_hatched(chromium, demo):
    with Visit(chromium, demo) as page:
        address = page.locator("#disputed tbody th a").first.get_attribute("href")
    with Visit(chromium, demo, address=address) as page:
        assert "≠" in page.locator("tr.chosen").first.inner_text()
        pages = page.locator(".crumbs a", has_text="next topic")
        for _ in range(19):
            if page.locator("tr.unjudged").count() or not pages.count():
                break
            pages.click()
        row = page.locator("tr.unjudged").first
        _, doc, there, words = row.inner_text().split("\t")
        assert re.fullmatch(r"d\d+", doc)
        assert re.fullmatch(r"–|\d+", there)
        assert words == "not judged"
        assert "gradient" in row.locator("td").first.evaluate("each => getComputedStyle(each).backgroundImage")


def test_labels_of_many_judges_are_counted_and_unfold(chromium, tmp_path):
    """Of 14 judges who labelled everything; two of the systems return the same lists."""
    docs, names = [f"d{n}" for n in range(6)], [f"judge{n:02}" for n in range(14)]
    rows = [(t, d, who, str((n + k) % 3)) for t in "123" for n, d in enumerate(docs) for k, who in enumerate(names)]
    labels = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    ranked = {t: {d: float(n) for n, d in enumerate(docs)} for t in "123"}
    runs = {"a": ranked, "b": {t: {d: -s for d, s in each.items()} for t, each in ranked.items()}, "c": ranked}
    path = written(tmp_path, read_judgments(labels, scale="0<1<2"), runs, assessor="judge01")
    with Visit(chromium, path, address="#pair=a,c") as page:
        assert "a and c score the same on every topic" in page.locator("#explorer").inner_text()
        assert page.locator("#explorer .chart").count() == 0
    with Visit(chromium, path, address="#pair=a,b&topic=1", size=SMALL) as page:
        first = page.locator(".lists tbody tr").first
        assert re.sub(r"\s+", "", first.locator(".crowd").inner_text()) == "2×51×40×5"
        page.locator("#turn").click()
        assert focus(page) == "turn"
        assert page.locator(".lists table").first.locator("th.judge").count() == len(names)
        assert page.evaluate("getComputedStyle(document.querySelector('.list'), '::after').content").startswith(
            '" Scroll'
        )
        button = page.locator(".lists tbody button").first
        button.click()
        told = page.locator(".lists tr.open p").first
        box = told.bounding_box()
        assert box["x"] + box["width"] <= SMALL["width"]
        assert "2: judge" in told.inner_text()
        page.locator("#turn").focus()
        page.keyboard.press("Escape")
        assert button.get_attribute("aria-expanded") == "false"
        assert page.evaluate("document.activeElement.matches('.lists tbody button')")


def test_labels_of_a_crowd_are_side_by_side(chromium, tmp_path):
    """Every document has three of forty workers."""
    docs, topics = [f"d{n}" for n in range(20)], [f"t{n}" for n in range(4)]
    rows = [
        (topic, doc, f"w{(7 * n + 11 * t + 13 * k) % 40}", str((n + k * (n % 3 == 0)) % 3))
        for t, topic in enumerate(topics)
        for n, doc in enumerate(docs)
        for k in range(3)
    ]
    runs = {
        name: {t: {d: float(n * m % 23) for n, d in enumerate(docs)} for t in topics}
        for name, m in (("x", 5), ("y", 7))
    }
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    path = written(tmp_path, read_judgments(frame), read_runs(runs))
    with Visit(chromium, path, address="#pair=x,y&topic=t1") as page:
        assert page.locator(".lists .crowd").count() == 20
        chips = page.locator(".lists .crowd").first.locator(".lab")
        assert chips.count() == 3
        assert re.fullmatch(r"w\d+: [012]", chips.first.get_attribute("title"))


def test_the_policy_is_in_force(chromium, demo, tmp_path):
    path = tmp_path / "other.html"
    more = "<script>document.body.dataset.ran = 'yes'</script><p id='late' style='color: red'>x</p></body>"
    path.write_text(demo.read_text(encoding="utf-8").replace("</body>", more), encoding="utf-8")
    visit = Visit(chromium, path)
    assert visit.page.evaluate("document.body.dataset.ran") is None
    assert visit.page.evaluate("getComputedStyle(document.getElementById('late')).color") != "rgb(255, 0, 0)"
    assert len([text for text in visit.complaints if "Content Security Policy" in text]) >= 2
    visit.page.evaluate("fetch('http://127.0.0.1:9/x').catch(() => 0)")
    assert any("connect-src" in text or "default-src" in text for text in visit.complaints)
    visit.context.close()


def test_everything_can_be_read_without_the_script(chromium, demo):
    with Visit(chromium, demo, script=False) as page:
        assert page.locator("#leaderboard tbody tr").count() == 8
        assert page.locator("#pair_bars svg").is_visible()
        page.locator("#compare summary").click()
        assert page.locator("#pair_topics tbody tr:visible").count() == 20
        assert re.search(r"d\d+ \(\d–\d\)", page.locator("#pair_topics tbody td:last-child").first.inner_text())
        page.locator("#judgments summary").click()
        assert page.locator("#agreement_statistics").is_visible()


def test_a_table_is_saved_as_csv_and_a_figure_as_svg(chromium, demo):
    with Visit(chromium, demo) as page:
        with page.expect_download() as csv:
            page.locator("#leaderboard button", has_text="CSV").click()
        rows = Path(csv.value.path()).read_text(encoding="utf-8").splitlines()
        assert rows[0] == "#,system,nDCG@10,interval,P(best),groups"
        assert len(rows) == 9
        page.locator("#another_judge summary").click()
        with page.expect_download() as svg:
            page.locator("#stability_map button").click()
        text = Path(svg.value.path()).read_text(encoding="utf-8")
        assert text.startswith("<svg")
        assert "var(--" not in text


def test_printing_unfolds_everything_on_a4(chromium, demo, tmp_path):
    with Visit(chromium, demo) as page:
        path = tmp_path / "report.pdf"
        page.pdf(path=path, prefer_css_page_size=True)
        sizes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", path.read_bytes())
        assert {(round(float(w)), round(float(h))) for w, h in sizes} <= {
            (595, 842),
            (594, 841),
            (595, 841),
            (596, 842),
        }
        assert len(sizes) > 5
        page.emulate_media(media="print")
        assert not page.locator("nav:visible, .tools:visible, #explorer:visible").count()
        assert page.locator("#pair_bars").is_visible()


def view_of(page):
    """Return the address of a disputed document, or where there are none, that of a topic."""
    disputed = page.locator("#disputed tbody th a")
    if disputed.count():
        return disputed.first.get_attribute("href")
    page.locator("#pick-topic").fill("q3")
    page.wait_for_selector("#topic-title")
    return page.evaluate("location.hash")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [LARGE, SMALL], ids=["large", "small"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious_in_any_view(chromium, request, name, size, scheme):
    if not AXE.exists():
        pytest.skip("no axe-core: npm install --prefix build --no-save axe-core@4")
    path = request.getfixturevalue(name)
    with Visit(chromium, path, size=size, scheme=scheme) as page:
        address = view_of(page)
    for where in dict.fromkeys(("", address.partition("&")[0], address.partition("&doc")[0], address)):
        with Visit(chromium, path, size=size, scheme=scheme, address=where) as page:
            if not where:
                page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            page.evaluate(AXE.read_text(encoding="utf-8"))
            found = page.evaluate("axe.run().then((all) => all.violations)")
            grave = [
                (each["id"], [node["html"][:150] for node in each["nodes"][:3]], each["nodes"][0]["failureSummary"])
                for each in found
                if each["impact"] in ("serious", "critical")
            ]
            assert grave == [], where
