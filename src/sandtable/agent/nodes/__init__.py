"""The steps of a turn, one file each; `agent.graph` says how they follow each other."""
