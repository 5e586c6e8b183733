"""`understudy publish` as the last step of a job: it learns from the farm what there is to publish."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest
from tests.core.cli.command import Command
from tests.core.train.shots import SmallShot


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the hook is a word of sh")
def test_a_job_trains_applies_and_publishes_a_version(command: Command, shot: SmallShot, tmp_path: Path) -> None:
    models, result = tmp_path / "my models", shot.folder / "result" / "r.####.exr"
    hook = shlex.join(["sh", "-c", 'echo "$UNDERSTUDY_RUN" gave "$UNDERSTUDY_PUBLISHED"'])
    words = ["understudy", "publish", "--to", str(models), "--name", "sh010", "--exports", "torch", "--hook", hook]
    ending = command(
        "submit",
        *shot.train_words("--skip-check", "--apply-output", str(result), "--publish", shlex.join(words))[1:],
    )
    assert ending.code == 0, ending
    version = models / "sh010_v001"
    assert f"{shot.data / 'v001'} gave {version}" in ending.out
    about = json.loads((version / "publish.json").read_text())
    assert about["run_directory"] == str(shot.data / "v001")
    assert (about["result"]["pattern"], about["result"]["frames"]) == (str(result), "1001-1004")
    assert (version / "result.otio").is_file()
    assert f"`{shot.plate}`" in (version / "README.md").read_text()
