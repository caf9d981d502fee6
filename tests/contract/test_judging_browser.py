"""Judging in Chromium, against ``venire judge serve``: keys, broken networks, killed servers, hostile documents."""

from __future__ import annotations

import pytest

from chromium import AXE, LARGE, SMALL, launched
from served_studies import Served
from studies_on_disk import pages, write_every_kind, write_pages

pytestmark = pytest.mark.slow
SHOWN = "() => document.querySelector('article.task:not([hidden])')?.dataset.id ?? ''"
SCROLLED = """(n) => document.querySelectorAll('article:not([hidden]) iframe')[n]
    .contentDocument.scrollingElement.scrollTop > 0"""
WAITING = "() => Object.keys(localStorage).filter((each) => each.startsWith('venire outbox')).length"


@pytest.fixture(scope="module")
def chromium():
    with launched() as browser:
        yield browser


def visit(chromium, link, *, size=LARGE, **settings):
    """Open a link of an invitation, and start; what the page complains about is kept."""
    page = chromium.new_context(viewport=size, **settings).new_page()
    page.set_default_timeout(30_000)
    page.complaints, page.asked = [], []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(link)
    return started(page)


def started(page):
    """Start, and wait for the script: the first task is on the page before it listens to keys."""
    with page.expect_navigation():
        page.click("text=Start")
    return page


def next_task(page, last=""):
    """Return the task on the screen, once there is another one than the last."""
    page.wait_for_function(f"(last) => !['', last].includes(({SHOWN})())", arg=last)
    return page.evaluate(SHOWN)


def judged(page, n, *, last="", given=(), keys="012"):
    """Judge by keyboard, as fast as tasks come; return what was answered to which task."""
    given = list(given)
    for _ in range(n):
        last, key = next_task(page, last), keys[len(given) % len(keys)]
        page.keyboard.press(key)
        given.append((last, {"label": key}))
    return given


def judged_until_none_is_left(page, given):
    """Judge until the browser has no more tasks."""
    for _ in range(10):
        page.wait_for_timeout(50)
        if not page.evaluate(SHOWN):
            return given
        given = judged(page, 1, last=given[-1][0], given=given)
    raise AssertionError("tasks never end")


def all_sent(page):
    page.wait_for_function(f"() => ({WAITING})() === 0", timeout=30_000)


def test_200_judgments_survive_a_broken_network_and_two_kills_of_the_server(chromium, tmp_path):
    with Served(write_pages(tmp_path, pages(200))) as served:
        page = visit(chromium, served.link("ann"))
        given = judged(page, 50)
        page.context.set_offline(True)
        given = judged_until_none_is_left(page, given)
        assert "to be sent" in page.inner_text("#waiting")  # one answer or more: as many as tasks were there
        page.context.set_offline(False)
        given = judged(page, 40, last=given[-1][0], given=given)
        served.kill()
        given = judged_until_none_is_left(page, given)
        served.start()
        given = judged(page, 40, last=given[-1][0], given=given)
        served.kill()
        given = judged_until_none_is_left(page, given)
        served.start()
        given = judged(page, 200 - len(given), last=given[-1][0], given=given)
        all_sent(page)
        with served.store() as store:
            stored = [(f"{each.task.key}-{each.repeat}", dict(each.value)) for each in store.stored(surplus=True)]
            assert {each.status for each in store.stored(surplus=True)} == {"counted"}
        assert len(stored) == 200
        assert stored == given
        page.wait_for_selector("text=All done")
        assert page.inner_text("#count") == "200 of 200"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with Served(write_pages(tmp_path_factory.mktemp("served"), pages(40), judgments=2, rest_after=5)) as served:
        yield served


def last_answers(served, assessor, n):
    with served.store() as store:
        return [(dict(each.value), each.comment) for each in store.history(assessor, n=n)]


