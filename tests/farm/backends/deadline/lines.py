"""The ways to the Web Service, and a job to send by each: for tests of several files."""

from __future__ import annotations

from pathlib import Path

from tests.farm.jobs import RANKS, job_for

from understudy_farm.backend import Receipt, Site
from understudy_farm.backends.deadline.farm import DeadlineFarm
from understudy_farm.choices import Choices
from understudy_farm.folder import JobFolder, write_job
from understudy_farm.spec import Job

DEFAULTS = {option.name: option.default for option in DeadlineFarm.options}


def site_of(**values: str) -> Site:
    return Site(values={**DEFAULTS, **values})


def job_in(folder: Path, site: Site, choices: Choices = RANKS) -> Job:
    """Laid down, ready to be sent."""
    job = job_for(choices, DeadlineFarm().capabilities(site), folder / "v001")
    write_job(JobFolder(job.run_directory), job, DeadlineFarm().payload(job, site))
    return job


def send(folder: Path, site: Site, choices: Choices = RANKS) -> Receipt:
    job = job_in(folder, site, choices)
    return DeadlineFarm().send(job, JobFolder(job.run_directory).farm, site)
