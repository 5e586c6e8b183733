"""The bench of speed runs as a whole and says what it promises."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from benchmarks.throughput import measure

from understudy.demo.shot import DemoShot


@pytest.mark.slow
def test_steps_data_and_start_are_measured(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "FRAME", (320, 180))
    monkeypatch.setattr(measure, "STARTS", 1)
    monkeypatch.setattr("understudy.demo.shot.DemoShot", partial(DemoShot, width=320, height=180))
    words = "--parts steps data start --crop-size 32 --steps 5 --rounds 2 --device cpu --threads 1"
    measure.main(words.split())
    out = capfd.readouterr().out
    for line in ("whole over bare, by the clock", "peak (matrix product)", "most memory", "data path", "start 1"):
        assert line in out


@pytest.mark.slow
def test_steps_that_learn_a_matte_are_measured(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "FRAME", (320, 180))
    words = "--parts steps --matte --crop-size 32 --steps 4 --rounds 2 --device cpu --threads 1"
    measure.main(words.split())
    out = capfd.readouterr().out
    assert "Task: matte" in out
    assert "crops of 32 of a matte; 2 rounds" in out


@pytest.mark.slow
def test_a_large_set_begins_and_never_waits_for_long(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "LARGE_FRAME", (320, 180))
    monkeypatch.setattr(measure, "SET_STEPS", 5)
    words = "--parts set --pairs 3 --crop-size 32 --device cpu --threads 1"
    measure.main(words.split())
    out = capfd.readouterr().out
    assert "in the mapped file" in out
    assert out.count("waited for crops after the first") == 2


@pytest.mark.slow
def test_networks_as_they_are_and_built_otherwise_take_turns(capfd: pytest.CaptureFixture[str]) -> None:
    words = "--parts otherwise --crop-size 32 --steps 1 --rounds 2 --device cpu --threads 1"
    measure.main(words.split())
    assert "a bare step as it is over one with last layer of 3 x 3: middle" in capfd.readouterr().out


@pytest.mark.slow
def test_processes_with_large_and_small_pages_take_turns(capfd: pytest.CaptureFixture[str]) -> None:
    words = "--parts pages --crop-size 32 --steps 1 --rounds 2 --device cpu --threads 1"
    measure.main(words.split())
    assert "a bare step in large pages over one in small ones: middle" in capfd.readouterr().out


@pytest.mark.slow
def test_fewer_threads_and_all_take_turns_beside_a_busy_program(capfd: pytest.CaptureFixture[str]) -> None:
    words = "--parts beside --crop-size 32 --steps 1 --rounds 2 --device cpu --threads 2"
    measure.main(words.split())
    assert "beside a busy program a bare step of 1 threads over one of 2: middle" in capfd.readouterr().out


@pytest.mark.slow
def test_weights_cast_at_once_and_each_by_itself_take_turns(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True})
    words = "--parts casts --crop-size 32 --steps 1 --rounds 2 --device cpu --threads 1"
    measure.main(words.split())
    assert "a bare step with weights cast at once over one that casts each: middle" in capfd.readouterr().out
    measure.main([*words.split(), "--precision", "float32"])
    assert "no weights are cast" in capfd.readouterr().out
