"""What is asked: the QueryPlan language, its JSON Schema, and its check against a catalog."""
