"""What a Nuke without a window does of a bake: nuke -t bake_terminal.py SCRIPT NODE FOLDER FIRST LAST [render].

Two Write nodes go into the script, which is a copy; with `render` they are rendered. Then the training node's inputs
become Reads of those files, and the script is saved into the folder, for understudy to read.
"""

from __future__ import annotations

import os
import sys

import nuke

from understudy_nuke.graph import file_of

WRITES = ("UnderstudyInput", "UnderstudyTarget")
FILES = ("input.####.exr", "target.####.exr")
BAKED = "baked.nk"
RENDER = "render"
_EXIT_TO_MEND = 2


def bake(script: str, node: str, folder: str, first: int, last: int, *, renders: bool) -> None:
    """Raises RuntimeError for what Nuke cannot do."""
    nuke.scriptOpen(script)
    training = nuke.toNode(node)
    if training is None:
        raise RuntimeError(f"{script}: has no node {node}; save the script and bake again")
    os.makedirs(folder, exist_ok=True)
    patterns = [f"{folder}/{name}" for name in FILES]
    writes = [_write(training, number, pattern) for number, pattern in enumerate(patterns)]
    nuke.scriptSave()
    if renders:  # before the script gets another name, by which relative paths in it would lead elsewhere
        for write in writes:
            nuke.execute(write, first, last, 1)
    folders = {name: file_of(training, name) for name in ("dataDirectory", "checkpointFile")}
    for number, pattern in enumerate(patterns):
        training.setInput(number, _read(training, number, pattern, first, last))
    for name, path in folders.items():
        training[name].setValue(path)
    nuke.scriptSaveAs(f"{folder}/{BAKED}", 1)


def _write(training: nuke.Node, number: int, pattern: str) -> nuke.Node:
    """Numbers as they are, of every channel; without autocrop Nuke writes the bounding box as the data window."""
    with training.parent():
        write = nuke.nodes.Write()
    write.setName(WRITES[number])
    write.setInput(0, training.input(number))
    write["file"].setValue(pattern)
    write["file_type"].setValue("exr")  # only then it has the knobs of EXR
    write["channels"].setValue("all")
    write["datatype"].setValue("32 bit float")
    write["autocrop"].setValue(False)
    write["raw"].setValue(True)
    return write


def _read(training: nuke.Node, number: int, pattern: str, first: int, last: int) -> nuke.Node:
    with training.parent():
        read = nuke.nodes.Read()
    read.setName(f"{WRITES[number]}Baked")
    read["file"].setValue(pattern)
    for name, frame in (("first", first), ("last", last), ("origfirst", first), ("origlast", last)):
        read[name].setValue(frame)
    read["raw"].setValue(True)
    return read


def main(words: list[str]) -> int:
    script, node, folder, first, last, *verb = words
    try:
        bake(script, node, folder, int(first), int(last), renders=verb == [RENDER])
    except (RuntimeError, OSError) as error:
        sys.stderr.write(f"understudy: {error}\n")
        return _EXIT_TO_MEND
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
