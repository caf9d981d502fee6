"""``venire judge serve`` as a process: what it prints and logs, TLS, other computers, and how it ends."""

from __future__ import annotations

import shutil
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from urllib.parse import urlencode

import pytest

from served_studies import Served
from studies_on_disk import pages, write_pages

pytestmark = pytest.mark.slow


def sent(url, data=None, context=None):
    body = None if data is None else urlencode(data).encode()
    try:
        with urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), NoRedirect()).open(
            urllib.request.Request(url, body), timeout=10
        ) as reply:
            return reply.status, reply.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def test_no_token_is_logged_and_the_server_ends_while_a_page_listens(tmp_path):
    served = Served(write_pages(tmp_path, pages(2)))
    tokens = [served.organiser.rpartition("/")[2], served.link("ann").rpartition("/")[2]]
    for token in tokens:
        assert sent(f"{served.root}/join/{token}")[0] == 200
        status, headers = sent(f"{served.root}/join", {"token": token})
        assert status == 303
        if headers["Location"] == "/organise":
            cookie = headers["Set-Cookie"].partition(";")[0]
    assert sent(f"{served.root}/join/{'x' * 20_000}")[0] in (404, 414, 431)
    request = urllib.request.Request(f"{served.root}/events", headers={"Cookie": cookie})
    with urllib.request.urlopen(request, timeout=10) as events:
        assert events.readline().startswith(b"data: ")
        began = time.monotonic()
        served.process.send_signal(signal.SIGTERM)
        served.process.wait(15)
        assert time.monotonic() - began < 10
    served.close_streams()
    log = served.path.with_suffix(".log").read_text("utf-8")
    assert "Traceback" not in log
    assert not [token for token in tokens if token in log]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--host", "0.0.0.0"], "nothing encrypts what they send"),
        (["--behind-proxy"], "--address https://..."),
        (["--tls-cert", "cert.pem"], "both a certificate and its key"),
        (["--tls-cert", "nowhere.pem", "--tls-key", "nowhere.pem"], "nowhere.pem"),
    ],
)
def test_a_place_that_is_not_safe_is_refused_with_a_way_out(tmp_path, words, says):
    path = write_pages(tmp_path, pages(1))
    command = [sys.executable, "-m", "venire", "judge", "serve", str(path), "--port", "0", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_tls(tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("no openssl")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"]
    make += ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)]
    subprocess.run(make, check=True, capture_output=True)
    with Served(write_pages(tmp_path, pages(1)), "--tls-cert", str(cert), "--tls-key", str(key)) as served:
        assert served.root.startswith("https://127.0.0.1:")
        context = ssl.create_default_context(cafile=str(cert))
        status, headers = sent(f"{served.root}/join", {"token": served.link("ann").rpartition("/")[2]}, context)
        assert status == 303
        assert headers["Set-Cookie"].startswith("__Host-venire-small=")
        assert "Secure" in headers["Set-Cookie"]
