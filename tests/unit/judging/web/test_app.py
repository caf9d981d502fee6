"""The web application: who gets in, what is stored, and what every response says to the browser."""

from __future__ import annotations

import re
from html import unescape

import pytest
from jinja2 import Environment
from starlette.testclient import TestClient

from studies import every_kind, labels, study_of
from venire.errors import SettingError
from venire.judging.store import Store
from venire.judging.study import ASPECTS, LABEL, LISTS, PREFERENCE
from venire.judging.tasks import Task
from venire.judging.web import room
from venire.judging.web.app import application
from venire.judging.web.guard import Attempts
from venire.judging.web.site import Site

HERE = Site()
GUIDELINES = "# How to judge\n\nJudge what is *there*.\n\n<script>alert(1)</script>\n"
FIELD = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)">')


@pytest.fixture
def store(tmp_path):
    with opened(tmp_path) as store:
        yield store


def opened(folder, tasks=None):
    """Open the store of a study, with a task of every kind unless others are given."""
    return Store.open(study_of(folder, n_docs=12, guidelines=GUIDELINES), every_kind() if tasks is None else tasks)


def client(store, site=HERE, **settings):
    return TestClient(application(store, site), base_url=site.root, **settings)


def joined(store, who="ann", site=HERE):
    """Return a browser in which somebody has started; "" for the organiser."""
    browser = client(store, site)
    token = store.invite(who, again=True) if who else store.organiser_token()
    reply = browser.post("/join", data={"token": token})
    assert reply.status_code == 200
    return browser


def fields(page, form='action="/answer"'):
    """Return the hidden fields of the first form of a page."""
    inside = page.partition(form)[2].partition("</form>")[0]
    return {name: unescape(value) for name, value in FIELD.findall(inside)}


def answered(browser, **given):
    return browser.post("/answer", data=fields(browser.get("/").text) | given, follow_redirects=False)


def values(store):
    return [dict(each.value) for each in store.stored()]


def test_templates_are_compiled_before_the_first_request(store, monkeypatch):
    room._templates.cache_clear()
    browser = joined(store)  # where compiled on demand, each of the first requests would compile its own
    monkeypatch.setattr(Environment, "compile", lambda *_, **__: pytest.fail("a template was compiled by a request"))
    for address in ("/", "/next?n=2", "/history", "/guidelines"):
        assert browser.get(address).status_code == 200


# Who gets in


def test_an_invitation_shows_a_button_and_changes_nothing_until_it_is_pressed(store):
    token, browser = store.invite("ann"), client(store)
    for _ in range(3):
        page = browser.get(f"/join/{token}")
        assert (page.status_code, "Start" in page.text, page.cookies) == (200, True, {})
    reply = browser.post("/join", data={"token": token}, follow_redirects=False)
    assert (reply.status_code, reply.headers["location"]) == (303, "/")
    cookie = reply.headers["set-cookie"].lower()
    assert cookie.startswith("venire-small=")
    assert {"httponly", "samesite=strict", "path=/"} <= set(cookie.split("; "))
    assert "max-age=" in cookie
    assert "secure" not in cookie
    assert browser.get("/").status_code == 200


def test_under_https_the_cookie_is_of_this_host_and_secure(store):
    site = Site(address="https://judge.example.org", behind_proxy=True)
    reply = client(store, site).post("/join", data={"token": store.invite("ann")}, follow_redirects=False)
    cookie = reply.headers["set-cookie"]
    assert cookie.startswith("__Host-venire-small=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=strict"} <= set(cookie.split("; "))
    assert "domain" not in cookie.lower()
    assert "max-age" in reply.headers["strict-transport-security"]


@pytest.mark.parametrize("path", ["/", "/next", "/history", "/guidelines", "/organise", "/events", "/doc/x/doc"])
def test_without_an_invitation_nothing_is_shown(store, path):
    assert client(store).get(path).status_code == 401


POSTS = ["/answer", "/leave", *(f"/organise/{each}" for each in ("invite", "revoke", "pause", "reassign", "leave"))]


@pytest.mark.parametrize("path", POSTS)
def test_without_an_invitation_nothing_is_done(store, path):
    assert client(store).post(path, data={"csrf": "x"}).status_code == 401


@pytest.mark.parametrize("path", POSTS)
def test_a_form_without_its_secret_is_refused(store, path):
    browser = joined(store, "" if "organise" in path else "ann")
    before = store.revision()
    for data in ({}, {"csrf": ""}, {"csrf": "guessed"}, {"csrf": "é"}):
        assert browser.post(path, data=data or {"a": "b"}).status_code == 403
    assert store.revision() == before


def test_an_assessor_is_no_organiser_and_the_other_way_round(store):
    assert joined(store, "ann").get("/organise").status_code == 401
    assert joined(store, "").get("/").status_code == 401


