"""What the add-on may need: the standard library, Blender, itself, an old Python; and where it is packed."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import understudy_blender

REPO = Path(__file__).parents[3]
ADDON = REPO / "plugin" / "blender" / "understudy_blender"
MODULES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(ADDON.glob("*.py"))}
TOUCH_BLENDER = {"bake", "host", "nodes", "operators", "panel", "properties"}


def imported(source: str) -> Iterator[str]:
    """Names of the packages that a module imports; those of its own are left out."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).split(".")[0]


@pytest.mark.parametrize("module", MODULES)
def test_nothing_but_the_standard_library_blender_and_itself_is_imported(module: str) -> None:
    assert set(imported(MODULES[module])) <= {*sys.stdlib_module_names, "bpy", "understudy_blender"}


@pytest.mark.parametrize("module", MODULES)
def test_what_can_be_decided_without_blender_is(module: str) -> None:
    assert ("bpy" in imported(MODULES[module])) == (module in TOUCH_BLENDER)


@pytest.mark.parametrize("module", MODULES)
def test_the_oldest_promised_python_understands_it(module: str) -> None:
    ast.parse(MODULES[module], feature_version=(3, 9))


def test_the_version_is_that_of_understudy() -> None:
    import understudy

    assert ".".join(map(str, understudy_blender.bl_info["version"])) == understudy.__version__


def test_the_rez_package_carries_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REZ_BUILD_PROJECT_VERSION", "0.1.0")
    found = importlib.util.spec_from_file_location("package_build", REPO / "package_build.py")
    assert found is not None
    assert found.loader is not None
    builder = importlib.util.module_from_spec(found)
    found.loader.exec_module(builder)
    builder.fill(REPO, tmp_path)
    packed = {path.stem for path in (tmp_path / "plugin" / "blender" / "understudy_blender").glob("*.py")}
    assert packed == set(MODULES)
