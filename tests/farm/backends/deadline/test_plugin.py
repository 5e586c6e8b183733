"""Our plugin as a worker loads it: what it starts, on which GPUs, and what it makes of what it sees."""

from __future__ import annotations

import ast
import json
import sys
import time
from configparser import ConfigParser
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest
from tests.farm.backends.deadline import plugin_host
from tests.farm.backends.deadline.fake_farm import RENDERING, FakeFarm
from tests.farm.backends.deadline.fake_job_info import options
from tests.farm.backends.deadline.plugin_host import PLUGIN, DeadlinePlugin, FailRenderError

from understudy_farm.backends.deadline.plugin_info import plugin_info
from understudy_farm.spec import Resources, Step

TRAIN = Step(
    name="train",
    argv=("/mnt/show/bin/python", "resume", "/mnt/show/sh 010/v003", "--part", "{number}/4", ""),
    environment=(("COPYCAT_RANK", "{number}"), ("SHARED", "x")),
    num_tasks=4,
    retries=0,
    resources=Resources(gpus=2),
)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Our plugin's file, as loaded for a task of TRAIN, frame 3."""
    for name in ("Deadline", "Deadline.Plugins", "Deadline.Scripting"):
        monkeypatch.setitem(sys.modules, name, None)
    told = {"frame": 3, "plugin_info": plugin_info(TRAIN, "Understudy")}
    monkeypatch.setattr(DeadlinePlugin, "told", told, raising=False)
    return plugin_host.load()


@pytest.fixture
def plugin(module: ModuleType) -> DeadlinePlugin:
    plugin: DeadlinePlugin = module.GetDeadlinePlugin()
    plugin.callback("InitializeProcess")
    return plugin


def tell(plugin: DeadlinePlugin, **more: object) -> None:
    DeadlinePlugin.told = {**plugin.told, **more}


def test_a_task_gets_its_own_words_and_variables(plugin: DeadlinePlugin) -> None:
    plugin.callback("PreRenderTasks")
    assert plugin.callback("RenderExecutable") == "/mnt/show/bin/python"
    assert plugin.callback("RenderArgument") == 'resume "/mnt/show/sh 010/v003" --part 3/4 ""'
    assert plugin.environment == {"COPYCAT_RANK": "3", "CUDA_VISIBLE_DEVICES": "0,1"}


def test_paths_are_those_of_the_worker(plugin: DeadlinePlugin) -> None:
    tell(plugin, mapping=[["/mnt/show/", "P:\\show\\"]])
    assert plugin.callback("RenderExecutable") == "P:\\show\\bin/python"
    assert plugin.callback("RenderArgument") == 'resume "P:\\show\\sh 010/v003" --part 3/4 ""'


@pytest.mark.parametrize(
    ("wanted", "told", "devices"),
    [
        (0, {}, None),
        (0, {"gpus": [2, 3]}, "2,3"),
        (0, {"gpus": []}, None),
        (1, {}, "0"),
        (2, {"thread": 1}, "2,3"),
        (1, {"gpus": [3]}, "3"),
        (1, {"gpus": [1, 3], "thread": 1}, "3"),
        (2, {"gpus": [1, 3, 5]}, "1,3"),
    ],
)
def test_gpus_are_those_of_the_workers_affinity(
    plugin: DeadlinePlugin, wanted: int, told: dict[str, object], devices: str | None
) -> None:
    tell(plugin, plugin_info={"TaskEnvironment": "{}", "GPUsPerTask": str(wanted)}, **told)
    plugin.callback("PreRenderTasks")
    assert plugin.environment.get("CUDA_VISIBLE_DEVICES") == devices


def test_too_few_gpus_are_an_error(plugin: DeadlinePlugin) -> None:
    tell(plugin, gpus=[1, 3, 5], thread=1)
    with pytest.raises(FailRenderError, match="needs 2 GPUs, and the worker's affinity leaves it 1"):
        plugin.callback("PreRenderTasks")


def test_progress_step_and_loss_are_shown(plugin: DeadlinePlugin) -> None:
    for line in ("Progress: 37%", "[Step:370/1000] Loss:0.012300", "STDOUT: nothing", "Progress: soon"):
        plugin.prints(line)
    assert plugin.shown == ["PROGRESS 37.0", "STATUS Step:370/1000 Loss:0.012300"]


def test_a_fault_is_the_tasks_error_but_not_that_of_its_next_start(plugin: DeadlinePlugin) -> None:
    plugin.callback("PreRenderTasks")
    plugin.callback("CheckExitCode", 0)
    plugin.prints("understudy: /mnt/x: no such run; correct the path")
    plugin.callback("CheckExitCode", 0)
    with pytest.raises(FailRenderError, match=r"^/mnt/x: no such run; correct the path$"):
        plugin.callback("CheckExitCode", 2)
    plugin.callback("PreRenderTasks")
    with pytest.raises(FailRenderError, match=r"^understudy ended with code -9$"):
        plugin.callback("CheckExitCode", -9)


def test_clean_up_deletes_every_callback(module: ModuleType, plugin: DeadlinePlugin) -> None:
    used = {name for name, value in vars(plugin).items() if name.endswith("Callback") and value.added}
    handlers = list(plugin.StdoutHandlers)
    assert used
    assert handlers
    module.CleanupDeadlinePlugin(plugin)
    assert not used & {*vars(plugin)}
    assert not any(hasattr(handler, "HandleCallback") for handler in handlers)


def test_a_task_that_is_taken_away_leaves_no_process(fake: FakeFarm, tmp_path: Path) -> None:
    """Not even one that its command has started besides."""
    program = "import os, pathlib, sys, time; pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(600)"
    pid_file = tmp_path / "pid"
    words = ["sh", "-c", f'"{sys.executable}" -c "$0" "$1" & wait', program, str(pid_file)]
    info = {"Plugin": "Understudy", "Name": "n", "Frames": "0", "UserName": "u", "MachineName": "h"}
    plugin = {"Command": json.dumps(words), "TaskEnvironment": "{}"}
    job = fake.jobs[fake.submit({"JobInfo": info, "PluginInfo": plugin, "AuxFiles": []})["_id"]]
    wait_until(lambda: pid_file.exists() and pid_file.read_text() != "")
    assert job.tasks[0].state == RENDERING
    process = psutil.Process(int(pid_file.read_text()))
    with fake.lock:
        fake.command_job(job, "fail")
    wait_until(lambda: not process.is_running() or process.status() == psutil.STATUS_ZOMBIE)


def test_the_file_is_python_3_7() -> None:
    """The oldest of Deadline's own interpreters that is not Python 2."""
    tree = ast.parse(PLUGIN.read_text(encoding="utf-8"), feature_version=(3, 7))
    newer = {"removeprefix", "removesuffix", "cache", "pairwise", "zip_longest", "prod"}
    assert not newer & {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def test_the_monitor_knows_every_option() -> None:
    assert options() == {*plugin_info(TRAIN, "Understudy")}
    for name in ("Understudy.options", "Understudy.param"):
        parser: Any = ConfigParser(interpolation=None)
        parser.read(PLUGIN.with_name(name), encoding="utf-8")
        for section in parser.sections():
            assert parser[section]["Type"] in ("label", "string", "integer", "boolean")
            assert {"Label", "Category", "Index", "Description"} <= {key.capitalize() for key in parser[section]}


def wait_until(holds: object) -> None:
    assert callable(holds)
    give_up = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < give_up, "too late"
        time.sleep(0.05)
