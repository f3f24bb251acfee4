"""Measuring answers: questions with expected answers, the outcome of each, and the totals of `sandtable eval`."""
