"""Whatever is sent to the application of a study: no error of ours, and nothing stored that is no answer.

``make test-slow`` sends more than 1,000 requests (``VENIRE_EXAMPLES=thorough``).
"""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from starlette.testclient import TestClient

from studies import every_kind, labels, study_of
from venire.judging.answers import refuse_value
from venire.judging.store import Store
from venire.judging.web.app import application
from venire.judging.web.site import Site

PATHS = (
    *("/", "/next", "/history", "/guidelines", "/doc/{task}/doc", "/doc/{task}/given", "/doc/{junk}/{junk}"),
    *("/join/{junk}", "/static/a/b", "/health", "/{junk}", "/next?n={junk}&have={junk}", "/?change={junk}"),
    *("/organise", "/organise/export", "/organise/export?kind={junk}"),
)
POSTS = (
    *("/answer", "/join", "/leave", "/organise/leave"),
    *("/organise/invite", "/organise/revoke", "/organise/pause", "/organise/reassign"),
)
NAMES = (
    *("csrf", "assessor", "task", "repeat", "swapped", "shown", "key", "began", "replaces", "withdraw", "label"),
    *("strength", "cannot", "reason", "comment", "seconds", "ago", "aspect clarity", "aspect trust"),
    *("token", "name", "on", "again"),
)
FIELDS = ("accept", "origin", "sec-fetch-site", "content-type", "cookie", "host", "x-forwarded-for", "range")
SITE = Site()
ODD = ["", "0", "-1", "1e999", "nan", "\0", "..", "../../etc/passwd", "%00", "é", "😀", "a" * 5_000, "N/A"]
JUNK = st.one_of(st.text(max_size=30), st.sampled_from(ODD))
VALUES = st.one_of(JUNK, st.sampled_from(["0", "1", "2", "3", "-2", "5", "ann", "bob", "gpt", "x" * 32]))
HEADERS = st.dictionaries(
    st.sampled_from(FIELDS),
    st.one_of(
        st.sampled_from(["application/json", "null", "same-origin", "text/plain", "127.0.0.1:8765"]),
        st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=40),
    ),
    max_size=2,
)
CHANGES = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=3)
WHERE = st.one_of(
    st.tuples(st.just("POST"), st.sampled_from(("/answer",) * 4 + POSTS)),
    st.tuples(st.just("GET"), st.sampled_from(PATHS)),
    st.tuples(st.sampled_from(["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS"]), st.sampled_from(PATHS + POSTS)),
)
REQUESTS = st.tuples(
    WHERE,
    CHANGES,
    st.one_of(st.just(set()), st.sets(st.sampled_from(NAMES), max_size=2)),
    st.one_of(st.just({}), HEADERS),
    JUNK,
    st.one_of(st.none(), st.none(), st.none(), st.binary(max_size=200)),
)
VALID = {"label": "2", "strength": "-1", "aspect trust": "0", "aspect clarity": "N/A"}
"""An answer to every kind of task, which the changes damage."""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with Store.open(study_of(tmp_path_factory.mktemp("study")), [*every_kind(), *labels(200)[1:]]) as store:
        yield store


@pytest.fixture(scope="module")
def browser(store):
    return Browser(store)


class Browser:
    """A browser of ann, who is the organiser too."""

    def __init__(self, store):
        self.store = store
        self.client = TestClient(application(store, SITE), base_url=SITE.root, raise_server_exceptions=False)
        self.start()

    def start(self):
        """Begin a session of both."""
        ann = self.store.open_session(self.store.invite("ann", again=True))
        organiser = self.store.open_session(self.store.organiser_token())
        self.csrf = {True: organiser.csrf, False: ann.csrf}
        self.cookie = f"venire-small={ann.cookie}; venire-small-organiser={organiser.cookie}"

    def go_on(self):
        """Undo what the last requests may have done: the study was paused, or access revoked."""
        if self.store.paused:
            self.store.pause(False)
        if self.store.standing("ann").revoked:
            self.start()

    def form(self):
        page = self.client.get("/", headers={"cookie": self.cookie}).text
        found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', page)
        return {name: unescape(value) for name, value in found} | {"key": uuid4().hex}

    def sent(self, request, form):
        (method, path), changes, without, headers, junk, body = request
        known = form | VALID | {"csrf": self.csrf["organise" in path], "assessor": "" if "organise" in path else "ann"}
        fields = {name: value for name, value in (known | changes).items() if name not in without}
        content = urlencode(fields, errors="surrogatepass").encode() if body is None else body
        headers = {"content-type": "application/x-www-form-urlencoded", "cookie": self.cookie} | headers
        address = path.format(task=form.get("task", "x"), junk=urlencode({"": junk}, errors="surrogatepass")[1:])
        self.client.cookies.clear()
        return self.client.request(
            method,
            address,
            content=content if method in ("POST", "PUT") else None,
            headers={name: value.encode("latin-1") for name, value in headers.items()},
            follow_redirects=False,
        )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(requests=st.lists(REQUESTS, min_size=4, max_size=6))
def test_requests_that_were_changed_at_random(store, browser, requests):
    browser.go_on()
    form = browser.form()
    for request in requests:
        assert browser.sent(request, form).status_code < 500, request
    for each in store.stored(surplus=True):
        refuse_value(store.study, each.task, each.value)
        assert each.assessor == "ann"
        assert each.task.key in store.tasks


def test_the_same_requests_store_something_if_they_are_left_as_they_are(tmp_path):
    with Store.open(study_of(tmp_path), labels(3)) as store:
        browser = Browser(store)
        reply = browser.sent((("POST", "/answer"), {}, set(), {}, "", None), browser.form())
        assert (reply.status_code, len(store.stored())) == (303, 1)
