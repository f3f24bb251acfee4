"""Reads a source file in two stages: its text (`opening`), then the type of each column. Runs inside a sandbox only."""
