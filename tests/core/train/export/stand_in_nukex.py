"""Stands in for NukeX, which no test machine has: notes how it was called, and runs the script as `-t` does.

STAND_IN_NOTES names the file for the notes; STAND_IN_FAULT is `licence`, `nothing` or empty.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import types
from pathlib import Path

from understudy.script.graph import Script, read_script
from understudy.script.paths import PathRules

_OPENED: list[Script] = []


class _File:
    def __init__(self, node: str, knob: str) -> None:
        self._node, self._knob = node, knob

    def evaluate(self) -> str:
        script = _OPENED[-1]
        node = next(node for node in script.nodes if node.name == self._node)
        return PathRules(script=script).path_of(node, self._knob)


class _Button:
    def execute(self) -> None:
        """As CatFileCreator: the .cat file holds the TorchScript file's content in a form of its own."""
        if os.environ["STAND_IN_FAULT"] == "nothing":
            return
        content = Path(_File("CatFileCreator1", "torchScriptFile").evaluate()).read_bytes()
        Path(_File("CatFileCreator1", "catFile").evaluate()).write_bytes(b"cat" + content)


def _node(name: str) -> dict[str, object] | None:
    if os.environ["STAND_IN_FAULT"] == "licence":
        return None
    return {"catFile": _File(name, "catFile"), "createCatFile": _Button()}


def main(words: list[str]) -> None:
    Path(os.environ["STAND_IN_NOTES"]).write_text(json.dumps({"words": words, "folder": str(Path.cwd())}))
    nuke = types.ModuleType("nuke")
    vars(nuke).update(NUKE_VERSION_MAJOR=15, NUKE_VERSION_MINOR=1, toNode=_node)
    vars(nuke).update(scriptOpen=lambda path: _OPENED.append(read_script(Path(path))))
    sys.modules["nuke"] = nuke
    program, *sys.argv = [words[words.index("-t") + 1], *words[words.index("-t") + 1 :]]
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
