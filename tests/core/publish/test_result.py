"""Which frames a result has, of which plate, and where the painted ones lie in it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from tests.core.records import RECORD
from tests.core.train.shots import write_picture

from understudy.errors import UnderstudyError
from understudy.frames.colour import ColourRules
from understudy.frames.image import Image
from understudy.frames.window import Window
from understudy.frames.write import write_image
from understudy.orders import Order
from understudy.pairs import Pair, PairSource
from understudy.publish.facts import RunFacts
from understudy.publish.result import Result, ResultOrder, found_result
from understudy.runs import RunFiles
from understudy.settings import Settings
from understudy.sources.sequences import FileFrame, SequenceSource
from understudy.sources.timeline import TimelineSource, write_timeline

GREY = np.full((4, 6, 3), 0.2, np.float32)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plates 1001 to 1010, and results but for two between."""
    monkeypatch.chdir(tmp_path)
    frames("plate", range(1001, 1011))
    frames("result", (*range(1002, 1005), *range(1007, 1010)))


def frames(name: str, numbers: Iterable[int]) -> None:
    for number in numbers:
        write_picture(Path(f"{name}.{number:04d}.exr"), GREY)


def run_of(*inputs: Path, numbers: Iterable[int], source: PairSource | None = None) -> RunFacts:
    """A run of these inputs, each painted; the pairs are numbered as the run calls them."""
    files = RunFiles(Path.cwd(), "first")
    pairs = [
        Pair(
            frame=number,
            input=FileFrame(path=path, frame=int(path.stem[-4:]) if path.stem[-4:].isdigit() else 0, colorspace="raw"),
            target=FileFrame(path=Path(f"paint.{number:04d}.exr").absolute(), frame=number),
        )
        for path, number in zip(inputs, numbers, strict=True)
    ]
    write_timeline(files.timeline, pairs, name="first")
    source = source or TimelineSource(timeline=files.timeline)
    order = Order(settings=Settings(), source=source, colour=ColourRules())
    return RunFacts(files=files, record=RECORD, order=order, seconds=None)


def found(run: RunFacts | None, plate: str = "", pattern: str = "result.####.exr", **more: object) -> Result:
    return found_result(ResultOrder(pattern=pattern, plate=plate, **more), run, ())  # type: ignore[arg-type]


def plates(*numbers: int, name: str = "plate") -> list[Path]:
    return [Path(f"{name}.{number:04d}.exr").absolute() for number in numbers]


def test_pairs_of_a_script_lie_where_their_files_are() -> None:
    run = run_of(*plates(1002, 1008), numbers=(1, 2))
    result = found(run, "plate.####.exr")
    assert {frame: pair.frame for frame, pair in result.painted.items()} == {1002: 1, 1008: 2}
    assert (result.frames, result.missing) == ((1002, 1003, 1004, 1007, 1008, 1009), (1005, 1006))
    assert sorted(result.plate) == [*range(1002, 1010)]
    assert {source.colorspace for source in result.plate.values()} == {"raw"}
    assert result.warnings() == [f"{Path.cwd()}/result.####.exr: has no frames 1005-1006; result.otio has gaps there"]


def test_without_the_plates_pattern_the_painted_frames_alone_are_shown() -> None:
    result = found(run_of(*plates(1002, 1008), numbers=(1, 2)))
    assert sorted(result.plate) == [1002, 1008]
    assert result.warnings()[1] == (
        "result.otio: there is no plate for frames 1003-1004,1007,1009; name it with --input"
    )


def test_a_run_of_sequences_knows_its_plate() -> None:
    source = SequenceSource(input=str(Path("plate.####.exr").absolute()), target="paint.####.exr")
    run = run_of(*plates(1002, 1010), numbers=(1002, 1010), source=source)
    result = found(run)
    assert sorted(result.plate) == [*range(1002, 1011)], "up to the last painted frame"
    assert sorted(result.painted) == [1002, 1010]


def test_pairs_of_another_plate_are_left_out_and_told() -> None:
    result = found(run_of(*plates(1002), *plates(1003, name="other"), numbers=(1, 2)), "plate.####.exr")
    assert sorted(result.painted) == [1002]
    assert "result.otio: pairs 2 were painted on another plate than the result; they are not shown" in result.warnings()


def test_a_still_plate_stands_under_every_frame() -> None:
    write_picture(Path("clean.exr"), GREY)
    still = Path("clean.exr").absolute()
    source = SequenceSource(input=str(still), target="paint.####.exr")
    result = found(run_of(still, numbers=(1003,), source=source))
    assert sorted(result.painted) == [1003]
    shown = {frame: (source.path, source.frame) for frame, source in result.plate.items()}
    assert shown == dict.fromkeys(range(1002, 1010), (still, 0))


def test_a_model_without_its_run_has_a_result_too() -> None:
    result = found(None, "plate.####.exr")
    assert (sorted(result.plate), result.painted) == ([*range(1002, 1010)], {})


@pytest.mark.parametrize(("header", "fps"), [("25/1", 25.0), ("24000/1001", 24000 / 1001), ("", 24.0)])
def test_frames_a_second_are_those_of_the_headers(header: str, fps: float) -> None:
    window = Window.of_size(6, 4)
    metadata = {"FramesPerSecond": header} if header else {}
    picture = Image(pixels=GREY, channels=("R", "G", "B"), data_window=window, display_window=window, metadata=metadata)
    write_image(Path("rate.0001.exr"), picture)
    assert found(None, pattern="rate.####.exr").fps == pytest.approx(fps)
    assert found(None, pattern="rate.####.exr", fps=30.0).fps == 30.0


def test_frames_can_be_chosen() -> None:
    result = found(None, frames=(1008, 1003))
    assert (result.frames, result.missing) == ((1003, 1008), (1005, 1006))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"pattern": "result.1002.exr"}, r"--result result\.1002\.exr: is one file"),
        ({"pattern": "no/result.####.exr"}, r"--result no/result\.####\.exr: no frame found"),
        ({"frames": (1002, 1005)}, r"frames 1005 are missing; apply the model to them, or leave them out of --frames"),
        ({"plate": "no/plate.####.exr"}, r"--input no/plate\.####\.exr: no frame found"),
        ({"plate": "plate.1001.exr"}, r"--input plate\.1001\.exr: no frame found; give the pattern of the plate"),
    ],
)
def test_what_is_not_there_is_refused(words: dict[str, object], said: str) -> None:
    with pytest.raises(UnderstudyError, match=said):
        found(None, **words)  # type: ignore[arg-type]


def test_a_damaged_first_frame_is_named() -> None:
    Path("result.1002.exr").write_bytes(b"no picture")
    with pytest.raises(UnderstudyError, match=r"result\.1002\.exr: is not an image"):
        found(None)