def test_keys_go_back_undo_comment_and_say_why_it_cannot_be_judged(chromium, served):
    page = visit(chromium, served.link("ann", again=True))
    first = next_task(page)
    page.keyboard.press("1")
    second = next_task(page, first)
    page.keyboard.press("b")
    assert next_task(page, second) == first
    assert page.locator("article:visible .choice[aria-current]").get_attribute("value") == "1"
    page.keyboard.press("Escape")
    assert next_task(page, first) == second
    page.keyboard.press("b")
    next_task(page, second)
    page.keyboard.press("2")
    assert next_task(page, first) == second
    page.keyboard.press("0")
    third = next_task(page, second)
    page.keyboard.press("u")
    assert next_task(page, third) == second
    page.keyboard.press("c")
    page.keyboard.type("a 2 b")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    assert next_task(page, second) == third
    page.keyboard.press("x")
    page.keyboard.press("2")
    fourth = next_task(page, third)
    page.keyboard.press("x")
    page.locator("article:visible input[name=reason]").fill("Too long")
    page.keyboard.press("Enter")
    next_task(page, fourth)
    all_sent(page)
    assert last_answers(served, "ann", 4) == [
        ({"cannot": "Too long"}, ""),
        ({"cannot": "I do not understand the language"}, ""),
        ({"label": "1"}, "a 2 b"),
        ({"label": "2"}, ""),
    ]
    judged(page, 2, last=fourth)
    assert "tasks in a row" in page.inner_text("#notice")
    assert page.complaints == []
    page.context.close()


def test_a_document_that_was_clicked_and_scrolled_leaves_the_keys_to_the_page(chromium, served):
    page = visit(chromium, served.link("bob", again=True))
    first = next_task(page)
    frame = page.frame_locator("article:visible iframe")
    frame.locator("h1").click()
    page.mouse.wheel(0, 400)
    frame.locator("p").nth(20).dblclick()
    page.wait_for_timeout(100)
    scrolled = "document.querySelector('article:not([hidden]) iframe').contentWindow.scrollY"
    before = page.evaluate(scrolled)
    page.keyboard.press("PageDown")
    page.wait_for_timeout(200)
    assert page.evaluate(scrolled) > before
    page.keyboard.press("2")
    next_task(page, first)
    all_sent(page)
    assert last_answers(served, "bob", 1) == [({"label": "2"}, "")]
    assert page.complaints == []
    page.context.close()


@pytest.mark.parametrize("size", [LARGE, SMALL], ids=["1280", "400"])
def test_everything_can_be_done_without_javascript(chromium, served, size):
    page = visit(chromium, served.link("bob", again=True), size=size, java_script_enabled=False)
    shown = page.locator("article.task")
    first = shown.get_attribute("data-id")
    page.locator("details.comment summary").click()
    page.fill("textarea[name=comment]", f"by hand {size['width']}")
    page.locator(".choice[value='1']").click()
    assert shown.get_attribute("data-id") != first
    assert page.url == f"{served.root}/"
    page.click("text=Back")
    page.locator("text=Change").first.click()
    assert shown.get_attribute("data-id") == first
    page.locator(".choice[value='0']").click()
    assert last_answers(served, "bob", 1) == [({"label": "0"}, f"by hand {size['width']}")]
    page.goto(f"{served.root}/history")
    page.locator("text=Withdraw").first.click()
    assert last_answers(served, "bob", 1) != [({"label": "0"}, f"by hand {size['width']}")]
    page.goto(f"{served.root}/")
    page.locator("details.cannot summary").click()
    page.locator("button[name=cannot]").first.click()
    assert "cannot" in last_answers(served, "bob", 1)[0][0]
    page.click("text=Guidelines")
    assert "Judge the page." in page.inner_text("main")
    page.context.close()


def test_keys_that_are_pressed_all_at_once_in_two_tabs_answer_each_task_once(chromium, tmp_path):
    with Served(write_pages(tmp_path, pages(30))) as served:
        first = visit(chromium, served.link("ann"))
        judged(first, 2)
        first.wait_for_timeout(500)
        for key in "0120120":
            first.keyboard.press(key)
        all_sent(first)
        alone = [doc for _, doc, _ in served.answers()]
        assert len(alone) == len(set(alone)) >= 2 + 4
        second = first.context.new_page()
        second.goto(f"{served.root}/")
        for _ in range(3):
            for page in (second, first):
                next_task(page)
                page.keyboard.press("1")
                page.wait_for_timeout(100)  # who changes tabs takes longer
        for page in (first, second):
            all_sent(page)
        answered = [doc for _, doc, _ in served.answers()]
        assert len(answered) == len(set(answered)) >= 2 + 4 + 6
        first.context.close()


