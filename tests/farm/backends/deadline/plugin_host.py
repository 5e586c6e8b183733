"""What a Deadline worker gives our plugin, under the real names; as a program, one task as a worker runs it.

Told as JSON: frame, plugin_info, and, where they are not the usual ones, gpus (the worker's affinity), thread (the
task's place on its worker) and mapping (pairs of paths).
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType, ModuleType, SimpleNamespace
from typing import NoReturn, TypeVar

import psutil

PLUGIN = Path(__file__).parents[4] / "farm" / "deadline_plugin" / "Understudy" / "Understudy.py"
CALLBACKS = (
    *("InitializeProcess", "StartJob", "PreRenderTasks", "RenderTasks", "PostRenderTasks", "EndJob"),
    *("RenderExecutable", "RenderArgument", "StartupDirectory", "CheckExitCode", "RenderCanceled"),
)

Value = TypeVar("Value")


class FailRenderError(Exception):
    """The task is an error."""


class Callbacks:
    """Takes `+=` as Deadline's events do."""

    def __init__(self) -> None:
        self.added: list[Callable[..., object]] = []

    def __iadd__(self, callback: Callable[..., object]) -> Callbacks:
        self.added.append(callback)
        return self

    def __call__(self, *words: object) -> object:
        return self.added[0](*words) if self.added else None


class NetList:
    """A list of .NET: it can be walked through, not sliced."""

    def __init__(self, values: Sequence[int]) -> None:
        self._values = values

    def __iter__(self) -> Iterator[int]:
        return iter(self._values)


class DeadlinePlugin:
    """What our plugin uses of the real one, as strict about kinds as .NET is."""

    told: Mapping[str, object]

    def __init__(self) -> None:
        for name in CALLBACKS:
            setattr(self, f"{name}Callback", Callbacks())
        self.PluginType: object = None
        self.StdoutHandling = False
        self.SingleFramesOnly = False
        self.UseProcessTree = False
        self.StdoutHandlers: list[SimpleNamespace] = []
        self.environment: dict[str, str] = {}
        self.shown: list[str] = []
        self.match: re.Match[str] | None = None

    def AddStdoutHandlerCallback(self, pattern: str) -> SimpleNamespace:
        self.StdoutHandlers.append(SimpleNamespace(pattern=pattern, HandleCallback=Callbacks()))
        return self.StdoutHandlers[-1]

    def GetRegexMatch(self, group: int) -> str:
        assert self.match
        return self.match[group]

    def GetPluginInfoEntry(self, key: str) -> str:
        info = self.told["plugin_info"]
        assert isinstance(info, dict)
        return _kind(info[key], str)

    def GetPluginInfoEntryWithDefault(self, key: str, default: str) -> str:
        info = self.told["plugin_info"]
        assert isinstance(info, dict)
        return self.GetPluginInfoEntry(key) if key in info else _kind(default, str)

    def GetIntegerPluginInfoEntryWithDefault(self, key: str, default: int) -> int:
        return int(self.GetPluginInfoEntryWithDefault(key, str(_kind(default, int))))

    def GetStartFrame(self) -> object:
        return self.told["frame"]

    def GetThreadNumber(self) -> object:
        return self.told.get("thread", 0)

    def OverrideGpuAffinity(self) -> bool:
        return "gpus" in self.told

    def GpuAffinity(self) -> NetList:
        gpus = self.told["gpus"]
        assert isinstance(gpus, list)
        return NetList(gpus)

    def SetProcessEnvironmentVariable(self, key: str, value: str) -> None:
        self.environment[_kind(key, str)] = _kind(value, str)

    def SetProgress(self, progress: float) -> None:
        self._show(f"PROGRESS {_kind(progress, float)}")

    def SetStatusMessage(self, message: str) -> None:
        self._show(f"STATUS {_kind(message, str)}")

    def LogInfo(self, message: str) -> None:
        self._show(f"INFO {_kind(message, str)}")

    def FailRender(self, message: str) -> NoReturn:
        raise FailRenderError(_kind(message, str))

    def prints(self, line: str) -> None:
        """A line of the process, as Deadline looks at it."""
        for handler in self.StdoutHandlers if self.StdoutHandling else []:
            self.match = re.search(handler.pattern, line)
            if self.match:
                handler.HandleCallback()

    def callback(self, name: str, *words: object) -> object:
        return getattr(self, f"{name}Callback")(*words)

    def _show(self, line: str) -> None:
        self.shown.append(line)


def _kind(value: object, kind: type[Value]) -> Value:
    """.NET takes no text for a number, and no number for text."""
    assert isinstance(value, kind), f"{value!r} is no {kind.__name__}"
    return value


def load() -> ModuleType:
    """Our plugin's file, over what Deadline gives it to import; sys.modules is left to the caller."""
    plugins, scripting = ModuleType("Deadline.Plugins"), ModuleType("Deadline.Scripting")
    vars(plugins).update(DeadlinePlugin=DeadlinePlugin, PluginType=SimpleNamespace(Simple=0, Advanced=1))
    vars(scripting).update(RepositoryUtils=SimpleNamespace(CheckPathMapping=_mapped))
    sys.modules.update({"Deadline": ModuleType("Deadline"), plugins.__name__: plugins, scripting.__name__: scripting})
    spec = importlib.util.spec_from_file_location("Understudy", PLUGIN)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _mapped(path: str) -> str:
    """By the repository's rules, wherever one fits."""
    rules = DeadlinePlugin.told.get("mapping", [])
    assert isinstance(rules, list)
    for before, after in rules:
        path = _kind(path, str).replace(before, after)
    return path


def main() -> None:
    DeadlinePlugin.told = json.loads(sys.argv[1])
    module = load()
    plugin = module.GetDeadlinePlugin()
    try:
        _run(plugin)
    except FailRenderError as error:
        sys.exit(f"FailRenderException : {error}")
    module.CleanupDeadlinePlugin(plugin)


def _run(plugin: DeadlinePlugin) -> None:
    plugin.callback("InitializeProcess")
    assert plugin.PluginType == 0
    plugin.callback("PreRenderTasks")
    words = [str(plugin.callback("RenderExecutable")), *shlex.split(str(plugin.callback("RenderArgument")))]
    out = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} if plugin.StdoutHandling else {}
    environment = {**os.environ, **plugin.environment}
    try:
        process = subprocess.Popen(words, text=True, env=environment, **out)  # type: ignore[call-overload]
    except OSError as error:
        plugin.FailRender(f"{words[0]}: {error.strerror}")
    _end_when_taken_away(plugin, process)
    for line in process.stdout or ():
        plugin.prints(line)
        sys.stdout.writelines(f"{shown}\n" for shown in [line.rstrip("\n"), *plugin.shown])
        sys.stdout.flush()
        plugin.shown.clear()
    plugin.callback("CheckExitCode", process.wait())


def _end_when_taken_away(plugin: DeadlinePlugin, process: subprocess.Popen[str]) -> None:
    """A simple plugin's process is ended by Deadline: what it has started besides, only where the plugin says so."""

    def end(_number: int, _frame: FrameType | None) -> NoReturn:
        head = psutil.Process(process.pid)
        for member in [head, *(head.children(recursive=True) if plugin.UseProcessTree else [])]:
            member.kill()
        sys.exit("the task was taken away")

    signal.signal(signal.SIGTERM, end)


if __name__ == "__main__":
    main()