def test_a_used_and_an_unknown_token_do_not_work(store):
    token = store.invite("ann")
    assert client(store).post("/join", data={"token": token}).status_code == 200
    for each in (token, "x" * 43, "", "../..", "\0"):
        assert client(store).post("/join", data={"token": each}).status_code == 403


def test_tokens_cannot_be_tried_without_end(store):
    browser = client(store)
    codes = [browser.post("/join", data={"token": "x" * 43}).status_code for _ in range(12)]
    assert codes == [403] * 10 + [429] * 2
    assert browser.post("/join", data={"token": store.invite("ann")}).status_code == 429


def test_attempts_are_forgotten_after_a_minute():
    now = [0.0]
    attempts = Attempts(clock=lambda: now[0])
    for _ in range(10):
        attempts.failed("a")
    assert (attempts.exhausted("a"), attempts.exhausted("b")) == (True, False)
    now[0] = 60.0
    assert not attempts.exhausted("a")


def test_a_session_ends_with_a_revocation(store):
    browser = joined(store)
    form = fields(browser.get("/").text) | {"label": "1"}
    store.revoke("ann")
    assert browser.get("/").status_code == 401
    reply = browser.post("/answer", data=form)
    assert (reply.status_code, "This was not stored" in reply.text) == (401, True)
    assert store.stored(surplus=True) == []


def test_signing_out_forgets_the_session_in_this_browser(store):
    browser = joined(store)
    form = fields(browser.get("/").text, 'action="/leave"')
    assert browser.post("/leave", data=form).status_code == 200
    assert browser.get("/").status_code == 401


# Where requests come from


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:8765.evil.example", ""])
def test_requests_to_another_host_are_refused(store, host):
    assert client(store).get("/health", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "[::1]:8765"])
def test_the_loopback_has_three_names(store, host):
    assert client(store).get("/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "same-origin", "origin": "null"}, 303),
        ({"origin": "http://127.0.0.1:8765"}, 303),
        ({}, 303),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1:8765"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "https://127.0.0.1:8765"}, 403),
    ],
)
def test_a_post_comes_from_a_page_of_ours(store, headers, status):
    data = {"token": store.invite("ann")}
    assert client(store).post("/join", data=data, headers=headers, follow_redirects=False).status_code == status


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"host": "0.0.0.0"}, "nothing encrypts"),
        ({"host": "192.0.2.1"}, "nothing encrypts"),
        ({"behind_proxy": True}, "address that assessors open"),
        ({"behind_proxy": True, "address": "http://judge.example.org"}, "not encrypted"),
        ({"address": "judge.example.org"}, "is not one"),
        ({"certificate": "cert.pem"}, "both a certificate and its key"),
    ],
)
def test_other_computers_are_served_only_under_tls(settings, message):
    with pytest.raises(SettingError, match=message):
        Site(**settings)


@pytest.mark.parametrize("path", ["/", "/history", "/guidelines", "/nowhere", "/health", "/join/abcdefghij"])
def test_every_page_states_the_policy(store, path):
    headers = joined(store).get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers


def test_a_page_asks_for_nothing_from_elsewhere_and_has_no_script_in_it(store):
    page = joined(store).get("/").text
    assert re.findall(r'(?:src|href|action)="(?!/|#)[^"]*"', page) == []
    assert re.findall(r"<script(?! src=)", page) == []
    assert " on" not in "".join(re.findall(r"<[^>]*>", page)).replace(" on-", "")


# Answers


def test_a_label_is_stored_and_the_next_task_shown(store):
    browser = joined(store)
    tasks = {
        LABEL: ({"label": "2"}, {"label": "2"}),
        "conditional": ({"label": "0"}, {"label": "0"}),
        ASPECTS: (
            {"aspect trust": "1", "aspect clarity": "N/A"},
            {"labels": {"trust": "1", "clarity": "N/A"}},
        ),
        PREFERENCE: ({"strength": "-2"}, {"strength": -2}),
        LISTS: ({"strength": "0"}, {"strength": 0}),
    }
    for _ in store.tasks:
        shown = browser.get("/").text
        task = store.tasks[fields(shown)["task"]]
        assert shown.count("/doc/") == shown.count("<iframe"), "each document in a frame of its own"
        assert ("First, just read" in shown.partition(f"/doc/{task.key}/doc")[0]) == bool(task.given)
        given, stored = tasks[task.kind]
        reply = answered(browser, **given)
        assert (reply.status_code, reply.headers["location"]) == (303, "/")
        assert values(store)[-1] == stored
    assert "All done" in browser.get("/").text