def test_answers_on_a_shared_computer_are_never_sent_under_another_name(chromium, tmp_path):
    with Served(write_pages(tmp_path, pages(12), judgments=2)) as served:
        ann = visit(chromium, served.link("ann"))
        ann.wait_for_function("() => document.querySelectorAll('article.task').length >= 5")
        ann.context.set_offline(True)
        given = judged(ann, 3)
        ann.route("**/answer", lambda route: route.abort())
        ann.context.set_offline(False)
        bob = ann.context.new_page()
        bob.goto(served.link("bob"))
        started(bob)
        ann.unroute("**/answer")
        ann.wait_for_selector("#notice:visible")
        assert "now used by bob" in ann.inner_text("#notice")
        assert "3 answers are kept" in ann.inner_text("#notice")
        judged(bob, 2)
        bob.wait_for_timeout(500)
        assert {who for who, *_ in served.answers()} == {"bob"}
        assert ann.evaluate(WAITING) == 3
        bob.goto(served.link("ann", again=True))
        started(bob)
        all_sent(bob)
        with served.store() as store:
            found = [f"{each.task.key}-{each.repeat}" for each in store.stored() if each.assessor == "ann"]
        assert found == [task for task, _ in given]
        ann.context.close()


def test_an_answer_after_revocation_is_refused_in_words_and_kept_in_the_browser(chromium, tmp_path):
    with Served(write_pages(tmp_path, pages(6))) as served:
        page = visit(chromium, served.link("ann"))
        given = judged(page, 1)
        next_task(page, given[0][0])
        all_sent(page)
        with served.store() as store:
            store.revoke("ann")
        judged(page, 1, last=given[0][0])
        page.wait_for_selector("#notice:visible")
        assert "Not stored" in page.inner_text("#notice")
        assert "1 answer is kept in this browser" in page.inner_text("#notice")
        assert len(served.answers()) == 1
        page.context.close()


TINY = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
EVIL = "http://127.0.0.2:9/"
OWNED = "top.document.title='owned'"
HOSTILE = {
    "script": f"<p>Read me</p><script>{OWNED};fetch('{EVIL}')</script><img src=x onerror=\"{OWNED}\">",
    "refresh": f'<meta http-equiv="refresh" content="0;url={EVIL}"><p>Read me</p>',
    "form": f'<form action="{EVIL}" id=f><button autofocus>Read me</button></form><script>f.submit()</script>',
    "base": f'<base href="{EVIL}" target="_top"><a href="x">Read me</a><img src="x"><link rel=stylesheet href="x">',
    "styles": f'<style>@import "{EVIL}"; p {{ background: url({EVIL}) }}</style><p style="color:url({EVIL})">Read me',
    "frames": f'<iframe src="{EVIL}"></iframe><object data="{EVIL}"></object><embed src="{EVIL}"><p>Read me</p>',
    "svg": f'<svg onload="{OWNED}"><use href="{EVIL}#a"/></svg><p>Read me</p>',
    "links": f'<a href="javascript:{OWNED}">Read me</a><a href="{EVIL}" ping="{EVIL}" target=_top>x</a>',
    "video": f'<video src="{EVIL}" poster="{EVIL}" autoplay></video><p>Read me</p>',
    "overlap": "<p>Read me</p>" + "".join(f"<b title={n}><!--</b>-->" for n in range(20_000)) + "<p>x" * 20_000,
    "deep": "<p>Read me</p>" + "<div>" * 200_000,
    "large": "<p>Read me</p>" + "<p>A line of a page that never ends.</p>" * 600_000,
    "invalid": b"<p>Read me \xff\xfe\x00\xc3\x28 </p>",
    "own": f'<p>Read me</p><img src="/organise"><img src="/leave"><img alt="kept" src="{TINY}">',
}


def test_hostile_documents_run_nothing_and_ask_for_nothing(chromium, tmp_path):
    tmp_path.joinpath("pages").mkdir()
    for name, text in HOSTILE.items():
        tmp_path.joinpath("pages", f"{name}.html").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert tmp_path.joinpath("pages", "large.html").stat().st_size > 20 << 20
    documents = [{"doc": name, "title": f"<b>{name}</b>", "file": f"pages/{name}.html"} for name in HOSTILE]
    with Served(write_pages(tmp_path, documents)) as served:
        page = visit(chromium, served.link("ann"))
        last = ""
        for _ in HOSTILE:
            last = next_task(page, last)
            frame = page.frame_locator("article:visible iframe")
            read = frame.locator("text=Read me").first
            read.click()
            page.keyboard.press("1")
        page.wait_for_selector("text=All done")
        all_sent(page)
        assert sorted(doc for _, doc, _ in served.answers()) == sorted(HOSTILE)
        assert page.title() == "Which pages answer the question?"
        own = tuple(f"{served.root}/{each}" for each in ("join", "next", "answer", "static", "doc"))
        asked = {url for url in page.asked if not url.startswith((*own, "data:"))}
        assert asked == {f"{served.root}/"}
        assert page.complaints == []
        page.context.close()


