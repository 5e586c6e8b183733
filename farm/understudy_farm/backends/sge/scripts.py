"""The scripts that Grid Engine gets. They keep a journal of every task, since it forgets what has ended."""

from __future__ import annotations

import shlex

from understudy.errors import EXIT_RANKS, EXIT_STOPPED
from understudy.ranks.contract import RANK_GPU, RANKS_HERE
from understudy.runs import RunFiles
from understudy_farm.backends.sge.journal import BEGAN, DELETED, ENDED, ITSELF, SKIPPED, TIMEOUT, journal_of
from understudy_farm.backends.sge.words import time_limits_seconds
from understudy_farm.folder import JobFolder
from understudy_farm.plan import TRAIN
from understudy_farm.shell import shell_word, task_script
from understudy_farm.spec import NUMBER, Job, Step

TASK = "UNDERSTUDY_TASK"
AGAIN = 99
"""The exit code by which a job asks Grid Engine to start it again."""
SECONDS_OF_SLACK = 60
"""A limit counts from when the job was begun, ours from when its script was."""
KILLED = 128
"""Codes above it: the shell's word for a process that a signal ended."""


def scripts_of(job: Job, step: Step, words: tuple[str, ...], gang_mpirun: str) -> dict[str, str]:
    """What qsub gets (with `words` for it), what keeps the journal, and the task itself, by file name.

    `gang_mpirun`: the command that starts the ranks of one parallel job; empty for an array.
    """
    return {
        f"{step.name}.qsub.sh": _job_script(job, step, words, gang_mpirun),
        f"{step.name}.run.sh": _run_script(job, step, is_gang=bool(gang_mpirun)),
        f"{step.name}.task.sh": task_script(step, TASK),
    }


def _job_script(job: Job, step: Step, words: tuple[str, ...], gang_mpirun: str) -> str:
    folder = JobFolder(job.run_directory)
    heading = ["#!/bin/bash", *(f"#$ {line}" for line in words)]
    run = shlex.quote(str(folder.farm / f"{step.name}.run.sh"))
    if not gang_mpirun:
        return _text([*heading, f"exec {run}"])
    journal = shlex.quote(str(journal_of(folder, step.name, 0)))
    lines = [
        "trap : USR1 USR2  # for the ranks: mpirun passes them on",
        f"{gang_mpirun} -n {step.num_tasks} {run}",
        "code=$?",
        f'((code > {KILLED} && $(grep -c "^{BEGAN} " {journal}) <= {step.retries})) && exit {AGAIN}',
        "exit $((code != 0))",
    ]
    return _text([*heading, *lines])


def _run_script(job: Job, step: Step, *, is_gang: bool) -> str:
    folder = JobFolder(job.run_directory)
    journal = shell_word(str(journal_of(folder, step.name, NUMBER)), "number")
    log = shell_word(str(folder.task_log(step.name, NUMBER)), "number")
    lines = [
        "#!/bin/bash",
        f"# One task of the step {step.name}, and its journal.",
        *(_rank_of_mpi() if is_gang else ["number=$((SGE_TASK_ID - 1))"]),
        f"export {TASK}=$number",
        f"exec >>{log} 2>&1",
        f'note() {{ echo "$* $(hostname)" >>{journal}; }}',
        *(line for name in step.after for line in _only_after(job, job.step(name))),
        f"note {BEGAN}",
        f"(trap '' USR1 USR2; exec {shlex.quote(str(folder.farm / f'{step.name}.task.sh'))}) &",
        *_watching(step),
        f'note "{ENDED} $code $why"',
        *(_end_of_rank() if is_gang else _end_of_task(step, journal)),
    ]
    return _text(lines)


def _rank_of_mpi() -> list[str]:
    """Open MPI's words, or those of MPICH and its kin."""
    unset = "neither OMPI_COMM_WORLD_RANK nor PMI_RANK is set; give another -O mpirun"
    return [
        f'number=${{OMPI_COMM_WORLD_RANK:-${{PMI_RANK:?"{unset}"}}}}',
        f"export {RANK_GPU}=${{OMPI_COMM_WORLD_LOCAL_RANK:-${{MPI_LOCALRANKID:-0}}}}",
        f"export {RANKS_HERE}=${{OMPI_COMM_WORLD_LOCAL_SIZE:-${{MPI_LOCALNRANKS:-1}}}}",
    ]


def _only_after(job: Job, before: Step) -> list[str]:
    """Grid Engine holds a job until another has ended, however that was."""
    folder = JobFolder(job.run_directory)
    journal = shell_word(str(journal_of(folder, before.name, NUMBER)), "before")
    record = shlex.quote(str(RunFiles(job.run_directory, job.run_name).record))
    excuse = f'grep -q \'"state": "finished"\' {record} 2>/dev/null || ' if before.name == TRAIN else ""
    return [
        f"for before in {{0..{before.num_tasks - 1}}}; do",
        f'    [[ $(tail -n 1 {journal}) == "{ENDED} 0 "* ]] || {excuse}{{',
        f'        echo "understudy: {before.name} $before did not succeed; requeue it first"',
        f'        note "{SKIPPED} {before.name}"',
        "        exit 1",
        "    }",
        "done",
    ]


def _watching(step: Step) -> list[str]:
    """Grid Engine's warnings (-notify) are SIGUSR1 at the soft time limit and before a stop, SIGUSR2 before a kill."""
    soft, hard = (max(limit - SECONDS_OF_SLACK, 0) for limit in time_limits_seconds(step))
    has_limit = bool(step.resources.timeout_minutes)
    late = f"((SECONDS >= {hard})) && why={TIMEOUT}; " if has_limit else ""
    lines = [f"task=$! why={ITSELF}", f"trap 'why={DELETED}; {late}kill $task' USR2 TERM"]
    lines += [f"trap '((SECONDS >= {soft})) && why={TIMEOUT} && kill $task' USR1" if has_limit else "trap : USR1"]
    return [*lines, "while wait $task; code=$?; kill -0 $task 2>/dev/null; do :; done", "wait $task; code=$?"]


def _end_of_task(step: Step, journal: str) -> list[str]:
    """Codes of the task's own might mean other things to Grid Engine, such as 100, which stops the whole job."""
    is_lost = f"code > {KILLED} && $(grep -c '^{BEGAN} ' {journal}) <= {step.retries}"
    return [f"[ $why = {ITSELF} ] && (({is_lost})) && exit {AGAIN}", "exit $((code != 0))"]


def _end_of_rank() -> list[str]:
    """A rank that was killed leaves the others alone, unless it leads them; any other fault ends all of them.

    One that was asked to end is no fault.
    """
    is_no_fault = f"code == {EXIT_STOPPED} || code == {EXIT_RANKS} || code > {KILLED} && number > 0"
    return [f"[ $why = {ITSELF} ] || exit 0", f"(({is_no_fault})) && exit 0", "exit $code"]


def _text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
