"""Scripts as Nuke saves them, for the parser, and the means to build small shots on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest
from tests.core.script import training_comp

from understudy.frames.image import FloatPixels, Image
from understudy.frames.window import Window
from understudy.script.evaluate import Evaluator
from understudy.script.graph import Node, Script, parse_script
from understudy.script.nodes.base import Reading, Request, Tree
from understudy.script.nodes.read import Read
from understudy.script.paths import PathRules

COMP = r"""#! /opt/Nuke16.0v1/Nuke16.0 -nx
#write_info Write1 file:"/out/a.exr" format:"48 27 1"
version 16.0 v1
define_window_layout_xml {<?xml version="1.0" encoding="UTF-8"?>
<layout version="1.0">
    <window x="0" y="0" w="100" h="100"><dock id="Viewer.1" note="a {balanced} brace"/></window>
</layout>
}
add_layer {mask mask.a}
Root {
 inputs 0
 name "/shots/it's \{odd\} \[name\].nk"
 project_directory "\[python \{nuke.script_directory()\}]"
 format "48 27 0 0 48 27 1 tiny"
 lock_range true
 luts {linear {} sRGB {curve {x<0.04045?x/12.92:pow((x+0.055)/1.055,2.4)}}}
}
BackdropNode {
 inputs 0
 name BackdropNode1
 label "<b>PLATES</b>\nsecond line \u00e9\x41\101"
 addUserKnob {20 User}
 addUserKnob {22 go l "Go \[now]" T "print('a')\nif x:\n  nuke.message(\"hi\")"}
}
Read {
 inputs 0
 file_type exr
 file "\[file dirname \[value root.name]]/plate.####.exr"
 last 10
 name Read1
}
set N1a2b [stack 0]
Grade {
 white {1.5 {curve x1 1} 2 1}
 multiply {{curve i x1 1 x10 2}}
 name Grade1
}
set Cdead [stack 0]
push $N1a2b
push 0
Merge2 {
 inputs 2+1
 name Merge1
}
Group {
 inputs 2
 name Group1
 addUserKnob {7 gain l Gain R 0 4}
 gain 2
}
 Input {
  inputs 0
  name Input1
  number 1
 }
set Nin [stack 0]
 Input {
  inputs 0
  name Input2
 }
push $Nin
 Merge2 {
  inputs 2
  operation plus
  name Merge1
 }
 Group {
  name Inner
 }
  Input {
   inputs 0
   name Input1
  }
  Grade {
   multiply {{parent.parent.gain}}
   name Grade1
  }
  Output {
   name Output1
  }
 end_group
 Output {
  name Output1
 }
end_group
clone $Cdead {
 inputs 1
 xpos 4
 name Grade1
}
Switch {
 inputs 2
 which 1
 label {[value which]}
 name Switch1
}
push $N1a2b
Viewer {
 frame_range 1-10
 name Viewer1
}
StickyNote {
 inputs 0
 name StickyNote1
 label "a \"quoted\" \\ word; not a command"
}
"""

SNIPPET = r"""set cut_paste_input [stack 0]
version 12.1 v2
push $cut_paste_input
Blur {
 size {{"parent.size \[value x]"}}
 name Blur1
 selected true
}
Dot {
 name Dot1
}
NoOp { name NoOp1 onCreate "nuke.thisNode()\['a'].execute()" }
Keyer { }
"""

MULTILINE = """Text2 {
 message "one
two \\{not a brace"
 note {a
  b {c
 d} e}
 escaped one\\ word
 empty {}
 empty2 ""
 folded "a\\
   b"
}
Dot {name D1; x 2}
  # a comment { with a brace \\
 that goes on
Dot {}; Dot {name D3}
push 0
"""

FIXTURES = {"comp": COMP, "training": training_comp.COMP, "snippet": SNIPPET, "multiline": MULTILINE}


def write_exr(path: Path, pixels: FloatPixels, channels: tuple[str, ...] = ("R", "G", "B")) -> None:
    """Write H W C floats; the display window is the whole picture."""
    path.parent.mkdir(parents=True, exist_ok=True)
    spec = oiio.ImageSpec(pixels.shape[1], pixels.shape[0], pixels.shape[2], oiio.FLOAT)
    spec.channelnames = channels
    output = oiio.ImageOutput.create(str(path))
    assert output is not None
    assert output.open(str(path), spec), output.geterror()
    assert output.write_image(np.ascontiguousarray(pixels, np.float32)), output.geterror()
    output.close()


def numbered_shot(folder: Path, frames: range, width: int = 4, height: int = 3, channels: str = "RGB") -> str:
    """Frames whose pixels say where they are: frame + x/10 + (row from the bottom)/100 + channel/1000. The pattern."""
    for frame in frames:
        x = np.arange(width)[None, :, None] / 10
        y = np.arange(height)[::-1, None, None] / 100
        c = np.arange(len(channels))[None, None, :] / 1000
        pixels = np.asarray(frame + x + y + c, np.float32)  # H W C
        write_exr(folder / f"plate.{frame:04d}.exr", pixels, tuple(channels))
    return f"{folder.as_posix()}/plate.####.exr"


def script_of(text: str, folder: Path | None = None) -> Script:
    return parse_script(text, (folder or Path("/nowhere")) / "shot.nk")


def evaluator_of(text: str, folder: Path | None = None, view: str = "") -> tuple[Evaluator, Node]:
    """The evaluator of a script and its last node."""
    script = script_of(text, folder)
    return Evaluator(script, Reading(paths=PathRules(script=script), view=view)), script.nodes[-1]


def pull(text: str, frame: int = 1, channels: tuple[str, ...] | None = None) -> Image:
    """The picture of the script's last node, its tree checked first."""
    evaluator, last = evaluator_of(text)
    evaluator.check([last])
    return evaluator.pull(last, frame, channels or evaluator.channels(last))


def frame_shown(text: str, frame: int) -> int:
    """Which frame of a numbered shot a script's last node shows; its lower left red pixel says."""
    return round(float(pull(text, frame, ("R",)).pixels[-1, 0, 0]))


def frames_shown(text: str, frames: range) -> list[int]:
    """`frame_shown` at each of the frames."""
    return [frame_shown(text, frame) for frame in frames]


def range_of(text: str) -> str:
    """The range of a script's last node, as messages write it."""
    evaluator, last = evaluator_of(text)
    return str(evaluator.span(last))


def decoded_regions(monkeypatch: pytest.MonkeyPatch) -> list[Window]:
    """The regions that Reads are asked for from now on."""
    regions: list[Window] = []
    decode = Read.pixels

    def counted(self: Read, tree: Tree, node: Node, request: Request) -> FloatPixels:
        regions.append(request.region)
        return decode(self, tree, node, request)

    monkeypatch.setattr(Read, "pixels", counted)
    return regions
