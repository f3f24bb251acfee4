"""The built-in datasets and a shelf of uploaded files, with their profiles."""

from tests.planner.conftest import shelf, worlds

__all__ = ["shelf", "worlds"]
