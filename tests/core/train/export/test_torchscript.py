"""One TorchScript file for every Nuke: what is in it, and that this torch and older ones give our pixels with it.

Older ones are named by UNDERSTUDY_OLD_TORCH; old_torch.sh beside this file installs them.
"""

from __future__ import annotations

import os
import subprocess
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.core.train.export.models import RGB, ROUNDING, lively_model, scene_like
from torch import Tensor, nn

from understudy.errors import UnderstudyError
from understudy.train.export import torchscript
from understudy.train.export.portable import PortableUnderstudy
from understudy.train.export.proof import LARGEST_HALF, OLD_TORCH, largest_difference, prove_torchscript
from understudy.train.export.samples import HIGHLIGHT, samples_for
from understudy.train.export.torchscript import NEWEST_FORMAT, save_torchscript
from understudy.train.network import Understudy

OLD_PYTHONS = [python for python in os.environ.get(OLD_TORCH, "").split(os.pathsep) if python]

IN_HALF = """
import sys
import numpy, torch
module = torch.jit.load(sys.argv[1]).half()
assert {value.dtype for value in module.state_dict().values()} == {torch.float16}
scene = torch.from_numpy(numpy.load(sys.argv[2]))
with torch.no_grad():
    numpy.save(sys.argv[3], module.float()(scene).numpy())
"""


@pytest.fixture(scope="module")
def model() -> Understudy:
    return lively_model((*RGB, "A"), (*RGB, "A"))


@pytest.fixture(scope="module")
def file(model: Understudy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("torchscript") / "comp.pt"
    save_torchscript(path, PortableUnderstudy(model))
    return path


@torch.no_grad()
def test_the_file_gives_our_pixels_in_this_torch(file: Path, model: Understudy) -> None:
    loaded = _loaded(file)
    for height, width in ((1, 1), (37, 53), (64, 48)):
        scene = scene_like(model, height, width)
        assert largest_difference(model(scene).numpy(), loaded(scene).numpy()) < ROUNDING
    halved = _loaded(file).half()(scene.half())
    assert largest_difference(model(scene).numpy(), halved.float().numpy()) < 5e-3


def test_the_archive_is_old_in_form_and_names_no_place(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        assert int(archive.read("archive/version")) <= NEWEST_FORMAT
        code = b"".join(archive.read(name) for name in names if name.endswith(".py"))
    assert not [name for name in names if name.endswith(".debug_pkl")]
    assert b"torch.asinh(" in code
    assert b"NoneType" not in code
    assert str(Path(torchscript.__file__).parents[4]).encode() not in file.read_bytes()


class _WithNews(nn.Module):
    def forward(self, scene: Tensor) -> Tensor:
        return torch.nan_to_num(scene)


def test_words_that_an_older_torch_may_not_know_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match=r"new\.pt: torch .* writes nan_to_num, .* export with torch 2\.13"):
        save_torchscript(tmp_path / "new.pt", _WithNews())
    assert not list(tmp_path.iterdir())


def test_another_model_in_the_file_is_noticed(tmp_path: Path, model: Understudy) -> None:
    other = lively_model((*RGB, "A"), (*RGB, "A"), seed=1)
    save_torchscript(tmp_path / "other.pt", PortableUnderstudy(other))
    with pytest.raises(UnderstudyError, match=r"is not ours \(torch .*: largest difference .* nothing was written"):
        list(prove_torchscript(tmp_path / "other.pt", model, samples_for(tmp_path / "none", model).all))


def test_the_proof_asks_the_older_torches_that_the_environment_names(
    file: Path, model: Understudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = samples_for(file, model).all
    monkeypatch.delenv(OLD_TORCH, raising=False)
    assert [proof.by for proof in prove_torchscript(file, model, samples)] == [
        f"torch {torch.__version__}",
        f"torch {torch.__version__}, half",
    ]
    monkeypatch.setenv(OLD_TORCH, "/nowhere/python")
    with pytest.raises(UnderstudyError, match="UNDERSTUDY_OLD_TORCH: /nowhere/python: cannot be started"):
        list(prove_torchscript(file, model, samples))


@torch.no_grad()
def test_what_half_cannot_hold_is_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OLD_TORCH, raising=False)
    model = lively_model(liveliness=0.0)
    model.guess_matrix.mul_(1.05)  # in transfer space
    assert float(model(torch.full((1, 3, 16, 16), HIGHLIGHT)).max()) > LARGEST_HALF
    save_torchscript(tmp_path / "bright.pt", PortableUnderstudy(model))
    _, in_half = prove_torchscript(tmp_path / "bright.pt", model, samples_for(tmp_path / "none", model).all)
    assert in_half.difference < 0.002


@pytest.mark.skipif(not OLD_PYTHONS, reason=f"{OLD_TORCH} names no Python with an older torch")
def test_older_torches_give_our_pixels(file: Path, model: Understudy) -> None:
    proofs = list(prove_torchscript(file, model, samples_for(file, model).all))[2:]
    assert len(proofs) == len(OLD_PYTHONS)
    for proof in proofs:
        assert int(proof.by.split()[1].split(".")[0]) < 2, proof
        assert proof.difference < ROUNDING, proof


@pytest.mark.skipif(not OLD_PYTHONS, reason=f"{OLD_TORCH} names no Python with an older torch")
@torch.no_grad()
def test_older_torches_take_it_as_half(file: Path, model: Understudy, tmp_path: Path) -> None:
    """Their CPUs have no half convolution: what is seen is what half does to weights and pixels, summed in float."""
    scene = scene_like(model, 61, 83).half().float()
    np.save(tmp_path / "scene.npy", scene.numpy())
    rounded = _loaded(file).half().float()(scene)
    in_half = _loaded(file).half()(scene.half()).float()
    for python in OLD_PYTHONS:
        words = ["-I", "-c", IN_HALF, str(file), str(tmp_path / "scene.npy"), str(tmp_path / "answer.npy")]
        subprocess.run([python, *words], check=True)
        answer = np.load(tmp_path / "answer.npy")
        assert largest_difference(rounded.numpy(), answer) < ROUNDING
        assert largest_difference(in_half.numpy(), answer) < 5e-3


def _loaded(file: Path) -> torch.jit.ScriptModule:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        module: torch.jit.ScriptModule = torch.jit.load(str(file))  # type: ignore[no-untyped-call]
    return module
