"""What a question in plain words asks, found without a model: question → plan, or a question back."""

from sandtable.planner.planner import plan_question
from sandtable.planner.schema.index import SchemaIndex

__all__ = ["SchemaIndex", "plan_question"]
