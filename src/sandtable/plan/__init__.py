"""The QueryPlan language, its JSON Schema, and the check of a plan against a catalog."""
