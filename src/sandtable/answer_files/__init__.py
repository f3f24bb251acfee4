"""Answers as files for those who have no server: the page that proves itself, Markdown, a notebook, tables as CSV.

Invariant: nothing is run again, and a file holds only what those who ask for it may see: the answers and runs given.
"""
