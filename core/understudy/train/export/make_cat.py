"""Run by NukeX without a window, in the folder of an export: makes the .cat file that its script RUN.nk speaks of.

NukeX --nukex -i -t make_cat.py RUN.nk

The cat.json beside the .cat file then asks for the Nuke that made it: an older one could not read it.
"""

import json
import sys
from pathlib import Path
from typing import cast

import nuke


def main(script: str) -> None:
    nuke.scriptOpen(script)
    creator = nuke.toNode("CatFileCreator1")
    if creator is None:
        sys.exit(f"{script}: has no CatFileCreator1; this Nuke may have no licence of NukeX")
    cat_file = Path(cast("nuke.File_Knob", creator["catFile"]).evaluate())
    if cat_file.exists():
        cat_file.unlink()
    cast("nuke.Script_Knob", creator["createCatFile"]).execute()
    if not cat_file.is_file() or not cat_file.stat().st_size:
        sys.exit(f"{cat_file}: was not made by CatFileCreator1")
    _ask_for_this_nuke(cat_file.with_name("cat.json"))
    sys.stdout.write(f"{cat_file}\n")


def _ask_for_this_nuke(record: Path) -> None:
    about = json.loads(record.read_text(encoding="utf-8"))
    about["minimum_nuke_version_required"] = float(f"{nuke.NUKE_VERSION_MAJOR}.{nuke.NUKE_VERSION_MINOR}")
    record.write_text(json.dumps(about, indent=4) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(str(Path(sys.argv[-1]).resolve()))
