from __future__ import annotations

import os
import threading
from hashlib import sha256

from venire.io.fingerprints import Input, files_of


def test_files_are_identified_by_their_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"one\n")
    (tmp_path / "b").write_bytes(b"")
    (tmp_path / ".hidden").write_bytes(b"three")
    one, two = (
        Input(str(tmp_path / "a"), sha256(b"one\n").hexdigest(), 4),
        Input(str(tmp_path / "b"), sha256().hexdigest(), 0),
    )
    assert files_of([tmp_path]) == (one, two)
    assert files_of([tmp_path / "b", str(tmp_path / "a")]) == (two, one)


def test_a_pipe_is_identified_by_what_it_held(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"1 0 a 1\n",))
    writer.start()
    (found,) = files_of([pipe])
    writer.join()
    assert found[1:] == (sha256(b"1 0 a 1\n").hexdigest(), 8)
    assert files_of([pipe]) == (found,)
