"""A runner's report as a result: as on every tier, but for data that the cluster does not have."""

from __future__ import annotations

from sandtable.sandbox.job import Job, JobResult
from sandtable.sandbox.outcome import failed
from sandtable.sandbox.report import RunnerReport, result_of

_SLACK = 2 << 20


def longest_line(job: Job) -> int:
    """Of a report, in which every character is ASCII: one of two bytes takes six."""
    return 3 * job.limits.result_bytes + 6 * job.limits.log_bytes + _SLACK


def believed(job: Job, report: RunnerReport) -> JobResult:
    version = job.dataset_version.removeprefix("sha256:")
    folder = f"versions/{version}"
    if report.answer is None and version and folder in report.output and "No such file" in report.output:
        return failed(
            job,
            "SANDBOX_UNAVAILABLE",
            "DataMissing",
            f"the runner does not have version sha256:{version} of dataset {job.dataset_id!r}",
            "mount the server's data folder at /data of the runners, or build their image with this version",
        )
    return result_of(job, report)
