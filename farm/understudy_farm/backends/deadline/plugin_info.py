"""A step's command as PluginInfo: for Deadline's own CommandLine plugin, or for ours."""

from __future__ import annotations

import json
import re
from typing import Literal, cast, get_args

from understudy_farm.backend import FarmError, Site
from understudy_farm.spec import NUMBER, Step

Plugin = Literal["CommandLine", "Understudy"]

_START_FRAME = "<STARTFRAME>"
_QUOTE = "<QUOTE>"
_SAFE = re.compile(r"[\w@%+:,./-]+", re.ASCII)
_IN_QUOTES = {
    "\\": "\\\\",
    "$": "\\$",
    "`": "\\`",
    '"': f"\\{_QUOTE}",
    # a token of the plugin's falls apart
    "<": f"<{_QUOTE}{_QUOTE}",
    # one line only
    "\n": f"{_QUOTE}$'\\n'{_QUOTE}",
    # the plugin makes plain quotes of these
    "\u201c": f"{_QUOTE}$'\\342\\200\\234'{_QUOTE}",
    "\u201d": f"{_QUOTE}$'\\342\\200\\235'{_QUOTE}",
}


def plugin_of(site: Site) -> Plugin:
    """Raises FarmError when the option names another one."""
    for plugin in get_args(Plugin):
        if site["plugin"] == plugin:
            return cast(Plugin, plugin)
    raise FarmError(f"-O plugin={site['plugin']}: give CommandLine, which every farm has, or Understudy, which is ours")


def plugin_info(step: Step, plugin: Plugin) -> dict[str, str]:
    """Raises FarmError for what the plugin cannot do."""
    return _for_command_line(step) if plugin == "CommandLine" else _for_ours(step)


def _for_command_line(step: Step) -> dict[str, str]:
    """By a shell, as only then what the command prints is sure to be kept; the executable is its first word."""
    own = [name for name, value in step.environment if NUMBER in value]
    if own:
        raise FarmError(f"deadline: {own[0]} differs from task to task; that needs -O plugin=Understudy")
    if step.resources.gpus:
        raise FarmError("deadline: gpus_per_task needs -O plugin=Understudy, or workers chosen by --group")
    return {
        "Arguments": " ".join(map(_shell_word, step.argv)),
        "Shell": "bash",
        "ShellExecute": "true",
        "SingleFramesOnly": "true",
    }


def _shell_word(word: str) -> str:
    """A word as bash reads it back once the plugin has put in frame and quotes."""
    text = _START_FRAME.join(
        part if _SAFE.fullmatch(part) else "".join(_IN_QUOTES.get(letter, letter) for letter in part)
        for part in word.split(NUMBER)
    )
    is_plain = all(_SAFE.fullmatch(part) or not part for part in word.split(NUMBER)) and word
    return text if is_plain else f"{_QUOTE}{text}{_QUOTE}"


def _for_ours(step: Step) -> dict[str, str]:
    """Words and variables as they are, with `{number}`, which the plugin replaces by the frame."""
    own = {name: value for name, value in step.environment if NUMBER in value}
    info = {"Command": json.dumps(step.argv), "TaskEnvironment": json.dumps(own)}
    return {**info, "GPUsPerTask": str(step.resources.gpus)} if step.resources.gpus else info
