"""The gate for Python text. See docs/policy-python.md."""

from sandtable.policy.python.gate import judge_python
from sandtable.policy.python.uses import bound_names

__all__ = ["bound_names", "judge_python"]
