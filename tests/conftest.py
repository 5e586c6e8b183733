"""Rules for the whole suite: what may be skipped, what runs first, and how Ctrl-C is heard."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator

import hypothesis
import pytest

NO_SKIPS = "UNDERSTUDY_NO_SKIPS"
MAY_SKIP = ("hardware", "footage", "namespaces", "cgroups")
"""Markers of tests that need what no set-up can install."""

hypothesis.settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)  # a busy machine stands still for seconds


def pytest_configure() -> None:
    """xdist's workers ignore Ctrl-C, and every process that a test starts would inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    hypothesis.settings.load_profile("untimed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests first: a worker that begins one at the end would keep all others waiting."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if not any(map(item.get_closest_marker, MAY_SKIP)) and not hasattr(report, "wasxfail"):
        _forbid_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _forbid_skip(report)
    return report


def _forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and os.environ.get(NO_SKIPS):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{reason} (and {NO_SKIPS} is set: every test must run)"
