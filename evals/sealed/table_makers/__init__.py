"""Invented tables in varied domains. Integer arithmetic and one seeded generator per table."""
