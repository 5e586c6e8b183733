"""An export from order to folder: written aside, held against our own model, put in place."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from torch import Tensor, nn

from understudy import __version__
from understudy.files import write_text
from understudy.remap import Remap
from understudy.runs import find_model
from understudy.train.export import flame
from understudy.train.export.folder import RECORD, refuse_foreign, whole_folder
from understudy.train.export.hosts import Host
from understudy.train.export.nuke_cat import MAKER, find_nukex, make_cat
from understudy.train.export.nuke_script import cattery_record, gizmo_text, nuke_model, script_text
from understudy.train.export.onnx_file import PLATE, RESULT, require_onnx, save_onnx
from understudy.train.export.portable import PortableUnderstudy
from understudy.train.export.proof import Proof, prove_onnx, prove_torchscript
from understudy.train.export.samples import Samples, samples_for
from understudy.train.export.torchscript import save_torchscript
from understudy.train.model_file import SavedModel, load_model


@dataclass(frozen=True, kw_only=True)
class ExportOrder:
    """Which model, for whom, to where."""

    model: Path
    """Model file, or a run for its newest."""
    to: Host
    folder: Path | None = None
    """None: beside the model file, called by it and the host."""
    make_cat: bool = False
    """Let NukeX make the .cat file; only for Nuke."""
    nukex: str = ""
    """Its executable; empty: looked for."""
    remap: Remap = ()
    """For the run's frames, whose paths another system may have written."""


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """What was written, and how well it agrees."""

    folder: Path
    samples: Samples
    proofs: tuple[Proof, ...]


@dataclass(frozen=True, kw_only=True)
class _Work:
    """What every host's writer is given."""

    folder: Path
    """To write into."""
    name: str
    """Begins the files' names."""
    saved: SavedModel
    portable: PortableUnderstudy
    samples: Samples


def deliver(order: ExportOrder, say: Callable[[str], None]) -> Delivery:
    """Write the export; `say` gets lines of progress.

    Raises UnderstudyError when model, place or host's program is unusable, or the export gives other pixels; nothing is
    written then.
    """
    path = find_model(order.model)
    nukex = find_nukex(order.nukex) if order.make_cat else None
    if order.to not in ("nuke", "torch"):
        require_onnx()
    folder = order.folder or path.with_name(f"{path.stem}.{order.to}")
    refuse_foreign(folder)
    saved = load_model(path)
    samples = samples_for(path, saved.model, order.remap)
    with whole_folder(folder) as aside:
        work = _Work(
            folder=aside,
            name=re.sub(r"[^\w-]", "_", saved.card.run_name) or "model",
            saved=saved,
            portable=PortableUnderstudy(saved.model).eval(),
            samples=samples,
        )
        say(f"Exporting {path} to {order.to}")
        proofs = _WRITERS[order.to](work)
        if nukex is not None:
            say(f"{nukex} makes the .cat file")
            name = nuke_model(saved, work.name).name
            make_cat(nukex, aside / f"{name}.nk", aside / name / f"{name}.cat")
        write_text(aside / RECORD, _record(path, order.to, work, proofs))
    return Delivery(folder=folder, samples=samples, proofs=proofs)


def _for_nuke(work: _Work) -> tuple[Proof, ...]:
    """RUN.pt, RUN.nk, make_cat.py, and RUN/ for a Cattery."""
    model = nuke_model(work.saved, work.name)
    cattery = work.folder / model.name
    cattery.mkdir()
    write_text(work.folder / f"{model.name}.nk", script_text(model))
    write_text(cattery / f"{model.name}.gizmo", gizmo_text(model))
    write_text(cattery / "cat.json", cattery_record(model))
    shutil.copyfile(MAKER, work.folder / MAKER.name)
    return _torchscript(work, model.name)


def _for_torch(work: _Work) -> tuple[Proof, ...]:
    return _torchscript(work, work.name)


def _torchscript(work: _Work, name: str) -> tuple[Proof, ...]:
    path = work.folder / f"{name}.pt"
    save_torchscript(path, work.portable)
    return tuple(prove_torchscript(path, work.saved.model, work.samples.all))


def _for_onnx(work: _Work) -> tuple[Proof, ...]:
    return (_onnx(work, "", work.portable, batches=True),)


def _for_houdini(work: _Work) -> tuple[Proof, ...]:
    """One picture at a time, so that height and width alone are left to the node."""
    return (_onnx(work, "", work.portable, batches=False),)


def _for_flame(work: _Work) -> tuple[Proof, ...]:
    spec, card = work.saved.model.spec, work.saved.card
    inputs, parts = flame.input_channels(spec.input_channels), flame.parts_of(spec.target_channels)
    proofs = []
    for part in parts:
        module = _Part(work.portable, part.first, len(part.channels))
        proofs.append(_onnx(work, part.suffix, module, batches=False, first=part.first))
        content = flame.sidecar(
            name=work.name + part.suffix,
            about=f"{card.run_name}, step {card.step}, scene-linear {card.working_space}",
            inputs=inputs,
            output=part.channels,
            tensors=(PLATE, RESULT),
        )
        write_text(work.folder / f"{work.name}{part.suffix}.json", flame.sidecar_text(content))
    return tuple(proofs)


class _Part(nn.Module):
    """Some neighbouring channels of an answer."""

    def __init__(self, whole: nn.Module, first: int, num_channels: int) -> None:
        super().__init__()
        self.whole, self.first, self.num_channels = whole, first, num_channels

    def forward(self, scene: Tensor) -> Tensor:
        answer: Tensor = self.whole(scene)
        return answer.narrow(1, self.first, self.num_channels)


def _onnx(work: _Work, suffix: str, module: nn.Module, *, batches: bool, first: int = 0) -> Proof:
    path = work.folder / f"{work.name}{suffix}.onnx"
    spec, card = work.saved.model.spec, work.saved.card
    about = {
        "run": card.run_name,
        "step": str(card.step),
        "input_channels": ",".join(spec.input_channels),
        "target_channels": ",".join(spec.target_channels),
        "working_space": card.working_space,
        "understudy": __version__,
    }
    save_onnx(path, module, len(spec.input_channels), batches=batches, about=about)
    return prove_onnx(path, work.saved.model, work.samples.all, first)


_WRITERS: Mapping[Host, Callable[[_Work], tuple[Proof, ...]]] = {
    "nuke": _for_nuke,
    "onnx": _for_onnx,
    "flame": _for_flame,
    "houdini": _for_houdini,
    "torch": _for_torch,
}


def _record(path: Path, to: Host, work: _Work, proofs: tuple[Proof, ...]) -> str:
    """export.json: what this is, and how well it was found to agree."""
    spec, card = work.saved.model.spec, work.saved.card
    files = sorted(file.relative_to(work.folder).as_posix() for file in work.folder.rglob("*") if file.is_file())
    about = {
        "schema": 1,
        "to": to,
        "model": path.name,
        "run": card.run_name,
        "step": card.step,
        "input_channels": spec.input_channels,
        "target_channels": spec.target_channels,
        "working_space": card.working_space,
        "borrowed_channels": nuke_model(work.saved, work.name).borrowed if to == "nuke" else (),
        "files": files,
        "samples": [sample.name for sample in work.samples.all],
        "proofs": [asdict(proof) for proof in proofs],
        "understudy": __version__,
    }
    return json.dumps(about, indent=2, ensure_ascii=False) + "\n"
