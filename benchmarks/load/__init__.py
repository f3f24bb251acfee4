"""Many people at one server: what they wait, what it takes of memory, and whether anything is lost."""
