"""The lock, the version and the rez package: what is written in two places agrees, and rez builds, resolves, tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import understudy
from understudy.settings import STARTING_WEIGHTS

REPO = Path(__file__).parents[1]
REZ = os.environ.get("UNDERSTUDY_REZ", "")
PROJECT = (REPO / "pyproject.toml").read_text(encoding="utf-8")

needs_rez = pytest.mark.skipif(not REZ, reason="UNDERSTUDY_REZ does not name the bin folder of a rez installation")


def test_the_lock_pins_every_dependency_and_holds_neither_places_nor_cuda() -> None:
    lock = (REPO / "requirements.lock").read_text(encoding="utf-8")
    pins = [line for line in lock.splitlines() if not line.lstrip().startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9.-]+==[^ ]+( ; .+)?", pin) for pin in pins), pins
    pinned = {pin.split("==")[0] for pin in pins}
    assert {name.lower() for name in _minimum_versions(PROJECT)} <= pinned
    assert not [name for name in pinned if name.startswith(("nvidia", "cuda", "triton"))]


def test_the_rez_package_says_what_the_project_says() -> None:
    package = _rez_definition()
    assert package["version"] == understudy.__version__
    wanted = {name.lower(): version for name, version in _minimum_versions(PROJECT).items()}
    requires = [requirement.lstrip("~").split("-", 1) for requirement in _words(package["requires"])]
    asked = {name.lower(): limits.rstrip("+") for name, limits in requires if name != "python"}
    assert {name: wanted[name] for name in asked} == asked
    assert set(asked) == {name.lower() for name in _minimum_versions(PROJECT.split("[project.optional")[0])} | {"torch"}
    oldest, newest = re.findall(r'requires-python = ">=([0-9.]+),<([0-9.]+)"', PROJECT)[0]
    assert f"python-{oldest}+<{newest}" in _words(package["requires"])


def test_the_wheel_brings_the_starting_weights(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    done = subprocess.run(build, cwd=REPO, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    names = set(zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist())
    assert {f"understudy/train/starting_weights/{name}.small.safetensors" for name in STARTING_WEIGHTS} <= names


@needs_rez
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_rez_builds_resolves_and_tests_the_package(tmp_path: Path) -> None:
    rez = _Rez(tmp_path)
    rez.provide_what_is_installed_here()
    rez("build", "--install", cwd=REPO)
    where = "import understudy; print(understudy.__version__, understudy.__file__)"
    version, place = rez("env", "understudy", "--", "python", "-c", where).split()[-2:]
    assert version == understudy.__version__
    assert Path(place).is_relative_to(tmp_path / "packages" / "understudy" / version)
    assert rez("env", "understudy", "--", "understudy", "--version").split()[-1] == understudy.__version__
    rez.define("nuke", "16.0", "pass")
    shown = "import os; print(os.environ['NUKE_PATH'], os.environ['UNDERSTUDY_PYTHON'])"
    nuke_path, python = rez("env", "nuke", "understudy", "--", "python", "-c", shown).split()[-2:]
    assert (Path(nuke_path) / "menu.py").is_file()
    assert python == "python"
    rez.environment["PYTEST_ADDOPTS"] = "-k 'test_remap or test_window or frames'"  # the others run outside of rez too
    tested = rez("test", "understudy", "import", "unit")
    assert re.search(r"\d+ passed", tested), tested


class _Rez:
    """rez with packages of its own in a temporary folder, cut off from any other rez of the machine."""

    def __init__(self, folder: Path) -> None:
        self.packages = folder / "packages"
        config = folder / "rezconfig.py"
        config.write_text(
            f"packages_path = [{str(self.packages)!r}]\n"
            f"local_packages_path = {str(self.packages)!r}\n"
            f"release_packages_path = {str(folder / 'released')!r}\n"
            f"build_directory = {str(folder / 'build')!r}\n"
        )
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("REZ_", "UNDERSTUDY_", "PYTEST_", "PYTHON", "VIRTUAL_ENV"))
        }
        self.environment = inherited | {"REZ_CONFIG_FILE": str(config)}

    def __call__(self, verb: str, *arguments: str, cwd: Path | None = None) -> str:
        command = [str(Path(REZ) / "rez"), verb, *arguments]
        done = subprocess.run(
            command, cwd=cwd or self.packages, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def provide_what_is_installed_here(self) -> None:
        """Packages for the running Python and for all that package.py asks of rez-pip, so that nothing is fetched."""
        python = f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
        root = self.define("python", python, 'env.PATH.prepend("{root}/bin")')
        (root / "bin").mkdir()
        (root / "bin" / Path("python").with_suffix(Path(sys.executable).suffix)).symlink_to(_base_interpreter())
        package = _rez_definition()
        asked = {re.split(r"[~-]", name.lstrip("~"), maxsplit=1)[0] for name in _words(package["requires"])}
        asked |= {name.split("-")[0] for name in _words(package["__pytest_requires"])}
        for name in sorted(asked - {"python", "torch"}):
            place = f"env.PYTHONPATH.append({sysconfig.get_paths()['purelib']!r})"
            self.define(name, metadata.version(name.replace("_", "-")), place)

    def define(self, name: str, version: str, command: str) -> Path:
        root = self.packages / name / version
        root.mkdir(parents=True)
        definition = f"name = {name!r}\nversion = {version!r}\n\n\ndef commands():\n    {command}\n"
        (root / "package.py").write_text(definition)
        return root


def _base_interpreter() -> Path:
    """The interpreter under this virtual environment."""
    return Path(sys.executable).resolve()


def _rez_definition() -> dict[str, object]:
    definition: dict[str, object] = {}
    exec(compile((REPO / "package.py").read_text(encoding="utf-8"), "package.py", "exec"), definition)
    return definition


def _words(value: object) -> list[str]:
    assert isinstance(value, list)
    return [str(word) for word in value]


def _minimum_versions(project: str) -> dict[str, str]:
    """`"name>=version"` lines of pyproject.toml; read so because Python 3.10 has no TOML reader."""
    return dict(re.findall(r'^ *(?:train = \[)?"([\w.-]+)>=([\w.]+)"', project, flags=re.MULTILINE))
