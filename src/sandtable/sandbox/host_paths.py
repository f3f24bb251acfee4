"""Replaces folders of this machine in a run's messages.

Invariant: what a user reads names the installation as `/python` and the dataset's folder as `/data`, wherever they are.
Rows are data and stay unchanged.
"""

from __future__ import annotations

import re
import sys
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any

import sandtable_runner
from sandtable.sandbox.job import CODE, Job, JobResult

_SHARED = frozenset({"/", "/usr", "/usr/local", "/opt"})
"""Prefixes that do not identify an installation and occur in ordinary texts."""
_FOLDER = r"(?:/[^/\s\"'<>|,;:\[\]()]+)*"


def hide_host_paths(job: Job, result: JobResult) -> JobResult:
    changes: dict[str, Any] = {name: hidden(job, getattr(result, name)) for name in ("stdout", "stderr")}
    if (error := result.error) is not None:
        said = {name: hidden(job, getattr(error, name)) for name in ("message", "suggestion")}
        changes["error"] = error.model_copy(update=said)
    if job.mode in CODE and result.output.get("artifacts"):
        changes["output"] = _hidden_within(job, result.output)
    return result.model_copy(update=changes)


def hidden(job: Job, text: str) -> str:
    if "/" not in text:
        return text
    version = job.dataset_version.removeprefix("sha256:")
    if version and version in text:
        text = re.sub(f"{_FOLDER}/versions/{re.escape(version)}", "/data", text)
    return _installation().sub("/python", text)


def _hidden_within(job: Job, value: Any) -> Any:
    """Recursion is safe: the depth of an answer is bounded."""
    if isinstance(value, str):
        return hidden(job, value)
    if isinstance(value, dict):
        return {name: item if name == "rows" else _hidden_within(job, item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden_within(job, item) for item in value]
    return value


@cache
def _installation() -> re.Pattern[str]:
    places = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix} - _SHARED
    for name in ("purelib", "platlib", "stdlib", "platstdlib"):
        places.add(sysconfig.get_path(name))
    package = sandtable_runner.__file__
    if package is not None:
        places.add(str(Path(package).parent.parent))
    longest_first = sorted(places, key=len, reverse=True)
    return re.compile("(?:" + "|".join(map(re.escape, longest_first)) + r")(?![\w.-])")
