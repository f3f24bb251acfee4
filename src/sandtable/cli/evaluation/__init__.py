"""Measuring answers: questions with expected answers, what came of each, and the totals of `sandtable eval`."""
