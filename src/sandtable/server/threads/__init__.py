"""The conversations a server keeps: threads, their turns, the order of turns, and where all that is stored."""
