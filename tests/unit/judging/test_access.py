"""Who may judge: invitations, sessions, revocation, erasure."""

from __future__ import annotations

import pytest

from people import said
from studies import label_tasks, study_of
from venire.errors import SettingError, UnknownName
from venire.judging.access import ORGANISER, SESSION_DAYS
from venire.judging.store import Store

DAY = 86_400


def test_an_invitation_is_used_once(room):
    store = room().store
    token = store.invite("ann")
    opened = store.open_session(token)
    assert opened.assessor == "ann"
    assert store.open_session(token) is None
    found = store.session(opened.cookie)
    assert (found.assessor, found.csrf) == ("ann", opened.csrf)


def test_secrets_are_long_and_not_stored(room, tmp_path):
    it = room()
    tokens = [it.store.invite("ann"), it.store.organiser_token()]
    secrets = [*tokens, *(it.store.open_session(token).cookie for token in tokens)]
    assert min(map(len, secrets)) >= 43  # 256 bits
    it.store.close()
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("*.db*"))
    assert not [secret for secret in secrets if secret.encode() in kept]


def test_an_invitation_ends_an_earlier_one_that_was_not_used(room):
    store = room().store
    first, second = store.invite("ann"), store.invite("ann")
    assert store.open_session(first) is None
    assert store.open_session(second) is not None


def test_who_has_joined_is_invited_again_for_a_second_device(room):
    store = room().store
    first = store.open_session(store.invite("ann"))
    with pytest.raises(SettingError, match="joined already"):
        store.invite("ann")
    second = store.open_session(store.invite("ann", again=True))
    assert store.session(first.cookie)
    assert store.session(second.cookie)


def test_sessions_expire(room):
    it = room()
    cookie = it.store.open_session(it.store.invite("ann")).cookie
    it.clock.move(SESSION_DAYS * DAY - 1)
    assert it.store.session(cookie)
    it.clock.move(1)
    assert it.store.session(cookie) is None


def test_the_organiser_has_a_token_of_their_own(room):
    store = room().store
    first = store.organiser_token()
    assert store.open_session(first).assessor == ORGANISER
    assert store.open_session(first).assessor == ORGANISER
    second = store.organiser_token()
    assert store.open_session(first) is None
    assert store.open_session(second).assessor == ORGANISER


@pytest.mark.parametrize("secret", ["", "nothing", "x\0y", "\udc80"])
def test_an_unknown_secret_opens_nothing(room, secret):
    store = room().store
    assert store.open_session(secret) is None
    assert store.session(secret) is None


def test_revocation_ends_sessions_and_tokens_at_once(room):
    store = room().store
    cookie = store.open_session(store.invite("ann")).cookie
    token = store.invite("ann", again=True)
    store.revoke("ann")
    assert store.session(cookie) is None
    assert store.open_session(token) is None
    with pytest.raises(SettingError, match="may no longer judge"):
        store.invite("ann")
    assert store.open_session(store.invite("ann", again=True))
    assert not store.standing("ann").revoked
    assert store.session(cookie) is None


def test_unknown_assessors_are_errors(room):
    store = room().store
    for act in (store.invite, store.revoke, store.erase):
        with pytest.raises(UnknownName, match="there is no assessor 'anne'"):
            act("anne")


def judged(it):
    leases = it.store.next_tasks("ann", n=2)
    it.give("ann", leases[0], "0", key="a", comment="my own words")
    it.give("ann", leases[0], "1", key="b", replaces="a")
    it.give("ann", leases[1], "2")


def test_erasure_removes_the_name_and_the_comments(room):
    it = room(n_docs=2)
    judged(it)
    cookie = it.store.open_session(it.store.invite("ann")).cookie
    name = it.store.erase("ann")
    assert {(each.assessor, each.comment) for each in it.store.stored()} == {(name, "")}
    assert name.startswith("erased-")
    assert it.store.session(cookie) is None
    assert it.store.standing("ann").revoked
    assert it.give("ann", next(iter(it.store.tasks.values()))).status == "refused"
    assert it.store.next_tasks("bob", n=9) == ()
    with pytest.raises(UnknownName):
        it.store.invite(name)


def test_erasure_of_the_answers_frees_their_places(room):
    it = room(n_docs=2)
    judged(it)
    it.store.erase("ann", answers=True)
    assert it.store.stored(surplus=True) == []
    assert it.judge_all("bob") == 2


def test_nothing_of_who_was_erased_is_left_in_the_file(tmp_path):
    study = study_of(tmp_path, people=("annabella-smith", "bob"))
    with Store.open(study, label_tasks(study)) as store:
        (lease,) = store.next_tasks("annabella-smith")
        store.invite("annabella-smith")
        store.answer("annabella-smith", said(lease, comment="quite personal words"))
        store.erase("annabella-smith")
        kept = b"".join(path.read_bytes() for path in tmp_path.glob("*.db*"))
    assert b"annabella" not in kept
    assert b"personal" not in kept
    assert b"erased-" in kept


def test_who_has_access(room):
    it = room()
    it.store.open_session(it.store.invite("ann"))
    it.store.open_session(it.store.invite("ann", again=True))
    it.store.next_tasks("ann", n=2)
    it.store.invite("bob")
    it.store.revoke("cy")
    found = {each.assessor: (each.invited, each.devices, each.in_hand, each.revoked) for each in it.store.members()}
    nothing = (False, 0, 0, False)
    assert found == {
        "ann": (False, 2, 2, False),
        "bob": (True, 0, 0, False),
        "cy": (*nothing[:3], True),
        "gpt": nothing,
    }
    it.clock.move((SESSION_DAYS + 1) * DAY)
    it.store.erase("bob")
    ann, *others = it.store.members()
    assert (ann.assessor, ann.devices, ann.in_hand) == ("ann", 0, 0)
    assert [each.assessor for each in others] == ["cy", "gpt"]
