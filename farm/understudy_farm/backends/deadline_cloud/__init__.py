"""deadline-cloud: AWS Deadline Cloud, by bundles of Open Job Description."""

from understudy_farm.backends.deadline_cloud.farm import DeadlineCloudFarm

__all__ = ["DeadlineCloudFarm"]
