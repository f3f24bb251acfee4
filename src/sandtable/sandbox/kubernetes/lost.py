"""The sandbox went away through no fault of its job."""

from __future__ import annotations


class Lost(Exception):
    """The cluster took the sandbox away under the job. Jobs only read, so another try is safe."""
