"""Words and scripts for shells and for programs that are asked: quoting, and one line of trouble instead of many."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence

from understudy_farm.backend import FarmAway, FarmError
from understudy_farm.spec import NUMBER, Step

SECONDS_TO_ANSWER = 60.0


def shell_word(word: str, number: str) -> str:
    """A word as a POSIX shell reads it back; `number` is the variable that stands for the task's number."""
    parts = [shlex.quote(part) if part else "" for part in word.split(NUMBER)]
    return f'"${{{number}}}"'.join(parts) or "''"


def task_script(step: Step, number: str) -> str:
    """A script that is one task of the step; `number` is the variable in which the farm tells which."""
    exports = [f"export {name}={shell_word(value, number)}" for name, value in step.environment]
    command = " ".join(shell_word(word, number) for word in step.argv)
    return "\n".join([f"#!/bin/bash\n# One task of the step {step.name}.", *exports, f"exec {command}"]) + "\n"


def ask(
    words: Sequence[str],
    *,
    mend: str,
    stdin: str = "",
    is_fatal: bool = True,
    failure: type[FarmError] = FarmError,
) -> str:
    """What a farm's own program answers. Raises FarmError naming it when it fails, FarmAway when it is not here.

    `is_fatal` False: a failure is an empty answer. `failure`: FarmAway for a question that only an absent service
    does not answer.
    """
    try:
        done = subprocess.run(
            words,
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS_TO_ANSWER,
            check=False,
        )
    except FileNotFoundError as error:
        raise FarmAway(f"{words[0]}: no such program here; {mend}") from error
    except subprocess.TimeoutExpired as error:
        raise FarmAway(f"{words[0]}: no answer within {SECONDS_TO_ANSWER:.0f} s; {mend}") from error
    if done.returncode and is_fatal:
        said = " ".join((done.stderr or done.stdout).split()) or f"exit code {done.returncode}"
        raise failure(f"{shlex.join(words[:2])}: {said[:400]}; {mend}")
    return "" if done.returncode else done.stdout
