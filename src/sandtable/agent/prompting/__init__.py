"""What a prompt says about a dataset and a question: the schema, examples made from it, and hints.

Invariant: all of it is pure, and what privacy keeps back is in none of it.
"""
