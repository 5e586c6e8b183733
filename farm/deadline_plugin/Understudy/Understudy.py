# ruff: noqa: INP001
"""Deadline plugin: one task is one rank of an understudy job. For Deadline's Python, 3.7 or newer."""

from __future__ import annotations

import json
import re

from Deadline.Plugins import DeadlinePlugin, PluginType
from Deadline.Scripting import RepositoryUtils

NUMBER = "{number}"
"""Stands for the task's number, which is its frame, in words and variables."""
_SAFE = re.compile(r"[\w@%+=:,./-]+", re.ASCII)


def GetDeadlinePlugin() -> UnderstudyPlugin:
    return UnderstudyPlugin()


def CleanupDeadlinePlugin(plugin: UnderstudyPlugin) -> None:
    plugin.cleanup()


class UnderstudyPlugin(DeadlinePlugin):
    """Starts the job's command with the task's own variables, and shows what it prints."""

    def __init__(self) -> None:
        super().__init__()
        self._last_fault = ""
        self.InitializeProcessCallback += self._initialize
        self.PreRenderTasksCallback += self._prepare
        self.RenderExecutableCallback += self._executable
        self.RenderArgumentCallback += self._arguments
        self.CheckExitCodeCallback += self._check_exit_code

    def cleanup(self) -> None:
        """Deadline leaks what is not deleted here."""
        for handler in self.StdoutHandlers:
            del handler.HandleCallback
        del self.InitializeProcessCallback
        del self.PreRenderTasksCallback
        del self.RenderExecutableCallback
        del self.RenderArgumentCallback
        del self.CheckExitCodeCallback

    def _initialize(self) -> None:
        self.PluginType = PluginType.Simple
        self.StdoutHandling = True
        self.SingleFramesOnly = True
        self.UseProcessTree = True
        self.AddStdoutHandlerCallback(r"Progress: (\d+)%").HandleCallback += self._on_progress
        self.AddStdoutHandlerCallback(r"\[(Step:\d+/\d+)\] (Loss:\S+)").HandleCallback += self._on_step
        self.AddStdoutHandlerCallback(r"^understudy: (.+)").HandleCallback += self._on_fault

    def _prepare(self) -> None:
        """The plugin stays loaded from one task of the job to the next."""
        self._last_fault = ""
        variables = json.loads(self.GetPluginInfoEntryWithDefault("TaskEnvironment", "{}"))
        for name, value in variables.items():
            self.SetProcessEnvironmentVariable(name, self._numbered(value))
        gpus = self._gpus()
        if gpus:
            self.SetProcessEnvironmentVariable("CUDA_VISIBLE_DEVICES", ",".join(map(str, gpus)))
            self.LogInfo("GPUs of this task: " + ", ".join(map(str, gpus)))

    def _executable(self) -> str:
        return self._words()[0]

    def _arguments(self) -> str:
        return " ".join(map(_quoted, self._words()[1:]))

    def _check_exit_code(self, code: int) -> None:
        if code:
            self.FailRender(self._last_fault or f"understudy ended with code {code}")

    def _words(self) -> list[str]:
        words = json.loads(self.GetPluginInfoEntry("Command"))
        return [RepositoryUtils.CheckPathMapping(self._numbered(word)) for word in words]

    def _numbered(self, text: str) -> str:
        return text.replace(NUMBER, str(self.GetStartFrame()))

    def _gpus(self) -> list[int]:
        """Those of the worker's affinity, divided between its tasks; empty: as the machine has them."""
        wanted = self.GetIntegerPluginInfoEntryWithDefault("GPUsPerTask", 0)
        has_affinity = self.OverrideGpuAffinity()
        if not wanted:
            return list(self.GpuAffinity()) if has_affinity else []
        first = self.GetThreadNumber() * wanted
        if not has_affinity:
            return list(range(first, first + wanted))
        here = list(self.GpuAffinity())[first : first + wanted]
        if len(here) < wanted:
            self.FailRender(f"this task needs {wanted} GPUs, and the worker's affinity leaves it {len(here)}")
        return here

    def _on_progress(self) -> None:
        self.SetProgress(float(self.GetRegexMatch(1)))

    def _on_step(self) -> None:
        self.SetStatusMessage(self.GetRegexMatch(1) + " " + self.GetRegexMatch(2))

    def _on_fault(self) -> None:
        """The task is not failed yet: a warning looks the same, and a fault ends it by itself."""
        self._last_fault = self.GetRegexMatch(1)


def _quoted(word: str) -> str:
    """A word as the programs' start reads it back on Windows and elsewhere."""
    if _SAFE.fullmatch(word):
        return word
    doubled = re.sub(r'(\\*)("|\Z)', lambda match: match[1] * 2 + ('\\"' if match[2] else ""), word)
    return '"' + doubled + '"'
