"""A server that a test starts is waited for until it answers, and ended whatever it does."""

from __future__ import annotations

import sys

import pytest

from tests.processes import free_port, running, wait_until_it_answers

ANSWERS = """
import http.server, signal, sys
if {deaf}:
    signal.signal(signal.SIGTERM, lambda *_: print("no", flush=True))
http.server.HTTPServer(("127.0.0.1", {port}), http.server.SimpleHTTPRequestHandler).serve_forever()
"""


@pytest.mark.parametrize(("deaf", "status"), [(False, -15), (True, -9)])
def test_a_server_ends_though_it_does_not_listen(tmp_path, deaf, status):
    port, log = free_port(), tmp_path / "log"
    code = ANSWERS.format(deaf=deaf, port=port)
    to_end = {"to_end": 1} if deaf else {}
    with running([sys.executable, "-c", code], log, **to_end) as server:
        wait_until_it_answers(f"http://127.0.0.1:{port}", server, log)
        assert server.poll() is None
    assert server.returncode == status


def test_a_server_that_ended_is_told_with_its_last_words(tmp_path):
    log = tmp_path / "log"
    code = "raise SystemExit('no memory left')"
    with (
        running([sys.executable, "-c", code], log) as server,
        pytest.raises(
            AssertionError, match=r"ended with 1 and gave no answer(.|\n)*no memory left"
        ),
    ):
        wait_until_it_answers("http://127.0.0.1:9", server, log)
