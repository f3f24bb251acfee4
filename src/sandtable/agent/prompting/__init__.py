"""What a prompt says about a dataset and a question: the schema, examples made from it, and hints.

Invariant: all of it is pure, and nothing that privacy withholds is included.
"""
