"""The payload of farms without a queue: the very command of every task, as the watcher will start it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.plain import table_of

COMMANDS = "commands.json"


@dataclass(frozen=True, kw_only=True)
class Command:
    """How one task is started on the machine that watches."""

    step: str
    number: int
    host: str
    """Where it computes."""
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    """Goes over the watcher's own."""


@dataclass(frozen=True, kw_only=True)
class Commands:
    """commands.json."""

    farm: str
    options: Mapping[str, str]
    """The farm's own, as the site has them."""
    tasks: tuple[Command, ...]

    def of(self, step: str, number: int) -> Command:
        return next(task for task in self.tasks if (task.step, task.number) == (step, number))


def to_text(commands: Commands) -> str:
    return json.dumps(asdict(commands), indent=2, ensure_ascii=False) + "\n"


def read_commands(path: Path) -> Commands:
    """Raises UnderstudyError naming the file when it is missing or damaged."""
    try:
        return table_of(Commands, json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError) as error:
        raise UnderstudyError(f"{path}: cannot be read ({error}); submit the job again") from error
