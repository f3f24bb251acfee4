"""Checkpoints of a conversation's graph, stored so that the cost of a turn does not grow with its history."""
