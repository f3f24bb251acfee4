"""Sandtable: questions about tabular data, judged by a gate, run in a sealed sandbox, proven by a capsule."""

__version__ = "0.1.0"
