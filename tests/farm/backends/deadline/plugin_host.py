"""One task as a Deadline worker runs it: loads our plugin against the names that Deadline gives it, and obeys it.

Told as JSON: frame, plugin_info, and gpus (the worker's affinity) if it has one.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

PLUGIN = Path(__file__).parents[4] / "farm" / "deadline_plugin" / "Understudy" / "Understudy.py"


class Callbacks:
    """Takes `+=` as Deadline's events do."""

    def __init__(self) -> None:
        self.added: list[Callable[..., object]] = []

    def __iadd__(self, callback: Callable[..., object]) -> Callbacks:
        self.added.append(callback)
        return self

    def __call__(self, *words: object) -> object:
        return self.added[0](*words)


class DeadlinePlugin:
    """What our plugin uses of the real one, under the real names."""

    told: dict[str, object]

    def __init__(self) -> None:
        for name in ("InitializeProcess", "PreRenderTasks", "RenderExecutable", "RenderArgument", "CheckExitCode"):
            setattr(self, f"{name}Callback", Callbacks())
        self.StdoutHandlers: list[SimpleNamespace] = []
        self.environment: dict[str, str] = {}
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
        return str(info[key])

    def GetPluginInfoEntryWithDefault(self, key: str, default: str) -> str:
        info = self.told["plugin_info"]
        assert isinstance(info, dict)
        return str(info.get(key, default))

    def GetIntegerPluginInfoEntryWithDefault(self, key: str, default: int) -> int:
        return int(self.GetPluginInfoEntryWithDefault(key, str(default)))

    def GetStartFrame(self) -> object:
        return self.told["frame"]

    def GetThreadNumber(self) -> int:
        return 0

    def OverrideGpuAffinity(self) -> bool:
        return "gpus" in self.told

    def GpuAffinity(self) -> object:
        return self.told["gpus"]

    def SetProcessEnvironmentVariable(self, key: str, value: str) -> None:
        self.environment[key] = value

    def SetProgress(self, progress: float) -> None:
        say(f"PROGRESS {progress}")

    def SetStatusMessage(self, message: str) -> None:
        say(f"STATUS {message}")

    def LogInfo(self, message: str) -> None:
        say(f"INFO {message}")

    def FailRender(self, message: str) -> None:
        sys.exit(f"FailRenderException : {message}")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def load() -> ModuleType:
    plugins, scripting = ModuleType("Deadline.Plugins"), ModuleType("Deadline.Scripting")
    vars(plugins).update(DeadlinePlugin=DeadlinePlugin, PluginType=SimpleNamespace(Simple=0, Advanced=1))
    vars(scripting).update(RepositoryUtils=SimpleNamespace(CheckPathMapping=lambda path: path))
    sys.modules.update({"Deadline": ModuleType("Deadline"), plugins.__name__: plugins, scripting.__name__: scripting})
    spec = importlib.util.spec_from_file_location("Understudy", PLUGIN)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    DeadlinePlugin.told = json.loads(sys.argv[1])
    module = load()
    plugin = module.GetDeadlinePlugin()
    plugin.InitializeProcessCallback()
    plugin.PreRenderTasksCallback()
    words = [plugin.RenderExecutableCallback(), *shlex.split(plugin.RenderArgumentCallback())]
    try:
        process = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **plugin.environment},
        )
    except OSError as error:
        plugin.FailRender(f"{words[0]}: {error.strerror}")
    assert process.stdout
    for line in process.stdout:
        say(line.rstrip("\n"))
        for handler in plugin.StdoutHandlers:
            plugin.match = re.search(handler.pattern, line)
            if plugin.match:
                handler.HandleCallback()
    plugin.CheckExitCodeCallback(process.wait())
    module.CleanupDeadlinePlugin(plugin)
    assert not any(name.endswith("Callback") for name in vars(plugin))


main()
