"""Ranking of candidates: readings over several tables, and the grammar against the lookup."""
