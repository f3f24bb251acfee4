"""Lookup questions over one table, read by learned weights: which column, which aggregate, which conditions."""
