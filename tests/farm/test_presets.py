"""Where choices come from, and which source goes over which."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.errors import Problems, UnderstudyError
from understudy_farm.choices import Choices
from understudy_farm.presets import chosen, remember

STUDIO = """
[defaults]
farm = "slurm"
priority = 40
[farm.slurm]
pool = "gpu"
array = "yes"
[farm.ssh]
hosts = "a,b"
[preset.overnight]
priority = 10
ranks = 8
limits = ["night"]
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A studio's presets, and a user's empty home."""
    studio = tmp_path / "studio.toml"
    studio.write_text(STUDIO)
    return {"UNDERSTUDY_PRESETS": str(studio), "UNDERSTUDY_HOME": str(tmp_path / "home")}


def _own(environment: dict[str, str], text: str) -> None:
    home = Path(environment["UNDERSTUDY_HOME"])
    home.mkdir(exist_ok=True)
    (home / "farm.toml").write_text(text)


def test_without_anything_it_is_this_machine_and_one_rank(tmp_path: Path) -> None:
    choices, farm, site = chosen({}, {}, environment={"UNDERSTUDY_HOME": str(tmp_path)})
    assert (choices, farm.name, dict(site.values)) == (Choices(), "local", {"gpus": "auto"})


def test_later_sources_go_over_earlier_ones(environment: dict[str, str]) -> None:
    assert chosen({}, {}, environment=environment)[0].priority == 40
    _own(environment, "[defaults]\npriority = 41\n")
    assert chosen({}, {}, environment=environment)[0].priority == 41
    overnight = chosen({}, {}, preset="overnight", environment=environment)[0]
    assert (overnight.priority, overnight.ranks, overnight.limits) == (10, 8, ("night",))
    variable = {"UNDERSTUDY_SUBMIT_PRIORITY": "60"}
    assert chosen({}, {}, environment={**environment, **variable})[0].priority == 60
    assert chosen({"priority": 80}, {}, environment={**environment, **variable})[0].priority == 80


def test_each_farm_has_its_own_table(environment: dict[str, str]) -> None:
    choices, farm, site = chosen({}, {}, environment=environment)
    assert (farm.name, choices.pool, site["array"]) == ("slurm", "gpu", "yes")
    choices, farm, site = chosen({"farm": "ssh"}, {"ssh": "ssh -F x"}, environment=environment)
    assert (farm.name, choices.pool, site["hosts"], site["ssh"]) == ("ssh", "", "a,b", "ssh -F x")


def test_the_environment_sets_options_and_lists(environment: dict[str, str]) -> None:
    variables = {"UNDERSTUDY_SUBMIT_ARRAY": "no", "UNDERSTUDY_SUBMIT_LIMITS": "a, b", "UNDERSTUDY_SUBMIT_FARM": "slurm"}
    choices, _, site = chosen({}, {}, environment={**environment, **variables})
    assert (choices.limits, site["array"]) == (("a", "b"), "no")


def test_the_last_submission_is_taken_when_asked_for(environment: dict[str, str]) -> None:
    remember(Choices(farm="slurm", ranks=6, pool="big", name="once"), environment)
    assert chosen({}, {}, environment=environment)[0].ranks == 1
    last = chosen({}, {}, take_last=True, environment=environment)[0]
    assert (last.ranks, last.pool, last.name) == (6, "big", "")
    (Path(environment["UNDERSTUDY_HOME"]) / "last.slurm.json").write_text('{"ranks": "many"}')
    assert chosen({}, {}, take_last=True, environment=environment)[0].ranks == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[defaults]\nprioritty = 3\n", r"farm.toml: \[defaults\]: prioritty is no choice"),
        ("[defaults]\npriority = 300\n", r"farm.toml: \[defaults\]: priority: 300 is out of range"),
        ("[defaults]\npriority = 'high'\n", r"farm.toml: \[defaults\]: priority 'high' is no value like 50"),
        ("[default]\n", r"farm.toml: \[default\] is unknown"),
        ("[farm\n", r"farm.toml: is no TOML"),
        ("[farm]\nslurm = 3\n", r"farm.toml: \[farm\].slurm: is no table"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(environment: dict[str, str], text: str, says: str) -> None:
    _own(environment, text)
    with pytest.raises(UnderstudyError, match=says):
        chosen({}, {}, environment=environment)


def test_what_is_wrong_elsewhere_is_named(environment: dict[str, str]) -> None:
    with pytest.raises(
        UnderstudyError,
        match=r"--farm qube: no such farm; there are deadline, .*local, mpi, opencue, sge, slurm, ssh",
    ):
        chosen({"farm": "qube"}, {}, environment=environment)
    with pytest.raises(UnderstudyError, match=r"--preset lunch: no presets file has it"):
        chosen({}, {}, preset="lunch", environment=environment)
    with pytest.raises(UnderstudyError, match=r"--farm-option: hosts is no choice"):
        chosen({}, {"hosts": "a"}, environment=environment)
    with pytest.raises(UnderstudyError, match=r"environment: speed is no choice"):
        chosen({}, {}, environment={**environment, "UNDERSTUDY_SUBMIT_SPEED": "9"})
    with pytest.raises(Problems, match=r"flags: python and rez exclude each other"):
        chosen({"python": "py", "rez": "understudy"}, {}, environment=environment)
