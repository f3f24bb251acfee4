"""What a question in plain words asks, found without a model: question → plan, or a question back."""

from sandtable.planner.index import SchemaIndex
from sandtable.planner.planner import plan_question

__all__ = ["SchemaIndex", "plan_question"]
