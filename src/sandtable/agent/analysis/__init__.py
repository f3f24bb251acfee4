"""Analyses in Python, in several steps: writing the code, what the model sees of results, and the final answer."""