def test_sides_are_swapped_for_the_eye_and_not_in_the_answer(tmp_path):
    """Over many tasks both orders are shown, and "left is better" is stored for the document on the left."""
    tasks = [Task(kind=PREFERENCE, topic="t1", doc=f"d{i}", other=f"d{i + 1}") for i in range(10)]
    with opened(tmp_path, tasks) as store:
        browser, seen = joined(store), set()
        for _ in tasks:
            page = browser.get("/").text
            task = store.tasks[fields(page)["task"]]
            left = re.search(r'src="/doc/\w+/(\w+)"', page)[1]
            value = re.search(r'value="(-?\d)" data-key="1"', page)[1]
            answered(browser, strength=value)
            assert store.stored()[-1].swapped == (left == "other")
            assert values(store)[-1]["strength"] == (2 if left == "doc" else -2), task
            seen.add(left)
        assert seen == {"doc", "other"}


BAD = [
    {"label": "4"},
    {"label": ""},
    {},
    {"label": "2", "task": "nowhere"},
    {"label": "2", "key": ""},
    {"label": "2", "key": "../../../x"},
    {"label": "2", "shown": "zz"},
    {"strength": "1"},
    {"cannot": "", "reason": " "},
    {"withdraw": "1"},
    {"label": "2", "replaces": "an-answer-of-nobody"},
]


@pytest.mark.parametrize("given", BAD)
def test_what_is_no_answer_is_refused_in_words(tmp_path, given):
    with opened(tmp_path, labels(2)) as store:
        reply = answered(joined(store), **given)
        assert reply.status_code == 422
        assert "Traceback" not in reply.text
        assert store.stored(surplus=True) == []


def test_the_same_form_sent_twice_is_one_answer(store):
    browser = joined(store)
    form = fields(browser.get("/").text) | {"cannot": "The page is empty or broken"}
    for again in (False, True):
        reply = browser.post("/answer", data=form, headers={"accept": "application/json"})
        assert reply.json() | {"why": ""} == {"key": form["key"], "status": "counted", "again": again, "why": ""}
    assert len(store.stored()) == 1


def test_an_answer_in_the_name_of_somebody_else_is_refused(store):
    browser = joined(store, "bob")
    reply = answered(browser, assessor="ann", label="1")
    assert reply.status_code == 409
    assert "bob" in reply.text
    assert store.stored() == []


def test_an_answer_can_be_changed_and_withdrawn(tmp_path):
    with opened(tmp_path, labels(2)) as store:
        browser = joined(store)
        answered(browser, label="1", comment="first")
        change = re.search(r'href="(/\?change=[^"]+)"', browser.get("/history").text)[1]
        page = browser.get(change).text
        assert re.search(r'value="1"[^>]*aria-current="true"', page)
        browser.post("/answer", data=fields(page) | {"label": "2"})
        assert values(store) == [{"label": "2"}]
        browser.post("/answer", data=fields(browser.get("/history").text, "<form"))
        assert values(store) == []
        assert browser.get(change).status_code == 404


def test_times_are_measured_and_bounded(store):
    browser = joined(store)
    for seconds, stored in (("12.5", 12.5), ("nan", None), ("-3", 0.0), ("1e99", 86_400.0)):
        answered(browser, cannot="x", seconds=seconds, ago="1e99")
        assert store.stored()[-1].seconds == stored
    answered(browser, cannot="x")
    assert store.stored()[-1].seconds == pytest.approx(0.0, abs=5.0)


def test_the_next_tasks_come_ahead_without_those_that_the_browser_has(tmp_path):
    with opened(tmp_path, labels(8)) as store:
        browser = joined(store)
        first = browser.get("/next?n=3").json()
        assert (first["assessor"], first["standing"]["left"], len(first["tasks"])) == ("ann", 8, 3)
        have = ",".join(each["id"] for each in first["tasks"])
        more = browser.get(f"/next?n=5&have={have}").json()["tasks"]
        assert len(more) == 2
        for asked, n in (("99", 5), ("x", 2), ("-1", 2), ("", 2), ("0", 0)):
            assert len(browser.get(f"/next?n={asked}").json()["tasks"]) == n


def test_while_the_study_is_paused_nothing_is_asked(store):
    browser = joined(store)
    store.pause(True)
    assert "The study is paused." in browser.get("/").text


@pytest.mark.parametrize("path", ["nowhere/doc", "{task}/given", "{task}/key", "{task}/__class__", "{task}/"])
def test_only_documents_of_tasks_are_shown(tmp_path, path):
    with opened(tmp_path, labels(1)) as store:
        browser, (task,) = joined(store), store.tasks
        assert browser.get(f"/doc/{task}/doc").status_code == 200
        assert browser.get(f"/doc/{path.format(task=task)}").status_code == 404


