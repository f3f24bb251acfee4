"""The local tier: a template process that forks a sealed, single-use sandbox for every job."""
