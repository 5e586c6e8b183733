"""What Deadline takes as JobInfo and PluginInfo: the keys as documented, and the form of each value.

The real one passes over keys that it does not know, which is how a misspelled one stays unseen: here it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from configparser import ConfigParser
from pathlib import Path

OPTIONS = Path(__file__).parents[4] / "farm" / "deadline_plugin" / "Understudy" / "Understudy.options"
TEXT, NUMBER, TRUTH, JOB_ID = r"[^\r\n]+", r"\d+", r"true|false", r"[0-9a-f]{24}"
NAMES = r"[^\r\n,]+(,[^\r\n,]+)*"
KEYS = {
    **dict.fromkeys(("Name", "BatchName", "Comment", "Department", "UserName", "MachineName"), TEXT),
    "Plugin": r"CommandLine|Understudy",
    "Frames": r"0(-[1-9]\d*)?",
    "ChunkSize": r"[1-9]\d*",
    "ConcurrentTasks": r"[1-9]|1[0-6]",
    "Priority": r"\d\d?|100",
    **dict.fromkeys(("Pool", "SecondaryPool", "Group"), r"[^\r\n,]+"),
    **dict.fromkeys(("LimitGroups", "Whitelist", "Blacklist"), NAMES),
    "JobDependencies": rf"{JOB_ID}(,{JOB_ID})*",
    "InitialStatus": r"Active|Suspended",
    "TaskTimeoutSeconds": NUMBER,
    "OnTaskTimeout": r"Error|Notify|ErrorAndNotify|Complete",
    **dict.fromkeys(("EnableAutoTimeout", "Interruptible", "IncludeEnvironment"), TRUTH),
    **dict.fromkeys(("OverrideTaskFailureDetection", "OverrideJobFailureDetection"), TRUTH),
    **dict.fromkeys(("FailureDetectionTaskErrors", "FailureDetectionJobErrors"), NUMBER),
}
INDEXED = {
    "EnvironmentKeyValue": r"[A-Za-z_]\w*=[^\r\n]*",
    "ExtraInfoKeyValue": r"\w+=[^\r\n]*",
    "ExtraInfo": TEXT,
    "OutputDirectory": TEXT,
}
MOST_EXTRA_INFO = 10
COMMAND_LINE = {"Executable", "Arguments", "StartupDirectory", "Shell", "ShellExecute", "SingleFramesOnly"}


class Refused(Exception):
    """What Deadline says no to: status and words."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


def check(info: Mapping[str, object], plugin: Mapping[str, object]) -> None:
    """Raise Refused for a key or a value that is not documented."""
    wrong = [f"{key}={value}" for key, value in info.items() if not _fits(key, value)]
    for name in INDEXED:
        numbers = [int(key.removeprefix(name)) for key in info if re.fullmatch(rf"{name}\d+", key)]
        wrong += [f"{name} is not numbered from 0"] if numbers != list(range(len(numbers))) else []
        wrong += ["ExtraInfo10"] if name == "ExtraInfo" and len(numbers) > MOST_EXTRA_INFO else []
    wrong += [key for key in ("Plugin", "Name", "Frames", "UserName", "MachineName") if key not in info]
    known = COMMAND_LINE if info.get("Plugin") == "CommandLine" else options()
    wrong += [key for key, value in plugin.items() if key not in known or not isinstance(value, str)]
    if wrong:
        raise Refused(500, f"Error: {', '.join(wrong)}")


def options() -> set[str]:
    """Keys of our plugin, as its .options file names them."""
    parser = ConfigParser(interpolation=None)
    parser.read(OPTIONS, encoding="utf-8")
    return set(parser.sections())


def _fits(key: str, value: object) -> bool:
    indexed = re.fullmatch(r"(\D+)\d+", key)
    form = KEYS.get(key) or (INDEXED.get(indexed[1]) if indexed else None)
    return bool(form and isinstance(value, str) and re.fullmatch(form, value))
