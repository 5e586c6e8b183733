"""deadline-cloud: a bundle for AWS Deadline Cloud, and questions about its job."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from understudy_farm.backend import (
    ENDED,
    Capabilities,
    FarmError,
    FarmNames,
    Option,
    Receipt,
    Site,
    TaskState,
    TaskStatus,
    Worker,
)
from understudy_farm.backends.deadline_cloud.bundle import SECONDS_TO_END, bundle, steps_on_farm
from understudy_farm.backends.deadline_cloud.client import Client, TaskOnFarm, check_template
from understudy_farm.spec import Job, Step

SECONDS_BETWEEN_LOOKS = 1.0

_STATES: Mapping[str, TaskState] = {
    "PENDING": "waiting",
    "READY": "waiting",
    "ASSIGNED": "waiting",
    "SCHEDULED": "waiting",
    "STARTING": "waiting",
    "SUSPENDED": "waiting",
    "NOT_COMPATIBLE": "waiting",
    "RUNNING": "running",
    "INTERRUPTING": "running",
    "SUCCEEDED": "done",
    "FAILED": "failed",
    "CANCELED": "cancelled",
}
"""NOT_COMPATIBLE waits for a worker that has what was asked for."""


class DeadlineCloudFarm:
    """By the `deadline` library; its configuration and login are the artist's own."""

    name = "deadline-cloud"
    doc = "AWS Deadline Cloud: an Open Job Description bundle, one step for each rank"
    options: tuple[Option, ...] = (
        Option(name="farm_id", doc="farm-...; empty: the default of `deadline config`"),
        Option(name="queue_id", doc="queue-..., where --pool says none; empty: the default of `deadline config`"),
        Option(name="profile", doc="AWS profile; empty: the default of `deadline config`"),
        Option(name="max_worker_count", doc="most workers on this job at once; empty: no limit"),
        Option(name="rez_packages", doc="packages for the queue's Rez environment; say --python python with it"),
        Option(name="conda_packages", doc="packages for the queue's Conda environment; say --python python with it"),
    )

    def capabilities(self, site: Site) -> Capabilities:
        del site
        return Capabilities(progress="openjd", has_suspended=True)

    def payload(self, job: Job, site: Site) -> Mapping[str, str]:
        return bundle(job, site)

    def workers(self, job: Job, site: Site) -> tuple[Worker, ...]:
        """Fleets grow as they are needed: there is nothing to count."""
        del job, site
        return ()

    def names(self, site: Site) -> FarmNames:
        """Queues, by the ids that --pool takes."""
        return FarmNames(pools=Client(site, site["farm_id"], site["queue_id"]).queue_ids())

    def send(self, job: Job, folder: Path, site: Site) -> Receipt:
        check_template(folder)
        client = Client(site, site["farm_id"], job.placement.pool or site["queue_id"])
        job_id, link = client.submit(folder)
        whole = f"{client.farm_id}/{client.queue_id}/{job_id}"
        command = f"deadline job get --farm-id {client.farm_id} --queue-id {client.queue_id} --job-id {job_id}"
        return Receipt(ids={step.name: whole for step in job.steps}, link=link or command)

    def status(self, job: Job, receipt: Receipt, site: Site) -> tuple[TaskStatus, ...]:
        client, job_id = _client(receipt, site)
        tasks = client.tasks(job_id)
        workers = client.workers(job_id) if any(task.session for task in tasks.values()) else {}
        return tuple(
            _status(step, number, tasks.get(_place(step, number)), workers)
            for step in job.steps
            for number in range(step.num_tasks)
        )

    def log(self, job: Job, receipt: Receipt, step: str, number: int, site: Site) -> str:
        client, job_id = _client(receipt, site)
        task = client.tasks(job_id).get(_place(job.step(step), number))
        return client.log(job_id, task) if task else ""

    def cancel(self, job: Job, receipt: Receipt, site: Site) -> None:
        del job
        client, job_id = _client(receipt, site)
        if any(_STATES.get(task.status) not in ENDED for task in client.tasks(job_id).values()):
            client.cancel_job(job_id)

    def requeue(self, job: Job, receipt: Receipt, step: str, numbers: tuple[int, ...], site: Site) -> Receipt:
        client, job_id = _client(receipt, site)
        places = [_place(job.step(step), number) for number in numbers]
        tasks = client.tasks(job_id)
        for place in places:
            if place not in tasks:
                raise FarmError(f"deadline-cloud: {job_id} has no task {place[1]} in its step {place[0]}")
        running = {place for place in places if _STATES.get(tasks[place].status) == "running"}
        for place in running:
            client.set_target(job_id, tasks[place], "CANCELED")
        _wait_until_ended(client, job_id, running)
        for place in places:
            client.set_target(job_id, tasks[place], "PENDING")
        return receipt


def _client(receipt: Receipt, site: Site) -> tuple[Client, str]:
    farm_id, queue_id, job_id = next(iter(receipt.ids.values())).split("/")
    return Client(site, farm_id, queue_id), job_id


def _place(step: Step, number: int) -> tuple[str, int]:
    """Name of the template's step, and the task's number there."""
    names = steps_on_farm(step)
    return (names[number], 0) if len(names) > 1 else (names[0], number)


def _status(step: Step, number: int, task: TaskOnFarm | None, workers: Mapping[str, str]) -> TaskStatus:
    if task is None:
        return TaskStatus(step=step.name, number=number, state="waiting", note="is being created")
    return TaskStatus(
        step=step.name,
        number=number,
        state=_STATES.get(task.status, "unknown"),
        host=workers.get(task.session, ""),
        note=f"{task.status}, start {task.failures + 1}" if task.failures else task.status,
    )


def _wait_until_ended(client: Client, job_id: str, running: set[tuple[str, int]]) -> None:
    """A task that is to start again must have ended; a rank writes a checkpoint first."""
    give_up = time.monotonic() + SECONDS_TO_END + 60.0
    while running:
        tasks = client.tasks(job_id)
        running = {place for place in running if _STATES.get(tasks[place].status) not in ENDED}
        if running and time.monotonic() > give_up:
            raise FarmError(f"deadline-cloud: {job_id}: step {min(running)[0]} does not end; requeue it in the monitor")
        time.sleep(SECONDS_BETWEEN_LOOKS if running else 0.0)
