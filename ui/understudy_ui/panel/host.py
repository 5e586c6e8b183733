"""What the panel needs of the program it lives in. Nuke's plug-in implements it; `Alone` does for a window of its own.

Every method is called on the main thread and returns at once: the panel waits for no host, and lets none wait.
Whatever cannot be done raises `HostFault` with one line for a person: what is wrong, and what to do.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Dict, List, Mapping, Protocol, Tuple

from understudy_ui.panel.model.tongue import tr

PYTHON = "UNDERSTUDY_PYTHON"
ANSWERS = ("-m", "understudy_ui.answers")


class HostFault(Exception):
    """One line for a person."""


@dataclass(frozen=True)
class TrainingNode:
    """A node of the open script that can be trained."""

    name: str
    """Full name, as -X takes it."""
    unconnected: Tuple[str, ...] = ()
    """Inputs that it needs and that nothing is connected to, as they are labelled: Ground Truth."""


@dataclass(frozen=True)
class Program:
    """A program to be started: words and environment."""

    words: Tuple[str, ...]
    environment: Mapping[str, str]


class Host(Protocol):
    """The program around the panel."""

    @property
    def name(self) -> str:
        """For titles and buttons: Nuke. Empty when the panel is a window of its own: it then brings its own colours,
        and offers file dialogs instead of the selected node."""

    def script_path(self) -> str:
        """Of the open script; empty while it was never saved."""

    def selected_nodes(self) -> List[TrainingNode]:
        """The training nodes (CopyCat, Understudy) that are selected; the panel itself says what none or two mean."""

    def save_snapshot(self) -> str:
        """Write the script as it is now to a file beside it, leaving the open one as it is, and return its path.

        It is read by another process, and copied into the run's directory when a job is sent. Called at every change
        of the selection, check and submission, so it should overwrite its last snapshot.
        """

    def go_to_frame(self, frame: int) -> None:
        """Show that frame in the viewer."""

    def can_create_inference(self) -> bool:
        """Whether `create_inference` and `show_result` mean anything here; their buttons are hidden where not."""

    def create_inference(self, node: str, checkpoint: str) -> None:
        """Put a node that applies the model file `checkpoint` beside the training node `node` (empty: anywhere)."""

    def show_result(self, pattern: str, first_frame: int, last_frame: int) -> None:
        """Read an applied sequence into the script, connected to the viewer."""

    def answers(self) -> Program:
        """The studio's Python with `understudy_ui.answers`; see `answers_of` for the usual way to find it."""


class Alone:
    """The host of a window of its own: no script is open, nothing is selected."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.name = ""

    def script_path(self) -> str:
        return ""

    def selected_nodes(self) -> List[TrainingNode]:
        return []

    def save_snapshot(self) -> str:
        raise HostFault(tr("There is no open script; choose one by its file."))

    def go_to_frame(self, frame: int) -> None:
        raise HostFault(tr("Go to frame {frame} in your compositing program.").format(frame=frame))

    def can_create_inference(self) -> bool:
        return False

    def create_inference(self, node: str, checkpoint: str) -> None:
        del node, checkpoint
        raise HostFault(tr("An Inference node needs a host; open the panel in Nuke."))

    def show_result(self, pattern: str, first_frame: int, last_frame: int) -> None:
        del first_frame, last_frame
        raise HostFault(tr("{pattern} can be read by any program.").format(pattern=pattern))

    def answers(self) -> Program:
        python = self._environment.get(PYTHON) or sys.executable
        return Program((python, *ANSWERS), self._environment)


def answers_of(environment: Mapping[str, str]) -> Program:
    """For a host whose own Python is not the studio's: $UNDERSTUDY_PYTHON, else the first python3 on PATH.

    What tells the host's Python where its modules lie would break another one, so it is left out.
    """
    clean: Dict[str, str] = {name: value for name, value in environment.items() if not name.startswith("PYTHON")}
    return Program((environment.get(PYTHON) or "python3", *ANSWERS), clean)
