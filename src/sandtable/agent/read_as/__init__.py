"""How a question was read, as parts: each with the words it came from and what else it could be."""
