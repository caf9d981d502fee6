"""What certificates are bound to."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from certified_judges import frame, judged
from venire.certification import check_certificate, read_certificate
from venire.certification.binding import hash_of_labels
from venire.errors import FormatError, StaleCertificate, VenireError
from venire.io.fingerprints import Input, files_of

RECORD = {
    "kind": "venire certificate",
    "version": 1,
    "reference": ["ann"],
    "judges": [{"judge": "llm", "prompt": "aa"}],
    "inputs": [{"name": "judgments.tsv", "sha256": "11"}, {"name": "run", "sha256": "22"}],
}
NOW = (Input("judgments.tsv", "11"), Input("run", "22"))


def test_a_certificate_for_the_same_inputs_is_valid():
    check_certificate(RECORD, NOW, prompts={"llm": "aa"})
    check_certificate(RECORD, (Input("moved.tsv", "11"), Input("run", "22")))


def test_a_prompt_of_a_judge_who_is_not_in_the_certificate_is_refused():
    with pytest.raises(VenireError, match="no certificate of 'lm'") as caught:
        check_certificate(RECORD, NOW, prompts={"lm": "aa"})
    assert "did you mean 'llm'" in caught.value.hint


@pytest.mark.parametrize(
    ("now", "prompts", "why"),
    [
        ((Input("judgments.tsv", "12"), NOW[1]), {}, "judgments.tsv is not what it was"),
        (NOW[:1], {}, "run is missing"),
        ((*NOW, Input("more", "33")), {}, "more is not what it was"),
        (NOW, {"llm": "bb"}, "the prompt of llm is not what it was"),
    ],
)
def test_a_stale_certificate_is_refused_with_the_reason(now, prompts, why):
    with pytest.raises(StaleCertificate, match=why) as caught:
        check_certificate(RECORD, now, prompts=prompts)
    assert caught.value.hint == "certify the judge again"


def test_hashes_of_files_and_labels(tmp_path):
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").write_text("2")
    one, two = files_of([tmp_path])
    assert one.name.endswith("a")
    assert one.sha256 == "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"
    assert two.sha256 != one.sha256
    table = frame()
    assert hash_of_labels(judged(table)) == hash_of_labels(judged(table.sample(fraction=1.0, shuffle=True, seed=1)))
    assert hash_of_labels(judged(table)) != hash_of_labels(judged(frame(seed=5)))


def test_probabilities_are_part_of_the_labels():
    labels = judged(frame())
    share = np.linspace(0.1, 1.0, len(labels))
    one, other = (replace(labels, probability=each) for each in (share, share[::-1].copy()))
    assert len({hash_of_labels(each) for each in (labels, one, other)}) == 3
    backwards = np.arange(len(labels))[::-1]
    assert hash_of_labels(one.take(backwards)) == hash_of_labels(one)
    unknown = replace(labels, probability=np.full(len(labels), np.nan))
    assert hash_of_labels(unknown) == hash_of_labels(replace(unknown, probability=-unknown.probability))


def test_what_is_asked_for_must_be_what_is_stated():
    made = {**RECORD, "measures": ["AP", "P@10"], "criteria": {"order": 0.9}, "settings": {"gains": "linear"}}
    check_certificate(made, NOW, asked={"measures": ["P@10", "AP"], "order": 0.9, "gains": "linear", "judges": ["llm"]})
    with pytest.raises(
        StaleCertificate, match=r"order 0\.9, not with order 0\.8; it was made with no pool, not with pool mean"
    ):
        check_certificate(made, NOW, asked={"order": 0.8, "pool": "mean"})
    with pytest.raises(StaleCertificate, match="it is not about weak, but about llm"):
        check_certificate(made, NOW, asked={"judges": ["weak"]})


def test_files_that_are_no_certificates(tmp_path):
    path = tmp_path / "c.json"
    for text, why in (
        ("<html>", "is not JSON"),
        ("[]", "is not a certificate"),
        ('{"judges": []}', "not a certificate"),
        ('{"kind": "venire certificate", "version": 1, "judges": []}', "not a whole certificate"),
        ('{"kind": "venire certificate", "version": 7}', "later version of venire"),
    ):
        path.write_text(text)
        with pytest.raises(FormatError, match=why):
            read_certificate(path)
    with pytest.raises(FormatError, match="there is no such file"):
        read_certificate(tmp_path / "none.json")
    path.write_text(json.dumps(RECORD))
    assert read_certificate(path) == RECORD
