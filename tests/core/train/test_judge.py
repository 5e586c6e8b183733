"""How often a run is looked at, what is written of it, and what is said once."""

from __future__ import annotations

import dataclasses
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests.core.train.lessons import first_state, machine, pairs, saved_state, small_run
from tests.core.train.shots import SmallShot, write_picture
from torch import float32

from understudy.cli.main import main
from understudy.errors import EXIT_DONE
from understudy.frames.colour import ColourRules
from understudy.report.metrics import MetricsLog, read_metrics
from understudy.report.progress import Progress
from understudy.report.reporter import Reporter
from understudy.runs import RunFiles
from understudy.settings import Settings
from understudy.train import judge as judge_room
from understudy.train.infer import validation_psnr
from understudy.train.judge import FIRST_SECONDS, LONGEST_SECONDS, Judge
from understudy.train.model_file import load_model
from understudy.train.run import Run
from understudy.train.squares import Square
from understudy.train.state import TrainingState
from understudy.train.voices import Voices

SQUARES = (Square(pair=0, y=16, x=16, side=16),)
SECONDS_A_LOOK = 10.0


@dataclasses.dataclass
class Bench:
    """A judge, what it looks at, and what it said."""

    run: Run
    state: TrainingState
    voices: Voices
    said: io.StringIO
    judge: Judge

    def pretend(self, *psnrs: float, loss: float = 1e-3, scale: float = 1.0) -> None:
        """Looks that found this, one after the other; the loss falls a little with each."""
        for psnr in psnrs:
            self.state.step += 100
            self.state.elapsed_seconds += SECONDS_A_LOOK
            falling = loss / self.state.step
            self.voices.metrics.step(
                self.state.step, loss=falling, learning_rate=1e-3, scale=scale, seconds=self.state.elapsed_seconds
            )
            self.voices.metrics.validation(self.state.step, psnr=psnr, on="squares")
            self.judge.tell_news()

    def events(self) -> list[object]:
        return [event["event"] for event in read_metrics(self.run.files.metrics).events]


@contextmanager
def bench(folder: Path, run: Run) -> Iterator[Bench]:
    said, state = io.StringIO(), first_state(float32)
    run = dataclasses.replace(run, files=RunFiles(folder, "r"))
    progress = Progress("plain", said)
    with (
        MetricsLog(run.files.metrics) as metrics,
        Reporter(files=run.files, settings=run.settings, colour=ColourRules(), progress=progress) as reporter,
    ):
        voices = Voices(progress=progress, metrics=metrics, reporter=reporter, events=None)
        yield Bench(run, state, voices, said, Judge(run, state, voices))


@pytest.fixture
def run() -> Run:
    """A thousand looks long."""
    short = small_run(Settings())
    schedule = dataclasses.replace(short.schedule, total_steps=100_000)
    return dataclasses.replace(short, squares=SQUARES, schedule=schedule)


def test_the_first_look_comes_soon_and_the_next_ones_at_growing_distances(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge_room, "SHARE_SPENT", 1e9)  # looks cost nothing
    with bench(tmp_path, run) as on:
        looked = []
        for second in range(1000):
            on.state.step, on.state.elapsed_seconds = second + 1, float(second)
            if on.judge.is_due():
                on.judge.look()
                looked.append(second)
    distances = np.diff(looked)
    assert looked[0] == FIRST_SECONDS
    assert distances[0] == FIRST_SECONDS
    assert (np.diff(distances) >= -1).all()
    assert 45 <= distances[-1] <= 50, "a twentieth of the time"
    assert len(looked) < 90


def test_looks_that_take_long_are_rare_and_very_long_ones_are_for_checkpoints(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 1.0, 100.0, 100.0 + LONGEST_SECONDS + 1])
    monkeypatch.setattr("understudy.train.judge.monotonic", lambda: next(clock))
    with bench(tmp_path, run) as on:
        on.state.step, on.state.elapsed_seconds = 1, 10.0
        on.judge.look()
        on.state.elapsed_seconds = 59.0
        assert not on.judge.is_due(), "a second in fifty"
        on.state.step, on.state.elapsed_seconds = 2, 60.0
        assert on.judge.is_due()
        on.judge.look()
        on.state.elapsed_seconds = 1e9
        assert not on.judge.is_due()


def test_without_squares_and_frames_there_is_nothing_to_look_at(tmp_path: Path) -> None:
    with bench(tmp_path, small_run(Settings())) as on:
        on.state.elapsed_seconds = 1e9
        assert not on.judge.can_look
        assert not on.judge.is_due()


def test_validation_frames_go_first_and_wait_for_a_checkpoint(tmp_path: Path, run: Run) -> None:
    held = dataclasses.replace(pairs()[0], pair=dataclasses.replace(pairs()[0].pair, use="validation"))
    run = dataclasses.replace(run, dataset=dataclasses.replace(run.dataset, pairs=(held, pairs()[1])))
    with bench(tmp_path, run) as on:
        on.state.step, on.state.elapsed_seconds = 5, 100.0
        assert not on.judge.is_due()
        assert on.judge.look() == validation_psnr(on.state.averaged, (held,), machine(float32))
        on.state.elapsed_seconds = 1000.0
        assert on.judge.is_due(), "they are small: a look was cheap"
    assert '"on": "frames"' in (tmp_path / "r.metrics.jsonl").read_text()


