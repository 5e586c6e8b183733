"""How a model is loaded in each host: sections of the card, whose words work from the folder that the card lies in."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from understudy.frames.colour import BUILT_IN_WORKING_SPACE
from understudy.publish.markdown import code, numbered, paragraph
from understudy.train.export.hosts import Host

TITLES: Mapping[Host, str] = {
    "nuke": "Nuke",
    "flame": "Flame",
    "houdini": "Houdini",
    "onnx": "onnxruntime",
    "torch": "torch",
}
TRIED = "270, 480"
"""Height and width of the snippets' plates."""


@dataclass(frozen=True, kw_only=True)
class Loading:
    """What the sections speak of."""

    model: str
    """The model file, as a command names it."""
    inputs: tuple[str, ...]
    targets: tuple[str, ...]
    space: str
    """Colour space of the pixels."""
    exports: Mapping[Host, tuple[str, ...]]
    """The files of those that were made, by their paths from the card."""
    left_out: Mapping[Host, str]
    """Why some were not."""

    @property
    def sees(self) -> str:
        return ", ".join(self.inputs)

    @property
    def gives(self) -> str:
        return ", ".join(self.targets)

    def files(self, host: Host, ending: str) -> list[str]:
        """The files of an export whose names end so."""
        return [name for name in self.exports[host] if name.endswith(ending)]


def sections(loading: Loading) -> list[str]:
    """Lines of Markdown: understudy itself, then every host."""
    lines = ["### understudy", "", *_understudy(loading)]
    for host, title in TITLES.items():
        words = _WORDS[host](loading) if host in loading.exports else _not_there(loading, host)
        lines += ["", f"### {title}", "", *words]
    return lines


def _understudy(loading: Loading) -> list[str]:
    words = ["understudy", "apply", loading.model, "--input", "plate.####.exr", "--output", "result.####.exr"]
    if loading.space != BUILT_IN_WORKING_SPACE:
        words += ["--working-space", loading.space]
    return [
        *code("sh", shlex.join(words)),
        "",
        *paragraph(
            "Put the patterns of your plate and of your result in their places. Written are EXR files, in the plate's "
            "own windows and with its header. For files that are not in the model's colour space add "
            "`--input-colorspace`."
        ),
    ]


def _not_there(loading: Loading, host: Host) -> list[str]:
    if host in loading.left_out:
        return paragraph(f"Not made: {loading.left_out[host]}")
    return ["Not made yet:", "", *code("sh", shlex.join(["understudy", "export", loading.model, "--to", host]))]


def _nuke(loading: Loading) -> list[str]:
    script, cat_files = PurePosixPath(loading.files("nuke", ".nk")[0]), loading.files("nuke", ".cat")
    folder, name = script.parent, script.stem
    cat_file = f"{folder}/{name}/{name}.cat"
    make = (
        f"Make the `.cat` file, once, with the oldest Nuke that is to use it: open `{script}` in NukeX, select "
        f"CatFileCreator1 and press its button. It becomes `{cat_file}`. Without a window: the command below this list."
    )
    steps = [
        f"To try it: in `{script}` connect the plate to the dot *plate* and view the lowest node.",
        f"For every script: copy the folder `{folder}/{name}` into a folder `Cattery` on `NUKE_PATH`, such as "
        f"`~/.nuke/Cattery`, and start Nuke again. The node is *Cattery > Understudy > {name}*.",
        f"Or in an Inference of your own: *Model File* is `{cat_file}`. *Use GPU if available* as you like; "
        "*Optimize for Speed and Memory* computes in half: faster, and a few thousandths off.",
    ]
    command = f"cd {shlex.quote(str(folder))} && NukeX --nukex -i -t make_cat.py {shlex.quote(script.name)}"
    return [
        *numbered(steps if cat_files else [make, *steps]),
        "",
        *([] if cat_files else [*code("sh", command), ""]),
        *paragraph(
            f"Give it scene-linear `{loading.space}`. It sees {loading.sees} and answers {loading.gives}; everything "
            "else in the stream stays as it was."
        ),
    ]


def _flame(loading: Loading) -> list[str]:
    mattes = loading.files("flame", ".matte.onnx")
    (main,) = set(loading.files("flame", ".onnx")) - {*mattes}
    text = (
        f"Flame 2025.2 or newer. Add an *Inference* node and load `{main}`; the `.json` of the same name beside it "
        "tells Flame what goes in and out. Connect the plate to *Front* and, where the model sees alpha, its matte to "
        f"*Matte*. Give it scene-linear `{loading.space}`; height and width are free."
    )
    return paragraph(" ".join([text, *(f"The matte comes from a second node, with `{matte}`." for matte in mattes)]))


def _houdini(loading: Loading) -> list[str]:
    return paragraph(
        f"In a Copernicus network add *ONNX Inference*, choose `{loading.files('houdini', '.onnx')[0]}` as *Model "
        f"File* and press *Setup Shapes from Model*. 1 x {len(loading.inputs)} x height x width goes in "
        f"({loading.sees}, scene-linear `{loading.space}`), 1 x {len(loading.targets)} x height x width comes out; "
        "height and width are free."
    )


def _onnx(loading: Loading) -> list[str]:
    return code(
        "python",
        "import numpy as np",
        "import onnxruntime",
        "",
        f'model = "{loading.files("onnx", ".onnx")[0]}"',
        'session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])',
        _your_pixels(loading),
        f"plate = np.random.rand(1, {len(loading.inputs)}, {TRIED}).astype(np.float32)",
        '(result,) = session.run(None, {"plate": plate})',
        _checked(loading),
    )


def _torch(loading: Loading) -> list[str]:
    return code(
        "python",
        "import torch",
        "",
        f'model = torch.jit.load("{loading.files("torch", ".pt")[0]}")',
        _your_pixels(loading),
        f"plate = torch.rand(1, {len(loading.inputs)}, {TRIED})",
        "with torch.no_grad():",
        "    result = model(plate)",
        _checked(loading),
    )


_WORDS: Mapping[Host, Callable[[Loading], list[str]]] = {
    "nuke": _nuke,
    "flame": _flame,
    "houdini": _houdini,
    "onnx": _onnx,
    "torch": _torch,
}


def _your_pixels(loading: Loading) -> str:
    return f"# Your pixels here: {loading.sees}, scene-linear {loading.space}, any height and width."


def _checked(loading: Loading) -> str:
    return f"assert result.shape == (1, {len(loading.targets)}, {TRIED})  # {loading.gives}"