# Words and sizes


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"x=" + b"a" * 70_000, {}, 413),
        (b"&".join([b"a=b"] * 300), {}, 422),
        (b"{}", {"content-type": "application/json"}, 415),
        (b"", {"content-type": "multipart/form-data; boundary=x"}, 415),
        (b"\xff\xfe%ff%00=%zz", {}, 403),
    ],
)
def test_bodies_are_bounded_forms(store, body, headers, status):
    headers = {"content-type": "application/x-www-form-urlencoded"} | headers
    assert joined(store).post("/answer", content=body, headers=headers).status_code == status


def test_an_error_of_ours_tells_nothing_of_this_computer(tmp_path, monkeypatch):
    with opened(tmp_path) as store:
        browser = TestClient(application(store, HERE), base_url=HERE.root, raise_server_exceptions=False)
        browser.post("/join", data={"token": store.invite("ann")})
        monkeypatch.setattr(Store, "history", lambda *_, **__: (tmp_path / "secret").read_bytes())
        reply = browser.get("/history")
        assert reply.status_code == 500
        assert "secret" not in reply.text
        assert "Something went wrong here." in reply.text


def test_names_of_a_study_are_shown_as_text(tmp_path):
    nasty = "<img src=x onerror=alert(1)>"
    study = study_of(tmp_path, title=nasty)
    with Store.open(study, labels(1)) as store:
        page = joined(store).get("/").text
    assert nasty not in page
    assert "&lt;img src=x" in page


def test_assets_are_kept_for_ever_under_the_hash_of_their_content(store):
    browser = joined(store)
    for path in re.findall(r'(?:href|src)="(/static/[^"]+)"', browser.get("/").text):
        reply = browser.get(path)
        assert reply.status_code == 200
        assert "immutable" in reply.headers["cache-control"]
        assert browser.get(re.sub(r"static/\w+", "static/0000", path)).status_code == 404
    assert browser.get("/static/x/..%2f..%2fapp.py").status_code == 404


# The organiser

FEW = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")


def ordered(browser, action, **given):
    """Send a form of the organiser's page."""
    form = fields(browser.get("/organise").text, f'action="/organise/{action}"')
    return browser.post(f"/organise/{action}", data=form | given, follow_redirects=False)


@FEW
def test_the_organiser_invites_and_revokes(store):
    browser = joined(store, "")
    reply = ordered(browser, "invite", name="bob")
    link = re.search(r'value="(http://127.0.0.1:8765/join/[^"]+)"', reply.text)[1]
    bob = client(store)
    assert bob.post("/join", data={"token": link.rpartition("/")[2]}).status_code == 200
    assert link.rpartition("/")[2] not in browser.get("/organise").text
    assert ordered(browser, "revoke", name="bob").status_code == 303
    assert bob.get("/").status_code == 401
    assert "revoked" in browser.get("/organise").text
    wrong = ordered(browser, "invite", name="nobody")
    assert (wrong.status_code, 'href="/organise"' in wrong.text) == (422, True)


@FEW
def test_the_organiser_pauses_and_goes_on(store):
    browser = joined(store, "")
    assert "Running" in browser.get("/organise").text
    ordered(browser, "pause")
    assert store.paused
    assert "Paused" in browser.get("/organise").text
    ordered(browser, "pause")
    assert not store.paused


@FEW
def test_the_organiser_gives_a_task_to_somebody(tmp_path):
    with opened(tmp_path, labels(9)) as store:
        browser = joined(store, "")
        page = browser.get("/organise/tasks?topic=t1").text
        assert page.count("<option>ann</option>") == 9
        form = fields(page, 'action="/organise/reassign"')
        assert (
            browser.post("/organise/reassign", data=form | {"name": "bob"}, follow_redirects=False).status_code == 303
        )
        assert store.next_tasks("bob")[0].task.key == form["task"]
        assert browser.get("/organise/tasks?topic=nowhere").status_code == 404


@FEW
def test_the_overview_has_the_numbers_of_the_study(tmp_path):
    with opened(tmp_path, labels(9, needed=2)) as store:
        for who, label in (("ann", "1"), ("bob", "2")):
            browser = joined(store, who)
            for _ in range(9):
                answered(browser, label=label)
        page = joined(store, "").get("/organise").text
    assert "18 <span" in page
    assert "of 18" in page
    assert "Krippendorff" in page
    assert "p(R|label)" in page


@FEW
def test_answers_come_as_files(tmp_path):
    with opened(tmp_path, labels(2)) as store:
        answered(joined(store), label="2")
        browser = joined(store, "")
        reply = browser.get("/organise/export?of=labels")
        assert reply.headers["content-disposition"] == 'attachment; filename="small-labels.csv"'
        assert reply.text.splitlines()[0].startswith("topic,doc,assessor,label")
        assert ",ann,2" in reply.text
        for other in ("lists", "", "../x"):
            assert browser.get(f"/organise/export?of={other}").status_code == 404
