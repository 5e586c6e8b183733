"""What a run is asked, by whom, and what its exit code then says."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.errors import EXIT_DONE, EXIT_STOPPED
from understudy.settings import Eviction
from understudy.stopping import CANCEL, StopRequests, exit_code_after


@pytest.mark.parametrize(
    ("content", "reason"),
    [("", "stop file stop"), ("understudy stop\n", "stop file stop"), ("cancel\n", CANCEL)],
)
def test_a_stop_file_may_give_the_run_up(tmp_path: Path, content: str, reason: str) -> None:
    with StopRequests((tmp_path / "run.stop", tmp_path / "stop")) as stop:
        (tmp_path / "stop").write_text(content)
        assert stop.reason() == reason
        assert not stop.is_signal


@pytest.mark.parametrize(
    ("reason", "eviction", "code"),
    [
        ("", "stop", EXIT_DONE),
        ("stop file run.stop", "stop", EXIT_STOPPED),
        ("stop file run.stop", "leave", EXIT_DONE),
        (CANCEL, "leave", EXIT_STOPPED),
        ("SIGTERM", "leave", EXIT_STOPPED),
    ],
)
def test_where_tasks_are_started_again_a_wished_stop_is_done(reason: str, eviction: Eviction, code: int) -> None:
    assert exit_code_after(reason, eviction) == code
