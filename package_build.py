"""Builds the rez package: the source folders as they are, and a launcher. Called by rez, see package.py."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import tomli

FOLDERS = ("core", "farm", "ui", "plugin", "tests")
FILES = ("LICENSE", "README.md", "pyproject.toml")

LAUNCHER = """\
#!/usr/bin/env python
import sys

from understudy.cli.main import run

sys.exit(run())
"""
WINDOWS_LAUNCHER = '@python "%~dp0understudy" %*\r\n'


def main() -> None:
    source, build = Path(os.environ["REZ_BUILD_SOURCE_PATH"]), Path(os.environ["REZ_BUILD_PATH"])
    fill(source, build)
    if "install" in sys.argv[1:]:
        fill(source, Path(os.environ["REZ_BUILD_INSTALL_PATH"]))


def fill(source: Path, target: Path) -> None:
    """Make `target` a package root; what an earlier build left there in these folders goes."""
    for folder in FOLDERS:
        shutil.rmtree(target / folder, ignore_errors=True)
        if (source / folder).is_dir():
            shutil.copytree(source / folder, target / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(source / name, target / name)
    write_launchers(target / "bin")
    write_metadata(target / "core")


def write_metadata(folder: Path) -> None:
    """What pip would write: by it, Python finds the commands and farms that our parts bring each other."""
    project = tomli.loads((folder.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = os.environ["REZ_BUILD_PROJECT_VERSION"]
    info = folder / f"{project['name']}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n")
    lines = []
    for group, entries in {"console_scripts": project["scripts"], **project["entry-points"]}.items():
        lines += [f"[{group}]", *(f"{name} = {place}" for name, place in entries.items()), ""]
    (info / "entry_points.txt").write_text("\n".join(lines))


def write_launchers(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    launcher = folder / "understudy"
    launcher.write_bytes(LAUNCHER.encode())
    launcher.chmod(0o755)
    (folder / "understudy.bat").write_bytes(WINDOWS_LAUNCHER.encode())


if __name__ == "__main__":
    main()