def serious(page):
    """Return the rules of accessibility that a page breaks seriously."""
    if not AXE.exists():
        pytest.skip("no axe-core: npm install --prefix build --no-save axe-core@4")
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run({ iframes: false })")["violations"]
    return [(each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in ("serious", "critical")]


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    with Served(write_every_kind(tmp_path_factory.mktemp("kinds"))) as served:
        yield served


@pytest.mark.parametrize(("scheme", "assessor"), [("light", "ann"), ("dark", "bob")])
def test_every_kind_of_task_fits_on_one_screen_and_can_be_used_by_all(chromium, kinds, scheme, assessor):
    page = visit(chromium, kinds.link(assessor), color_scheme=scheme, bypass_csp=True)
    last, seen = "", set()
    for _ in range(7):
        last = next_task(page, last)
        seen.add(page.locator("article:visible").get_attribute("class"))
        for size in (SMALL, LARGE):
            page.set_viewport_size(size)
            found = page.locator("article:visible .answer :is(button, summary, .options label):visible").all()
            boxes = [each.bounding_box() for each in found]
            assert len(boxes) >= 5
            assert max(box["y"] + box["height"] for box in boxes) <= size["height"]
            assert max(box["x"] + box["width"] for box in boxes) <= size["width"]
            shown = page.locator("article:visible .pane").all()
            assert min(each.bounding_box()["height"] for each in shown) >= 120
            overflow = "[document.scrollingElement.scrollWidth, document.scrollingElement.scrollHeight]"
            assert page.evaluate(overflow) == [size["width"], size["height"]]
        assert serious(page) == []
        frames = page.locator("article:visible iframe").count()
        order = [1, 0] if "after" in page.locator("article:visible").get_attribute("class") else [0, 1]
        for number, key in zip(order if frames == 2 else [0] * frames, ("End", "Shift+End"), strict=False):
            page.keyboard.press(key)
            page.wait_for_function(SCROLLED, arg=number)
        if page.locator("article:visible .row").count():
            for key in ("1", "2", "n", "Tab", "Shift+Tab"):
                page.keyboard.press(key)
            chosen = page.locator("article:visible .row :checked")
            assert chosen.evaluate_all("(all) => all.map((each) => each.value)") == ["1", "2", "N/A"]
            assert page.evaluate("document.activeElement.className") == "save"
            page.locator("article:visible .row").first.locator("label").first.click()
            page.keyboard.press("2")
            assert chosen.first.get_attribute("value") == "2"
        page.keyboard.press("x")
        page.keyboard.press("3")
    assert len(seen) == 6, "five kinds, and aspects given another document"
    page.wait_for_selector("text=All done")
    for path in ("/", "/history", "/guidelines", "/join/abcdefghijklmnop"):
        page.goto(f"{kinds.root}{path}")
        assert serious(page) == []
    page.goto(f"{kinds.root}/")
    for key, dialog in (("g", "#guidelines"), ("?", "#help")):
        page.keyboard.press(key)
        assert page.locator(dialog).is_visible()
        assert serious(page) == []
        page.keyboard.press("Escape")
    assert page.complaints == []
    page.goto(f"{kinds.root}/nowhere")
    assert serious(page) == []
    page.context.close()


def test_the_organiser_sees_answers_as_they_come(chromium, tmp_path):
    with Served(write_pages(tmp_path, pages(12), judgments=2)) as served:
        page = visit(chromium, served.organiser, bypass_csp=True)
        assert "0 of 24" in page.inner_text(".figures")
        ann = visit(chromium, served.link("ann"))
        judged(ann, 4)
        page.wait_for_selector(".figures >> text=4 of 24")
        bob = visit(chromium, served.link("bob"))
        judged(bob, 12)
        page.wait_for_selector(".figures >> text=16 of 24", timeout=60_000)
        for size in (SMALL, LARGE):
            page.set_viewport_size(size)
            assert page.evaluate("document.scrollingElement.scrollWidth") == size["width"]
            assert serious(page) == []
        page.click("text=Pause")
        page.wait_for_selector("text=Paused")
        page.goto(f"{served.root}/organise/tasks?topic=q1")
        assert serious(page) == []
        assert page.complaints + ann.complaints + bob.complaints == []
        for each in (page, ann, bob):
            each.context.close()
