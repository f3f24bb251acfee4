"""Databases as sources: what is connected, what a role may do there, and snapshots of chosen tables.

Invariant: this process never speaks a database's protocol. It relays bytes for a sealed worker, validates what the
worker answers, and writes what it copies to files, which the sandbox converts like any other.
"""
