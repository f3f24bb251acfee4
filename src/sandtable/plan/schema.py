"""The published JSON Schema of the plan language. `docs/plan.schema.json` is this, committed."""

from __future__ import annotations

import json
from typing import Any

from sandtable.plan.model import QueryPlan


def plan_schema() -> dict[str, Any]:
    schema = QueryPlan.model_json_schema(by_alias=True, mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def plan_schema_text() -> str:
    """The schema as it is committed: stable order, one line per key."""
    return json.dumps(plan_schema(), indent=2, ensure_ascii=False) + "\n"
