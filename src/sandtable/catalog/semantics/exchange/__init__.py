"""Semantic layers that people already have: Apache Ossie in and out, dbt's semantic manifest in."""
