"""Rules of the house that no linter holds: size, docstrings, light imports, oldest syntax, no places of one machine."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import DEVNULL

import pytest

REPO = Path(__file__).parents[1]
CORE = REPO / "core"
ROOMS = [REPO / folder for folder in ("core", "farm", "ui", "plugin")]

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 80


def test_production_files_and_functions_are_short() -> None:
    too_long = [
        f"{path.relative_to(REPO)}: {length} lines"
        for path, source in _production_sources()
        if (length := len(source.splitlines())) > MAX_FILE_LINES
    ]
    too_long += [
        f"{path.relative_to(REPO)}:{function.lineno} {function.name}: {length} lines"
        for path, source in _production_sources()
        for function in _functions(source)
        if (length := (function.end_lineno or function.lineno) - function.lineno + 1) > MAX_FUNCTION_LINES
    ]
    assert not too_long


def test_every_production_module_says_what_it_is_for() -> None:
    silent = [str(path.relative_to(REPO)) for path, source in _production_sources() if not _has_docstring(source)]
    assert not silent


def test_importing_everything_but_training_leaves_torch_out() -> None:
    light = [name for name in _module_names() if not f"{name}.".startswith("understudy.train.")]
    assert len(light) > 10
    assert "torch" not in _modules_after(f"import {', '.join(light)}")


def test_help_is_light() -> None:
    loaded = _modules_after(
        "from understudy.cli.main import run\nsys.argv = ['understudy', '--help']\n"
        "try:\n    run()\nexcept SystemExit as end:\n    assert not end.code"
    )
    assert not loaded & {"torch", "numpy", "matplotlib", "OpenImageIO", "opentimelineio"}


def test_tracked_files_name_no_place_of_this_machine() -> None:
    places = [f"{place.as_posix()}/".encode() for place in (REPO, REPO.parent / "shared", Path.home())]
    tracked = _run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]).split("\0")
    named = [
        name
        for name in filter(None, tracked)
        if (REPO / name).is_file() and any(place in (REPO / name).read_bytes() for place in places)
    ]
    assert len(tracked) > 20
    assert not named


def _pythons() -> list[str]:
    """The promised interpreters that this machine has; a launcher may lie on PATH without one behind it."""
    promised = [f"python3.{minor}" for minor in range(10, 14)]
    found = [name for name in promised if shutil.which(name) and not subprocess.call([name, "-c", ""], stderr=DEVNULL)]
    return [sys.executable, *found]


@pytest.mark.parametrize("python", _pythons(), ids=lambda python: Path(python).name)
def test_source_compiles_where_it_is_promised_to_run(python: str) -> None:
    sources = [str(path) for folder in (*ROOMS, REPO / "tests") for path in sorted(folder.rglob("*.py"))]
    program = "import sys\nfor path in sys.argv[1:]: compile(open(path, 'rb').read(), path, 'exec')"
    _run([python, "-c", program, *sources])


def _production_sources() -> Iterator[tuple[Path, str]]:
    for room in ROOMS:
        for path in sorted(room.rglob("*.py")):
            yield path, path.read_text(encoding="utf-8")


def _functions(source: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _has_docstring(source: str) -> bool:
    return ast.get_docstring(ast.parse(source)) is not None


def _module_names() -> list[str]:
    paths = sorted((CORE / "understudy").rglob("*.py"))
    return [".".join(path.relative_to(CORE).with_suffix("").parts).removesuffix(".__init__") for path in paths]


def _modules_after(program: str) -> set[str]:
    """Names of the modules that a fresh interpreter has loaded once it has run `program`."""
    said = _run([sys.executable, "-c", f"import sys\n{program}\nprint(*sys.modules)"])
    return set(said.splitlines()[-1].split())


def _run(command: list[str]) -> str:
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
