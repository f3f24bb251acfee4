"""Analyses in Python, in several steps: who writes the code, what they see of it, and what is said at the end."""
