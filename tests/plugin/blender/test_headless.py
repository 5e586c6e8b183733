"""The add-on inside real Blenders without a window, before and from 5.0 on, with the real understudy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest
from numpy.typing import NDArray
from tests.plugin.blender.conftest import FIRST, LAST, inside

ADDON = Path(__file__).parents[3] / "plugin" / "blender" / "understudy_blender"
Pixels = NDArray[np.float32]


def drive(blender: str, scenario: str, order: dict[str, str], folder: Path) -> dict[str, object]:
    """Run a scenario of headless.py; what it has seen."""
    seen, order_path = folder / "seen.json", folder / "order.json"
    order_path.write_text(json.dumps({**order, "folder": str(folder), "seen": str(seen)}))
    scripts, home = folder / "scripts", folder / "home"
    home.mkdir()
    more = {"UNDERSTUDY_PYTHON": sys.executable, "BLENDER_USER_SCRIPTS": str(scripts), "HOME": str(home)}
    inside(blender, "headless.py", [scenario, str(order_path)], **more)
    found = json.loads(seen.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_matte_is_baked_trained_stopped_resumed_applied_and_wired_back(shot: Path, tmp_path: Path) -> None:
    seen = drive("bpy", "journey", {"shot": str(shot), "steps": "300"}, tmp_path)
    assert seen["dry run"] == [""]
    assert "=== job.json" in str(seen["payload"])
    assert str(seen["payload"]).endswith("Nothing was sent.\n")
    assert (seen["stopped"], seen["resumed"]) == (["cancelled"], ["done"])
    assert seen["is as it was"]
    assert (seen["applied"], seen["applied again"]) == (["done"], ["done"])
    assert ["Understudy Result", "Alpha", "Viewer"] in seen["links"]  # type: ignore[operator]
    run = Path(str(seen["run"]))
    painted = {int(path.suffixes[0][1:]) for path in (tmp_path / "data" / "baked").glob("*/truth.*.exr")}
    assert len(painted) == 5
    for frame in range(FIRST, LAST + 1):
        matte = cryptomatte(shot / f"plate.{frame}.exr", "hero")
        if frame in painted:
            (baked,) = (tmp_path / "data" / "baked").glob(f"*/truth.{frame}.exr")
            assert np.array_equal(channels(baked)["A"], matte.astype(np.float16))
        result = channels(run / "result" / f"result.{frame}.exr")["A"]
        assert overlap(result > 0.5, matte > 0.5) > 0.9, frame


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("blender", ["blender", "bpy"])
def test_every_problem_is_one_line_that_says_what_to_do(blender: str, shot: Path, tmp_path: Path) -> None:
    package = tmp_path / "understudy_blender.zip"
    subprocess.run([sys.executable, "-m", "zipfile", "-c", package, ADDON], check=True)
    seen = drive(blender, "problems", {"shot": str(shot), "zip": str(package)}, tmp_path)
    beginnings = {
        "no nodes": "scene Scene: has no nodes in the compositor; turn on Use Nodes",
        "nothing chosen": "Plate: no node is chosen; choose one",
        "node gone": "Ground Truth: Gone has no node of that name in the compositor; choose again",
        "not connected": "Understudy: its input Ground Truth is not connected; link the painted frames to it",
        "not saved": "Data Directory: //understudy lies beside a .blend that is not saved; save it",
        "no place to write": f"{tmp_path / 'a file' / 'data'}",
        "no such farm": "moon",
        "run gone": f"{tmp_path / 'gone'}",
        "no command": "/nowhere/understudy: was not found; set the path of understudy",
    }
    assert {name: len(lines) for name, lines in seen.items() if isinstance(lines, list)} == dict.fromkeys(beginnings, 1)
    for name, beginning in beginnings.items():
        assert beginning in str(seen[name]), (name, seen[name])


def overlap(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """Intersection over union."""
    return float((one & other).sum() / max(1, (one | other).sum()))


def cryptomatte(path: Path, name: str) -> Pixels:
    """Coverage of one object: every rank holds an id, as a float of these bits, and its share of the pixel, twice."""
    found = channels(path)
    manifest = next(text for key, text in attributes(path).items() if key.endswith("/manifest"))
    wanted = np.uint32(int(json.loads(manifest)[name], 16))
    matte = np.zeros_like(found["ViewLayer.Combined.A"])
    for rank in range(3):
        for identity, share in ("rg", "ba"):
            ids = np.ascontiguousarray(found[f"ViewLayer.CryptoObject{rank:02}.{identity}"]).view(np.uint32)
            matte += np.where(ids == wanted, found[f"ViewLayer.CryptoObject{rank:02}.{share}"], 0)
    return matte


def channels(path: Path) -> dict[str, Pixels]:
    """Every channel of every part."""
    found: dict[str, Pixels] = {}
    file, part = opened(path), 0
    while file.seek_subimage(part, 0):
        spec = file.spec()
        pixels = file.read_image(part, 0, 0, spec.nchannels, oiio.FLOAT)
        assert pixels is not None, file.geterror()
        found.update({name: pixels[..., index] for index, name in enumerate(spec.channelnames)})
        part += 1
    return found


def attributes(path: Path) -> dict[str, str]:
    return {each.name: str(each.value) for each in opened(path).spec().extra_attribs}


def opened(path: Path) -> oiio.ImageInput:
    file = oiio.ImageInput.open(str(path))
    assert file is not None, oiio.geterror()
    return file
