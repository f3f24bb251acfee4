"""The built-in planner: a question in plain language becomes a plan or a clarifying question, without a chat model."""

from sandtable.planner.planner import plan_question
from sandtable.planner.schema.index import SchemaIndex

__all__ = ["SchemaIndex", "plan_question"]