def test_one_step_is_looked_at_once(tmp_path: Path, run: Run) -> None:
    with bench(tmp_path, run) as on:
        on.state.step = 7
        assert on.judge.look() == on.judge.look()
    assert (tmp_path / "r.metrics.jsonl").read_text().count("validation_psnr") == 1


def test_settled_is_said_once_for_now_and_once_near_the_end(tmp_path: Path, run: Run) -> None:
    with bench(tmp_path, run) as on:
        on.pretend(*([40.0] * 20))
        assert on.said.getvalue().count("Settled for now: 40.0 dB") == 1
        on.state.step = 95_000
        on.pretend(*([40.0] * 20))
        assert on.said.getvalue().count("Settled for now") == 1
        assert on.said.getvalue().count(f"stopping now loses little (understudy stop {tmp_path})") == 1
        again = Judge(on.run, on.state, on.voices)  # a resumed run knows what was said
        again.tell_news()
        assert on.said.getvalue().count("Settled") == 2
        assert on.events() == ["settled for now", "settled"]


def test_over_fitting_is_said_once_with_what_is_kept(tmp_path: Path, run: Run) -> None:
    with bench(tmp_path, run) as on:
        on.state.best_step, on.state.best_psnr = 200, 41.0
        on.pretend(40.0, 41.0, *([40.0] * 20), 39.0)
        assert on.said.getvalue().count("Over-fitting: 40.0 dB") == 1
        assert on.said.getvalue().count("step 200 (kept)") == 1
        assert on.events() == ["over-fitting"]


def test_the_end_says_when_it_was_good_enough(tmp_path: Path, run: Run) -> None:
    with bench(tmp_path, run) as on:
        on.judge.conclude()
        assert on.said.getvalue() == ""
        on.pretend(30.0, 38.0, 39.8, 40.0)
        on.judge.conclude()
        assert on.said.getvalue() == "Good enough (within 0.5 dB of 40.0 dB) after 30 s of 40 s\n"


def painted_shot(folder: Path) -> SmallShot:
    """Two frames of a pan, large enough for squares, painted all over."""
    folder.mkdir()
    texture = np.random.default_rng(5).random((208, 272, 3), np.float32)
    for frame, left in ((1001, 0), (1002, 16)):
        plate = texture[:, left : left + 256]
        write_picture(folder / f"plate.{frame}.exr", plate)
        write_picture(folder / f"paint.{frame}.exr", (0.2 + 0.5 * plate * (plate[..., :1] > 0.3)).astype(np.float32))
    return SmallShot(folder)


def test_a_run_is_judged_by_squares_from_its_first_seconds_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("FIRST_SECONDS", 0.0), ("SHARE_SPENT", 1e9), ("SHARE_BETWEEN", 0.0)):
        monkeypatch.setattr(judge_room, name, value)
    shot = painted_shot(tmp_path / "shot")
    assert main(shot.train_words("--run-name", "r", "--seed", "3", steps=8)) == EXIT_DONE
    out = capsys.readouterr().out
    told = re.search(r"Validation Squares: (\d+) of 16x16 pixels, ([\d.]+) % of what is painted", out)
    assert told
    assert float(told[2]) <= 3.0
    metrics = read_metrics(shot.data / "r.metrics.jsonl")
    assert metrics.validation_steps.tolist() == [*range(1, 9)]
    assert out.count("Validation PSNR:") == 8 + 1, "that of a checkpoint names the best, too"
    assert out.count("Good enough") == 1
    best = max((6, 8), key=lambda step: metrics.validation_psnrs[step - 1])
    assert f"at {best})" in out
    files = RunFiles(shot.data, "r")
    saved = load_model(files.model(8))
    assert saved.card.validation_psnr == metrics.validation_psnrs[-1]
    state = saved_state(files, 8)
    assert (state.best_step, state.best_psnr) == (best, metrics.validation_psnrs[best - 1]), "of checkpoints alone"
    assert main(["resume", str(shot.data), "--steps", "10"]) == EXIT_DONE
    assert told[0] in capsys.readouterr().out
    assert read_metrics(shot.data / "r.metrics.jsonl").validation_steps.tolist() == [*range(1, 11)]


def test_squares_can_be_switched_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shot = painted_shot(tmp_path / "shot")
    assert main(shot.train_words("--run-name", "r", "--no-validation-squares", steps=2)) == EXIT_DONE
    assert "Validation" not in capsys.readouterr().out
    assert not len(read_metrics(shot.data / "r.metrics.jsonl").validation_steps)


def test_validation_frames_leave_the_others_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shot = painted_shot(tmp_path / "shot")
    words = shot.train_words("--run-name", "r", "--validation-frames", "1002", steps=2)
    assert main(words) == EXIT_DONE
    assert "Validation Squares" not in capsys.readouterr().out
