"""The bench of quality, from a shot to its scores, by the program as one calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.quality import measure


@pytest.mark.slow
def test_a_few_seconds_of_training_are_scored_along_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--shots", "rig removal", "--seconds", "4", "--ways", "small", "--keep", str(tmp_path)]
    measure.main(words)
    lines = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    assert [line["seconds"] for line in lines] == sorted(line["seconds"] for line in lines)
    assert {line["way"] for line in lines} == {"small"}
    assert lines[-1]["psnr"] > 25
    assert "plate as it is" in capsys.readouterr().out
